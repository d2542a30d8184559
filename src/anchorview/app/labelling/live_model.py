"""The model behind the page: rows, classes and places, and what other labels make of them.

The page knows this file only.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...core.arrays import ClassIds, Matrix, Rows
from ...data.views import Views
from ...fssmsc import FSSMSC
from ...readers.suggest import suggest_rows
from .audit import AuditAccuracy, Trusted, audit_accuracy, hidden_accuracy, trusted_rows
from .given import GivenLabels
from .learning_curve import expected_gain

TARGET = 0.95
_NO_ROWS = Trusted(0, TARGET, None, None)
_N_SUGGESTED = 200  # rows that wait for the people who label
_N_GROUPS, _LEAST_GROUP = 12, 5
_MOST_DISPUTED = 100
_GROWTH = 2.0  # settings are chosen again when there are so many times more labels


@dataclass(frozen=True, eq=False)
class State:
    """What the model says at one moment; every field is plain, so that it travels between processes.

    Parameters
    ----------
    class_ids : ndarray of int of shape (n_rows,)
        Class of each row as a place in `Labels.classes`, −1 for none.
    confidence, novelty : ndarray of float32 of shape (n_rows,)
        Probability of that class; how unlike all labelled rows a row is, from 0 to 1.
    accuracy : AuditAccuracy or None
        What to expect of rows without a label.
    share_changed : float or None
        Share of the rows whose class is another one than in the state before.
    trusted : Trusted
        Rows that are right with the target probability.
    gain : float or None
        What the next 50 labels are expected to add to the accuracy; None if that cannot be told.
    suggested : list of (int, str)
        Rows to label next, with the reason.
    disputed : list of (int, str, float)
        Labelled rows, the class that the model prefers, and its probability of the label given.
    groups : list of list of int
        Groups of rows that are unlike all labelled ones.
    seconds : float
        Time that the update took.
    """

    class_ids: ClassIds
    confidence: Matrix
    novelty: Matrix
    accuracy: AuditAccuracy | None = None
    share_changed: float | None = None
    trusted: Trusted = _NO_ROWS
    gain: float | None = None
    suggested: list[tuple[int, str]] = field(default_factory=list)
    disputed: list[tuple[int, str, float]] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    seconds: float = 0.0
    version: int = 0


class Learner(Protocol):
    """What the page asks of a model."""

    def update(self, given: GivenLabels) -> State:
        """Return what these labels lead to."""
        ...


class LiveModel:
    """The plain model, updated whenever labels come.

    Parameters
    ----------
    views : Views
        The rows.
    coordinates : ndarray of shape (n_rows, p)
        Unit rows, alike where rows are alike, that know no label.
    permutation : ndarray of int of shape (n_rows,)
        The order in which rows are audited.
    random_state : int
        Seed of the fits.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self, views: Views, coordinates: Matrix, permutation: Rows, random_state: int = 0, n_jobs: int | None = None
    ) -> None:
        self._views, self._coordinates, self._permutation = views, coordinates, permutation
        self._seed, self._jobs = random_state, n_jobs
        self._n_chosen, self._version = 0, 0
        self._before: ClassIds | None = None
        self._history: list[tuple[int, float]] = []
        self.model: FSSMSC | None = None

    def update(self, given: GivenLabels) -> State:
        """Fit with these labels."""
        start = time.perf_counter()
        self._version += 1
        place = {name: number for number, name in enumerate(given.classes)}
        rows = np.fromiter(given.labels, dtype=np.intp, count=len(given.labels))
        named = [given.labels[row] for row in rows.tolist()]
        novelty = self._novelty(rows)
        if len(set(named)) < 2:
            return self._without_model(given, rows, place, novelty, start)
        y = np.full(len(self._views), None, dtype=object)
        y[rows] = named
        model = self._fit(y, len(rows))
        to_page = np.array([place[str(name)] for name in model.classes_.tolist()])
        known = np.isin(model.labels_, model.classes_)
        class_ids = np.full(len(y), -1, dtype=np.intp)
        class_ids[known] = to_page[np.searchsorted(model.classes_, model.labels_[known])]
        judged = _judged(model, given)
        audit = audit_accuracy(self._permutation, given, judged)
        accuracy = audit if audit is not None else hidden_accuracy(model)
        if accuracy is not None:
            self._history.append((len(rows), accuracy.share))
        changed = None if self._before is None else float((self._before != class_ids).mean())
        self._before = class_ids
        confidence = model.confidence_.astype(np.float32)
        return State(
            class_ids,
            confidence,
            novelty,
            accuracy,
            changed,
            trusted_rows(self._permutation, given, judged, model, TARGET),
            expected_gain(self._history, len(rows)),
            self._suggest(confidence, given),
            _disputed(model, given),
            self._groups(novelty, given),
            time.perf_counter() - start,
            self._version,
        )

    def _without_model(
        self, given: GivenLabels, rows: Rows, place: Mapping[str, int], novelty: Matrix, start: float
    ) -> State:
        """Return what there is to say before two classes have a label."""
        class_ids = np.full(len(self._views), -1, dtype=np.intp)
        class_ids[rows] = [place[given.labels[row]] for row in rows.tolist()]
        confidence = (class_ids >= 0).astype(np.float32)
        suggested = self._suggest(confidence, given)
        seconds = time.perf_counter() - start
        return State(class_ids, confidence, novelty, suggested=suggested, seconds=seconds, version=self._version)

    def _fit(self, y: Any, n_labels: int) -> FSSMSC:
        """Fit; landmarks and settings are chosen by the first labels, and again when there are twice as many."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.model is not None and n_labels < _GROWTH * self._n_chosen:
                self.model.update(y)
                return self.model
            model = FSSMSC(random_state=self._seed, n_jobs=self._jobs, on_empty="drop")
            model.fit(self._views, y)
        self.model, self._n_chosen = model, n_labels
        return model

    def _novelty(self, rows: Rows) -> Matrix:
        """Return how far each row is from the nearest labelled one: 0 is the same direction, 1 at a right angle."""
        nearest = np.full(len(self._coordinates), -1.0, dtype=np.float32)
        for start in range(0, len(rows), 1000):
            cosines = self._coordinates @ self._coordinates[rows[start : start + 1000]].T
            np.maximum(nearest, cosines.max(axis=1), out=nearest)
        novelty: Matrix = np.clip(1 - nearest, 0, 1).astype(np.float32)
        return novelty

    def _suggest(self, confidence: Matrix, given: GivenLabels) -> list[tuple[int, str]]:
        is_open = np.ones(len(confidence), dtype=bool)
        is_open[list(given.labels)] = False
        is_open[list(given.skipped)] = False
        n = min(_N_SUGGESTED, int(is_open.sum()))
        if n == 0:
            return []
        doubt = np.where(is_open, 1 - confidence, 0.0)
        chosen = suggest_rows(self._coordinates, doubt, is_open, n, len(given.labels), self._seed)
        return [(row, _reason(float(confidence[row]))) for row in chosen.tolist()]

    def _groups(self, novelty: Matrix, given: GivenLabels) -> list[list[int]]:
        """Return groups of rows that are farther from every label than nearly all labels are from one another."""
        from sklearn.cluster import KMeans

        rows = np.array(sorted(given.labels))
        own = self._coordinates[rows] @ self._coordinates[rows].T
        np.fill_diagonal(own, -1)
        far = np.flatnonzero(novelty > np.quantile(1 - own.max(axis=1), 0.95))
        if len(far) < 2 * _LEAST_GROUP:
            return []
        rng = np.random.RandomState(self._seed)
        some = far if len(far) <= 5000 else np.sort(rng.choice(far, 5000, replace=False))
        count = min(_N_GROUPS, len(some) // _LEAST_GROUP)
        found = KMeans(count, n_init=1, random_state=rng).fit(self._coordinates[some])
        distance = np.linalg.norm(self._coordinates[some] - found.cluster_centers_[found.labels_], axis=1)
        listed = [
            some[members[np.argsort(distance[members])]].tolist()
            for members in (np.flatnonzero(found.labels_ == number) for number in range(count))
            if len(members) >= _LEAST_GROUP
        ]
        return sorted(listed, key=len, reverse=True)


def similar_rows(coordinates: Matrix, row: int, n: int = 6) -> list[int]:
    """Return the rows most alike to one, the most alike first.

    Examples
    --------
    >>> import numpy as np
    >>> similar_rows(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]), 0, 1)
    [2]
    """
    cosines = coordinates @ coordinates[row]
    cosines[row] = -np.inf
    n = min(n, len(cosines) - 1)
    best = np.argpartition(-cosines, n - 1)[:n] if n else np.empty(0, dtype=np.intp)
    listed: list[int] = best[np.argsort(-cosines[best])].tolist()
    return listed


def _judged(model: FSSMSC, given: GivenLabels) -> dict[int, str]:
    """Return what models that did not see the label of a row say of it."""
    judged = {row: guess for row, guess in given.guesses.items() if guess is not None and row in given.labels}
    held_out = model.held_out_
    if held_out is not None:
        names = model.classes_[held_out.guessed].tolist()
        judged |= dict(zip(held_out.rows.tolist(), map(str, names), strict=True))
    return judged


def _disputed(model: FSSMSC, given: GivenLabels) -> list[tuple[int, str, float]]:
    quality, likely = model.label_quality_, model._likely_class_ids
    rows = [row for row in np.argsort(quality)[:_MOST_DISPUTED].tolist() if quality[row] < 0.5 and likely[row] >= 0]
    found = [(row, str(model.classes_[likely[row]]), float(quality[row])) for row in rows]
    return [(row, name, value) for row, name, value in found if given.labels.get(row) != name]


def _reason(confidence: float) -> str:
    if confidence <= 0:
        return "It stands for a group of similar rows."
    return f"The model expects mistakes among rows like this one (confidence {confidence:.0%})."
