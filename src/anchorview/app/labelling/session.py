"""One sitting: the journal, what it amounts to, the model that follows, and who labels what. It knows no HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ...readers.audit import audit_order
from ..label_journal.book import LabelBook
from ..label_journal.journal import Event, Journal
from .dealing import Card, Dealer
from .given import GivenLabels
from .live_model import Learner, State, similar_rows
from .rows import PageRows
from .updating import Updater

KINDS = ("label", "skip", "flag", "none")
WHYS = ("lasso", "search", "review", "group", "import")  # what a browser may say; the rest the session knows
_LONGEST_NAME = 200


class BadRequest(ValueError):
    """Something that cannot be taken; nothing was changed."""


class Session:
    """What the page and the notebook work on.

    Parameters
    ----------
    rows : PageRows
        The rows.
    journal : Journal
        Where events are kept.
    model : Learner
        What follows the labels.
    first : State
        What is shown before the first update.
    classes : sequence of str
        Classes of the run.
    given : dict of int to str
        GivenLabels of the run.
    guidelines : str
        What people should know before they label.
    """

    def __init__(
        self,
        rows: PageRows,
        journal: Journal,
        model: Learner,
        first: State,
        classes: Sequence[str] = (),
        given: dict[int, str] | None = None,
        guidelines: str = "",
    ) -> None:
        self.rows, self.journal, self.state, self.guidelines = rows, journal, first, guidelines
        self._classes, self._given = list(classes), dict(given or {})
        self._lock = threading.RLock()
        self.book = LabelBook.replay(journal.events, self._classes, self._given)
        self._dealer = Dealer(audit_order(len(rows), journal.header.audit_seed))
        self._dealer.suggest(first.suggested)
        self.problem: str | None = None
        self._listeners: list[Callable[[str], None]] = []
        self._updater = Updater(model, self._take_state, self._take_error)
        self._updater.submit(self.labels())

    def labels(self) -> GivenLabels:
        """Return what is known, for the model."""
        book = self.book
        skipped = tuple({**book.skipped, **book.none})
        return GivenLabels(dict(book.labels), dict(book.why), dict(book.guesses), skipped, tuple(book.classes))

    def open_socket(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call a function with "state" or "labels" when these change; return what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, what: str) -> None:
        for listener in list(self._listeners):
            listener(what)

    def _take_state(self, state: State) -> None:
        with self._lock:
            self.state, self.problem = state, None
            self._dealer.suggest(state.suggested)
        self._tell("state")

    def _take_error(self, text: str) -> None:
        self.problem = text
        self._tell("state")

    def take(self, who: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Take what a person did: all of it, on the disk, or nothing. What was taken before is not taken twice."""
        with self._lock:
            events = [self._event(who, item) for item in items]
            new = [event for event in events if event.key is None or event.key not in self.book.keys]
            if new:
                for event in self.journal.extend(new):
                    self.book._take(event, False)
                self._updater.submit(self.labels())
        if new:
            self._tell("labels")
        return self.overview(who)

    def _event(self, who: str, item: dict[str, Any]) -> Event:
        kind, rows, label, why = (item.get(name) for name in ("kind", "rows", "label", "why"))
        if kind not in KINDS:
            raise BadRequest(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
        if not isinstance(rows, list) or not rows or not all(type(row) is int for row in rows):
            raise BadRequest("rows must be a list of numbers of rows.")
        strange = [row for row in rows if not 0 <= row < len(self.rows)]
        if strange:
            raise BadRequest(f"There is no row {strange[0]}; rows are numbered from 0 to {len(self.rows) - 1}.")
        if kind == "label":
            label = check_name(label)
        elif label is not None:
            raise BadRequest(f"{kind} takes no label.")
        if why is not None and why not in WHYS:
            raise BadRequest(f"why must be one of {', '.join(WHYS)}; got {why!r}.")
        if len(rows) > 1 and why != "review":  # many at once never replace what somebody said of a single row
            rows = [row for row in rows if row not in self.book.labels]
            if not rows:
                raise BadRequest("All of these rows have a label already.")
        ms, key = item.get("ms"), item.get("key")
        if (ms is not None and type(ms) is not int) or (key is not None and not isinstance(key, str)):
            raise BadRequest("ms must be a whole number, and key a text.")
        card = self._dealer.card(who, rows[0]) if len(rows) == 1 else None
        chosen = why or ("search" if card is None else card.why)
        guess = self.guess(rows[0]) if len(rows) == 1 and rows[0] not in self.book.labels else None
        version = self.state.version
        return Event(kind, tuple(rows), who, label, chosen, guess, version, ms, key=None if key is None else key[:100])

    def guess(self, row: int) -> str | None:
        """Return the class that the model gives to a row."""
        place = int(self.state.class_ids[row])
        return self.book.classes[place] if 0 <= place < len(self.book.classes) else None

    def undo(self, who: str, key: str | None = None) -> dict[str, Any]:
        """Take back the last thing that a person did."""
        with self._lock:
            if key is None or key not in self.book.keys:
                last = self.book.last_of[who][-1:]
                if not last:
                    raise BadRequest("There is nothing of yours to take back.")
                undone = self.journal.events[last[0] - 1]
                self.journal.append(Event("undo", (), who, undoes=last[0], key=key))
                self.book = LabelBook.replay(self.journal.events, self._classes, self._given)
                if len(undone.rows) == 1:
                    self._dealer.put_back(who, undone.rows[0])
                self._updater.submit(self.labels())
        self._tell("labels")
        return self.overview(who)

    def add_class(self, who: str, name: Any) -> dict[str, Any]:
        """Add a class."""
        with self._lock:
            name = check_name(name)
            if name not in self.book.classes:
                self.book._take(self.journal.append(Event("class", (), who, name)), False)
        self._tell("labels")
        return self.overview(who)

    def queue(self, who: str) -> list[dict[str, Any]]:
        """Return the rows that a person should label next, with all that is shown of them."""
        with self._lock:
            return [self.describe(card.row, card) for card in self._dealer.hand(who, self.book)]

    def describe(self, row: int, card: Card | None = None, who: str = "") -> dict[str, Any]:
        """Return what is shown of a row; the model's guess is left out where it must not be seen."""
        if not 0 <= row < len(self.rows):
            raise BadRequest(f"There is no row {row}; rows are numbered from 0 to {len(self.rows) - 1}.")
        card = card or self._dealer.card(who, row)
        shown = {"row": row, **self.rows.cells(row), "blind": False, "guess": self.guess(row)}
        shown["confidence"] = round(float(self.state.confidence[row]), 3)
        shown["label"] = self.book.labels.get(row)
        shown["flagged"] = row in self.book.flagged
        shown["reason"] = "" if card is None else card.reason
        if card is not None and card.is_blind:
            shown |= {"blind": True, "guess": None, "confidence": None, "label": None, "reason": ""}
        return shown

    def similar(self, row: int) -> list[dict[str, Any]]:
        """Return rows that are like one."""
        self.describe(row)
        near = similar_rows(self.rows.coordinates, row)
        return [{**self.rows.cells(other), "row": other, "label": self.book.labels.get(other)} for other in near]

    def overview(self, who: str = "") -> dict[str, Any]:
        """Return the figures above the page."""
        with self._lock:
            book, state = self.book, self.state
            agreement = book.agreement()
            return {
                "version": state.version,
                "rows": len(self.rows),
                "classes": list(book.classes),
                "n_labels": len(book.labels),
                "n_skipped": len(book.skipped),
                "n_flagged": len(book.flagged),
                "n_yours": book.n_by[who],
                "people": dict(book.n_by),
                "accuracy": None if state.accuracy is None else asdict(state.accuracy),
                "share_changed": state.share_changed,
                "trusted": asdict(state.trusted),
                "gain": state.gain,
                "agreement": {"n_rows": agreement.n_rows, "share": agreement.share, "kappa": agreement.kappa},
                "n_disputed": len(self.disputed()),
                "n_groups": len(state.groups),
                "updating": self._updater.busy,
                "problem": self.problem,
            }

    def disputed(self) -> list[dict[str, Any]]:
        """Return labels that people or the model disagree about."""
        by_people: list[dict[str, Any]] = [
            {"row": row, "label": self.book.labels[row], "other": self.book.second_by[row][1], "by": "people"}
            for row in self.book.agreement().disputed
        ]
        by_model: list[dict[str, Any]] = [
            {"row": row, "label": self.book.labels[row], "other": other, "by": "model"}
            for row, other, _ in self.state.disputed
            if row in self.book.labels and self.book.labels[row] != other
        ]
        return [{**one, "id": self.rows.ids[one["row"]]} for one in [*by_people, *by_model]]

    def groups(self) -> list[dict[str, Any]]:
        """Return groups of rows that nobody has named, each with a few typical rows."""
        listed = []
        for group in self.state.groups:
            rows = [row for row in group if not self.book.answered(row)]
            if rows:
                listed.append({"rows": rows, "typical": [self.describe(row) for row in rows[:5]]})
        return listed

    def sample(self, rows: Sequence[int], n: int = 10) -> list[int]:
        """Return some of many rows at random, to be checked before all are labelled."""
        rng = np.random.RandomState(len(rows))
        return sorted(rng.choice(np.asarray(rows), min(n, len(rows)), replace=False).tolist())

    def close(self) -> None:
        """End the updates, and let others write the journal."""
        self._updater.close()
        self.journal.close()


def check_name(name: Any) -> str:
    """Return the name of a class, without blanks around it."""
    if not isinstance(name, str) or not name.strip():
        raise BadRequest("A class needs a name.")
    name = str(name).strip()
    if len(name) > _LONGEST_NAME or name == "-1":
        raise BadRequest(
            f"{name[:20]!r} cannot be the name of a class: at most {_LONGEST_NAME} characters, and not -1."
        )
    return str(name)
