"""Who gets which row next: useful rows, every fifth one drawn at random, one in twenty a second time and blind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...core.arrays import Rows
from ..label_journal.book import RANDOM, SECOND, LabelBook

LEASE = 120.0  # seconds for which a row is somebody's
EVERY_AUDIT, EVERY_SECOND = 5, 20
HAND = 6  # rows that a browser holds: the one shown and five ahead
_KEPT = 2  # of these stay when a better order is known: the one shown, and the next


@dataclass(frozen=True)
class Card:
    """A row that somebody is to label.

    Parameters
    ----------
    row : int
        The row.
    why : str
        "random" (an audit), "second" (blind) or "suggested".
    reason : str
        The same for the person.
    """

    row: int
    why: str
    reason: str = ""

    @property
    def is_blind(self) -> bool:
        """Whether the model's guess must not be shown."""
        return self.why != "suggested"


class Dealer:
    """Deals rows to people.

    Parameters
    ----------
    order : ndarray of int
        The order of the audit.
    clock : callable
        Seconds.
    """

    def __init__(self, order: Rows, clock: Callable[[], float] = time.monotonic) -> None:
        self._order, self._clock = order.tolist(), clock
        self._hands: dict[str, list[Card]] = {}
        self._cards: dict[tuple[str, int], Card] = {}  # all that people may still see: a page can lag behind its hand
        self._leases: dict[int, tuple[str, float]] = {}
        self._n_dealt: dict[str, int] = {}
        self._outdated: set[str] = set()  # people whose hands were dealt by an older order
        self._start = 0  # of the audit: rows before it are answered
        self.suggested: Sequence[tuple[int, str]] = ()

    def suggest(self, rows: Sequence[tuple[int, str]]) -> None:
        """Take a new order of useful rows; what people see now, and see next, stays."""
        self.suggested = rows
        self._outdated = set(self._hands)

    def hand(self, who: str, book: LabelBook) -> list[Card]:
        """Return the rows that a person should label, the next one first; they are theirs for two minutes."""
        now = self._clock()
        self._leases = {row: lease for row, lease in self._leases.items() if lease[1] > now}
        self._cards = {key: dealt for key, dealt in self._cards.items() if self._is_open(dealt, book)}
        hand = [card for card in self._hands.get(who, []) if self._may_have(who, card, book)]
        if who in self._outdated:
            self._outdated.discard(who)
            hand = self._renew(who, hand, book)
        while len(hand) < HAND:
            card = self._draw(who, book, {card.row for card in hand})
            if card is None:
                break
            self._n_dealt[who] = self._n_dealt.get(who, 0) + 1
            hand.append(card)
        self._cards |= {(who, card.row): card for card in hand}
        self._leases |= {card.row: (who, now + LEASE) for card in hand}
        self._hands[who] = hand
        return hand

    def _renew(self, who: str, hand: list[Card], book: LabelBook) -> list[Card]:
        """Put the most useful rows in the places of suggested ones; rows drawn at random keep theirs."""
        waiting = [card for place, card in enumerate(hand) if place >= _KEPT and card.why == "suggested"]
        for card in waiting:
            self._leases.pop(card.row, None)
        taken = {card.row for card in hand if card not in waiting}
        renewed = []
        for card in hand:
            if card in waiting:
                card = self._suggestion(self._free(who, book, taken)) or card
                taken.add(card.row)
            renewed.append(card)
        return renewed

    def card(self, who: str, row: int) -> Card | None:
        """Return the card by which a person was dealt a row that still waits for an answer."""
        return self._cards.get((who, row))

    def put_back(self, who: str, row: int, why: str | None) -> None:
        """Show a row again, before all others: its label was taken back."""
        card = Card(row, why if why in (RANDOM, SECOND) else "suggested")
        self._hands[who] = [card, *(other for other in self._hands.get(who, []) if other.row != row)]

    def _may_have(self, who: str, card: Card, book: LabelBook) -> bool:
        holder = self._leases.get(card.row)
        if holder is not None and holder[0] != who:
            return False
        return self._is_open(card, book)

    def _is_open(self, card: Card, book: LabelBook) -> bool:
        return card.row not in book.second_by if card.why == SECOND else not book.answered(card.row)

    def _draw(self, who: str, book: LabelBook, taken: set[int]) -> Card | None:
        number = self._n_dealt.get(who, 0) + 1
        free = self._free(who, book, taken)
        if number % EVERY_SECOND == 0 and (row := self._second(who, book, taken)) is not None:
            return Card(row, SECOND)
        if number % EVERY_AUDIT != 0:
            card = self._suggestion(free)
            if card is not None:
                return card
        while self._start < len(self._order) and book.answered(self._order[self._start]):
            self._start += 1
        return next((Card(row, RANDOM) for row in self._audit_rows() if free(row)), None)

    def _suggestion(self, free: Callable[[int], bool]) -> Card | None:
        return next((Card(row, "suggested", reason) for row, reason in self.suggested if free(row)), None)

    def _audit_rows(self) -> Iterator[int]:
        for place in range(self._start, len(self._order)):
            yield self._order[place]

    def _free(self, who: str, book: LabelBook, taken: set[int]) -> Callable[[int], bool]:
        def free(row: int) -> bool:
            return row not in taken and not book.answered(row) and self._leases.get(row, (who,))[0] == who

        return free

    def _second(self, who: str, book: LabelBook, taken: set[int]) -> int | None:
        """Return a row that somebody else has labelled, the latest first, and nobody a second time."""
        for row in reversed(book.first_by):
            if book.first_by[row][0] != who and row not in book.second_by and row not in taken:
                return row
        return None
