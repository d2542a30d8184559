"""What a fit of `FSSMSC` needs of memory beyond its input.

A fit goes through stages (choice, scaling, landmarks, solver, labels), and each holds a list of things; the estimate is
the list of the stage that holds most. Counted is what grows with the data, as many copies as are alive at the same
time. The number of non-zeros of a code cannot be known beforehand (25 to 70 on most data, 130 where rows of signed
features are nearly parallel), so with data at hand it is counted on some rows; everything else follows from sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.views import Views
from ..engine.blocks import block_rows, even_size
from ..features.auto import DENSE_ROWS
from ..features.landmarks import FULL_SPACE_ENTRIES, FULL_SPACE_WORK, PROJECTION, ROWS_PER_LANDMARK
from ..features.products import CACHE_BYTES
from ..features.scaled import BLOCK_ROWS
from ..features.text import LSA_COMPONENTS, PASS_ROWS
from ..readers.base import READ_GRAPH, READ_LABELS
from ..readers.nearest import READ_ROWS
from ..solvers import SolverParameters
from ..tuning.options import (
    JUDGED_FOLDS,
    JUDGED_GRAPH,
    JUDGED_LABELS,
    JUDGED_TOGETHER,
    MOST_LABELLED,
    SAMPLE_LANDMARKS,
    SAMPLE_ROWS,
)
from .estimate import Items, MemoryEstimate, largest_stage

_DISTANCES = 2**20  # that a thread holds when labels are read
_FOUND = 52.0  # bytes of a row: the first two classes, how likely they are, its label, and the class it might have else
_SQUARES = 12  # m×m matrices of the solver: Gram matrices, Hessian, sums over codes, the eigenproblem
_SQUARES_KEPT = 7  # of these, without the eigenproblem, when labels are read
_N_JUDGED = 60  # settings that the choice judges; it keeps the probabilities of the hidden labels
_CHOICE = 12e6  # codes of 1,500 rows and 100 landmarks, and what the sample is judged with
_LSA_WIDTH = LSA_COMPONENTS + 20  # directions that "lsa" works with
NONZEROS_PER_ROW = 48  # of a code, where there is no data to count them on
INDEX = 4  # bytes of an index


@dataclass(frozen=True)
class FitSizes:
    """What the memory of a fit depends on.

    Parameters
    ----------
    n_rows, n_features, n_landmarks, n_components, n_labelled : int
        n, d (all views), m, k and the number of labelled rows.
    nonzeros : float
        Non-zeros of a code.
    itemsize : int
        Bytes of a number: 4 in single precision. Once there are landmarks, of a product.
    feature_itemsize : int, optional
        Bytes of a number of the features, if that is something else: products of rows that are nearly parallel are in
        double precision.
    row_bytes : float, optional
        Bytes of a row of the input; by default those of dense features.
    n_scaled : int, optional
        Features once they are scaled: of a view that is turned into coordinates ("lsa") fewer than before.
    n_tried : int
        Scalings that the choice tries; 0 if there is nothing to choose.
    n_text : int
        Non-zeros of the largest view that is scaled as text; views are scaled one after the other.
    n_lsa : int
        Features of the views that are turned into coordinates, by themselves or in the choice.
    solver : str
        "admm" has dense states, with numbers of `state_itemsize` bytes.
    n_patterns : int
        Combinations of views that rows have.
    moves : bool
        Whether labels are expected to move codes: then there are two of each. With the default coupling they seldom do.
    codes_in_files : bool
        Whether codes are kept in files, but for where their rows start and those that moved.
    on_cluster : bool
        Whether rows and codes are on a cluster, and text is scaled there.
    reads_products : bool
        Whether the products are read by regression or graph, in double precision.
    vote_bytes : int
        What is kept of a row while such readers wait for that of the embedding.
    nearest_only : bool
        Whether labels are read from the nearest labelled rows for certain: then only small fits hold distances.
    """

    n_rows: int
    n_features: int
    n_landmarks: int
    n_components: int
    n_labelled: int = 0
    nonzeros: float = NONZEROS_PER_ROW
    itemsize: int = 4
    feature_itemsize: int | None = None
    row_bytes: float | None = None
    n_scaled: int | None = None
    n_tried: int = 0
    n_text: int = 0
    n_lsa: int = 0
    solver: str = "active_set"
    state_itemsize: int = 4
    n_threads: int = 1
    n_patterns: int = 1
    moves: bool = False
    codes_in_files: bool = False
    on_cluster: bool = False
    reads_products: bool = False
    vote_bytes: int = 0
    nearest_only: bool = False

    @property
    def width(self) -> int:
        """Features once they are scaled."""
        return self.n_features if self.n_scaled is None else self.n_scaled

    @property
    def input_row(self) -> float:
        """Bytes of a row of the input."""
        return self.n_features * self.itemsize if self.row_bytes is None else self.row_bytes


def state_itemsize(how: SolverParameters, is_double: bool = False) -> int:
    """Return the bytes of a number of the solver's dense states; `is_double` if landmarks ask for double precision."""
    usual = "float64" if is_double else "float32"
    return int(np.dtype(usual if how.dtype == "auto" else how.dtype).itemsize)


def may_move(how: SolverParameters, coupling: Any) -> bool:
    """Tell whether labels are expected to move codes; with the default coupling they seldom do."""
    return bool(how.units == "paper" or coupling != "auto")


def input_sizes(views: Views, scaling: Sequence[str], may_change: bool = False) -> dict[str, Any]:
    """Return what `FitSizes` knows of views with a scaling each; or with others too, if that may change."""
    arrays = list(zip(views.arrays, views.is_sparse_view, strict=True))
    is_text = [known or kind in ("tfidf", "lsa") for known, kind in zip(views.is_sparse_view, scaling, strict=True)]
    stored = [a.nnz if known else a.shape[0] * a.shape[1] for a, known in arrays]
    n_bytes = [
        count * (a.dtype.itemsize + (INDEX if known else 0)) for (a, known), count in zip(arrays, stored, strict=True)
    ]
    is_lsa = [kind == "lsa" or (may_change and text) for kind, text in zip(scaling, is_text, strict=True)]
    sizes = [
        min(LSA_COMPONENTS, size) if kind == "lsa" else size for kind, size in zip(scaling, views.sizes, strict=True)
    ]
    on_cluster = views.is_on_cluster
    return {
        "n_rows": len(views),
        "n_features": sum(views.sizes),
        "itemsize": 4 if all(np.can_cast(array.dtype, np.float32) for array in views.arrays) else 8,
        "row_bytes": sum(n_bytes) / max(len(views), 1),
        "n_scaled": sum(sizes),
        "n_text": 0
        if on_cluster
        else max((count for count, text in zip(stored, is_text, strict=True) if text), default=0),
        "n_lsa": 0 if on_cluster else sum(size for size, lsa in zip(views.sizes, is_lsa, strict=True) if lsa),
        "on_cluster": on_cluster,
    }


def estimate_memory(sizes: FitSizes) -> MemoryEstimate:
    """Estimate the peak memory of a fit beyond its input: that of the stage which takes most."""
    early = replace(sizes, itemsize=sizes.feature_itemsize or sizes.itemsize)
    stages = [("choice", choice_items(early)), ("scaling", scaling_items(early)), ("landmarks", landmark_items(early))]
    last = [("solver", _admm(sizes))] if sizes.solver == "admm" else _active_set(sizes)
    return largest_stage(sizes.n_rows, [*stages, *last])


def choice_items(s: FitSizes) -> Items:
    """Choosing scaling and weights on a sample of the rows, a copy, with landmarks for each scaling that is tried."""
    if not s.n_tried:
        return {}
    n_rows, n_labelled = min(s.n_rows, SAMPLE_ROWS), min(s.n_labelled, MOST_LABELLED)
    m, wide = max(min(SAMPLE_LANDMARKS, n_rows // 3), 2 * s.n_components), max(s.width, s.n_features)
    sample = FitSizes(n_rows, wide, m, 0, itemsize=s.itemsize, row_bytes=s.row_bytes, n_threads=s.n_threads)
    regression = 2 * n_labelled * min(wide * s.itemsize, 2 * s.input_row)  # all labelled rows, and those that are shown
    text = scaling_items(FitSizes(n_rows, s.n_features, m, 0, n_lsa=s.n_lsa, itemsize=s.itemsize))
    # In double precision, passes over dense features.
    passes = 8.0 * s.n_threads * min(n_rows, DENSE_ROWS) * max(s.n_features - s.n_lsa, 0)
    return {
        "sample of the rows": n_rows * s.input_row,
        "landmarks of each scaling": 2.0 * s.n_tried * m * wide * s.itemsize,
        "work on the sample": max(passes, regression, *(sum(each.values()) for each in (text, landmark_items(sample)))),
        "judgements": _CHOICE + 8.0 * _N_JUDGED * n_labelled * s.n_components,
    }


def scaling_items(s: FitSizes) -> Items:
    """Fitting the scaling; dense views are passed over in blocks."""
    # Text, of a block of rows: a copy, which values are positive (1), their columns, and the weights of their rows.
    share = min(PASS_ROWS / max(s.n_rows, 1), 1.0) * s.n_threads
    text = share * s.n_text * (2 * (s.itemsize + INDEX) + 1 + INDEX + 2 * 8)
    if s.n_lsa:  # images of 170 directions, once in double precision
        text += share * s.n_rows * _LSA_WIDTH * (s.itemsize + 8)
    # These directions, their products, those of a block for each thread, and their Gram matrix in double precision.
    return {"text": text, "directions": s.n_lsa * _LSA_WIDTH * ((2.0 + s.n_threads) * s.itemsize + 8)}


def landmark_items(s: FitSizes) -> Items:
    """Choosing landmarks: the sample that k-means sees, and a projection of it if there is one; then the means."""
    n_sample = min(s.n_rows, ROWS_PER_LANDMARK * s.n_landmarks)
    entries = n_sample * s.width
    projects = entries * s.n_landmarks > FULL_SPACE_WORK or entries > FULL_SPACE_ENTRIES
    projects = projects and s.width > 2 * PROJECTION
    entries = n_sample * (PROJECTION if projects else s.width)
    scaled = 2.0 * s.n_threads * min(s.n_rows, BLOCK_ROWS) * min(s.width * s.itemsize, 3 * s.input_row)
    projection = s.width * PROJECTION * (8 + s.itemsize) if projects else 0
    # The landmarks, their transpose, and a copy in double precision for their Gram matrix.
    means = s.n_landmarks * s.width * (2 * s.itemsize + 8)
    return {
        "k-means": max(entries * s.itemsize + projection, means),
        "scaled rows": scaled,
    }


def block_bytes(s: FitSizes) -> float:
    """Count what a thread works with, of a block of rows: what encoding holds, or what reading the products does."""
    reads = _read_products(s) if s.reads_products else 0.0
    row = s.n_landmarks * s.itemsize + max(s.n_landmarks * s.itemsize + 3 * s.nonzeros * (s.itemsize + INDEX), reads)
    return min(block_rows(s.n_rows), s.n_rows) * row + 16.0 * s.n_landmarks**2


def _wide(s: FitSizes) -> int:
    """Return the bytes of a number that a copy in double precision takes; none if there is no need of a copy."""
    return 8 if s.itemsize < 8 else 0


def _read_products(s: FitSizes) -> float:
    """Count, of a row, its products less their mean, in the precision of the features and in double precision.

    Of a row that lacks views, also the completed products: old, rebuilt, missing (twice) and filled in, a pattern of
    views at a time.
    """
    completed = s.itemsize + 5 * 8 / s.n_patterns if s.n_patterns > 1 else 0.0
    return s.n_landmarks * (s.itemsize + _wide(s) + completed)


def _kept(s: FitSizes, n_squares: int = _SQUARES) -> Items:
    """Held throughout: landmarks and their transpose, directions of text, m×m matrices, and E if it is small."""
    square = 8.0 * s.n_landmarks**2
    grams = min(s.n_patterns - 1, 2**28 / square) * square * (1 + s.itemsize / 8)
    products = s.n_rows * s.n_landmarks * s.itemsize
    return {
        "landmarks": 2 * s.n_landmarks * s.width * s.itemsize + n_squares * square + grams,
        "products": products if products <= CACHE_BYTES else 0,
        "directions": s.n_lsa * LSA_COMPONENTS * (1.0 + s.itemsize) if s.width < s.n_features else 0.0,
    }


def _readings(s: FitSizes) -> float:
    """Count what fitting readers of the products holds: products of labelled rows, or of those of a graph."""
    if not s.reads_products:
        return 0.0
    n_rows = max(min(s.n_labelled, READ_LABELS), min(s.n_rows, READ_GRAPH))
    return n_rows * (s.n_landmarks * s.itemsize + _read_products(s) + 8.0 * min(s.n_landmarks, s.width))


def distance_bytes(s: FitSizes) -> float:
    """Count the distances between rows and labelled ones that are held when labels are read."""
    return s.n_threads * 8.0 * min(_DISTANCES, s.n_rows * s.n_labelled)


def judge_bytes(s: FitSizes) -> float:
    """Count what judging the labels holds: coordinates of those that a regression learns from, made of products."""
    if not s.n_labelled:
        return 0.0
    n_learned, n_along = min(s.n_labelled, JUDGED_LABELS), min(s.n_landmarks, s.width)
    # Products, less their mean, in double precision, and coordinates.
    row = s.n_landmarks * (2.0 * s.itemsize + _wide(s)) + 8.0 * n_along
    learned = n_learned * max(row, 20.0 * n_along)  # these in single precision, in double, and less their mean
    n_block = max(min(s.n_labelled, JUDGED_TOGETHER), min(s.n_rows, JUDGED_GRAPH))
    held = n_learned * 8.0 * n_along
    space = 5 * 8.0 * s.n_landmarks**2  # of the landmarks: its matrix, a copy, directions, and as much to work with
    # Labels spread over the graph: sources, twice, solution, residual, step, and two products, in single precision.
    spread = 7 * 4.0 * min(s.n_rows, JUDGED_GRAPH) * s.n_components * (JUDGED_FOLDS + 1)
    return max(space, learned, held + n_block * (row + 8.0 * n_along), held + spread)


def _active_set(s: FitSizes) -> list[tuple[str, Items]]:
    """Count what readers, rounds, their end, reading the labels, and judging those given take."""
    row = s.nonzeros * (s.itemsize + INDEX) + INDEX
    wide = s.nonzeros * _wide(s)  # SciPy's copy of codes that meet double precision
    n, n_l, k = s.n_rows, s.n_labelled, s.n_components
    kept, later, copies = _kept(s), _kept(s, _SQUARES_KEPT), 2 if s.moves else 1
    votes, blocks = float(n * s.vote_bytes), s.n_threads * block_bytes(s)
    n_read = min(n, s.n_threads * even_size(n, READ_ROWS, s.n_threads))
    read = n_read * k * (4.0 * s.itemsize + (16 if s.reads_products else 0))  # probabilities, and what they are made of
    distances = 0 if s.nearest_only else distance_bytes(s)
    reading = read + max(distances, blocks if s.reads_products and not s.vote_bytes else 0)
    judge = judge_bytes(s)
    first = ("solver", later | {"readings": _readings(s), "products": 0.0})  # there are none yet
    if s.codes_in_files or s.on_cluster:
        moved = n_l * (2 * row + wide)
        stored = 0 if s.on_cluster else n
        found = n * (s.itemsize * k + 8 + _FOUND)  # embedding, class numbers given, and what was found
        last = {"codes": 8.0 * stored + moved, "rows": found + votes, **later}
        return [
            first,
            # Where rows start: their lengths, those in one piece, and the sums of these.
            ("solver", {"codes": 3.0 * 8 * stored + moved, "rows": 16.0 * n + votes, "blocks": blocks, **kept}),
            ("labels", {**last, "probabilities": reading}),
            ("labels", {**last, "judging labels": judge}),
        ]
    codes, embedded = copies * n * row, n * s.itemsize * k
    return [
        first,
        # Codes on their own; of the rows that move, which are the labelled ones, old codes, new ones, and for the
        # pairs those in double precision. For each row the bound of its gradient.
        ("solver", {"codes": n * row + n_l * (2 * row + wide), "rows": n * 48.0 + votes, "blocks": blocks, **kept}),
        # Codes of all rows, both if some moved, those that did, and the embedding.
        ("solver", {"codes": codes + n_l * row, "rows": embedded + n * 32.0 + votes, "blocks": blocks, **kept}),
        # Confidence: of the labelled rows, codes, those of two thirds, and a copy in double precision.
        ("labels", {"codes": codes + n_l * (5 / 3 * row + wide), "rows": embedded + n * 32.0 + votes, **kept}),
        # Labels: embedding, and a few numbers a row.
        ("labels", {"codes": codes, "rows": embedded + n * 48.0 + votes, "probabilities": reading, **later}),
        ("labels", {"codes": codes, "rows": embedded + n * _FOUND + votes, "judging labels": judge, **later}),
    ]


@dataclass(frozen=True)
class WorkBytes:
    """What some kinds of work hold for a while."""

    landmarks: float  # k-means, or directions of text: before there are any codes
    blocks: float  # all that threads encode
    distances: float  # to labelled rows
    judging: float  # of labels


def count_work(s: FitSizes) -> WorkBytes:
    """Count the work that every estimator does."""
    landmarks = max(sum(items.values()) for items in (scaling_items(s), landmark_items(s)))
    return WorkBytes(landmarks, s.n_threads * block_bytes(s), distance_bytes(s), judge_bytes(s))


def _admm(s: FitSizes) -> Items:
    """Five dense states (B⁰, B, Y, Z, Z⁺), more than both codes without any zero take after them.

    Of the labelled rows, Z in double precision, and three arrays of that size while the pairs are applied to it.
    """
    states = 5.0 * s.n_rows * s.n_landmarks * s.state_itemsize + 4 * 8.0 * s.n_labelled * s.n_landmarks
    return {"states": states, "rows": 32.0 * s.n_rows, "blocks": s.n_threads * block_bytes(s), **_kept(s)}
