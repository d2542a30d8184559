"""What the memory of a fit depends on, from the parameters of an estimator and its data.

An estimate of memory: bytes by what they are for, in the stage that takes most.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.views import Views
from ..features.text import LSA_COMPONENTS
from ..solvers import SolverParameters

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


Items = dict[str, float]  # bytes by what they are for

REMEDY = (
    "Lower n_landmarks, give the views in single precision (float32), fit a sample of the rows and predict the rest in "
    "blocks (predict needs a fixed amount of memory), or raise the limit."
)
SEARCH_REMEDY = (
    "Lower n_landmarks or n_sampled (of search_options), give the views in single precision (float32), fit a sample of "
    "the rows and predict the rest in blocks (predict needs a fixed amount of memory), use FSSMSC, which needs a "
    "fraction of it, or raise the limit."
)
_COMPILED = "anchorview.solver.kernels"


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input at its peak, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> FSSMSC(n_jobs=1).estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10).parts
    {'codes': 388000000, 'rows': 72000000, 'blocks': 25102592, 'landmarks': 24800000}
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


def largest_stage(n_rows: int, stages: list[tuple[str, Items]]) -> MemoryEstimate:
    """Return the stage that holds most."""
    name, items = max(stages, key=lambda stage: sum(stage[1].values()))
    return MemoryEstimate(n_rows, {what: int(size) for what, size in items.items() if size}, name)


def check_memory(estimate: MemoryEstimate, available: int | None, remedy: str = REMEDY) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        loading = "" if _COMPILED in sys.modules else " once the compiled code is loaded"
        left = f"{_text(max(available, 0))} are available{loading}"
        raise MemoryError(f"This fit needs about {estimate}; {left}. {remedy}")


def _text(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
