"""The search of a fit: which rows and labels it looks at, what it tries, and what the next search may go on from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, Mask, Rows
from ..core.draws import subsample, subsample_classes
from ..core.progress import Outcome, Progress, as_interrupt
from ..cost.estimate import SEARCH_REMEDY, MemoryEstimate, available_memory, check_memory
from ..cost.fit import FitSizes, input_sizes
from ..cost.search import SearchSizes, count_codes, estimate_search, usual_codes
from ..data.labels import split_labels
from ..data.views import Views
from ..features.auto import resolve_scaling
from ..features.scaling import check_finite
from ..features.view_weights import ViewWeights, ViewWeightsChoice
from ..supervision.given import FitInput
from ..supervision.pairs import ResolvedPairs
from ..tuning.judging import Judgement, SearchData
from ..tuning.options import SearchOptions, make_options
from ..tuning.search import StopSearch, search
from ..tuning.settings import Scaling, Setting, one_name, scalings_to_try
from ..tuning.summary import data_fingerprint
from ..tuning.tally import progress_line
from .preparing import weigh_views
from .spec import FitRun, count_landmarks

_CLEARLY_ENOUGH = 4  # times what codes of the usual density need: denser ones are looked for below that


@dataclass(frozen=True, eq=False)
class SearchParameters:
    """What a search is asked to do, by the names and defaults of `AnchorViewClassifier`, which documents them."""

    n_landmarks: int | Sequence[int] = 500
    scaling: Any = None
    view_weights: ViewWeightsChoice = "auto"
    n_averaged: int = 10
    n_splits: int = 3
    n_repeats: int | None = None
    options: SearchOptions = field(default_factory=SearchOptions)

    @classmethod
    def of(cls, estimator: Any) -> SearchParameters:
        """Return those of an estimator."""
        names = ("n_landmarks", "scaling", "view_weights", "n_averaged", "n_splits", "n_repeats")
        options = make_options(estimator.search_options)
        return cls(**{name: getattr(estimator, name) for name in names}, options=options)

    def landmark_counts(self) -> list[Any]:
        """Numbers of landmarks to try, at least one."""
        counts: list[Any] = np.atleast_1d(np.asarray(self.n_landmarks)).tolist()
        return counts or [0]

    def scalings(self, views: Views) -> list[Scaling]:
        """Return the scalings to try, at least one."""
        if self.scaling is None:
            return scalings_to_try(views, self.options)
        if isinstance(self.scaling, str):
            listed = [self.scaling]
        elif isinstance(self.scaling, Iterable) and not isinstance(self.scaling, Mapping):
            listed = list(self.scaling)
        else:
            listed = []
        if not listed:
            raise ValueError(f"scaling must be a name, a sequence of names to try, or None; got {self.scaling!r}.")
        return list(dict.fromkeys(one_name(resolve_scaling(views, scaling)) for scaling in listed))


@dataclass(frozen=True, eq=False)
class SearchState:
    """What a search can go on from: its judgements, which grow while it runs, and what they rest on."""

    judged: dict[Setting, Judgement]
    folds: list[Rows]
    seed: int
    sampled: Rows | None  # rows that it looks at; None if it looks at all
    fingerprint: str  # of the data and parameters

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with judgements as a list: skops takes dicts with plain keys only."""
        return {**self.__dict__, "judged": list(self.judged.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore judgements by their settings."""
        judged = state["judged"]
        by_setting = {judgement.setting: judgement for judgement in judged} if isinstance(judged, list) else judged
        self.__dict__.update({**state, "judged": by_setting})


@dataclass(frozen=True, eq=False)
class Search:
    """A search before it runs: rows, what is tried, and its state."""

    params: SearchParameters
    given: FitInput  # all rows
    fitted: FitInput  # rows that are fitted
    rows: Rows | None  # their numbers; None if they are all
    judging: Rows | None  # rows of these by which settings are judged; None if they are all
    scalings: list[Scaling]
    view_weights: ViewWeights
    data: SearchData
    outcomes: list[Outcome]
    state: SearchState
    progress: Progress

    @property
    def base(self) -> Setting:
        """The setting that is tried first."""
        return Setting(self.scalings[0], self.data.n_landmarks, view_weights=self.view_weights)

    def whole_data(self) -> SearchData:
        """Return the data with all labels of the rows that are fitted."""
        if self.judging is None:
            return self.data
        rows, class_ids = counted_labels(self.fitted)
        about_rows = {"views": self.fitted.views, "present": self.fitted.present, "weights": self.fitted.weights}
        labels = {"rows": rows, "class_ids": class_ids, "folds": [], "sample_weights": self.fitted.sample_weight}
        names = ("n_classes", "n_landmarks", "other_n_landmarks", "default_scaling", "seed", "n_threads", "options")
        same = {name: getattr(self.data, name) for name in (*names, "report")}
        return SearchData(**about_rows, **labels, **same, pairs=counted_pairs(self.fitted))  # type: ignore[arg-type]


def prepare_search(
    params: SearchParameters,
    given: FitInput,
    rows: Rows | None,
    run: FitRun,
    parameters: Mapping[str, Any],
    before: SearchState | None,
) -> Search:
    """Return a search of some rows, with what is known from one before on the same data."""
    if rows is not None:
        check_finite(given.views, run.n_threads, given.present)  # rows by their own numbers, and before the work
    fitted = given if rows is None else given.take(rows)
    judging = _judging_rows(fitted, params.options)
    searched = fitted if judging is None else fitted.take(judging)
    scalings = params.scalings(searched.views)
    progress = Progress(run.estimator, run.verbose, None, 0.0)
    sizes = len(given.known.labelled), len(given.known.classes)
    progress.stage("search", "%r, %d labelled in %d classes", given.views, *sizes)
    outcomes: list[Outcome] = []

    def report(judgement: Judgement) -> None:
        if run.verbose:
            n_fits = params.n_averaged * (2 if params.options.second_fit else 1)
            progress.log("%s", progress_line(judgement, data.judged, data.planned, n_fits))
        if progress.end_task():
            raise StopSearch

    data = _search_data(params, searched, scalings[0], outcomes, run, report)
    known = searched.known.class_ids, searched.sample_weight, searched.known.pairs
    fingerprint = data_fingerprint(searched.views, searched.present, *known, parameters)
    if before is not None and before.fingerprint == fingerprint:
        data.judged, data.folds, data.seed = before.judged, before.folds, before.seed
    state = SearchState(data.judged, data.folds, data.seed, rows, fingerprint)
    with progress.watch():
        view_weights = weigh_views(params.view_weights, searched, scalings, run.n_threads)
    return Search(params, given, fitted, rows, judging, scalings, view_weights, data, outcomes, state, progress)


def run_search(found: Search, stacklevel: int) -> bool:
    """Judge settings, until all are judged or the user has had enough; return whether an interrupt ended it."""
    data, outcomes = found.data, found.outcomes
    try:
        with found.progress.watch():
            search(data, found.base, found.scalings)
    except StopSearch:
        outcomes.append(Outcome.STOPPED_BY_CALLBACK)
    except (KeyboardInterrupt, SystemError) as error:
        if not isinstance(as_interrupt(error), KeyboardInterrupt) or not data.judged:
            raise
        outcomes.append(Outcome.INTERRUPTED)
        warnings.warn(
            f"The search was interrupted after {len(data.judged)} settings; the best of these are used. "
            "Fit again with warm_start=True to go on.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
        return True
    return False


def sample_rows(
    given: FitInput, options: SearchOptions, rng: np.random.RandomState, before: SearchState | None = None
) -> Rows | None:
    """Return the rows that the search looks at; None if it looks at all."""
    usable = np.ones(len(given.views), dtype=bool) if given.empty is None else ~given.empty
    if given.weights is not None:
        usable &= given.weights > 0
    touched = None if given.known.pairs is None else given.known.pairs.touched()
    rows = draw_rows(given.known.class_ids >= 0, usable, touched, options, rng)
    known = None if before is None else before.sampled
    if rows is None or known is None or known[-1] >= len(given.views):
        return rows
    # The data may be others: the fingerprint of the rows tells. Labels that came since must not be left out.
    return known if np.isin(given.known.labelled, known).all() else rows


def draw_rows(
    is_labelled: Mask, usable: Mask, touched: Mask | None, options: SearchOptions, rng: np.random.RandomState
) -> Rows | None:
    """Return the labelled rows and some usable others, ascending; None if there are few enough to take all.

    Parameters
    ----------
    is_labelled, usable : ndarray of bool of shape (n_rows,)
        Rows with a label; rows that count.
    touched : ndarray of bool of shape (n_rows,), optional
        Rows that pairs name: they come before others, since a pair is heard of only if both its rows are there.
    options : SearchOptions
        How many are few enough, and how many are drawn of more.

    Examples
    --------
    >>> import numpy as np
    >>> is_labelled, usable = np.arange(10) < 2, np.ones(10, bool)
    >>> options = SearchOptions(max_search_rows=7, n_sampled=3)
    >>> draw_rows(is_labelled, usable, np.arange(10) == 9, options, np.random.RandomState(0))
    array([0, 1, 4, 8, 9])
    >>> draw_rows(is_labelled, np.arange(10) < 9, None, options, np.random.RandomState(0)) is None
    True
    """
    others = usable & ~is_labelled
    most = options.n_sampled
    if np.count_nonzero(others) <= max(options.max_search_rows, most):
        return None
    first = np.zeros_like(others) if touched is None else others & touched
    chosen = subsample(np.flatnonzero(first), most, rng)
    rest = subsample(np.flatnonzero(others & ~first), most - len(chosen), rng)
    return np.sort(np.concatenate([np.flatnonzero(is_labelled), chosen, rest]))


def _judging_rows(given: FitInput, options: SearchOptions) -> Rows | None:
    """Return the rows by which settings are judged: all but labelled ones above a number of labels; None if all.

    More labels would tell no more of a setting. Those left out are heard in the fits.
    """
    labelled = given.known.labelled
    kept = labelled[subsample_classes(given.known.class_ids[labelled], options.max_search_labels)]
    if len(kept) == len(labelled):
        return None
    return np.union1d(np.flatnonzero(given.known.class_ids < 0), kept)


def _search_data(
    params: SearchParameters,
    given: FitInput,
    default_scaling: Scaling,
    outcomes: list[Outcome],
    run: FitRun,
    report: Callable[[Judgement], None],
) -> SearchData:
    n_classes, weights, options = len(given.known.classes), given.sample_weight, params.options
    (rows, class_ids), pairs = counted_labels(given), counted_pairs(given)
    seed = int(run.rng.randint(2**31 - 1))
    counts = np.ones(len(rows)) if weights is None else weights[rows]
    n_repeats = params.n_repeats or (2 if counts.sum() < options.few_labels else 1)
    can_be_hidden = np.where(counts > 0, class_ids, -1)
    folds = [fold for _ in range(n_repeats) for fold in split_labels(can_be_hidden, params.n_splits, run.rng)]
    if not folds:
        raise ValueError(
            "AnchorViewClassifier needs at least two labels in one class, to choose its settings by "
            "cross-validation. Label more rows, or use FSSMSC."
        )
    sizes = [count_landmarks(number, given.n_counted, n_classes, outcomes) for number in params.landmark_counts()]
    return SearchData(
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
        n_threads=run.n_threads,
        options=options,
        report=report,
        sample_weights=weights,
        pairs=pairs,
    )


def counted_pairs(given: FitInput) -> ResolvedPairs | None:
    """Return the pairs between rows that count."""
    pairs, weights = given.known.pairs, given.sample_weight
    return pairs if pairs is None or weights is None else pairs.without(weights == 0)


def counted_labels(given: FitInput) -> tuple[Rows, ClassIds]:
    """Return the labelled rows that count, and their classes; rows of weight 0 do if a class has no others."""
    class_ids, weights, n_classes = given.known.class_ids, given.sample_weight, len(given.known.classes)
    rows = given.known.labelled
    counted = rows if weights is None else rows[weights[rows] > 0]
    n_counted = len(np.unique(class_ids[counted]))
    if n_counted < 2:
        few = " of positive weight" if n_counted < n_classes else ""
        raise ValueError(
            f"AnchorViewClassifier needs labels of at least two classes; got {n_counted} class(es){few}. "
            "This solver needs samples of at least 2 classes in the data."
        )
    without = np.isin(class_ids[rows], class_ids[counted], invert=True)
    rows = np.union1d(counted, rows[without])
    return rows, class_ids[rows]


def estimate_search_sizes(params: SearchParameters, sizes: FitSizes) -> MemoryEstimate:
    """Estimate a search from sizes, of which those that depend on parameters are still to be set."""
    options, n_rows, n_labelled = params.options, sizes.n_rows, sizes.n_labelled
    is_sampled = n_rows - n_labelled > max(options.max_search_rows, options.n_sampled)
    fit = replace(
        sizes,
        n_rows=n_labelled + options.n_sampled if is_sampled else n_rows,
        n_landmarks=min(int(np.max(params.landmark_counts())), n_rows),
        reads_products=True,
    )
    n_scalings = len(options.dense_scalings) if params.scaling is None else len(np.atleast_1d(params.scaling))
    n_judging = min(n_labelled, options.max_search_labels)
    is_copied = is_sampled or n_judging < n_labelled
    n_folds = params.n_splits * (params.n_repeats or 1)
    widths, codes = [sizes.n_features] * n_scalings, usual_codes(n_scalings, fit.n_landmarks, fit.itemsize)
    return estimate_search(SearchSizes(fit, n_rows, widths, n_judging, n_folds, is_copied, options, codes))


def check_search_memory(params: SearchParameters, given: FitInput, rows: Rows | None, n_threads: int) -> None:
    """Refuse a search for which there is too little memory; codes are looked at only where they could matter."""
    needed, available = estimate_search_data(params, given, rows, n_threads, count=False), available_memory(n_threads)
    if available is not None and _CLEARLY_ENOUGH * needed.total > available >= needed.total:
        needed = estimate_search_data(params, given, rows, n_threads, count=True)
    check_memory(needed, available, SEARCH_REMEDY)


def estimate_search_data(
    params: SearchParameters, given: FitInput, rows: Rows | None, n_threads: int, *, count: bool
) -> MemoryEstimate:
    """Estimate a search on some rows; `count` the non-zeros of codes on some of them, or take the usual number."""
    options = params.options
    step = 1 if rows is None else max(1, len(given.views) // len(rows))
    some = given.views if step == 1 else given.views[::step]
    kinds = [[s] * len(some.sizes) if isinstance(s, str) else list(s) for s in params.scalings(some)]
    views = [input_sizes(some, kind, len(kinds) > 1) for kind in kinds]
    n_rows, known = len(given.views) if rows is None else len(rows), given.known
    n_labelled, n_classes = len(known.labelled), len(known.classes)
    n_landmarks = min(int(np.max(params.landmark_counts())), max(n_rows // 3, min(n_rows, 2 * n_classes)))
    fit = FitSizes(
        **(views[0] | {"n_rows": n_rows, "n_scaled": max(each["n_scaled"] for each in views)}),
        n_landmarks=n_landmarks,
        n_components=n_classes,
        n_labelled=n_labelled,
        n_threads=n_threads,
        reads_products=True,
    )
    n_judging = min(n_labelled, options.max_search_labels)
    n_folds = params.n_splits * (params.n_repeats or (2 if n_labelled < options.few_labels else 1))
    is_copied = rows is not None or n_judging < n_labelled
    widths = [each["n_scaled"] for each in views]
    codes = usual_codes(len(kinds), n_landmarks, fit.itemsize)
    if count:
        codes = count_codes(some, kinds, n_landmarks, options, n_threads)
    return estimate_search(SearchSizes(fit, len(given.views), widths, n_judging, n_folds, is_copied, options, codes))
