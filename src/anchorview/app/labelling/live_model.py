"""The model behind the page: it follows the labels, and says how good it is."""

from __future__ import annotations

import dataclasses
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ...core.arrays import ClassIds, Matrix, Rows
from ...data.views import Views
from ...fssmsc import FSSMSC
from ...readers.label_sources import SKIPPED, SOURCES, UNKNOWN
from ...readers.learning_curve import fit_learning_curve
from ...readers.novelty import fit_novelty, group_novel_rows
from ...readers.suggest import suggest_rows
from .given import GivenLabels
from .model_files import AboutRows, model_bytes, report_bytes
from .state import TARGET, Figures, State

_N_SUGGESTED = 200  # rows that wait for the people who label
_AHEAD, _LEAST_POINTS = 50, 4  # labels ahead that a gain is stated for; accuracies that it is read off
_MOST_GROUPS, _LEAST_GROUP = 20, 3
_MOST_DISPUTED = 100
_GROWTH = 2.0  # settings are chosen again when there are so many times more labels


class Learner(Protocol):
    """What the page asks of a model."""

    def update(self, given: GivenLabels) -> State:
        """Return the label of each row."""
        ...

    def judge(self, given: GivenLabels) -> Iterator[Figures]:
        """Return how good the labels are: more at each step."""
        ...

    def save(self, form: str) -> bytes:
        """Return a file of the model."""
        ...

    def close(self) -> None:
        """Let it go."""
        ...


class LiveModel:
    """The plain model, updated whenever labels come.

    Parameters
    ----------
    views : Views
        The rows.
    coordinates : ndarray of shape (n_rows, p)
        Unit rows, alike where rows are alike, that know no label.
    random_state : int
        Seed of the fits.
    n_jobs : int, optional
        Threads.
    model : FSSMSC, optional
        A model of these rows that holds them still; it is updated, instead of a new one.
    about : AboutRows, optional
        What files of the model tell of the rows.
    """

    def __init__(
        self,
        views: Views,
        coordinates: Matrix,
        random_state: int = 0,
        n_jobs: int | None = None,
        model: FSSMSC | None = None,
        about: AboutRows | None = None,
    ) -> None:
        self._about = about or AboutRows()
        self._views, self._coordinates, self._seed, self._jobs = views, coordinates, random_state, n_jobs
        self.model, self._n_chosen = model, np.inf if model is not None else 0
        self._followed: GivenLabels | None = None
        self._version, self._before = 0, np.full(len(coordinates), -1, dtype=np.intp)
        self._curve: dict[int, tuple[float, int]] = {}  # by number of labels: accuracy, and rows that it rests on
        self._lock = threading.RLock()  # update and judge may be called by two threads

    def update(self, given: GivenLabels) -> State:
        """Return the label of each row, by the model that knows these labels."""
        with self._lock:
            start = time.perf_counter()
            self._version += 1
            model = self._follow(given)
            rows = _rows(given)
            class_ids = _class_ids(model, given, len(self._coordinates), rows)
            confidence = class_ids >= 0 if model is None else model.confidence_
            was_open = np.ones(len(class_ids), dtype=bool)
            was_open[rows] = False
            was_open &= self._before >= 0
            changed = float((self._before != class_ids)[was_open].mean()) if was_open.any() else None
            self._before = class_ids
            seconds = time.perf_counter() - start
            disputed = [] if model is None else _disputed(model, given)
            return State(class_ids, confidence.astype(np.float32), changed, disputed, seconds, self._version)

    def _follow(self, given: GivenLabels) -> FSSMSC | None:
        """Bring the model to these labels; None before two classes have one.

        Landmarks and settings are chosen by the first labels, and again when there are twice as many.
        """
        if len(set(given.labels.values())) < 2:
            return None
        if self._followed is not given:
            y = _all_labels(given, len(self._coordinates))
            sources = _sources(given, len(y))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if self.model is not None and len(given.labels) < _GROWTH * self._n_chosen:
                    self.model.update(y, label_source=sources)
                else:
                    model = FSSMSC(random_state=self._seed, n_jobs=self._jobs, on_empty="drop")
                    self.model, self._n_chosen = model.fit(self._views, y, label_source=sources), len(given.labels)
            self._followed = given
        return self.model

    def judge(self, given: GivenLabels) -> Iterator[Figures]:
        """Return which rows to label next and which are new; then also how accurate the model is."""
        with self._lock:
            model = self._follow(given)
            rows = _rows(given)
            is_open = np.ones(len(self._coordinates), dtype=bool)
            is_open[[*rows.tolist(), *given.skipped]] = False
            confidence = np.zeros(len(is_open)) if model is None else model.confidence_
            figures = Figures(self._distance(rows), suggested=self._suggest(confidence, is_open, len(rows)))
            if model is not None:
                figures = self._with_novelty(figures, model, rows, is_open)
        yield figures
        if model is None:
            yield dataclasses.replace(figures, is_judged=True)
            return
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._follow(given)
            assert model is not None
            accuracy, trusted = model.expected_accuracy_, model.trusted_rows(TARGET)
            if accuracy is not None:
                self._curve[len(rows)] = accuracy.value, accuracy.n_judged
            n_more = None if len(trusted) else trusted.n_more
            gain = self._gain(len(rows))
        judged = Figures(figures.novelty, accuracy, len(trusted), n_more, gain, is_judged=True)
        yield figures.with_accuracy_of(judged)

    def _distance(self, rows: Rows) -> Matrix:
        """Return how far each row is from the nearest labelled one: what there is to say before there is a model."""
        nearest = np.full(len(self._coordinates), -1.0, dtype=np.float32)
        for start in range(0, len(rows), 1000):
            cosines = self._coordinates @ self._coordinates[rows[start : start + 1000]].T
            np.maximum(nearest, cosines.max(axis=1), out=nearest)
        novelty: Matrix = np.clip(1 - nearest, 0, 1).astype(np.float32)
        return novelty

    def _suggest(self, confidence: Matrix, is_open: Any, n_labels: int) -> list[tuple[int, str]]:
        n = min(_N_SUGGESTED, int(is_open.sum()))
        if n == 0:
            return []
        doubt = np.where(is_open, 1 - confidence, 0.0)
        chosen = suggest_rows(self._coordinates, doubt, is_open, n, n_labels, self._seed)
        return [(row, _reason(float(confidence[row]))) for row in chosen.tolist()]

    def _with_novelty(self, figures: Figures, model: FSSMSC, rows: Rows, is_open: Any) -> Figures:
        class_ids = np.full(len(is_open), -1, dtype=np.intp)
        class_ids[rows] = np.searchsorted(model.classes_, model.labels_[rows])
        found = fit_novelty(self._coordinates, class_ids, model.confidence_, model.held_out_, 1, self._seed)
        if found is None:
            return figures
        novelty = found.novelty(self._coordinates, model.confidence_)
        usual = float(np.median(np.unique(model.labels_[is_open], return_counts=True)[1])) if is_open.any() else 1.0
        groups = group_novel_rows(self._coordinates, novelty, is_open, usual, random_state=self._seed)
        listed = [(group.rows.tolist(), group.central.tolist()) for group in groups if group.size >= _LEAST_GROUP]
        return dataclasses.replace(figures, novelty=novelty.astype(np.float32), groups=listed[:_MOST_GROUPS])

    def _gain(self, n_labels: int) -> float | None:
        """Return how much accuracy the next 50 labels are expected to add; None if the accuracies do not tell."""
        counts = np.array(sorted(self._curve), dtype=np.float64)
        if len(counts) < _LEAST_POINTS or counts[-1] < 1.5 * counts[0] or 2 * n_labels < _AHEAD:
            return None
        accuracy, judged = (np.array([self._curve[int(n)][part] for n in counts], dtype=np.float64) for part in (0, 1))
        curve = fit_learning_curve(counts, accuracy, judged, n_labels)
        return max(0.0, curve.accuracy(n_labels + _AHEAD) - curve.accuracy(n_labels))

    def save(self, form: str) -> bytes:
        """Return the model as a file, or a report on it."""
        with self._lock:
            if self.model is None or self._followed is None:
                raise ValueError("There is no model yet: label rows of two classes first.")
            if form == "model":
                return model_bytes(self.model, self._about)
            y = _all_labels(self._followed, len(self._coordinates))
            return report_bytes(self.model, y, self._views, self._about)

    def close(self) -> None:
        """Keep the model as it is."""


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


def _rows(given: GivenLabels) -> Rows:
    return np.fromiter(given.labels, dtype=np.intp, count=len(given.labels))


def _all_labels(given: GivenLabels, n_rows: int) -> Any:
    y = np.full(n_rows, None, dtype=object)
    y[_rows(given)] = list(given.labels.values())
    return y


def _sources(given: GivenLabels, n_rows: int) -> Any:
    """Return where the label of each row comes from, in the library's words."""
    sources = np.full(n_rows, "", dtype=object)
    sources[list(given.skipped)] = SKIPPED
    for row in given.labels:
        source = given.sources.get(row, UNKNOWN)
        sources[row] = source if source in SOURCES else "lasso"  # a group that was named, too, got its labels at once
    return sources


def _class_ids(model: FSSMSC | None, given: GivenLabels, n_rows: int, rows: Rows) -> ClassIds:
    """Return the class of each row as its place on the page."""
    place = {name: number for number, name in enumerate(given.classes)}
    class_ids = np.full(n_rows, -1, dtype=np.intp)
    if model is not None:
        to_page = np.array([place[str(name)] for name in model.classes_.tolist()])
        known = np.isin(model.labels_, model.classes_)
        class_ids[known] = to_page[np.searchsorted(model.classes_, model.labels_[known])]
    class_ids[rows] = [place[given.labels[row]] for row in rows.tolist()]
    return class_ids


def _disputed(model: FSSMSC, given: GivenLabels) -> list[tuple[int, str]]:
    quality, likely = model.label_quality_, model._likely_class_ids
    rows = [row for row in np.argsort(quality)[:_MOST_DISPUTED].tolist() if quality[row] < 0.5 and likely[row] >= 0]
    named = [(row, str(model.classes_[likely[row]])) for row in rows]
    return [(row, name) for row, name in named if given.labels.get(row) not in (None, name)]


def _reason(confidence: float) -> str:
    if confidence <= 0:
        return "It stands for a group of similar rows."
    return "Mistakes are expected among rows like this one."
