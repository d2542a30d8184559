"""What all baselines share: the forms of input, checks, scaling, progress and the attributes of a fit."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from ..core.arrays import AnyMatrix, ClassIds, Matrix, Rows
from ..core.checks import Number, check_number, check_parameters, make_random_state
from ..core.progress import CallbackSupportMixin, Iteration, Progress, with_callbacks
from ..data.labels import encode_labels
from ..data.validation import column_of, read_views
from ..data.views import Views
from ..engine.blocks import count_threads, one_blas_thread
from ..features.scaling import check_finite
from ._graph_builder import GraphBuilder
from ._matrix import one_hot
from ._parameters import SharedParameters, method, parameter
from ._scaling import check_scaling, scale_views


@dataclass
class Task:
    """What a method works on: scaled views, and the means to draw numbers and to report."""

    views: list[AnyMatrix]
    names: list[str]
    rng: np.random.RandomState
    n_threads: int
    progress: Progress

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.views[0].shape[0])

    def report(self, number: int, objective: float, change: float) -> bool:
        """Report a finished round; True if a callback asks to stop."""
        return self.progress.end_round(Iteration(number, objective, change))


@dataclass(frozen=True)
class Labels:
    """The class number of each row, −1 where it is not known."""

    class_ids: ClassIds
    n_classes: int

    @property
    def labelled(self) -> Rows:
        """Numbers of the labelled rows, ascending."""
        return np.flatnonzero(self.class_ids >= 0)

    @property
    def unlabelled(self) -> Rows:
        """Numbers of the other rows, ascending."""
        return np.flatnonzero(self.class_ids < 0)

    @property
    def targets(self) -> Matrix:
        """One row per labelled row, with a one at its class."""
        return one_hot(self.class_ids[self.labelled], self.n_classes)


class _MultiViewEstimator(SharedParameters, CallbackSupportMixin, BaseEstimator, ABC):
    """Reading, checking and scaling of the views."""

    max_iter: int  # of methods that make rounds, as is `tol`
    tol: float
    _graphs = GraphBuilder()  # the bench sets one that keeps graphs from fit to fit
    labels_: npt.NDArray[Any]
    n_iter_: int
    objective_history_: npt.NDArray[np.float64]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse views will do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any) -> Views:
        check_parameters(self, self._rules)
        views = read_views(self, X, reset=True)
        check_scaling(views, self.scaling)
        check_finite(views)
        return views

    def _begin(self, views: Views) -> Task:
        progress = Progress(self, self.verbose, self._max_rounds(len(views.names)), getattr(self, "tol", -1.0))
        progress.log(f"{type(self).__name__}: {views!r}")
        return Task(
            scale_views(views, self.scaling),
            list(views.names),
            make_random_state(self.random_state),
            count_threads(self.n_jobs),
            progress,
        )

    def _max_rounds(self, n_views: int) -> int:
        return int(getattr(self, "max_iter", 1))

    def _iterate(
        self, task: Task, one_round: Callable[[], float], *, first_check: int = 2, expected: bool = False
    ) -> None:
        """Repeat rounds, each of which returns the objective, until that converges, and `_record` them.

        From round `first_check` on they end when the objective changes by no more than `tol` of itself. If an end at
        `max_iter` is `expected` there is no warning.
        """
        history: list[float] = []
        while True:
            history.append(one_round())
            change = relative_change(history)
            stop = task.report(len(history), history[-1], change)
            converged = len(history) >= first_check and change <= self.tol
            if converged or stop or len(history) >= self.max_iter:
                break
        self._record(history, converged=converged or stop or expected, stacklevel=6)

    def _record(self, history: Sequence[float], *, converged: bool = True, stacklevel: int = 5) -> None:
        """Keep the objective of each round, and warn if the rounds ended before they had converged."""
        self.objective_history_ = np.asarray(history, dtype=np.float64)
        self.n_iter_ = len(self.objective_history_)
        if not converged:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.n_iter_} before it converged; increase "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,  # the line that calls `fit`
            )


@method
class MultiViewClusterer(ClusterMixin, _MultiViewEstimator):
    """A method without labels; subclasses implement `_cluster`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster number of each row.
    """

    n_clusters: int | None = parameter(None, Number(1, integer=True, optional=True))

    @abstractmethod
    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        """Return a cluster number per row and `_record` the rounds."""

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views; a 2-D array or DataFrame is cut by the parameter `views`.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
        """
        with whole_or_nothing(self):
            views = self._read(X)
            if self.n_clusters is None:
                raise ValueError(f"{type(self).__name__} needs the number of clusters: pass n_clusters.")
            if len(views) < self.n_clusters:
                raise ValueError(f"n_samples={len(views)} should be >= n_clusters={self.n_clusters}.")
            self._check_sizes(views, int(self.n_clusters))
            task = self._begin(views)
            with one_blas_thread():
                self.labels_ = self._cluster(task, int(self.n_clusters))
            task.progress.finish()
        return self

    def _check_sizes(self, views: Views, n_clusters: int) -> None:
        """Raise an error for numbers that do not go with these views; methods add their own."""


class SemiSupervisedMultiView(_MultiViewEstimator):
    """A method that carries labels to the unlabelled rows of its input; subclasses implement `_classify`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class of each row; labelled rows keep theirs.
    classes_ : ndarray
        The labelled classes, sorted.
    """

    classes_: npt.NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        """Return a class number per row (those of labelled rows do not matter) and `_record` the rounds."""

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Label every row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views; a 2-D array or DataFrame is cut by the parameter `views`.
        y : array-like of shape (n_rows,)
            Labels; -1 (None or "" among strings) where there is none. Rows can only get classes that occur in it.

        Returns
        -------
        self
        """
        with whole_or_nothing(self):
            views = self._read(X)
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None; "
                    "give labels, -1 where there is none."
                )
            classes, class_ids = encode_labels(column_of(X, y, "y"), len(views), ids=views.ids)
            if len(classes) < 2:
                raise ValueError(
                    f"{'No row' if len(classes) == 0 else 'Only one class'} is labelled; "
                    f"{type(self).__name__} needs labelled rows of at least two classes."
                )
            task = self._begin(views)
            with one_blas_thread():
                chosen = np.asarray(self._classify(task, Labels(class_ids, len(classes))), dtype=np.intp)
            self.classes_ = classes
            self.labels_ = classes[np.where(class_ids >= 0, class_ids, chosen)]
            task.progress.finish()
        return self

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[Any]:
        """Fit and return ``labels_``.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views.
        y : array-like of shape (n_rows,)
            Labels, -1 where there is none.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: npt.NDArray[Any] = self.fit(X, y).labels_
        return labels


@contextmanager
def whole_or_nothing(model: Any) -> Iterator[None]:
    """Put an estimator back as it was if a fit fails or is interrupted: the old model, or none."""
    before = dict(model.__dict__)
    try:
        yield
    except BaseException:
        kept = {name: value for name, value in model.__dict__.items() if "callback" in name}  # closed after this
        model.__dict__.clear()
        model.__dict__.update(before | kept)
        raise


def check_anchors(n_anchors: int | None, n_clusters: int, n_rows: int) -> int:
    """Return the number of anchors, by default as many as clusters, or raise an error."""
    if n_anchors is None:
        return n_clusters
    check_number("n_anchors", n_anchors, n_clusters, integer=True)
    if n_anchors > n_rows:
        raise ValueError(f"n_anchors={n_anchors} is above the {n_rows} rows; anchors are means of distinct rows.")
    return int(n_anchors)


def relative_change(history: Sequence[float]) -> float:
    """Change of the objective in the last round, relative to its value before; infinity after the first round."""
    if len(history) < 2:
        return np.inf
    return float(abs(history[-2] - history[-1]) / max(abs(history[-2]), np.finfo(np.float64).tiny))
