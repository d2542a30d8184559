"""The model behind the page: it follows the labels, and says how good it is."""

from __future__ import annotations

import dataclasses
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ...core.arrays import ClassIds, Matrix, Rows
from ...data.views import Views
from ...fssmsc import FSSMSC
from ...readers.group_tree import GroupTree, make_group_tree
from ...readers.label_sources import SKIPPED
from ...readers.suggest import suggest_from
from .given import GivenLabels
from .model_files import AboutRows, model_bytes, report_bytes
from .state import TARGET, Figures, State, no_figures

_N_SUGGESTED = 200  # rows that wait for the people who label
_AHEAD = 50  # labels ahead that a gain is stated for
_MOST_GROUPS = 20
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
    views : Views or None
        The rows; None if a model is given.
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
    as_label : callable
        Turns the name of a class into a label of the model.
    """

    def __init__(
        self,
        views: Views | None,
        coordinates: Matrix,
        random_state: int = 0,
        n_jobs: int | None = None,
        model: FSSMSC | None = None,
        about: AboutRows | None = None,
        as_label: Callable[[str], Any] = str,
    ) -> None:
        self._as_label = as_label
        self._about = about or AboutRows()
        self._views, self._coordinates, self._seed, self._jobs = views, coordinates, random_state, n_jobs
        self.model, self._n_chosen = model, np.inf if model is not None else 0
        self._followed: GivenLabels | None = None
        self._version, self._before = 0, np.full(len(coordinates), -1, dtype=np.intp)
        self._groups: GroupTree | None = None
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
            was_open = self._before >= 0
            was_open[rows] = False
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
            y = self._labels(given)
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

    def _labels(self, given: GivenLabels) -> Any:
        y = np.full(len(self._coordinates), None, dtype=object)
        y[_rows(given)] = [self._as_label(name) for name in given.labels.values()]
        return y

    def judge(self, given: GivenLabels) -> Iterator[Figures]:
        """Return which rows to label next and which are new; then how accurate the model is; then what labels add."""
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._follow(given)
            figures = self._without_model(given) if model is None else self._first_figures(model)
        yield figures
        if model is None:
            return
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accuracy, trusted = model.expected_accuracy_, model.trusted_rows(TARGET)
        n_more = None if len(trusted) else trusted.n_more
        judged = Figures(figures.novelty, accuracy, len(trusted), n_more, is_judged=True)
        yield figures.with_accuracy_of(judged)
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve = model.learning_curve() if 2 * len(given.labels) >= _AHEAD else None
        gain = None if curve is None else curve.accuracy(curve.n_labels + _AHEAD) - curve.accuracy(curve.n_labels)
        yield figures.with_accuracy_of(dataclasses.replace(judged, gain=gain))

    def _first_figures(self, model: FSSMSC) -> Figures:
        novelty = model.novelty_
        groups = [(group.rows.tolist(), group.central.tolist()) for group in model.novel_groups_[:_MOST_GROUPS]]
        n = min(_N_SUGGESTED, int(np.count_nonzero(model._can_be_labelled & (model.label_source_ != SKIPPED))))
        suggestions = model.suggest_labels(n, audit=0, explain=True) if n else []
        row_of = {} if model._ids is None else {name: row for row, name in enumerate(model._ids.tolist())}
        suggested = [(row_of.get(one.row, one.row), one.reason) for one in suggestions]
        shown = np.zeros(len(self._coordinates)) if novelty is None else novelty
        return Figures(shown.astype(np.float32), suggested=suggested, groups=groups)

    def _without_model(self, given: GivenLabels) -> Figures:
        """Return rows to label before two classes have a label: the middles of groups."""
        n_rows = len(self._coordinates)
        is_open = np.ones(n_rows, dtype=bool)
        is_open[[*given.labels, *given.skipped]] = False
        n = min(_N_SUGGESTED, int(is_open.sum()))
        figures = dataclasses.replace(no_figures(n_rows), is_judged=True)
        if n == 0:
            return figures
        if self._groups is None:
            self._groups = make_group_tree(self._coordinates)
        rows = _rows(given)
        kept = suggest_from(
            self._groups, self._coordinates, np.ones(n_rows), is_open, n, n_labelled=len(rows), labelled=rows,
            n_classes=len(set(given.labels.values())),
        )  # fmt: skip
        reasons = [f"the middle of a group of {size:,} rows" for size in kept.sizes.tolist()]
        return dataclasses.replace(figures, suggested=list(zip(kept.rows.tolist(), reasons, strict=True)))

    def save(self, form: str) -> bytes:
        """Return the model as a file, or a report on it."""
        with self._lock:
            if self.model is None or self._followed is None:
                raise ValueError("There is no model yet: label rows of two classes first.")
            if form == "model":
                return model_bytes(self.model, self._about)
            y = self._labels(self._followed)
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


def _sources(given: GivenLabels, n_rows: int) -> Any:
    """Return where the label of each row comes from; "skipped" for rows that got none, "" for all others."""
    sources = np.full(n_rows, "", dtype=object)
    sources[list(given.sources)] = list(given.sources.values())
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
