"""What "auto" becomes: scaling, weights and readers, chosen by cross-validation on the labels (`tuning.auto`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..features.start_weights import start_weights
from ..features.view_weights import ViewWeights, ViewWeightsChoice, read_view_weights
from ..readers.choice import resolve_readers
from ..solver.weights import DEFAULTS, ModelWeights
from ..solvers import SolverParameters
from ..tuning.options import POWERS, SearchOptions
from ..tuning.settings import SPARSE_SCALINGS, Scaling, one_name
from .given import FitInput
from .spec import FitParameters, Plan

if TYPE_CHECKING:
    from ..tuning.auto import Choice

_CHOICE_SEED = 0  # whatever the seed of the fit: half of the labels that changed with it did so by another choice


def count_tried(params: FitParameters, given: FitInput, plan: Plan) -> int:
    """Return how many scalings the choice tries; 0 if there is nothing to choose, or no labels to choose by."""
    if len(given.known.classes) < 2:
        return 0
    return count_scalings(params, plan.how, "auto" in plan.asked_scaling, all(given.views.is_sparse_view))


def count_scalings(params: FitParameters, how: SolverParameters, is_auto: bool, is_sparse: bool) -> int:
    """Return how many scalings a choice tries, for views that are all sparse or not."""
    has_weights = how.units == "data" and "auto" in (params.ridge, params.must_link_weight)
    weighs_views = how.units == "data" and isinstance(params.view_weights, str)
    if not (is_auto or has_weights or weighs_views or resolve_readers(params.readers) is None):
        return 0
    weighted = len(POWERS) + 1 if weighs_views else 0  # of the best scaling, and of the next with the power chosen
    if not is_auto:
        return 1 + weighted
    return weighted + (len(SPARSE_SCALINGS) if is_sparse else len(SearchOptions.dense_scalings))


def choose_settings(params: FitParameters, given: FitInput, plan: Plan, n_threads: int) -> tuple[ModelWeights, Choice]:
    """Choose what is "auto": the scaling, which goes into the plan, the weights, and what reads the labels."""
    from ..tuning.auto import AutoRequest, LabelledRows, choose, describe  # loads numba: not before a fit needs it

    how = plan.how
    usual, is_auto = DEFAULTS[how.units], how.units == "data"
    l1, ridge, must, coupling = (
        getattr(usual, name) if value == "auto" else float(value)
        for name, value in ((name, getattr(params, name)) for name in asdict(usual))
    )
    default = one_name(plan.scaling)
    asked = AutoRequest(
        plan.asked_scaling,
        0.0 if "l1" in how.omit else l1,
        None if is_auto and params.ridge == "auto" else ridge,
        None if is_auto and params.must_link_weight == "auto" else must,
        plan.inference,
        None if isinstance(params.n_neighbors, str) else int(params.n_neighbors),
        how.units,
        not given.views.is_on_cluster,
        plan.view_weights,
        plan.weighs_views,
    )
    known = given.known
    rows = LabelledRows(given.views, given.present, given.weights, given.sample_weight, known.class_ids, known.pairs)
    choice = choose(asked, default, rows, _CHOICE_SEED, n_threads)
    kinds = choice.scaling
    plan.view_weights = choice.view_weights
    plan.scaling = [kinds] * len(plan.scaling) if isinstance(kinds, str) else list(kinds)
    plan.notes += filter(None, [describe(choice, asked, given.views.names)])
    return ModelWeights(l1, choice.ridge, choice.must_link_weight, coupling), choice


def weigh_views(
    asked: ViewWeightsChoice, given: FitInput, scalings: Sequence[Scaling], seed: int, n_threads: int
) -> ViewWeights:
    """Return how much each view counts in a search: as given, or chosen as `FSSMSC` chooses it."""
    from ..tuning.auto import AutoRequest, LabelledRows, choose  # loads numba: not before a fit needs it

    views, known = given.views, given.known
    if asked is None or not isinstance(asked, str):
        return read_view_weights(views.names, asked)
    if len(views.names) == 1 or any("none" in scaling for scaling in scalings):
        return None  # as in the plan of `FSSMSC`
    usual = DEFAULTS["data"]
    weights = usual.l1, usual.ridge, usual.must_link_weight
    start = start_weights(views, given.present)
    wanted = AutoRequest(
        ["auto"] * len(views.names), *weights, None, None, "data", view_weights=start, weighs_views=True
    )
    rows = LabelledRows(views, given.present, given.weights, given.sample_weight, known.class_ids, known.pairs)
    return choose(wanted, scalings[0], rows, seed, n_threads, scalings).view_weights
