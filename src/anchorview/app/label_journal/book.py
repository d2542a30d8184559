"""What a journal amounts to: the label of each row, who disagrees, what can be taken back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...readers.label_sources import SKIPPED, SOURCES
from .journal import Event

RANDOM, SECOND = "random", "second"


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on rows that both labelled without seeing the other's label.

    Parameters
    ----------
    n_rows : int
        Rows that were labelled twice.
    share : float or None
        Share of them with the same label.
    kappa : float or None
        The same beyond chance (Cohen): 1 is full agreement, 0 that of chance. None where it cannot be told.
    disputed : list of int
        Rows with different labels.
    """

    n_rows: int
    share: float | None
    kappa: float | None
    disputed: list[int]


@dataclass
class LabelBook:
    """The state that events lead to; the same events give the same state.

    Attributes
    ----------
    labels : dict of int to str
        The label of each row: the last one given.
    why : dict of int to str
        How the row was chosen when it first got a label.
    skipped, flagged, none : dict of int to str
        Rows that were skipped, flagged, or are of no known class, and by whom.
    classes : list of str
        Classes in the order in which they first appeared.
    """

    classes: list[str] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    why: dict[int, str] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)
    flagged: dict[int, str] = field(default_factory=dict)
    none: dict[int, str] = field(default_factory=dict)
    first_by: dict[int, tuple[str, str]] = field(default_factory=dict)  # row: who labelled it first, and as what
    second_by: dict[int, tuple[str, str]] = field(default_factory=dict)
    reviewed: set[int] = field(default_factory=set)  # rows whose label somebody has looked at again
    n_by: Counter[str] = field(default_factory=Counter)
    keys: dict[str, int] = field(default_factory=dict)  # what a browser called an event: its number
    last_of: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # events a person can take back

    @classmethod
    def replay(
        cls, events: Iterable[Event], classes: Iterable[str] = (), given: dict[int, str] | None = None
    ) -> LabelBook:
        """Return the state after events, with labels that were given before the first."""
        listed = list(events)
        undone = {event.undoes for event in listed if event.kind == "undo"}
        book = cls(list(classes), dict(given or {}), dict.fromkeys(given or {}, "import"))
        for event in listed:
            book._take(event, event.number in undone)
        return book

    def _take(self, event: Event, is_undone: bool) -> None:
        if event.key is not None:
            self.keys[event.key] = event.number
        if event.kind == "undo" or is_undone:
            return
        if event.label is not None and event.label not in self.classes:
            self.classes.append(event.label)
        if event.kind == "class":
            return
        self.last_of[event.who].append(event.number)
        for row in event.rows:
            self._take_row(event, row)

    def _take_row(self, event: Event, row: int) -> None:
        if event.kind == "flag":
            self.flagged[row] = event.who
            return
        self.n_by[event.who] += 1
        if event.kind == "skip":
            self.skipped[row] = event.who
            return
        if event.kind == "none":
            self.none[row] = event.who
            self.skipped.pop(row, None)
            return
        assert event.label is not None
        if event.why == SECOND and row in self.first_by and self.first_by[row][0] != event.who:
            self.second_by[row] = event.who, event.label  # the first label stays until somebody decides
            return
        if row not in self.labels:
            self.why[row] = event.why or "unknown"
            self.first_by[row] = event.who, event.label
        elif event.why == "review":  # somebody has decided
            self.first_by[row] = event.who, event.label
            self.second_by.pop(row, None)
            self.reviewed.add(row)
        self.labels[row] = event.label
        self.skipped.pop(row, None)
        self.none.pop(row, None)

    def answered(self, row: int) -> bool:
        """Tell whether somebody has dealt with a row."""
        return row in self.labels or row in self.skipped or row in self.none

    def sources(self) -> dict[int, str]:
        """Return why each row was asked for, in the library's words; "skipped" for rows that got no label."""
        given = {row: why if why in SOURCES else "lasso" for row, why in self.why.items() if row in self.labels}
        return dict.fromkeys((*self.skipped, *self.none), SKIPPED) | given  # a named group, too, got its labels at once

    def agreement(self) -> Agreement:
        """Return how far people agree."""
        pairs = [(self.first_by[row][1], label) for row, (_, label) in self.second_by.items() if row in self.first_by]
        disputed = [
            row for row, (_, label) in self.second_by.items() if self.first_by.get(row, ("", label))[1] != label
        ]
        if not pairs:
            return Agreement(0, None, None, [])
        share = sum(one == other for one, other in pairs) / len(pairs)
        return Agreement(len(pairs), share, cohen_kappa(pairs), disputed)


def cohen_kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Return the agreement of pairs of labels beyond chance; None if everybody always said the same.

    Examples
    --------
    >>> cohen_kappa([("a", "a"), ("a", "a"), ("b", "b"), ("b", "a")])
    0.5
    """
    n = len(pairs)
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * seconds[label] for label, count in firsts.items()) / n**2
    if by_chance == 1:
        return None
    return (sum(one == other for one, other in pairs) / n - by_chance) / (1 - by_chance)
