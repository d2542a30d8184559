"""What a search will take, from its sizes or from its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.arrays import Rows
from ..core.free_memory import available_memory
from ..cost.code_bytes import count_codes, usual_codes
from ..cost.search import SearchSizes, estimate_search
from ..cost.sizes import SEARCH_REMEDY, FitSizes, MemoryEstimate, check_memory, input_sizes
from .given import FitInput
from .searching import SearchParameters

_CLEARLY_ENOUGH = 4  # times what codes of the usual density need: denser ones are looked for below that


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
    available = available_memory(n_threads)
    needed = estimate_search_data(params, given, rows, n_threads, count=False)
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
