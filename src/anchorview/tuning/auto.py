"""The "auto" of `FSSMSC`: scaling, view weights, ridge, must-link weight and readers, judged on hidden labels.

No constant suits all data, but the labels can tell: settings are judged as the search of `AnchorViewClassifier`
judges them, on a sample of labelled rows and some others, with few landmarks. In units of the data (`solver.weights`)
settings mean the same for few landmarks as for many, so what is best there is taken for all rows. With few labels the
judgement is drawn towards what suits the features by their nature and towards the default weights; where no label can
be hidden, these are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np

from ..core.arrays import Rows, Weights
from ..core.draws import draw_weighted
from ..data.labels import split_labels
from ..data.validation import check_magnitude
from ..features.scaling import check_finite
from ..features.view_weights import ViewWeights, describe_view_weights
from ..readers.base import OF_PRODUCTS
from ..solver.weights import DEFAULTS
from ..supervision.given import FitInput
from .judging import BESIDE, Joined, SearchData, join, judge
from .options import MOST_LABELLED, SAMPLE_LANDMARKS, SAMPLE_ROWS, SearchOptions
from .settings import FOR_FSSMSC, N_VOTES, READINGS, Scaling, Setting, one_name, scalings_to_try
from .view_weights import choose_view_weights

_N_FOLDS = 3
_FEW_FOLDS = (
    10  # below 50 labels: with a third of them hidden, classes of two or three would be judged by a model of one
)
_RIDGES = (1.0, 10.0)  # besides the default; beyond, codes have too few or too many non-zeros
_MUST_LINK_WEIGHTS = (0.3, 30.0)
_MANY_VOTES = 15  # where classes overlap, five labelled rows say little
_STRENGTHS = {"linear": 10.0, "poisson": 0.99}  # C of the regression; how little the potential is damped
_OTHER_STRENGTHS = (1.0, 100.0)  # of the regression, for the finalists
_FINALISTS = 2  # scalings whose weights are varied
_SPARSE = 5  # non-zeros below which a code over 100 landmarks ties its row to next to no others


@dataclass(frozen=True)
class AutoRequest:
    """What a fit asks for; weights and readers that may be chosen are None.

    Parameters
    ----------
    scaling : sequence of str
        Of each view, perhaps "auto".
    l1, ridge, must_link_weight : float
        Weights, in `units`.
    readers : tuple of str or None
        What reads the labels, that of the embedding first.
    n_votes : int or None
        Labelled rows that vote, where they do.
    units : {"data", "paper"}
        Of the weights. Those of the paper are not chosen: by default they are constants.
    has_products : bool
        Whether readers of E may be chosen; on a cluster E is not at hand once the codes are known.
    view_weights : tuple of float or None
        How much each view counts, None if all do the same.
    weighs_views : bool
        Whether others may be chosen.
    """

    scaling: Sequence[str]
    l1: float
    ridge: float | None
    must_link_weight: float | None
    readers: tuple[str, ...] | None
    n_votes: int | None
    units: str
    has_products: bool = True  # whether readers of E may be chosen
    view_weights: ViewWeights = None
    weighs_views: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing to choose."""
        is_open = self.weighs_views or "auto" in self.scaling
        return not is_open and None not in (self.ridge, self.must_link_weight, self.readers)

    def rules(self) -> list[tuple[str, int]]:
        """Return what may read the embedding: head and number of votes; nothing if it is not to be read."""
        votes = N_VOTES if self.n_votes is None else self.n_votes
        if self.readers is not None:
            # The nearest by plain distance, and the paper's rule, are judged as what they are most like.
            rule = self.readers[0]
            return [] if rule in OF_PRODUCTS else [(rule if rule in FOR_FSSMSC else "nearest", votes)]
        numbers = (N_VOTES, _MANY_VOTES) if self.n_votes is None else (votes,)
        return [("nearest", votes), *(("knn", number) for number in numbers)]


@dataclass(frozen=True)
class Choice:
    """What was chosen, and by what."""

    scaling: Scaling
    ridge: float
    must_link_weight: float
    readers: tuple[str, ...]
    n_votes: int
    view_weights: ViewWeights = None
    n_judged: int = 0  # hidden labels that decided; 0 if the features' nature did
    n_settings: int = 0


def choose(
    asked: AutoRequest,
    default: Scaling,
    rows: FitInput,
    seed: int,
    n_threads: int,
    scalings: Sequence[Scaling] | None = None,
) -> Choice:
    """Choose what is free.

    Parameters
    ----------
    asked : AutoRequest
        What is settled, and what may be chosen.
    default : str or tuple of str
        Scaling that suits the features by their nature: to prefer unless labels speak for another, and to take without
        labels.
    rows : FitInput
        The data, with its labels.
    seed : int
        Of the sample, its landmarks and folds.
    scalings : sequence, optional
        Those to try; by default all that suit the views.
    """
    usual = DEFAULTS[asked.units]
    start = Choice(
        default,
        usual.ridge if asked.ridge is None else asked.ridge,
        usual.must_link_weight if asked.must_link_weight is None else asked.must_link_weight,
        asked.readers or ("nearest",),
        N_VOTES if asked.n_votes is None else asked.n_votes,
        asked.view_weights,
    )
    data = None if asked.is_complete else _sample(rows, default, seed, n_threads)
    if data is None:
        return start
    weights, rules = (asked.l1, start.ridge, start.must_link_weight), asked.rules()
    forms = forms_of(asked.readers, has_products=asked.has_products)
    first = Setting(default, data.n_landmarks, *weights, units=asked.units, view_weights=asked.view_weights)
    beside = {name for form in forms for name in form}
    best_of = partial(join, data, forms=forms, with_rule=bool(rules))

    def judge_all(near: Setting) -> Joined | None:
        _judge(data, near, rules)
        judge(data, [replace(near, head=BESIDE[name], strength=_STRENGTHS[name]) for name in sorted(beside)])
        return next(
            iter(join(data, [near.scaling], forms, with_rule=bool(rules), view_weights=near.view_weights)), None
        )

    scalings = _scalings(data, default, asked.scaling) if scalings is None else scalings
    for scaling in scalings:
        judge_all(replace(first, scaling=scaling))
    ranked = best_of(scalings, view_weights=first.view_weights)
    finalists = list(dict.fromkeys([joined.parts[0].scaling for joined in ranked]))[:_FINALISTS]
    if asked.weighs_views and finalists:
        view_weights = choose_view_weights(data, replace(first, scaling=finalists[0]), judge_all)
        first = replace(first, view_weights=view_weights)
        for scaling in finalists:
            judge_all(replace(first, scaling=scaling))
    ridges = (first.ridge, *(_RIDGES if asked.ridge is None else ()))
    must_link_weights = (first.must_link_weight, *(_MUST_LINK_WEIGHTS if asked.must_link_weight is None else ()))
    for scaling in finalists:
        near = replace(first, scaling=scaling)
        if "linear" in beside:
            judge(data, [replace(near, head=BESIDE["linear"], strength=value) for value in _OTHER_STRENGTHS])
        if not rules:
            continue
        for ridge in ridges:
            _judge(data, replace(near, ridge=ridge), rules)
        best = _best_rule(data, near)
        for weight in must_link_weights:
            _judge(data, replace(best, must_link_weight=weight), rules)
    if not finalists:  # codes of every one were too sparse
        return start
    joined = best_of(finalists, view_weights=first.view_weights)[0]
    main = joined.parts[0] if rules else replace(first, scaling=joined.parts[0].scaling)
    readers = asked.readers or (main.head, *joined.beside)
    sizes = len(data.judged_rows), len(data.judged)
    settings = main.scaling, main.ridge, main.must_link_weight, readers, main.n_votes, main.view_weights
    return Choice(*settings, *sizes)


def _judge(data: SearchData, setting: Setting, rules: Sequence[tuple[str, int]]) -> None:
    """Judge what reads the embedding of a setting, unless codes are too sparse to spread any label."""
    if not rules:
        return
    codes = data.code_set(setting).codes
    if codes.nnz >= _SPARSE * codes.shape[0]:
        judge(data, [replace(setting, head=head, n_votes=n_votes) for head, n_votes in rules])


def _best_rule(data: SearchData, near: Setting) -> Setting:
    """Return the best setting with the landmarks of another whose embedding is read."""
    judged = [j for setting, j in data.judged.items() if setting.source == near.source and setting.head in FOR_FSSMSC]
    return min(judged, key=attrgetter("shrunk_loss")).setting


def _scalings(data: SearchData, default: Scaling, asked: Sequence[str]) -> list[Scaling]:
    """Return the scalings that make sense for the views, the default first; views keep what was asked for them."""
    result = [default]
    if "auto" in asked:
        for scaling in scalings_to_try(data.views, data.options):
            kinds = [scaling] * len(asked) if isinstance(scaling, str) else scaling
            result.append(one_name([k if a == "auto" else a for k, a in zip(kinds, asked, strict=True)]))
    return list(dict.fromkeys(result))


def _sample(rows: FitInput, default: Scaling, seed: int, n_threads: int) -> SearchData | None:
    """Return labelled rows, and some others, as the data of a search; None if no label can be hidden."""
    rng = np.random.RandomState(seed)
    counted = np.ones(len(rows.views), dtype=bool) if rows.weights is None else rows.weights > 0
    labelled = np.flatnonzero(counted & (rows.known.class_ids >= 0))
    if len(np.unique(rows.known.class_ids[labelled])) < 2:
        return None
    labelled, labelled_counts = _draw(labelled, MOST_LABELLED, rng, rows.sample_weight)
    others = np.flatnonzero(counted & (rows.known.class_ids < 0))
    others, other_counts = _draw(others, SAMPLE_ROWS - len(labelled), rng, rows.sample_weight)
    order = np.argsort(np.concatenate([labelled, others]))
    chosen = np.concatenate([labelled, others])[order]
    weights = None if rows.weights is None else rows.weights[chosen]
    sample_weights = None
    if rows.sample_weight is not None and labelled_counts is not None and other_counts is not None:
        sample_weights = np.concatenate([labelled_counts, other_counts])[order]
        weights = sample_weights if weights is None else weights * (sample_weights / rows.sample_weight[chosen])
    given = rows.known.class_ids[chosen]
    class_ids = np.unique(given[given >= 0], return_inverse=True)[1]
    n_classes, options = int(class_ids.max()) + 1, SearchOptions()
    n_repeats, n_folds = (2, _FEW_FOLDS) if len(class_ids) < options.few_labels else (1, _N_FOLDS)
    folds = [fold for _ in range(n_repeats) for fold in split_labels(class_ids, n_folds, rng)]
    if not folds or n_classes < 2:
        return None
    views = rows.views[chosen]
    present = None if rows.present is None else rows.present[chosen]
    try:
        check_finite(views, n_threads, present)
        check_magnitude(views, present)
    except ValueError:
        check_finite(rows.views, n_threads, rows.present)  # the same, by the numbers that rows have there
        check_magnitude(rows.views, rows.present)
        raise
    return SearchData(
        views=views,
        present=present,
        weights=weights,
        rows=np.flatnonzero(given >= 0),
        class_ids=class_ids,
        n_classes=n_classes,
        n_landmarks=max(min(SAMPLE_LANDMARKS, len(chosen) // 3), min(len(chosen), 2 * n_classes)),
        other_n_landmarks=[],
        default_scaling=default,
        folds=folds,
        seed=seed,
        n_threads=n_threads,
        options=options,
        sample_weights=sample_weights,
        pairs=None if rows.known.pairs is None else rows.known.pairs.take(chosen),
        completes_features=True,
    )


def _draw(rows: Rows, most: int, rng: np.random.RandomState, weights: Weights) -> tuple[Rows, Weights]:
    """Draw some of the rows by the weights of all; see `draw_weighted`."""
    return draw_weighted(rows, most, rng, None if weights is None else weights[rows])


def _reading(choice: Choice) -> str:
    return ", ".join(choice.readers).replace("knn", f"knn of {choice.n_votes}")


def describe(choice: Choice, asked: AutoRequest, names: Sequence[str]) -> str:
    """Say in a sentence what was chosen, and by what; nothing if all was settled."""
    if asked.is_complete:
        return ""
    kinds = [choice.scaling] * len(names) if isinstance(choice.scaling, str) else choice.scaling
    shared = one_name(list(kinds))
    scaling = shared if isinstance(shared, str) else ", ".join(f"{n}: {k}" for n, k in zip(names, kinds, strict=True))
    chosen = {
        "scaling": scaling if "auto" in asked.scaling else None,
        "ridge": f"{choice.ridge:g}" if asked.ridge is None else None,
        "must_link_weight": f"{choice.must_link_weight:g}" if asked.must_link_weight is None else None,
        "readers": _reading(choice) if asked.readers is None else None,
        "view_weights": describe_view_weights(names, choice.view_weights) if asked.weighs_views else None,
    }
    what = ", ".join([f"{name} ({value})" for name, value in chosen.items() if value is not None])
    if not choice.n_judged:
        return f"chosen by the kind of features, since no labels could be held out: {what}."
    return f"chosen on {choice.n_judged} hidden labels, of {choice.n_settings} settings: {what}."


def forms_of(readers: tuple[str, ...] | None, *, has_products: bool = True) -> tuple[tuple[str, ...], ...]:
    """Return the readers of E that may take part: any or none, unless they were asked for, or E is not at hand."""
    if readers is not None:
        return (tuple(name for name in readers if name in OF_PRODUCTS),)
    return ((), *READINGS) if has_products else ((),)
