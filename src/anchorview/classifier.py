"""`AnchorViewClassifier`: tuned on nothing but the labels it is given, and averaged over its best settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .core.checks import (
    COUNT,
    SHARED,
    Flag,
    Mark,
    Names,
    Number,
    OneOf,
    Options,
    Rule,
    ViewWeightsRule,
    check_parameters,
    make_random_state,
)
from .core.progress import as_interrupt, with_callbacks
from .cost.estimate import SEARCH_REMEDY, MemoryEstimate
from .cost.fit import FitSizes
from .data.reading import ColumnGroups
from .engine.blocks import count_threads
from .features.view_weights import ViewWeightsChoice
from .fitting.averaging import FittedAverage, fit_average
from .fitting.searching import (
    Search,
    SearchParameters,
    SearchState,
    check_search_memory,
    estimate_search_data,
    estimate_search_sizes,
    prepare_search,
    sample_rows,
)
from .fitting.spec import FitRun
from .fssmsc import FSSMSC
from .label_loop.two_speeds import TwoSpeeds
from .readers.label_sources import number_sources, read_label_sources
from .supervision.constraints import Constraints
from .tuning.settings import FOR_FSSMSC
from .tuning.summary import cv_results, warn_unjudged

__all__ = ["AnchorViewClassifier"]

_RULES: dict[str, Rule] = {
    **SHARED,
    "n_landmarks": Number(1, integer=True, several=True),
    "scaling": Names(optional=True, nested=True),
    "view_weights": ViewWeightsRule(),
    "n_averaged": COUNT,
    "n_splits": Number(2, integer=True),
    "n_repeats": Number(1, integer=True, optional=True),
    "on_empty": OneOf(("error", "drop")),
    "unlabelled": Mark(),
    "search_options": Options(),
    "warm_start": Flag(),
}


class AnchorViewClassifier(TwoSpeeds):
    """FSSMSC with settings tuned by cross-validation on the labels; the best settings are averaged.

    Part of the labels is hidden, and settings are scored by how well they predict it: scaling, λ_Z, μ, λ_M and the
    reader (nearest labelled rows in the embedding, logistic regression on the embedding, the codes or the scaled
    features, or labels spread over a neighbour graph). All rows take part in every fit. Landmarks, products and codes
    are computed once for all settings that share them. The settings that do best together are averaged, and fitted
    again with the rows they are certain of. With few labels, scores are shrunk towards the defaults of
    :class:`FSSMSC`, and default settings (the nearest labelled row, and Poisson learning, in all scalings) join the
    average: with 40 hidden labels they have half of its weight. The graph is not used above 50,000 rows.

    Parameters
    ----------
    n_landmarks : int or sequence of int, default=500
        Number of landmarks, at most a third of the number of rows. If several numbers are given, the first is searched
        in full, and the others are tried with the best setting.
    views : sequence or mapping, optional
        How to split a 2-D `X` into views; see :class:`Views`.
    scaling : str, sequence of str or None, default=None
        Scalings to try; by default all that suit the views.
    view_weights : "auto", sequence, mapping or None, default="auto"
        Weight of each view, in the order of the views or by name (1 for views that a mapping does not name). Only the
        ratios matter. "auto" measures how much better than chance a logistic regression on the view alone predicts
        hidden labels, and raises it to the power 0, 1 or 2. Cross-validation on the labels chooses the power; it is 0
        unless another is clearly better. Copies of a view count together as
        much as one view. None gives all views the same weight.
    n_averaged : int, default=10
        Number of settings of different kinds that are averaged. The same number of further picks goes to settings of
        any kind that improve the average most. With 1, default settings do not join the average.
    n_splits : int, default=3
        Folds of the labelled rows.
    n_repeats : int, optional
        Number of repetitions of the folds; by default two with fewer than 50 labels, else one.
    on_empty : {"error", "drop"}, default="error"
        Rows without any view: an error, or the label -1.
    unlabelled : object, optional
        A value of `y` that means "no label", besides -1, NaN, None and "": "unknown", say.
    search_options : dict, optional
        Constants of the search to change, by name: see :class:`anchorview.tuning.options.SearchOptions`.
    warm_start : bool, default=False
        Continue the search of an earlier, perhaps interrupted, fit on the same data.
    random_state : int, RandomState or None, default=None
        Seed of landmarks and folds.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Log each setting: how many are done, of how many, and the time left.

    Attributes
    ----------
    labels_, confidence_ : ndarray of shape (n_rows,)
        Class of each row and its probability. Labelled rows keep their label, with confidence 1. Rows in `constraints`
        respect them: must-linked rows (weight 1 or more) share one label, that of a labelled row among them or the most
        probable on average. Cannot-linked rows get different labels.
    classes_ : ndarray
        The labelled classes, sorted.
    chosen_ : dict
        The value chosen for "auto": ``view_weights``, per view; None if all count the same.
    best_params_ : dict
        Parameters for ``FSSMSC(**model.best_params_)``: the setting with the best score among those that FSSMSC
        supports, which use the nearest labelled rows. Only scaling and number of landmarks if the search was
        interrupted before any such setting.
    best_params_score_ : float
        Accuracy of that setting on hidden labels, in classes with two or more labels, as in `cv_results_`. As the best
        of many it is slightly optimistic. NaN after such an interrupt.
    best_setting_ : dict
        The setting with the best score of all. ``head`` is the reader: "nearest", "knn", a logistic regression on
        "embedding", "codes" or "features", the mean of one regression on each of the "views", or label spreading
        ("spread") or Poisson learning ("poisson") on a neighbour graph. ``strength`` is the C of a regression, or how
        far labels spread. Neither is a parameter of FSSMSC. ``l1``, ``ridge`` and ``must_link_weight`` have no effect
        for "features", "views", "spread" and "poisson".
    best_score_ : float
        Estimated accuracy of `labels_` on unlabelled rows: that of the average on hidden labels, with members chosen
        without those labels. A label that is the only one of its class cannot be hidden and counts as wrong: if labels
        are a random sample, about as many rows belong to classes without a label. A warning is raised if more than a
        tenth of the labels are of this kind. `cv_results_` has the accuracies of single settings, over classes with two
        or more labels.
    best_score_interval_ : tuple of float
        90 % interval of that accuracy. At its lower end, labels that could not be hidden count as wrong, at its upper
        end as right as the others.
    best_index_ : int
        Index of the best setting in `cv_results_`.
    cv_results_ : dict
        One entry per setting tried, in the form of ``GridSearchCV``: accuracies on hidden labels and their ranks
        (``mean_test_score``, ``rank_test_score``), log losses and their ranks (``mean_test_loss``, ``rank_test_loss``).
        Settings are sorted by ``shrunk_loss``: the loss, shrunk towards the prior when there are few labels.
    held_out_ : HeldOutLabels
        The labels behind `best_score_`: ``rows``, ``class_ids`` (positions in `classes_`) and the ``probabilities`` of
        the average, with members and temperature chosen without these labels.
    label_quality_ : ndarray of shape (n_rows,)
        Probability of each given label according to models that have not seen it. Review the lowest first:
        ``np.argsort(model.label_quality_)`` lists labels from worst to best, then rows with NaN, which have no label or
        the only label of their class.
    averaged_ : list of dict
        The settings whose probabilities are averaged, with their weights.
    embedding_ : ndarray of shape (n_rows, n_classes)
        What `transform` returns for the training rows: the embedding of one setting, the best one that uses codes,
        learned from all labels and pairs. `labels_` come from the average of all settings and may differ from what this
        embedding suggests.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of that setting.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Its landmarks in the scaled feature space, views side by side.
    landmark_embedding_ : ndarray of shape (n_classes, n_landmarks)
        Embedding of the landmarks.
    constraint_conflicts_ : list
        Pairs of rows whose constraints contradict each other or the labels.
    constraint_violations_ : ConstraintViolations or None
        Number of constraints that `labels_` violates, and of all constraints.
    interrupted_ : bool
        Whether the search was interrupted.
    status_ : str
        A summary of the fit in words: what was tried, what was left out, what did not converge.
    stage_seconds_ : dict
        Seconds spent on search, fits and labels.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

    Examples
    --------
    >>> from anchorview import AnchorViewClassifier, datasets
    >>> digits = datasets.load_handwritten()
    >>> rows = slice(0, 2000, 4)
    >>> y = datasets.hide_labels(digits.target[rows], 0.1, random_state=0)
    >>> model = AnchorViewClassifier(n_landmarks=100, n_repeats=1, random_state=0).fit(digits.views[rows], y)
    >>> float((model.labels_ == digits.target[rows]).mean()) > 0.9
    True
    """

    _search: SearchState | None = None  # what `warm_start` goes on from

    def __init__(
        self,
        n_landmarks: int | Sequence[int] = 500,
        *,
        views: ColumnGroups | None = None,
        scaling: Any = None,
        view_weights: ViewWeightsChoice = "auto",
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
        self.view_weights = view_weights
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

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        constraints: Constraints | None = None,
        label_source: Any = None,
    ) -> Self:
        """Search, and label every row.

        Ctrl-C ends the search and uses the settings tried so far. With ``warm_start``, the next fit on the same data
        continues it.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views, dense or sparse. Views may be missing in some rows.
        y : array-like of shape (n_rows,)
            Labels; -1 (None or "" among strings) where there is none. At least two labelled rows in some class.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows. A weight of 2 counts the row twice in landmarks, embedding, regressions, votes, the
            graph and the scores. Two differences from repeated rows remain: landmarks are sampled by weight, so they
            agree on average over seeds only, and copies of a row may fall into different folds or be neighbours in the
            graph. A row of weight 0 is ignored, apart from its own label. (The nearest labelled row is the nearest
            whatever its weight. A class whose labelled rows all have weight 0 is learned from these.)
        constraints : Constraints, optional
            Pairs of rows that must, or must not, share a class. Embeddings learn from them, must-links of weight 1 or
            more pass labels on to the other readers, and `labels_` respect them. When a label is hidden, so are the
            pairs of its row.
        label_source : mapping, Series or array-like of str, optional
            Where each label comes from, by row number (by id, if the views have ids) or for every row: "random" if the
            row was chosen at random, else "suggested", "lasso", "search", "review" or "import"; "skipped" for a row
            that could not be labelled. The accuracy is estimated from random rows and rows of `audit_rows`.

        Returns
        -------
        self

        Examples
        --------
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_repeats=1, random_state=0).fit(made.views, y)
        >>> model.labels_.shape, model.best_score_ > 0.8
        ((90,), True)
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight, constraints, label_source)
        except BaseException as error:
            self._restore(before)
            if isinstance(error, MemoryError) and SEARCH_REMEDY not in str(error):
                raise MemoryError(f"{str(error) or 'Memory ran out'}; the fit was given up. {SEARCH_REMEDY}") from error
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)

    def _fit(self, X: Any, y: Any, sample_weight: Any, constraints: Constraints | None, label_source: Any) -> Self:
        check_parameters(self, _RULES)
        rng = make_random_state(self.random_state)
        params = SearchParameters.of(self)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; to cluster without labels "
                "use FSSMSC with n_clusters."
            )
        given = self._read_input(X, y, sample_weight, constraints)
        sources = number_sources(read_label_sources(label_source, given.known.class_ids >= 0, given.views.ids))
        if given.views.is_on_cluster:
            raise ValueError(
                "AnchorViewClassifier searches in memory, and dask arrays stay on their cluster. Search on some rows, "
                "search.fit(Views(X)[rows], y[rows]), and fit FSSMSC(**search.best_params_) on all of them."
            )
        run = FitRun(rng, count_threads(self.n_jobs), self, self.verbose)
        before = self._search if self.warm_start else None
        rows = sample_rows(given, params.options, run.rng, before)
        check_search_memory(params, given, rows, run.n_threads)
        search = prepare_search(params, given, rows, run, self.get_params(), before)
        self._search = search.state
        self._publish(fit_average(search, run.n_threads, stacklevel=5), search)
        for name in ("_is_plain", "_plain", "_versions", "changed_"):  # of updates of an earlier fit
            self.__dict__.pop(name, None)
        self._forget_places()
        self._finish_labels(sources)
        self._fitted_input = given
        self._add_version("tuned")
        return self

    def _make_plain(self) -> FSSMSC:
        chosen = {"on_empty": self.on_empty, "unlabelled": self.unlabelled, "n_jobs": self.n_jobs, **self.best_params_}
        assert self._search is not None
        return FSSMSC(**chosen, random_state=self._search.seed)

    def _publish(self, fitted: FittedAverage, search: Search) -> None:
        """Set the attributes of a fit, and warn if a good part of the labels could not be judged."""
        given, estimate = fitted.given, fitted.estimate
        self.status_, self._report, self.interrupted_ = fitted.report.describe(), fitted.report, fitted.was_interrupted
        self.codes_, self.embedding_ = fitted.codes, fitted.embedded
        self._publish_model(fitted.model)
        self._keep_verdicts(given.known, fitted.judged_rows, fitted.verdicts, len(given.views))
        self._publish_rows(given, fitted.top, fitted.held_out)
        weights, progress = search.view_weights, search.progress
        self.chosen_ = {"view_weights": None if weights is None else list(weights)}
        warn_unjudged(estimate, stacklevel=6)
        self.cv_results_ = cv_results(fitted.judgements)
        best = fitted.judgements[0]
        self.best_index_, self.best_setting_ = 0, best.setting.parameters()
        ours = [judgement for judgement in fitted.judgements if judgement.setting.head in FOR_FSSMSC]
        self.best_params_ = (ours or [best])[0].setting.for_fssmsc()
        self.best_params_score_ = ours[0].accuracy if ours else float("nan")
        self.averaged_ = [{**judgement.setting.parameters(), "weight": weight} for judgement, weight in fitted.chosen]
        self.best_score_, self.best_score_interval_ = estimate.score, estimate.interval
        progress.log(self.status_)
        progress.finish()
        self.stage_seconds_ = progress.seconds

    def _restore(self, before: dict[str, Any]) -> None:
        """Put the estimator back as it was, but for what was judged: a later fit may go on from there."""
        super()._restore(before | ({} if self._search is None else {"_search": self._search}))

    def _estimate_from(self, X: Any, y: Any, n_threads: int, count: bool) -> MemoryEstimate:
        params, given = SearchParameters.of(self), self._read_input(X, y, None)
        rows = sample_rows(given, params.options, make_random_state(0))
        return estimate_search_data(params, given, rows, n_threads, count=count)

    def _estimate_sizes(self, sizes: FitSizes) -> MemoryEstimate:
        return estimate_search_sizes(SearchParameters.of(self), sizes)
