"""What a fit learns from the features: scaling, landmarks, weights in the paper's units, and whether memory is enough.

What is "auto" is chosen first, by cross-validation on the labels (`tuning.auto`). Labels take part in nothing
else. So the same rows with other labels need none of this again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..core.progress import Outcome, Progress
from ..cost.estimate import MemoryEstimate, check_memory, give_back
from ..cost.fit import FitSizes, estimate_memory, input_sizes, may_move, state_itemsize
from ..features.representation import Representation, represent
from ..features.scaled import ViewsScaler
from ..features.scaling import fit_scaling
from ..features.view_weights import ViewWeights, ViewWeightsChoice, read_view_weights, start_weights
from ..readers.base import OF_PRODUCTS
from ..readers.graph_members import GraphMembers
from ..readers.watched_products import KeptNeighbours
from ..solver.codes import Codes, Reduction
from ..solver.grams import patterns
from ..solver.weights import DEFAULTS, DENSE, ModelWeights, PaperWeights, to_paper_weights
from ..solvers import SolverParameters
from ..supervision.given import FitInput
from ..tuning.auto import AutoRequest, Choice, choose, describe
from ..tuning.options import POWERS, SearchOptions
from ..tuning.settings import SPARSE_SCALINGS, Scaling, one_name
from .spec import FitParameters, Plan, resolve_readers

_VOTE_BYTES = 512  # of a row, as its code takes: what readers of E say of more classes is computed again
_COMPILED = "anchorview.solver.kernels"  # loaded, and on the first run of a machine compiled, by the first fit
_CHOICE_SEED = 0  # whatever the seed of the fit: half of the labels that changed with it did so by another choice


@dataclass(frozen=True, eq=False)
class Prepared:
    """A fit up to its codes: what does not depend on the labels, but for the settings that these have chosen."""

    params: FitParameters
    given: FitInput  # rows and weights, with the labels of the fit
    plan: Plan
    choice: Choice
    source: Representation
    settled: PaperWeights
    rng: np.random.RandomState  # as it is now, for those who learn from other labels
    encoded: tuple[Codes, Reduction] | None = None  # codes without coupling and their sums, once they are known
    members: GraphMembers | None = None  # rows of the graph, if one reads the labels
    neighbours: KeptNeighbours | None = None  # of each row among them

    def without_codes(self) -> Prepared:
        """Return the same with nothing kept that was computed from the rows: landmarks, settings and graph stay."""
        source = replace(self.source, cross=self.source.cross.as_new())
        return replace(self, source=source, encoded=None, neighbours=None)


def prepare(
    params: FitParameters,
    given: FitInput,
    plan: Plan,
    rng: np.random.RandomState,
    n_threads: int,
    available: int | None,
    progress: Progress,
) -> Prepared:
    """Choose settings, scaling and landmarks, and refuse a fit for which there is too little memory."""
    if _COMPILED not in sys.modules:
        progress.log("loading the compiled kernels (the first run on a machine compiles them: 5-15 s)")
    asked, choice = choose_settings(params, given, plan, n_threads)
    give_back()  # or what follows comes on top of the sample, and of all that was tried with it
    sizes = fit_sizes(params, given, plan, n_threads)
    progress.stage("scaling", "scaling: " + ", ".join(plan.scaling))
    scaler = fit_planned_scaling(given, plan, rng, n_threads)
    progress.stage("landmarks", f"choosing {plan.n_landmarks} landmarks")
    source = represent_rows(params, given, plan, scaler, rng, n_threads)
    if "linear" in choice.readers:
        source.cross.keep_blocks()
    if len(source.landmarks) < plan.n_landmarks:
        plan.outcomes.append(Outcome.FEW_DIFFERENT_ROWS)
    settled, needed = measure(params, given, plan, source, asked, choice, sizes, available)
    check_memory(needed, available)
    return Prepared(params, given, plan, choice, source, settled, deepcopy(rng))


def fit_sizes(params: FitParameters, given: FitInput, plan: Plan, n_threads: int, n_tried: int = 0) -> FitSizes:
    """Return the sizes of a fit that tries so many scalings, but for the non-zeros of its codes."""
    return FitSizes(
        **input_sizes(given.views, plan.scaling, n_tried > 1),
        n_landmarks=plan.n_landmarks,
        n_components=plan.n_components,
        n_labelled=int(np.count_nonzero(given.known.class_ids >= 0)),
        n_tried=n_tried,
        solver=plan.how.name,
        state_itemsize=state_itemsize(plan.how),
        n_threads=n_threads,
        n_patterns=1 if given.present is None else len(patterns(given.present)[0]),
        moves=may_move(plan.how, params.coupling),
        nearest_only=plan.readers in (("nearest",), ("paper",)),
    )


def fit_planned_scaling(given: FitInput, plan: Plan, rng: np.random.RandomState, n_threads: int) -> ViewsScaler:
    """Fit the scaling of the views."""
    rows: dict[str, Any] = {"present": given.present, "weights": given.weights}
    return fit_scaling(given.views, plan.scaling, n_threads, rng=rng, view_weights=plan.view_weights, **rows)


def represent_rows(
    params: FitParameters, given: FitInput, plan: Plan, scaler: Any, rng: np.random.RandomState, n_threads: int
) -> Representation:
    """Choose the landmarks."""
    how = params.landmarks if isinstance(params.landmarks, str) else np.asarray(params.landmarks)
    rows: dict[str, Any] = {"present": given.present, "weights": given.weights, "least": plan.n_components}
    return represent(given.views, scaler, how, plan.n_landmarks, rng, n_threads, **rows)


def measure(
    params: FitParameters,
    given: FitInput,
    plan: Plan,
    source: Representation,
    asked: ModelWeights,
    choice: Choice,
    sizes: FitSizes,
    available: int | None,
) -> tuple[PaperWeights, MemoryEstimate]:
    """Turn weights into the paper's, on some rows, and return what the fit needs with codes as sparse as theirs."""
    settled, cross = _weigh(params, source, asked, given, plan), source.cross
    sizes = replace(
        sizes,
        itemsize=cross.dtype.itemsize,
        feature_itemsize=sizes.itemsize,
        state_itemsize=state_itemsize(plan.how, cross.is_double),
        nonzeros=settled.nonzeros,
        vote_bytes=vote_bytes(choice.readers, len(given.known.classes)),
        reads_products=not set(OF_PRODUCTS).isdisjoint(choice.readers),
    )
    return settled, _reserve(sizes, available, plan)


def vote_bytes(readers: Sequence[str], n_classes: int) -> int:
    """Return what is kept of a row while readers of E wait for that of the embedding: nothing if it would be much."""
    n_bytes = 0 if set(OF_PRODUCTS).isdisjoint(readers) else 8 * n_classes
    return n_bytes if n_bytes <= _VOTE_BYTES else 0


def _weigh(
    params: FitParameters, source: Representation, asked: ModelWeights, given: FitInput, plan: Plan
) -> PaperWeights:
    """Turn weights into the paper's, and keep codes sparse, or say what dense ones cost."""
    how = plan.how
    is_free = how.units == "data" and params.l1 == "auto" and params.ridge == "auto" and "l1" not in how.omit
    counted = replace(asked, l1=0.0) if "l1" in how.omit else asked
    settled = to_paper_weights(source.cross, source.grams.complete, counted, how.units, given.weights, is_free=is_free)
    if settled.was_dense and is_free:
        plan.outcomes.append(Outcome.DENSE_CODES_MENDED)
    elif settled.was_dense:
        warnings.warn(
            f"The codes are dense (about {settled.nonzeros:.0f} non-zeros per row), so the fit will be slow: about "
            f"{(settled.nonzeros / 50) ** 3:.0f} times as long as with the usual 50. A smaller ridge, a larger l1, "
            f'or "auto" for both, keeps them below {DENSE}.',
            UserWarning,
            stacklevel=8,
        )
    return settled


def _reserve(sizes: FitSizes, available: int | None, plan: Plan) -> MemoryEstimate:
    """Return what a fit needs, and plan to keep codes in files if it were more than the solver's `memory_limit`.

    Codes on a cluster stay there, and the embedding does if it would take the fit beyond that limit.
    """
    needed, limit = estimate_memory(sizes), plan.how.memory_limit
    if limit is None and available is not None:
        limit = available // 2
    if limit is None or needed.total <= limit or not plan.solver.stores_codes:
        return needed
    if sizes.on_cluster:
        plan.embedding_on_cluster = True
        plan.notes.append("The embedding stays on the cluster, as a dask array.")
        return estimate_memory(replace(sizes, n_components=0))
    plan.codes_in_files = True
    plan.notes.append(f"Codes are kept in files, as the fit would need {needed.describe_total()} with them.")
    return estimate_memory(replace(sizes, codes_in_files=True))


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
        plan.readers,
        None if isinstance(params.n_neighbors, str) else int(params.n_neighbors),
        how.units,
        not given.views.is_on_cluster,
        plan.view_weights,
        plan.weighs_views,
    )
    choice = choose(asked, default, given, _CHOICE_SEED, n_threads)
    kinds = choice.scaling
    plan.view_weights = choice.view_weights
    plan.scaling = [kinds] * len(plan.scaling) if isinstance(kinds, str) else list(kinds)
    plan.notes += filter(None, [describe(choice, asked, given.views.names)])
    return ModelWeights(l1, choice.ridge, choice.must_link_weight, coupling), choice


def weigh_views(asked: ViewWeightsChoice, given: FitInput, scalings: Sequence[Scaling], n_threads: int) -> ViewWeights:
    """Return how much each view counts in a search: as given, or chosen as `FSSMSC` chooses it, by the same folds."""
    views = given.views
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
    return choose(wanted, scalings[0], given, _CHOICE_SEED, n_threads, scalings).view_weights
