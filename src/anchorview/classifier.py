"""`AnchorViewClassifier`: tuned on nothing but the labels it is given, and averaged over its best settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .core.arrays import ClassIds, Matrix, Presence, Rows
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
    check_parameters,
    make_random_state,
)
from .core.free_memory import available_memory
from .core.progress import Outcome, Progress, as_interrupt, with_callbacks
from .cost.code_bytes import count_codes, usual_codes
from .cost.estimate import SEARCH_REMEDY, MemoryEstimate, check_memory
from .cost.search import SearchSizes, estimate_search
from .cost.sizes import FitSizes, input_sizes
from .data.labels import split_labels
from .data.reading import ColumnGroups
from .data.views import Views
from .engine.blocks import count_threads, one_blas_thread, row_blocks
from .features.auto import resolve_scaling
from .features.representation import Representation
from .features.scaling import check_finite
from .fitting.given import FitInput
from .fitting.spec import count_landmarks
from .fssmsc import FSSMSC, read_by_rule
from .label_loop.two_speeds import TwoSpeeds
from .readers.averaging import average_temperature, settle
from .readers.label_sources import number_sources, read_label_sources
from .solver.codes import CodeStack
from .supervision.conflicts import count_violations
from .supervision.constraints import Constraints
from .supervision.pairs import ResolvedPairs
from .tuning.ensemble import Ensemble
from .tuning.estimate import judge_average, warn_unjudged
from .tuning.experts import ExpertGroup, count_votes
from .tuning.label_quality import make_label_judge
from .tuning.links import settle_pairs
from .tuning.options import SearchOptions, make_options
from .tuning.sampling import draw_rows, some_of_each
from .tuning.search import StopSearch, affordable, averaged_hidden, best_among, best_on_codes, choose_averaged, search
from .tuning.search_data import Judgement, SearchData
from .tuning.settings import FOR_FSSMSC, Scaling, Setting, one_name, scalings_to_try
from .tuning.summary import cv_results, data_fingerprint, describe_search
from .tuning.tally import progress_line

__all__ = ["AnchorViewClassifier"]

_CLEARLY_ENOUGH = 4  # times what codes of the usual density need: denser ones are looked for below that

_RULES: dict[str, Rule] = {
    **SHARED,
    "n_landmarks": Number(1, integer=True, several=True),
    "scaling": Names(optional=True, nested=True),
    "n_averaged": COUNT,
    "n_splits": Number(2, integer=True),
    "n_repeats": Number(1, integer=True, optional=True),
    "on_empty": OneOf(("error", "drop")),
    "unlabelled": Mark(),
    "search_options": Options(),
    "warm_start": Flag(),
}


class AnchorViewClassifier(TwoSpeeds):
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
        Log each setting: how many are done, of how many, and the time left.

    Attributes
    ----------
    labels_, confidence_ : ndarray of shape (n_rows,)
        Class of each row and its probability; labelled rows keep their label, with confidence 1. Rows in `constraints`
        heed them: those that must link (with a weight of 1 or more) have one label, that of a labelled row among them
        or the likeliest on average; those that must not link keep out of each other's class.
    classes_ : ndarray
        The labelled classes, sorted.
    best_params_ : dict
        Parameters of :class:`FSSMSC`, as in ``FSSMSC(**model.best_params_)``: those of the setting with the best
        judgement among those that FSSMSC can be fitted with, which read labels off the nearest labelled rows. Only
        scaling and number of landmarks, if an interrupt came before any such setting.
    best_params_score_ : float
        Accuracy of that setting on hidden labels, in classes with two labels or more: as in `cv_results_`, and as the
        best of many somewhat too good. NaN after such an interrupt.
    best_setting_ : dict
        The setting with the best judgement of all. ``head`` is what reads the labels ("nearest", "knn", or a logistic
        regression on "embedding", "codes" or "features", or labels on a graph of neighbours, "spread" over
        it or as their potential, "poisson"), ``strength`` the C of a regression or how far labels spread; neither is a
        parameter of FSSMSC. ``l1``, ``ridge`` and ``must_link_weight`` mean nothing for "features", "spread" and
        "poisson".
    best_score_ : float
        Estimate of the accuracy of `labels_` on rows without a label: that of the average on hidden labels, its members
        chosen without the labels that they are judged on. A label that is the only one of its class cannot be hidden,
        and counts as wrong: if labels are a random sample of the rows, as many rows are of classes without a label. A
        warning says so if more than a tenth of the labels are of this kind. The accuracies of single settings are in
        `cv_results_`, over classes with two labels or more.
    best_score_interval_ : tuple of float
        Where that accuracy lies in nine of ten cases: from the lower end if labels that could not be judged are wrong
        to the upper end if they are like the others; few judged labels make it wide.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict
        One entry per setting judged, in the form of ``GridSearchCV``: accuracies on hidden labels and their ranks
        (``mean_test_score``, ``rank_test_score``), log losses and their ranks (``mean_test_loss``, ``rank_test_loss``).
        Settings stand in the order in which they are trusted, by ``belief``: the loss, drawn towards what is known
        beforehand when there are few labels.
    held_out_ : HeldOutLabels
        The labels behind `best_score_`: ``rows``, ``class_ids`` (places in `classes_`) and the ``probabilities`` that
        the average gave without them, its members and temperature chosen without them too.
    label_quality_ : ndarray of shape (n_rows,)
        Probability of each label given, by models that have not seen it (whatever reads the labels): the lower, the
        more it is worth a look. ``np.argsort(model.label_quality_)`` lists labels from the worst to the best, then the
        rows with NaN: those without a label, and labels that are the only one of their class, which cannot be judged.
    averaged_ : list of dict
        The settings whose probabilities are averaged, with their weights.
    embedding_ : ndarray of shape (n_rows, n_classes)
        What `transform` gives for the training rows: the embedding of one setting, the one with the best judgement
        among those on codes, learned from all labels and pairs. The labels are read off the average of all settings,
        so they need not be those that this embedding suggests.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of that setting.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Its landmarks in the scaled feature space, views side by side.
    landmark_embedding_ : ndarray of shape (n_classes, n_landmarks)
        Embedding of the landmarks.
    constraint_conflicts_ : list
        Pairs of rows whose constraints contradict each other or the labels.
    constraint_violations_ : ConstraintViolations or None
        How many of the constraints `labels_` breaks, of how many.
    interrupted_ : bool
        Whether the search was ended by an interrupt.
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

    _kept_after_failure = ("_judged", "_folds", "_seed", "_sampled", "_data_fingerprint")  # for warm_start
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with judgements as a list: skops takes dicts with plain keys only."""
        state = dict(super().__getstate__())
        return state | ({"_judged": list(state["_judged"].values())} if "_judged" in state else {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore judgements by their settings; older pickles have them so already."""
        judged = state.get("_judged")
        if isinstance(judged, list):
            state = state | {"_judged": {judgement.setting: judgement for judgement in judged}}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

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

        An interrupt (Ctrl-C) during the search ends it: the settings judged so far are used, and with ``warm_start``
        the next fit on the same data goes on.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views, dense or sparse; rows may lack views.
        y : array-like of shape (n_rows,)
            Labels; -1 (None or "" among strings) where there is none. At least two labelled rows in some class.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows, everywhere: a weight of 2 is the row twice, in landmarks, embedding, regressions,
            votes, the graph, and where hidden labels are judged. Two things cannot be the same: landmarks are drawn
            at random, by the weights, so they agree in the mean over seeds only; and copies of a row may be dealt out
            to different folds or be neighbours in the graph. A row of weight 0 is as if it were not there, but for its
            own label. (The one nearest labelled row is the nearest whatever its weight; a class known from rows of
            weight 0 only is known from these.)
        constraints : Constraints, optional
            Pairs of rows that must, or must not, share a class. Embeddings learn from them, must-links of weight 1 or
            more pass labels on to whatever else reads labels, and `labels_` heed them. Where a label is hidden to
            judge by it, so are the pairs of its row.
        label_source : mapping, Series or array-like of str, optional
            Where each label comes from, by row number (id, if the views have ids) or for every row: "random" if the
            row was drawn at random, else "suggested", "lasso", "search", "review" or "import"; "skipped" for a row
            that nobody could label. Random ones, and rows of `audit_rows`, tell how accurate the labels are.

        Returns
        -------
        self
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
        options = make_options(self.search_options)
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
        rng, n_threads = make_random_state(self.random_state), count_threads(self.n_jobs)
        rows = self._sample(given, options, rng)
        self._check_memory(given, rows, options, n_threads)
        if rows is not None:
            check_finite(given.views, n_threads, given.present)  # rows by their own numbers, and before the work
        fitted = given if rows is None else given.take(rows)
        judging = self._judging_rows(fitted, options)
        searched = fitted if judging is None else fitted.take(judging)
        scalings = self._scalings(searched.views, options)
        self._sampled = rows
        progress = Progress(self, self.verbose, None, 0.0)
        sizes = len(given.known.labelled), len(given.known.classes)
        progress.stage("search", "%r, %d labelled in %d classes", given.views, *sizes)
        outcomes: list[Outcome] = []
        data = self._search_data(searched, options, scalings[0], progress, outcomes, rng)
        base = Setting(scaling=scalings[0], n_landmarks=data.n_landmarks)
        with progress.watch():
            self._search(data, base, scalings, outcomes)
        judgements = sorted(data.judged.values(), key=lambda judgement: judgement.belief)
        usable = judgements if rows is None else affordable(judgements, options)
        chosen = choose_averaged(data, usable, self.n_averaged)
        progress.stage("fits", f"averaging {len(chosen)} of {len(judgements)} settings")
        ensemble = Ensemble(data if judging is None else self._with_all_labels(data, fitted))
        with progress.watch():
            ensemble.add(chosen, ensemble.data.told())
            if options.second_fit:
                ensemble.add_sure_rows(chosen)
        progress.stage("labels", "reading labels off the average")
        self._publish_classes(given.known.classes)
        shown = best_on_codes(data, base) if rows is None else best_among(usable, base)
        if rows is not None:
            ensemble.include(shown)  # its codes are computed beside the others
        self._groups: list[ExpertGroup] = list(ensemble.groups.values())
        self._temperature = average_temperature(
            averaged_hidden(chosen), data.class_ids[data.judged_rows], data.judged_weights
        )
        with progress.watch():
            if rows is None:
                votes = self._embed_rows(ensemble, shown)
            else:
                votes = self._embed_all_rows(ensemble, shown, given, n_threads)
        self._read_labels(given, settle(votes, self._temperature))
        with one_blas_thread(), progress.watch():
            self._judge_labels(fitted, rows, len(given.views), ensemble.data.source(chosen[0][0].setting), n_threads)
        self._summarise(judgements, chosen)
        estimate, held_out = judge_average(data, usable, self.n_averaged)
        for taken in (judging, rows):
            held_out = held_out if taken is None else replace(held_out, rows=taken[held_out.rows])
        self._publish_held_out(held_out)
        warn_unjudged(estimate)
        self.best_score_, self.best_score_interval_ = estimate.score, estimate.interval
        said = [*filter(None, [estimate.describe()]), *(outcome.value for outcome in outcomes)]
        if rows is not None:
            said.append(f"searched and fitted on {len(rows):,} of {len(given.views):,} rows (max_search_rows).")
        if judging is not None:
            n_judging = len(searched.known.labelled)
            said.append(f"settings were judged by {n_judging:,} of {sizes[0]:,} labels (max_search_labels).")
        self.status_ = " ".join([*describe_search(data, scalings, chosen, self._groups), *said])
        progress.log(self.status_)
        progress.finish()
        self.stage_seconds_ = progress.seconds
        for name in ("_rule", "_plain", "_versions", "changed_"):  # of updates of an earlier fit
            self.__dict__.pop(name, None)
        self._forget_places()
        self._finish_labels(sources)
        self._fitted_input = given
        self._add_version("tuned")
        return self

    def _make_plain(self) -> FSSMSC:
        chosen = {"on_empty": self.on_empty, "unlabelled": self.unlabelled, "n_jobs": self.n_jobs, **self.best_params_}
        return FSSMSC(**chosen, random_state=self._seed)

    def _estimate_from(self, X: Any, y: Any, n_threads: int, count: bool) -> MemoryEstimate:
        options, given = make_options(self.search_options), self._read_input(X, y, None)
        rows = self._sample(given, options, make_random_state(0))
        return estimate_search(self._search_sizes(given, rows, options, n_threads, count=count))

    def _estimate_sizes(self, sizes: FitSizes) -> MemoryEstimate:
        options, n_rows, n_labelled = make_options(self.search_options), sizes.n_rows, sizes.n_labelled
        is_sampled = n_rows - n_labelled > max(options.max_search_rows, options.n_sampled)
        fit = replace(
            sizes,
            n_rows=n_labelled + options.n_sampled if is_sampled else n_rows,
            n_landmarks=min(int(np.max(self._landmark_counts())), n_rows),
            reads_products=True,
        )
        n_scalings = len(options.dense_scalings) if self.scaling is None else len(np.atleast_1d(self.scaling))
        n_judging = min(n_labelled, options.max_search_labels)
        is_copied = is_sampled or n_judging < n_labelled
        n_folds = self.n_splits * (self.n_repeats or 1)
        widths, codes = [sizes.n_features] * n_scalings, usual_codes(n_scalings, fit.n_landmarks, fit.itemsize)
        return estimate_search(SearchSizes(fit, n_rows, widths, n_judging, n_folds, is_copied, options, codes))

    def _check_memory(self, given: FitInput, rows: Rows | None, options: SearchOptions, n_threads: int) -> None:
        """Refuse a fit for which there is too little memory; codes are looked at only where they could matter."""
        available = available_memory(n_threads)
        needed = estimate_search(self._search_sizes(given, rows, options, n_threads, count=False))
        if available is not None and _CLEARLY_ENOUGH * needed.total > available >= needed.total:
            needed = estimate_search(self._search_sizes(given, rows, options, n_threads, count=True))
        check_memory(needed, available, SEARCH_REMEDY)

    def _search_sizes(
        self, given: FitInput, rows: Rows | None, options: SearchOptions, n_threads: int, *, count: bool
    ) -> SearchSizes:
        """Return the sizes of a search; `count` the non-zeros of codes on some rows, or take the usual number."""
        step = 1 if rows is None else max(1, len(given.views) // len(rows))
        some = given.views if step == 1 else given.views[::step]
        scalings = self._scalings(some, options)
        kinds = [[s] * len(some.sizes) if isinstance(s, str) else list(s) for s in scalings]
        views = [input_sizes(some, kind, len(kinds) > 1) for kind in kinds]
        n_rows, known = len(given.views) if rows is None else len(rows), given.known
        n_labelled, n_classes = len(known.labelled), len(known.classes)
        n_landmarks = min(int(np.max(self._landmark_counts())), max(n_rows // 3, min(n_rows, 2 * n_classes)))
        fit = FitSizes(
            **(views[0] | {"n_rows": n_rows, "n_scaled": max(each["n_scaled"] for each in views)}),
            n_landmarks=n_landmarks,
            n_components=n_classes,
            n_labelled=n_labelled,
            n_threads=n_threads,
            reads_products=True,
        )
        n_judging = min(n_labelled, options.max_search_labels)
        n_folds = self.n_splits * (self.n_repeats or (2 if n_labelled < options.few_labels else 1))
        is_copied = rows is not None or n_judging < n_labelled
        widths = [each["n_scaled"] for each in views]
        codes = usual_codes(len(kinds), n_landmarks, fit.itemsize)
        if count:
            codes = count_codes(some, kinds, n_landmarks, options, n_threads)
        return SearchSizes(fit, len(given.views), widths, n_judging, n_folds, is_copied, options, codes)

    def _sample(self, given: FitInput, options: SearchOptions, rng: np.random.RandomState) -> Rows | None:
        """Return the rows that the search looks at; None if it looks at all."""
        usable = np.ones(len(given.views), dtype=bool) if given.empty is None else ~given.empty
        if given.weights is not None:
            usable &= given.weights > 0
        touched = None if given.known.pairs is None else given.known.pairs.touched()
        rows = draw_rows(given.known.class_ids >= 0, usable, touched, options, rng)
        before = getattr(self, "_sampled", None)
        if not self.warm_start or rows is None or before is None or before[-1] >= len(given.views):
            return rows
        # The data may be others: the fingerprint of the rows tells. Labels that came since must not be left out.
        return before if np.isin(given.known.labelled, before).all() else rows

    def _judging_rows(self, given: FitInput, options: SearchOptions) -> Rows | None:
        """Return the rows by which settings are judged: all but labelled ones above a number of labels; None if all.

        More labels would tell no more of a setting. Those left out are heard in the fits.
        """
        labelled = given.known.labelled
        kept = labelled[some_of_each(given.known.class_ids[labelled], options.max_search_labels)]
        if len(kept) == len(labelled):
            return None
        return np.union1d(np.flatnonzero(given.known.class_ids < 0), kept)

    def _with_all_labels(self, data: SearchData, given: FitInput) -> SearchData:
        """Return the data of a search, for the same fits on more rows."""
        rows, class_ids = self._labelled(given)
        return SearchData(
            views=given.views,
            present=given.present,
            weights=given.weights,
            rows=rows,
            class_ids=class_ids,
            n_classes=data.n_classes,
            n_landmarks=data.n_landmarks,
            other_n_landmarks=data.other_n_landmarks,
            default_scaling=data.default_scaling,
            folds=[],
            seed=data.seed,
            n_threads=data.n_threads,
            options=data.options,
            report=data.report,
            sample_weights=given.sample_weight,
            pairs=self._pairs(given),
        )

    def _embed_rows(self, ensemble: Ensemble, setting: Setting) -> Matrix:
        """Set what `transform` needs, codes and embedding of one setting; return the votes of the rows."""
        self._set_embedding(ensemble, setting)
        self.codes_ = ensemble.data.code_set(setting).codes
        self.embedding_ = self._embed(self.codes_)
        return ensemble.votes()

    def _embed_all_rows(self, ensemble: Ensemble, setting: Setting, given: FitInput, n_threads: int) -> Matrix:
        """Do the same for all rows, block by block, where the ensemble knows some of them."""
        self._set_embedding(ensemble, setting)
        stack = CodeStack(len(self.landmarks_))
        votes = count_votes(
            self._groups,
            given.views,
            given.present,
            len(self.classes_),
            n_threads,
            kept=stack,
            encoder=ensemble.data.code_set(setting).encoder,
        )
        self.codes_ = stack.codes()
        blocks = row_blocks(len(given.views), 4096)  # SciPy would hold a copy of all codes in double precision
        self.embedding_ = np.concatenate([self._embed(self.codes_[block]) for block in blocks])
        return votes

    def _set_embedding(self, ensemble: Ensemble, setting: Setting) -> None:
        """Set what `transform` needs: scaling, landmarks and encoder of one setting, and its embedding."""
        data = ensemble.data
        source, code_set = data.source(setting), data.code_set(setting)
        self._scaler, self._encoder, self.landmarks_ = source.scaler, code_set.encoder, source.landmarks
        self.landmark_embedding_ = ensemble.embedding(setting, data.told())
        self._n_features_out = len(self.landmark_embedding_)

    def _read_labels(self, given: FitInput, probabilities: Matrix) -> None:
        """Set the labels of the rows, and what is to be said of the constraints."""
        known, pairs = given.known, self._pairs(given)
        if pairs is not None:
            rows, class_ids = self._labelled(given)
            labels = np.full(len(given.views), -1, dtype=np.intp)
            labels[rows] = class_ids
            probabilities = settle_pairs(probabilities, labels, pairs, given.sample_weight)
        self._label_rows(given, probabilities)
        self.constraint_conflicts_ = known.conflicts
        self.constraint_violations_ = None if known.pairs is None else count_violations(self.labels_, known.pairs)

    def _judge_labels(
        self, fitted: FitInput, rows: Rows | None, n_rows: int, source: Representation, n_threads: int
    ) -> None:
        """Judge every label by models that have not seen it, on the rows that were fitted."""
        labelled = fitted.known.labelled
        class_ids = fitted.known.class_ids[labelled]
        judge = make_label_judge(source, labelled, class_ids, fitted.weights, n_threads)
        verdicts = None if judge is None else judge.judge(class_ids)
        self._keep_verdicts(fitted.known, labelled if rows is None else rows[labelled], verdicts, n_rows)

    def _summarise(self, judgements: list[Judgement], chosen: list[tuple[Judgement, float]]) -> None:
        """Set the search as a table, its best settings, and those that are averaged."""
        self.cv_results_ = cv_results(judgements)
        best = judgements[0]
        self.best_index_, self.best_setting_ = 0, best.setting.parameters()
        ours = next((judgement for judgement in judgements if judgement.setting.head in FOR_FSSMSC), None)
        self.best_params_ = (ours or best).setting.for_fssmsc()
        self.best_params_score_ = float("nan") if ours is None else ours.accuracy
        self.averaged_ = [{**judgement.setting.parameters(), "weight": weight} for judgement, weight in chosen]

    def _landmark_counts(self) -> list[Any]:
        """Numbers of landmarks to try, at least one."""
        counts: list[Any] = np.atleast_1d(np.asarray(self.n_landmarks)).tolist()
        return counts or [0]

    def _scalings(self, views: Views, options: SearchOptions) -> list[Scaling]:
        """Return the scalings to try, at least one."""
        if self.scaling is None:
            return scalings_to_try(views, options)
        if isinstance(self.scaling, str):
            listed = [self.scaling]
        elif isinstance(self.scaling, Iterable) and not isinstance(self.scaling, Mapping):
            listed = list(self.scaling)
        else:
            listed = []
        if not listed:
            raise ValueError(f"scaling must be a name, a sequence of names to try, or None; got {self.scaling!r}.")
        return list(dict.fromkeys(one_name(resolve_scaling(views, scaling)) for scaling in listed))

    def _search_data(
        self,
        given: FitInput,
        options: SearchOptions,
        default_scaling: Scaling,
        progress: Progress,
        outcomes: list[Outcome],
        rng: np.random.RandomState,
    ) -> SearchData:
        n_classes, weights = len(given.known.classes), given.sample_weight
        rows, class_ids = self._labelled(given)
        seed = int(rng.randint(2**31 - 1))
        counts = np.ones(len(rows)) if weights is None else weights[rows]
        n_repeats = self.n_repeats or (2 if counts.sum() < options.few_labels else 1)
        can_be_hidden = np.where(counts > 0, class_ids, -1)
        folds = [fold for _ in range(n_repeats) for fold in split_labels(can_be_hidden, self.n_splits, rng)]
        if not folds:
            raise ValueError("Every class has a single labelled row, so none can be hidden to judge by; use FSSMSC.")
        sizes = [count_landmarks(number, given.n_counted, n_classes, outcomes) for number in self._landmark_counts()]
        data = SearchData(
            views=given.views,
            present=given.present,
            weights=given.weights,
            rows=rows,
            class_ids=class_ids,
            n_classes=n_classes,
            n_landmarks=sizes[0],
            other_n_landmarks=[size for size in dict.fromkeys(sizes) if size != sizes[0]],
            default_scaling=default_scaling,
            folds=folds,
            seed=seed,
            n_threads=count_threads(self.n_jobs),
            options=options,
            report=lambda judgement: self._announce(judgement, data, progress),
            sample_weights=weights,
            pairs=self._pairs(given),
        )
        told = given.known.class_ids, weights, given.known.pairs
        fingerprint = data_fingerprint(given.views, given.present, *told, self.get_params())
        if self.warm_start and getattr(self, "_data_fingerprint", None) == fingerprint:
            data.judged, data.folds, data.seed = self._judged, self._folds, self._seed
        self._data_fingerprint, self._judged = fingerprint, data.judged
        self._folds, self._seed = data.folds, data.seed
        return data

    def _pairs(self, given: FitInput) -> ResolvedPairs | None:
        """Return the pairs between rows that count."""
        pairs, weights = given.known.pairs, given.sample_weight
        return pairs if pairs is None or weights is None else pairs.without(weights == 0)

    def _labelled(self, given: FitInput) -> tuple[Rows, ClassIds]:
        """Return the labelled rows that count, and their classes; rows of weight 0 do if a class has no others."""
        class_ids, weights, n_classes = given.known.class_ids, given.sample_weight, len(given.known.classes)
        rows = given.known.labelled
        counted = rows if weights is None else rows[weights[rows] > 0]
        n_counted = len(np.unique(class_ids[counted]))
        if n_counted < 2:
            few = " of positive weight" if n_counted < n_classes else ""
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; got {n_counted} class(es){few}. "
                "This solver needs samples of at least 2 classes in the data."
            )
        without = np.isin(class_ids[rows], class_ids[counted], invert=True)
        rows = np.union1d(counted, rows[without])
        return rows, class_ids[rows]

    def _announce(self, judgement: Judgement, data: SearchData, progress: Progress) -> None:
        """Tell the user, and callbacks, of a setting that was judged."""
        if self.verbose:
            n_fits = self.n_averaged * (2 if data.options.second_fit else 1)
            progress.log("%s", progress_line(judgement, data.judged, data.planned, n_fits))
        if progress.end_task():
            raise StopSearch

    def _search(self, data: SearchData, base: Setting, scalings: list[Scaling], outcomes: list[Outcome]) -> None:
        """Judge settings, until all are judged or the user has had enough."""
        self.interrupted_ = False
        try:
            search(data, base, scalings)
        except StopSearch:
            outcomes.append(Outcome.STOPPED_BY_CALLBACK)
        except (KeyboardInterrupt, SystemError) as error:
            if not isinstance(as_interrupt(error), KeyboardInterrupt) or not data.judged:
                raise
            self.interrupted_ = True
            outcomes.append(Outcome.INTERRUPTED)
            warnings.warn(
                f"The search was interrupted after {len(data.judged)} settings; the best of these are used. "
                "Fit again with warm_start=True to go on.",
                UserWarning,
                stacklevel=5,
            )

    def _read_classes(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        if self._is_plain:
            return read_by_rule(self, self._rule, views, present, n_threads)
        return settle(count_votes(self._groups, views, present, len(self.classes_), n_threads), self._temperature)
