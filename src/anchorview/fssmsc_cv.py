"""`FSSMSCCV`: the model tuned on nothing but the labels it is given, and averaged over its best settings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .crossfit import split_labels
from .engine.parallel import count_threads
from .missing import check_no_empty_view
from .plan import count_landmarks
from .progress import Progress
from .suggesting import LabelSuggester
from .suggestions import open_rows
from .supervision_input import check_weights, read_supervision, row_weights
from .tuning.ensemble import Ensemble
from .tuning.experts import ExpertGroup, count_votes
from .tuning.search import averaged_hidden, best_on_codes, choose, search
from .tuning.settings import Setting, scalings_to_try
from .tuning.summary import cv_results, data_fingerprint
from .tuning.task import Judgement, Task
from .tuning.voting import average_temperature, settle
from .validation import check_number
from .view_reader import ViewReader, mark_unknown
from .views import ColumnGroups, Views

__all__ = ["FSSMSCCV"]

_FEW_LABELS = 50  # below this the judgement of one round of folds is too noisy


class FSSMSCCV(ViewReader, LabelSuggester, ClassifierMixin, BaseEstimator):
    """FSSMSC with its settings chosen by cross-validation on the labels given, the best of them averaged.

    Part of the labels is hidden, and settings are judged by how well they find it: scaling, λ_Z, μ, λ_M and what reads
    the labels (nearest labelled rows of the embedding, a logistic regression on the embedding, on the codes, or on
    the scaled features, or labels spread over a graph of neighbours). All rows stay in every fit; landmarks, products
    and codes are computed once for all settings that share them. Settings that together do best are averaged, and
    fitted once more with the rows they are sure of. With few labels the judgement is drawn towards the defaults of
    :class:`FSSMSC`. The graph is left out above 50,000 rows.

    Parameters
    ----------
    n_landmarks : int or sequence of int, default=500
        Number of landmarks; lowered to a third of the number of rows if there are fewer than three per landmark. Of
        several numbers the first is searched in full, and the others are tried with the best setting.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`Views`.
    scaling : str, sequence of str or None, default=None
        Scalings to try; by default all that suit the views.
    n_averaged : int, default=10
        Settings of different kinds whose probabilities are averaged; as many picks again go to those, of any kind, that
        help the average most.
    n_splits : int, default=3
        Folds of the labelled rows.
    n_repeats : int, optional
        How often the labelled rows are dealt out to folds; by default twice below 50 of them, else once.
    on_empty : {"error", "drop"}, default="error"
        Rows without any view: an error, or the label -1.
    warm_start : bool, default=False
        Keep the judgements of an earlier (perhaps interrupted) fit on the same data and go on from there.
    random_state : int, RandomState or None, default=None
        Landmarks and folds.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Log each setting.

    Attributes
    ----------
    labels_, confidence_ : ndarray of shape (n_rows,)
        Class of each row and its probability; labelled rows keep their label, with confidence 1.
    classes_ : ndarray
        The labelled classes, sorted.
    best_params_ : dict
        The setting with the best judgement.
    best_score_ : float
        Accuracy on hidden labels of that setting.
    cv_results_ : dict
        One entry per setting judged, in the form of ``GridSearchCV``, with the log loss on hidden labels as
        ``mean_test_loss``.
    averaged_ : list of dict
        The settings whose probabilities are averaged, with their weights.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of the best setting that has some.
    n_features_in_ : int
        Features of all views together.

    Examples
    --------
    >>> from anchorview import FSSMSCCV, datasets
    >>> digits = datasets.load_handwritten()
    >>> rows = slice(0, 2000, 4)
    >>> y = datasets.hide_labels(digits.target[rows], 0.1, random_state=0)
    >>> model = FSSMSCCV(n_landmarks=100, n_repeats=1, random_state=0).fit(digits.views[rows], y)
    >>> float((model.labels_ == digits.target[rows]).mean()) > 0.9
    True
    """

    _judged: dict[Setting, Judgement]
    _folds: list[npt.NDArray[np.intp]]
    _seed: int

    def __init__(
        self,
        n_landmarks: int | Sequence[int] = 500,
        *,
        views: ColumnGroups | None = None,
        scaling: Any = None,
        n_averaged: int = 10,
        n_splits: int = 3,
        n_repeats: int | None = None,
        on_empty: str = "error",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.views = views
        self.scaling = scaling
        self.n_averaged = n_averaged
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.on_empty = on_empty
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Search, and label every row.

        An interrupt (Ctrl-C) during the search ends it: the settings judged so far are used, and with ``warm_start``
        the next fit on the same data goes on.

        Parameters
        ----------
        X : Views, list or dict of arrays, MuData, or array-like of shape (n_rows, n_features)
            The views, dense or sparse; rows may lack views.
        y : array-like of shape (n_rows,)
            Labels; -1 (None or "" among strings) where there is none. At least two labelled rows in some class.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in landmarks and smoothness.

        Returns
        -------
        self
        """
        for name, low in (("n_averaged", 1), ("n_splits", 2), ("n_repeats", 1)):
            if not (name == "n_repeats" and self.n_repeats is None):
                check_number(name, getattr(self, name), low, integer=True)
        for number in self._landmark_counts():
            check_number("n_landmarks", number, 1, integer=True)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; to cluster without labels "
                "use FSSMSC with n_clusters."
            )
        views = self._read_views(X, reset=True)
        present, empty = self._find_present(views)
        weights = check_weights(sample_weight, len(views))
        check_no_empty_view(present, views.names, weights)
        weights = row_weights(weights, present)
        known = read_supervision(y, None, views, empty)
        if known.n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; got {known.n_classes} "
                "class(es). This solver needs samples of at least 2 classes in the data."
            )
        rng = check_random_state(self.random_state)
        scalings = scalings_to_try(views) if self.scaling is None else np.atleast_1d(self.scaling).tolist()
        task = self._make_task(views, present, weights, known.codes, known.n_classes, scalings[0], rng)
        base = Setting(scaling=scalings[0], n_landmarks=task.n_landmarks)
        progress = Progress(self, self.verbose, 1, 0.0)
        task.report = progress.log
        self._search(task, base, scalings)
        judgements = sorted(task.judged.values(), key=lambda judgement: judgement.belief)
        chosen = choose(task, judgements, self.n_averaged)
        progress.log(f"averaging {len(chosen)} of {len(judgements)} settings")
        ensemble = Ensemble(task)
        ensemble.add(chosen, task.rows, task.classes)
        ensemble.add_sure_rows(chosen)
        self._groups: list[ExpertGroup] = list(ensemble.groups.values())
        self.codes_ = task.code_set(best_on_codes(task, base)).codes
        self._ids, self._can_be_labelled = views.ids, open_rows(known.codes, empty, weights)
        self.classes_ = known.classes
        self._temperature = average_temperature(averaged_hidden(chosen), task.classes[task.judged_rows])
        self._label_rows(settle(ensemble.votes(), self._temperature), empty, known.codes)
        self.cv_results_ = cv_results(judgements)
        self.best_params_ = judgements[0].setting.parameters()
        self.best_score_ = judgements[0].accuracy
        self.averaged_ = [{**judgement.setting.parameters(), "weight": weight} for judgement, weight in chosen]
        progress.finish()
        return self

    def _landmark_counts(self) -> list[Any]:
        """Numbers of landmarks to try, at least one."""
        found: list[Any] = np.atleast_1d(np.asarray(self.n_landmarks)).tolist()
        return found or [0]

    def _make_task(
        self,
        views: Views,
        present: npt.NDArray[np.bool_] | None,
        weights: npt.NDArray[np.float64] | None,
        codes: npt.NDArray[np.intp],
        n_classes: int,
        default_scaling: Any,
        rng: np.random.RandomState,
    ) -> Task:
        rows = np.flatnonzero(codes >= 0)
        seed = int(rng.randint(2**31 - 1))
        n_repeats = self.n_repeats or (2 if len(rows) < _FEW_LABELS else 1)
        folds = [fold for _ in range(n_repeats) for fold in split_labels(codes[rows], self.n_splits, rng)]
        if not folds:
            raise ValueError("Every class has a single labelled row, so none can be hidden to judge by; use FSSMSC.")
        n_rows = len(views) if weights is None else int(np.count_nonzero(weights))
        counts = [count_landmarks(number, n_rows, n_classes, []) for number in self._landmark_counts()]
        task = Task(
            views=views,
            present=present,
            weights=weights,
            rows=rows,
            classes=codes[rows],
            n_classes=n_classes,
            n_landmarks=counts[0],
            other_n_landmarks=counts[1:],
            default_scaling=default_scaling,
            folds=folds,
            seed=seed,
            n_threads=count_threads(self.n_jobs),
            report=lambda message: None,
        )
        print_of_data = data_fingerprint(views, codes, self.get_params())
        if self.warm_start and getattr(self, "_data_fingerprint", None) == print_of_data:
            task.judged, task.folds, task.seed = self._judged, self._folds, self._seed
        self._data_fingerprint, self._judged = print_of_data, task.judged
        self._folds, self._seed = task.folds, task.seed
        return task

    def _search(self, task: Task, base: Setting, scalings: list[Any]) -> None:
        try:
            search(task, base, scalings)
            self.interrupted_ = False
        except KeyboardInterrupt:
            if not task.judged:
                raise
            self.interrupted_ = True
            warnings.warn(
                f"The search was interrupted after {len(task.judged)} settings; the best of these are used. "
                "Fit again with warm_start=True to go on.",
                UserWarning,
                stacklevel=3,
            )

    def _label_rows(
        self,
        probabilities: npt.NDArray[np.floating],
        empty: npt.NDArray[np.bool_] | None,
        codes: npt.NDArray[np.intp],
    ) -> None:
        numbers = probabilities.argmax(axis=1)
        labelled = np.flatnonzero(codes >= 0)
        numbers[labelled] = codes[labelled]
        self.labels_ = self.classes_[numbers]
        self.confidence_ = probabilities.max(axis=1)
        self.confidence_[labelled] = 1.0
        if empty is not None:
            self.labels_ = mark_unknown(self.labels_, empty)
            self.confidence_[empty] = 0.0

    def predict_proba(self, X: Any) -> npt.NDArray[np.floating]:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self._probabilities(X)[0]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        probabilities, empty = self._probabilities(X)
        predicted: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted if empty is None else mark_unknown(predicted, empty)

    def _probabilities(self, X: Any) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.bool_] | None]:
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        present, empty = self._find_present(views)
        n_threads = count_threads(self.n_jobs)
        votes = count_votes(self._groups, views, present, len(self.classes_), n_threads)
        return settle(votes, self._temperature), empty
