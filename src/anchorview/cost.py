"""What a fit of `FSSMSC` needs of memory beyond its input, told before it runs.

A fit goes through stages (choice, scaling, landmarks, solver, labels), and each holds a list of things; the estimate is
the list of the stage that holds most. Counted is what grows with the data, as many copies as are alive at the same
time. The number of non-zeros of a code cannot be known beforehand (25 to 70 on most data, 130 where rows of signed
features are nearly parallel), so with data at hand it is counted on some rows; everything else follows from sizes.
`search_cost` does the same for `FSSMSCCV`. `benchmarks/memory.py` compares both with what fits take.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engine.sources.base import holds_sparse
from .features.auto import DENSE_ROWS
from .features.landmarks import FULL_SPACE_ENTRIES, FULL_SPACE_WORK, PROJECTION, ROWS_PER_LANDMARK
from .features.products import CACHE_BYTES, block_rows
from .features.scaling import BLOCK_ROWS
from .features.text import LSA_COMPONENTS, PASS_ROWS
from .labelling.rule import READ_ROWS
from .solver.grams import patterns
from .tuning.sampling import MOST_LABELLED, SAMPLE_LANDMARKS, SAMPLE_ROWS

REMEDY = (
    "Lower n_landmarks, give the views in single precision (float32), fit a sample of the rows and predict the rest in "
    "blocks (predict needs a fixed amount of memory), or raise the limit."
)
NONZEROS_PER_ROW = 48  # of a code, where there is no data to count them on
_COMPILED = "anchorview.solver.kernels"
_DISTANCES = 2**20  # that a thread holds when labels are read
_FOUND = 52.0  # bytes of a row: the first two classes, how likely they are, its label, and the class it might have else
_SQUARES = 12  # m×m matrices of the solver: Gram matrices, Hessian, sums over codes, the eigenproblem
_N_JUDGED = 60  # settings that the choice judges; it keeps the probabilities of the hidden labels
_CHOICE = 12e6  # codes of 1,500 rows and 100 landmarks, and what the sample is judged with
_LSA_WIDTH = LSA_COMPONENTS + 20  # directions that "lsa" works with
INDEX = 4  # bytes of an index

Items = dict[str, float]  # bytes by what they are for


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input at its peak, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> FSSMSC(n_jobs=1).estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10).parts
    {'codes': 388000000, 'rows': 98485760, 'landmarks': 24800000, 'blocks': 25102592}
    """

    n_rows: int
    parts: dict[str, int]
    stage: str = "solver"

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self.parts.values())

    def describe_total(self) -> str:
        """Return the total in words."""
        return _text(self.total)

    def __str__(self) -> str:
        largest_first = sorted(self.parts.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {_text(size)}" for name, size in largest_first if size >= 5e5) or "next to nothing"
        per_row = self.total / max(self.n_rows, 1) / 1e3
        return f"{_text(self.total)} beyond the input ({per_row:.1f} KB per row), in the stage {self.stage!r}: {listed}"


def _text(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


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
        Bytes of a number: 4 in single precision.
    row_bytes : float, optional
        Bytes of a row of the input; by default those of dense features.
    n_scaled : int, optional
        Features once they are scaled: of a view that is turned into coordinates ("lsa") fewer than before.
    n_tried : int
        Scalings that the choice tries; 0 if there is nothing to choose.
    n_text : int
        Non-zeros of the views that are scaled as text.
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
        What is kept of a row while such readings wait for that of the embedding.
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


def estimate_memory(sizes: FitSizes) -> MemoryEstimate:
    """Estimate the peak memory of a fit beyond its input: that of the stage which takes most."""
    stages = [("choice", choice_items(sizes)), ("scaling", scaling_items(sizes)), ("landmarks", landmark_items(sizes))]
    last = [("solver", _admm(sizes))] if sizes.solver == "admm" else _active_set(sizes)
    return largest_stage(sizes.n_rows, [*stages, *last])


def largest_stage(n_rows: int, stages: list[tuple[str, Items]]) -> MemoryEstimate:
    """Return the stage that holds most."""
    name, items = max(stages, key=lambda stage: sum(stage[1].values()))
    return MemoryEstimate(n_rows, {what: int(size) for what, size in items.items() if size}, name)


def choice_items(s: FitSizes) -> Items:
    """Choosing scaling and weights on a sample of the rows, a copy, with landmarks for each scaling that is tried."""
    if not s.n_tried:
        return {}
    n_rows, n_labelled = min(s.n_rows, SAMPLE_ROWS), min(s.n_labelled, MOST_LABELLED)
    m, wide = max(min(SAMPLE_LANDMARKS, n_rows // 3), 2 * s.n_components), max(s.width, s.n_features)
    sample = FitSizes(n_rows, wide, m, 0, itemsize=s.itemsize, row_bytes=s.row_bytes, n_threads=s.n_threads)
    regression = 2 * n_labelled * min(wide * s.itemsize, 2 * s.input_row)  # all labelled rows, and those that are shown
    text = scaling_items(FitSizes(n_rows, s.n_features, m, 0, n_lsa=s.n_lsa, itemsize=s.itemsize))
    return {
        "sample of the rows": n_rows * s.input_row,
        "landmarks of each scaling": 2.0 * s.n_tried * m * wide * s.itemsize,
        "work on the sample": max(regression, *(sum(items.values()) for items in (text, landmark_items(sample)))),
        "passes": 8.0 * s.n_threads * min(n_rows, DENSE_ROWS) * max(s.n_features - s.n_lsa, 0),  # in double precision
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
    sample = n_sample * (PROJECTION if projects else s.width) * s.itemsize
    projection = s.width * PROJECTION * (8 + s.itemsize) if projects else 0
    # The landmarks, their transpose, and a copy in double precision for their Gram matrix.
    means = s.n_landmarks * s.width * (2 * s.itemsize + 8)
    return {
        "k-means": max(sample + projection, means),
        "scaled rows": 2.0 * s.n_threads * min(s.n_rows, BLOCK_ROWS) * min(s.width * s.itemsize, 3 * s.input_row),
    }


def block_bytes(s: FitSizes) -> float:
    """Count what a thread works with: the products of a block of rows, twice, and their codes as they grow.

    Readings of the products centre them, and turn them in double precision.
    """
    row = 2.0 * s.n_landmarks * s.itemsize + 3 * s.nonzeros * (s.itemsize + INDEX)
    row += s.n_landmarks * (s.itemsize + 8) if s.reads_products else 0
    return min(block_rows(s.n_rows), s.n_rows) * row + 16.0 * s.n_landmarks**2


def _kept(s: FitSizes) -> Items:
    """Held throughout: landmarks and their transpose, m×m matrices, E if it is small, and what threads work with."""
    square = 8.0 * s.n_landmarks**2
    grams = min(s.n_patterns - 1, 2**28 / square) * square * (1 + s.itemsize / 8)
    products = s.n_rows * s.n_landmarks * s.itemsize
    distances = 0 if s.nearest_only else min(_DISTANCES, s.n_rows * s.n_labelled)
    return {
        "landmarks": 2 * s.n_landmarks * s.width * s.itemsize + _SQUARES * square + grams,
        "products": products if products <= CACHE_BYTES else 0,
        "blocks": s.n_threads * max(block_bytes(s), distances * s.itemsize),
    }


def _active_set(s: FitSizes) -> list[tuple[str, Items]]:
    """Count what rounds, their end, and reading the labels take."""
    row = s.nonzeros * (s.itemsize + INDEX) + INDEX
    wide = 8 * s.nonzeros if s.itemsize < 8 else 0  # SciPy's copy of codes that meet double precision
    n, n_l, k = s.n_rows, s.n_labelled, s.n_components
    kept, copies = _kept(s), 2 if s.moves else 1
    probabilities = 4 * min(n, s.n_threads * READ_ROWS) * s.itemsize * k  # of some rows, and what they are made of
    votes = float(n * s.vote_bytes)
    if s.codes_in_files or s.on_cluster:
        moved = n_l * (2 * row + wide)
        stored = 0 if s.on_cluster else n
        found = n * (s.itemsize * k + 8 + _FOUND)  # embedding, class numbers given, and what was found
        return [
            # Where rows start: their lengths, those in one piece, and the sums of these.
            ("solver", {"codes": 3.0 * 8 * stored + moved, "rows": 16.0 * n + votes, **kept}),
            ("labels", {"codes": 8.0 * stored + moved, "rows": found + probabilities + votes, **kept}),
        ]
    return [
        # Codes on their own; of the rows that move, which are the labelled ones, old codes, new ones, and for the
        # pairs those in double precision. For each row the bound of its gradient.
        ("solver", {"codes": n * row + n_l * (2 * row + wide), "rows": n * 48.0 + votes, **kept}),
        # Codes of all rows, both if some moved, those that did, and the embedding.
        ("solver", {"codes": (copies * n + n_l) * row, "rows": n * (1.0 * s.itemsize * k + 32) + votes, **kept}),
        # Confidence: of the labelled rows, codes, those of two thirds, and a copy in double precision.
        (
            "labels",
            {"codes": copies * n * row + n_l * (5 / 3 * row + wide), "rows": n * (s.itemsize * k + 32.0), **kept},
        ),
        # Labels: embedding, and a few numbers a row.
        ("labels", {"codes": copies * n * row, "rows": n * (s.itemsize * k + 48.0) + probabilities + votes, **kept}),
    ]


def _admm(s: FitSizes) -> Items:
    """Five dense states (B⁰, B, Y, Z, Z⁺), more than both codes without any zero take after them.

    Of the labelled rows, Z in double precision, and three arrays of that size while the pairs are applied to it.
    """
    states = 5.0 * s.n_rows * s.n_landmarks * s.state_itemsize + 4 * 8.0 * s.n_labelled * s.n_landmarks
    return {"states": states, "rows": 32.0 * s.n_rows, **_kept(s)}


def state_itemsize(model: Any, is_double: bool = False) -> int:
    """Return the bytes of a number of the solver's dense states; `is_double` if landmarks ask for double precision."""
    usual = "float64" if is_double else "float32"
    return int(np.dtype((model.solver_options or {}).get("dtype", usual)).itemsize)


def may_move(model: Any) -> bool:
    """Tell whether labels are expected to move codes; with the default coupling they seldom do."""
    return bool(model.units == "paper" or model.coupling != "auto")


def input_sizes(views: Any, scaling: Any, may_change: bool = False) -> dict[str, Any]:
    """Return what `FitSizes` knows of views with a scaling each; or with others too, if that may change."""
    is_text = [holds_sparse(a) or kind in ("tfidf", "lsa") for a, kind in zip(views.arrays, scaling, strict=True)]
    stored = [a.nnz if holds_sparse(a) else a.shape[0] * a.shape[1] for a in views.arrays]
    n_bytes = [
        count * (a.dtype.itemsize + (INDEX if holds_sparse(a) else 0))
        for a, count in zip(views.arrays, stored, strict=True)
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
        "n_text": 0 if on_cluster else sum(count for count, text in zip(stored, is_text, strict=True) if text),
        "n_lsa": 0 if on_cluster else sum(size for size, lsa in zip(views.sizes, is_lsa, strict=True) if lsa),
        "on_cluster": on_cluster,
    }


def fit_sizes(model: Any, given: Any, plan: Any, n_threads: int, n_tried: int = 0) -> FitSizes:
    """Return the sizes of a fit, but for the non-zeros of its codes.

    Parameters
    ----------
    model : FSSMSC
        The parameters.
    given : FitInput
        What it is fitted on.
    plan : Plan
        What it is going to do.
    n_tried : int
        Scalings that the choice tries.
    """
    return FitSizes(
        **input_sizes(given.views, plan.scaling, n_tried > 1),
        n_landmarks=plan.n_landmarks,
        n_components=plan.n_components,
        n_labelled=int(np.count_nonzero(given.known.class_ids >= 0)),
        n_tried=n_tried,
        solver=model.solver,
        state_itemsize=state_itemsize(model),
        n_threads=n_threads,
        n_patterns=1 if given.present is None else len(patterns(given.present)[0]),
        moves=may_move(model),
        nearest_only=model.inference in ("nearest", "paper"),
    )


def check_memory(estimate: MemoryEstimate, available: int | None, remedy: str = REMEDY) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        loading = "" if _COMPILED in sys.modules else " once the compiled code is loaded"
        left = f"{_text(max(available, 0))} are available{loading}"
        raise MemoryError(f"This fit needs about {estimate}; {left}. {remedy}")
