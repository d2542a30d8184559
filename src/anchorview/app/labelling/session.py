"""One sitting: the journal, what it amounts to, the model that follows, and who labels what. It knows no HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...readers.audit import ExpectedAccuracy, audit_order
from ..label_journal.book import LabelBook
from ..label_journal.journal import Event, Journal
from .answers import BadRequest, check_name, is_key, read_answer
from .dealing import Card, Dealer
from .given import GivenLabels
from .live_model import Learner, similar_rows
from .rows import PageRows
from .state import TARGET, Figures, State, no_figures
from .updating import Updater

_MOST_LISTED = 100


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
        Labels of the run.
    guidelines : str
        What people should know before they label.
    name : str
        What the rows are called above the page.
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
        name: str = "",
    ) -> None:
        self.rows, self.journal, self.guidelines, self.name, self.model = rows, journal, guidelines, name, model
        self.state, self.figures = first, no_figures(len(rows))
        self._classes, self._given = list(classes), dict(given or {})
        self._lock = threading.RLock()
        self.book = LabelBook.replay(journal.events, self._classes, self._given)
        self._dealer = Dealer(audit_order(len(rows), journal.header.audit_seed))
        self.problem: str | None = None
        self._listeners: list[Callable[[str], None]] = []
        self._updater = Updater(lambda given: [model.update(given)], self._take_state, self._end_update)
        self._judge = Updater(model.judge, self._take_figures, self._end_update)
        self._updater.submit(self.labels())

    def labels(self) -> GivenLabels:
        """Return what is known, for the model."""
        book = self.book
        skipped = tuple({**book.skipped, **book.none})
        return GivenLabels(dict(book.labels), book.sources(), skipped, tuple(book.classes))

    @property
    def updating(self) -> bool:
        """Whether labels or figures will change without another label."""
        return self._updater.busy or self._judge.busy

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call a function with "state" or "labels" when these change; return what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, what: str) -> None:
        for listener in list(self._listeners):
            listener(what)

    def _take_state(self, state: State) -> None:
        with self._lock:
            self.state, self.problem = state, None
            self._judge.submit(self.labels())
        self._tell("state")

    def _take_figures(self, figures: Figures) -> None:
        with self._lock:
            if not figures.is_judged and self.figures.is_judged:
                figures = figures.with_accuracy_of(self.figures)  # that of the last labels stays until it is known
            self.figures = figures
            self._dealer.suggest(figures.suggested)
        self._tell("state")

    def _end_update(self, problem: str | None) -> None:
        if problem is not None:
            self.problem = problem
        self._tell("labels")

    def take(self, who: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Take what a person did: all of it, on the disk, or nothing. What was taken before is not taken twice."""
        with self._lock:
            new = [self._event(who, item) for item in items if not self._is_taken(item.get("key"))]
            if new:
                for event in self.journal.extend(new):
                    self.book._take(event, False)
                self._updater.submit(self.labels())
        if new:
            self._tell("labels")
        return self.overview(who)

    def take_over(self, events: Sequence[Event]) -> int:
        """Take events from elsewhere, but for those that were taken before; return how many are new."""
        with self._lock:
            new = [event for event in events if not self._is_taken(event.key)]
            if new:
                for event in self.journal.extend(new):
                    self.book._take(event, False)
                self._updater.submit(self.labels())
            return len(new)

    def _is_taken(self, key: Any) -> bool:
        return is_key(key) and key in self.book.keys

    def _event(self, who: str, item: dict[str, Any]) -> Event:
        asked = read_answer(item, len(self.rows), self.book.labels)
        card = self._dealer.card(who, asked.rows[0]) if len(asked.rows) == 1 else None
        chosen = asked.why or ("search" if card is None else card.why)
        is_new = len(asked.rows) == 1 and asked.rows[0] not in self.book.labels
        guess = self.guess(asked.rows[0]) if is_new else None
        return replace(asked, who=who, why=chosen, guess=guess, version=self.state.version)

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
                    self._dealer.put_back(who, undone.rows[0], undone.why)
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
            book, state, figures = self.book, self.state, self.figures
            agreement = book.agreement()
            return {
                "name": self.name,
                "version": state.version,
                "rows": len(self.rows),
                "classes": list(book.classes),
                "n_labels": len(book.labels),
                "n_skipped": len(book.skipped),
                "n_flagged": len(book.flagged),
                "n_yours": book.n_by[who],
                "people": dict(book.n_by),
                "accuracy": None if figures.accuracy is None else _accuracy(figures.accuracy),
                "share_changed": state.share_changed,
                "trusted": {"n_rows": figures.n_trusted, "target": TARGET, "n_more": figures.n_more},
                "gain": figures.gain,
                "agreement": {"n_rows": agreement.n_rows, "share": agreement.share, "kappa": agreement.kappa},
                "n_disputed": len(self.disputed()),
                "n_groups": len(self._open_groups()),
                "updating": self._updater.busy,
                "judging": self._judge.busy,
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
            for row, other in self.state.disputed
            if self.book.labels.get(row, other) != other and row not in self.book.reviewed
        ]
        return [*by_people, *by_model]

    def describe_disputed(self) -> list[dict[str, Any]]:
        """Return disputed labels with what is shown of their rows."""
        return [{**self.rows.cells(one["row"]), **one} for one in self.disputed()[:_MOST_LISTED]]

    def _open_groups(self) -> list[tuple[list[int], list[int]]]:
        """Return groups whose typical rows have no label yet."""
        answered = self.book.answered
        return [(rows, typical) for rows, typical in self.figures.groups if not any(map(answered, typical))]

    def groups(self) -> list[dict[str, Any]]:
        """Return groups of rows that nobody has named, each with a few typical rows."""
        with self._lock:
            listed = []
            for rows, typical in self._open_groups():
                left = [row for row in rows if not self.book.answered(row)]
                listed.append({"rows": left, "size": len(left), "typical": [self.describe(row) for row in typical]})
            return listed

    def sample(self, rows: Sequence[int], n: int = 10) -> dict[str, Any]:
        """Return some of many rows at random, to be checked before all that have no label get one."""
        with self._lock:
            left = np.array([row for row in rows if row not in self.book.labels], dtype=np.intp)
            drawn = np.sort(np.random.RandomState(len(left)).permutation(left)[:n])
            places, counts = np.unique(self.state.class_ids[left], return_counts=True)
            order = [number for number in np.argsort(-counts) if 0 <= places[number] < len(self.book.classes)]
            guesses = [(self.book.classes[places[number]], counts[number] / len(left)) for number in order]
            return {"n": len(left), "sample": [self.describe(row) for row in drawn.tolist()], "guesses": guesses}

    def close(self) -> None:
        """End the updates, and let others write the journal."""
        self._updater.close()
        self._judge.close()
        self.model.close()
        self.journal.close()


def _accuracy(found: ExpectedAccuracy) -> dict[str, Any]:
    ends = {"value": found.value, "low": found.low, "high": found.high, "level": found.level}
    return {**ends, "n": found.n_judged, "n_skipped": found.n_skipped, "rests_on": found.rests_on}
