"""`FSSMSCCV`: the model tuned on nothing but the labels it is given, and averaged over its best settings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .base import FitInput, MultiViewClassifier
from .core.arrays import Matrix, Presence, Rows
from .core.checks import Choice, Number, check_number, check_parameters, make_random_state
from .core.progress import Progress
from .data.labels import split_labels
from .data.reading import ColumnGroups
from .data.views import Views
from .engine.blocks import count_threads
from .features.auto import resolve_scaling
from .plan import count_landmarks
from .tuning.ensemble import Ensemble
from .tuning.experts import ExpertGroup, count_votes
from .tuning.options import SearchOptions, make_options
from .tuning.search import averaged_hidden, best_on_codes, choose_averaged, search
from .tuning.search_data import Judgement, SearchData
from .tuning.settings import Scaling, Setting, one_name, scalings_to_try
from .tuning.summary import cv_results, data_fingerprint
from .tuning.voting import average_temperature, settle

__all__ = ["FSSMSCCV"]

_RULES: dict[str, Number | Choice] = {
    "n_averaged": Number(1, integer=True),
    "n_splits": Number(2, integer=True),
    "n_repeats": Number(1, integer=True, optional=True),
    "n_jobs": Number(-(2**20), integer=True, optional=True),
    "on_empty": Choice(("error", "drop")),
    "warm_start": Choice((False, True)),
}


class FSSMSCCV(MultiViewClassifier):
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
    unlabelled : object, optional
        A value of `y` that means "no label", besides -1, NaN, None and "": "unknown", say.
    search_options : dict, optional
        Constants of the search to change, by name: see :class:`anchorview.tuning.options.SearchOptions`.
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

    _kept_after_failure = ("_judged", "_folds", "_seed", "_data_fingerprint")  # for warm_start
    _judged: dict[Setting, Judgement]
    _folds: list[Rows]
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
        unlabelled: Any = None,
        search_options: dict[str, Any] | None = None,
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
        self.unlabelled = unlabelled
        self.search_options = search_options
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
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views, dense or sparse; rows may lack views.
        y : array-like of shape (n_rows,)
            Labels; -1 (None or "" among strings) where there is none. At least two labelled rows in some class.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in landmarks and smoothness.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            self._restore(before)
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_parameters(self, _RULES)
        for number in self._landmark_counts():
            check_number("n_landmarks", number, 1, integer=True)
        options = make_options(self.search_options)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; to cluster without labels "
                "use FSSMSC with n_clusters."
            )
        given = self._read_input(X, y, sample_weight)
        classes = given.known.classes
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; got {len(classes)} "
                "class(es). This solver needs samples of at least 2 classes in the data."
            )
        progress = Progress(self, self.verbose, 1, 0.0)
        scalings = self._scalings(given.views, options)
        data = self._search_data(given, options, scalings[0], progress)
        base = Setting(scaling=scalings[0], n_landmarks=data.n_landmarks)
        self._search(data, base, scalings)
        judgements = sorted(data.judged.values(), key=lambda judgement: judgement.belief)
        chosen = choose_averaged(data, judgements, self.n_averaged)
        progress.log(f"averaging {len(chosen)} of {len(judgements)} settings")
        ensemble = Ensemble(data)
        ensemble.add(chosen, data.rows, data.class_ids)
        if options.second_fit:
            ensemble.add_sure_rows(chosen)
        self._groups: list[ExpertGroup] = list(ensemble.groups.values())
        self.codes_ = data.code_set(best_on_codes(data, base)).codes
        self.classes_ = classes
        self._temperature = average_temperature(averaged_hidden(chosen), data.class_ids[data.judged_rows])
        self._label_rows(given, settle(ensemble.votes(), self._temperature))
        self.cv_results_ = cv_results(judgements)
        self.best_params_ = judgements[0].setting.parameters()
        self.best_score_ = judgements[0].accuracy
        self.averaged_ = [{**judgement.setting.parameters(), "weight": weight} for judgement, weight in chosen]
        progress.finish()
        return self

    def _landmark_counts(self) -> list[Any]:
        """Numbers of landmarks to try, at least one."""
        counts: list[Any] = np.atleast_1d(np.asarray(self.n_landmarks)).tolist()
        return counts or [0]

    def _scalings(self, views: Views, options: SearchOptions) -> list[Scaling]:
        if self.scaling is None:
            return scalings_to_try(views, options)
        return [one_name(resolve_scaling(views, scaling)) for scaling in np.atleast_1d(self.scaling).tolist()]

    def _search_data(
        self, given: FitInput, options: SearchOptions, default_scaling: Scaling, progress: Progress
    ) -> SearchData:
        class_ids, n_classes = given.known.class_ids, len(given.known.classes)
        rng = make_random_state(self.random_state)
        rows = given.known.labelled
        seed = int(rng.randint(2**31 - 1))
        n_repeats = self.n_repeats or (2 if len(rows) < options.few_labels else 1)
        folds = [fold for _ in range(n_repeats) for fold in split_labels(class_ids[rows], self.n_splits, rng)]
        if not folds:
            raise ValueError("Every class has a single labelled row, so none can be hidden to judge by; use FSSMSC.")
        counts = [count_landmarks(number, given.n_counted, n_classes, []) for number in self._landmark_counts()]
        data = SearchData(
            views=given.views,
            present=given.present,
            weights=given.weights,
            rows=rows,
            class_ids=class_ids[rows],
            n_classes=n_classes,
            n_landmarks=counts[0],
            other_n_landmarks=counts[1:],
            default_scaling=default_scaling,
            folds=folds,
            seed=seed,
            n_threads=count_threads(self.n_jobs),
            options=options,
            report=progress.log,
        )
        fingerprint = data_fingerprint(given.views, class_ids, self.get_params())
        if self.warm_start and getattr(self, "_data_fingerprint", None) == fingerprint:
            data.judged, data.folds, data.seed = self._judged, self._folds, self._seed
        self._data_fingerprint, self._judged = fingerprint, data.judged
        self._folds, self._seed = data.folds, data.seed
        return data

    def _search(self, data: SearchData, base: Setting, scalings: list[Scaling]) -> None:
        try:
            search(data, base, scalings)
            self.interrupted_ = False
        except KeyboardInterrupt:
            if not data.judged:
                raise
            self.interrupted_ = True
            warnings.warn(
                f"The search was interrupted after {len(data.judged)} settings; the best of these are used. "
                "Fit again with warm_start=True to go on.",
                UserWarning,
                stacklevel=4,
            )

    def _probabilities(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        return settle(count_votes(self._groups, views, present, len(self.classes_), n_threads), self._temperature)
