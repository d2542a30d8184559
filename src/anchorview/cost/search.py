"""What a fit of `AnchorViewClassifier` needs of memory beyond its input.

Its stages are search, fits and labels. The search keeps what its settings share until the end, so that later stages
come on top of it: for each scaling landmarks, products and a graph, for each set of codes the codes and sums over them.
What codes take is counted on some rows in every scaling, or taken as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.checks import make_random_state
from ..data.views import Views
from ..features.landmarks import ROWS_PER_LANDMARK
from ..features.representation import represent
from ..features.scaling import TextScalers, fit_scaling
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.weights import for_codes, measure_units
from ..tuning.options import SearchOptions
from ..tuning.settings import Setting
from .estimate import Items, MemoryEstimate, largest_stage
from .fit import INDEX, NONZEROS_PER_ROW, FitSizes, WorkBytes, count_work

_OF_CODES = ("codes", "sums over codes", "blocks")
_N_SETTINGS = 60  # that are judged
_N_CHOSEN = 2  # sets of codes that are completed for the average
_N_ON_GRAPHS = 8  # settings of the average that spread labels over a graph
_FOLDS_KEPT = 6  # whose sums over codes are kept
_DIRECTIONS = 50  # of the space of the graph
_EDGES = 160  # bytes of a row: its edges, to both sides, and itself
_NEIGHBOURS = 11 * 8 * 9  # bytes of a row while its neighbours are found and joined
_SPREAD = 6 * 4  # bytes of a row, class and fold while labels are spread
_MAX_ROTATED = 3000  # rows up to which a regression on more features works on their products
_ROTATED = 18  # bytes of such a product, besides the number itself: sparse, in double precision, and factored
_COUNTED = 200  # rows whose codes are counted
_N_SETS, _N_SETS_OF_ONE = 8, 5  # of codes: of several scalings (there are seven to ten), and of one


@dataclass(frozen=True)
class SearchSizes:
    """What the memory of a search depends on.

    Parameters
    ----------
    fit : FitSizes
        Of the rows that the search looks at.
    n_all : int
        Rows of the fit.
    widths : sequence of int
        Features of each scaling that is tried, once they are scaled.
    n_judging, n_folds : int
        Labels that settings are judged by, and the folds they are hidden in.
    is_copied : bool
        Whether the rows that the search looks at are a copy of some of them.
    options : SearchOptions
        Of the search.
    codes : CodeBytes
        What codes take.
    """

    fit: FitSizes
    n_all: int
    widths: Sequence[int]
    n_judging: int
    n_folds: int
    is_copied: bool
    options: SearchOptions
    codes: CodeBytes


def estimate_search(sizes: SearchSizes) -> MemoryEstimate:
    """Estimate the peak memory of a search and all that comes after it, beyond the input."""
    sizes = replace(sizes, fit=replace(sizes.fit, nonzeros=sizes.codes.nonzeros))
    work = count_work(sizes.fit)
    kept = _kept(sizes) | {"blocks": work.blocks}
    before_codes = {what: size for what, size in kept.items() if what not in _OF_CODES}
    stages = [
        ("search", before_codes | {"work": work.landmarks}),
        ("search", kept | {"work": _search_work(sizes)}),
        ("fits", kept | _fits(sizes, work)),
        ("labels", kept | _labels(sizes, work)),
    ]
    return largest_stage(sizes.n_all, stages)


def _n_coded(sizes: SearchSizes) -> int:
    """Rows whose codes judge settings."""
    s = sizes.fit
    return min(s.n_rows, s.n_labelled + sizes.options.n_coded)


def _kept(sizes: SearchSizes) -> Items:
    """Held from the search on."""
    s, options = sizes.fit, sizes.options
    codes, square = sizes.codes, 8.0 * s.n_landmarks**2
    products = s.n_rows * codes.products
    space = [min(_DIRECTIONS, s.n_landmarks, width) for width in sizes.widths]
    sums = square * (1 + 2 * min(sizes.n_folds, _FOLDS_KEPT)) + square * s.itemsize / 8 + codes.starts
    return {
        "sample of the rows": s.n_rows * s.input_row if sizes.is_copied else 0.0,
        "landmarks of each scaling": sum(2.0 * s.n_landmarks * w * s.itemsize + 2 * square for w in sizes.widths),
        "products of each scaling": products if products <= len(sizes.widths) * options.cache_bytes else 0.0,
        "graphs": sum(s.n_rows * (4.0 * w + _EDGES) for w in space) if s.n_rows <= options.max_graph_rows else 0.0,
        "codes": _n_coded(sizes) * codes.all_sets,
        "sums over codes": codes.n_sets * sums,
        "judgements": 8.0 * _N_SETTINGS * sizes.n_judging * s.n_components,
    }


def _search_work(sizes: SearchSizes) -> float:
    """Return the most that is held for a while: by the graph, a regression, or codes that are put together."""
    s = sizes.fit
    spread = s.n_rows * max(_NEIGHBOURS, _SPREAD * sizes.n_folds * s.n_components)
    on_graph = spread if s.n_rows <= sizes.options.max_graph_rows else 0.0
    return max(on_graph, _regression(sizes, sizes.n_judging), _n_coded(sizes) * sizes.codes.row)


def _regression(sizes: SearchSizes, n_rows: int) -> float:
    """Count the rows that a regression on features learns from, and those before scaling, or their products."""
    s, widest = sizes.fit, max(sizes.widths)
    rows = float(n_rows * min(widest * s.itemsize, 2 * s.input_row))
    if not s.n_text:  # regressions on wide dense features are seldom averaged
        return rows
    rotated = (_ROTATED + s.itemsize) * n_rows**2 if n_rows < min(widest, _MAX_ROTATED) else 0
    return rows + max(rows, rotated)


def _ensemble(sizes: SearchSizes) -> Items:
    """Held from the fits on: codes of rows that had none yet, sums over codes, and potentials of graphs."""
    s = sizes.fit
    has_all = _n_coded(sizes) == s.n_rows
    return {
        "codes of the average": 0.0 if has_all else _N_CHOSEN * s.n_rows * sizes.codes.row,
        "sums of the average": _N_CHOSEN * 2 * 2 * 8.0 * s.n_landmarks**2,  # with all labels, and with sure rows
        "potentials": _N_ON_GRAPHS * 4.0 * s.n_rows * s.n_components
        if s.n_rows <= sizes.options.max_graph_rows
        else 0.0,
    }


def _fits(sizes: SearchSizes, work: WorkBytes) -> Items:
    """Votes, and regressions with rows that the average is sure of, or distances to labelled rows."""
    s, options = sizes.fit, sizes.options
    n_sure = min(s.n_rows, s.n_labelled + (options.max_sure if options.second_fit else 0))
    return _ensemble(sizes) | {
        "votes": 2 * 8.0 * s.n_rows * s.n_components,
        "work": max(_regression(sizes, n_sure), work.distances),
    }


def _labels(sizes: SearchSizes, work: WorkBytes) -> Items:
    """Codes of all rows, votes and probabilities; or, of these, the labels that are judged."""
    s, n = sizes.fit, sizes.n_all
    read, found = 5 * 8.0 * n * s.n_components, n * (s.itemsize * s.n_components + 60.0)
    return _ensemble(sizes) | {
        "codes of all rows": n * sizes.codes.row if n > s.n_rows else 0.0,
        "votes": 8.0 * n * s.n_components + found,
        "probabilities": max(read, work.distances, work.judging),
    }


@dataclass(frozen=True)
class CodeBytes:
    """Bytes of codes, and of the products that they are made of.

    Parameters
    ----------
    n_sets : int
        Sets of codes that are kept.
    nonzeros : float
        Non-zeros of a code in the first scaling, with the ridge that makes it densest if that is not too dense.
    itemsize : int
        Bytes of a number of these.
    all_sets : float
        Bytes of a row in all sets.
    products : float
        Bytes of a row's products in all scalings.
    starts : float
        Bytes of the starts of a set.
    """

    n_sets: int
    nonzeros: float
    itemsize: int
    all_sets: float
    products: float
    starts: float = 0.0

    @property
    def row(self) -> float:
        """Bytes of a code."""
        return _row(self.nonzeros, self.itemsize)


def _row(nonzeros: float, itemsize: int) -> float:
    return nonzeros * (itemsize + INDEX) + INDEX


def _count_sets(n_scalings: int) -> int:
    return _N_SETS if n_scalings > 1 else _N_SETS_OF_ONE


def usual_codes(n_scalings: int, n_landmarks: int, itemsize: int) -> CodeBytes:
    """Return what they take where there is no data to count them on."""
    n_sets, row = _count_sets(n_scalings), _row(NONZEROS_PER_ROW, itemsize)
    return CodeBytes(n_sets, NONZEROS_PER_ROW, itemsize, n_sets * row, 1.0 * n_scalings * n_landmarks * itemsize)


def count_codes(
    views: Views, scalings: list[list[str]], n_landmarks: int, options: SearchOptions, n_threads: int
) -> CodeBytes:
    """Count them on some rows: in each scaling with the usual ridge, and in the two densest ones with the others."""
    some = views[:: max(1, len(views) // (ROWS_PER_LANDMARK * n_landmarks))]
    usual = Setting(scaling="", n_landmarks=n_landmarks)
    counted: list[tuple[list[float], int]] = []  # of each scaling: non-zeros with each ridge, and bytes of a number
    starts: list[int] = []
    texts: TextScalers = {}  # fitted once for all scalings, as in the search
    for kinds in scalings:
        rng, present = make_random_state(0), some.present
        scaler = fit_scaling(some, kinds, n_threads, rng=rng, present=present, known=texts)
        source = represent(some, scaler, "kmeans", min(n_landmarks, len(some)), rng, n_threads, present=present)
        products = source.cross.take(np.arange(len(some))[:: max(1, len(some) // _COUNTED)])
        nonzeros: list[float] = []
        units = measure_units(source.grams.complete, products)
        for asked in (usual.ridge, *options.ridges):
            if nonzeros and nonzeros[0] > options.dense_codes and asked > usual.ridge:
                continue  # denser ones are not tried
            l1, ridge = for_codes(usual.l1, asked, units)
            encoder = ElasticNetEncoder(source.grams.complete, ridge, l1)
            nonzeros.append(encoder.encode(products).nnz / max(len(products), 1))
            own = encoder.prepare(products.dtype)[1]
            starts.append(0 if own is None else own.factors.nbytes)
        if nonzeros[0] <= options.dense_codes:
            nonzeros.append(nonzeros[0])  # with a smaller l1, about as many
        counted.append((nonzeros, products.dtype.itemsize))
    all_sets = sum(_row(nonzeros[0], itemsize) for nonzeros, itemsize in counted)
    others = sorted(sum(_row(each, itemsize) for each in nonzeros[1:]) for nonzeros, itemsize in counted)
    all_sets += sum(others[-options.n_finalists :])
    (first, itemsize), in_all = counted[0], sum(itemsize for _, itemsize in counted)
    return CodeBytes(
        _count_sets(len(scalings)),
        min(max(first), max(first[0], options.dense_codes)),
        itemsize,
        all_sets,
        1.0 * n_landmarks * in_all,
        float(np.mean(starts)),
    )
