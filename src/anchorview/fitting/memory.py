"""What a fit will take, from its sizes or from its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..cost.estimate import MemoryEstimate, available_memory
from ..cost.fit import FitSizes, estimate_memory, may_move, state_itemsize
from ..supervision.given import FitInput
from .preparing import (
    choose_settings,
    count_scalings,
    count_tried,
    fit_planned_scaling,
    fit_sizes,
    measure,
    represent_rows,
)
from .spec import FitParameters, make_plan


def estimate_from_sizes(params: FitParameters, sizes: FitSizes) -> MemoryEstimate:
    """Estimate from sizes, of which those that depend on parameters are still to be set."""
    by_name = isinstance(params.landmarks, str)
    is_auto = params.scaling == "auto" if isinstance(params.scaling, str) else True
    how = params.solver
    sizes = replace(
        sizes,
        n_landmarks=min(params.n_landmarks, sizes.n_rows) if by_name else len(np.asarray(params.landmarks)),
        n_tried=count_scalings(params, how, is_auto, False) if sizes.n_labelled else 0,
        solver=how.name,
        state_itemsize=state_itemsize(how),
        moves=may_move(how, params.coupling),
    )
    return estimate_memory(sizes)


def estimate_from_data(
    params: FitParameters, given: FitInput, rng: np.random.RandomState, n_threads: int, count: bool
) -> MemoryEstimate:
    """Go as far as a fit goes before its codes, by the same draws: whether weights change can hang on a row."""
    plan = make_plan(params, given)
    n_tried = count_tried(params, given, plan)
    if not count:
        return estimate_memory(fit_sizes(params, given, plan, n_threads, n_tried))
    asked, choice = choose_settings(params, given, plan, n_threads)
    scaler = fit_planned_scaling(given, plan, rng, n_threads)
    source = represent_rows(params, given, plan, scaler, rng, n_threads)
    sizes = fit_sizes(params, given, plan, n_threads, n_tried)
    return measure(params, given, plan, source, asked, choice, sizes, available_memory(n_threads))[1]
