"""Gram matrices of rows that lack some views: one for each combination of views that occurs.

A row whose present views are the set p sees the landmarks through these only (docs/method.md, "Missing views"),

    G_p = (V/|p|) Σ_{v∈p} U_v U_vᵀ,

where the factor V/|p|, which its row of E carries too, keeps the meaning of λ_Z and μ. Where views have weights, which
the landmarks carry already, it is Σ_v w_v / Σ_{v∈p} w_v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..core.arrays import Mask, Matrix, Rows, column_slices, weight_present
from ..core.cache import Cache
from ..engine.blocks import one_blas_thread

_CACHE_BYTES = 256 * 2**20  # of matrices kept: at 500 landmarks, those of 128 combinations of views


@dataclass(frozen=True, eq=False)
class PatternGrams:
    """The Gram matrix of each combination of views.

    Examples
    --------
    >>> landmarks = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> PatternGrams(landmarks, [1, 2], landmarks @ landmarks.T).of(np.array([False, True]))
    array([[ 8.,  4.],
           [ 4., 20.]])
    """

    landmarks: Matrix  # m×d, views side by side
    sizes: Sequence[int]  # number of features of each view
    complete: Matrix  # G = Σ_v U_v U_vᵀ, in double precision
    view_weights: tuple[float, ...] | None = None  # None if views count the same
    _of_view: Cache[Matrix] = field(default_factory=Cache, init=False, repr=False)
    _of_pattern: Cache[Matrix] = field(default_factory=partial(Cache, _CACHE_BYTES), init=False, repr=False)

    def of(self, pattern: Mask) -> Matrix:
        """Return G_p for the present views `pattern`; do not change it."""
        if pattern.shape != (len(self.sizes),):
            raise ValueError(f"The pattern is of {pattern.size} views; there are {len(self.sizes)}.")
        if pattern.all() or not pattern.any():  # without any view E is 0, and the code 0 whatever the matrix
            return self.complete
        return self._of_pattern.get(pattern.tobytes(), lambda: self._sum(pattern), 8 * len(self.landmarks) ** 2)

    def _sum(self, pattern: Mask) -> Matrix:
        result: Matrix = np.zeros((len(self.landmarks), len(self.landmarks)))
        for view in np.flatnonzero(pattern).tolist():
            result += self._of_view.get(view, partial(self._product, view))
        own, total = weight_present(pattern, self.view_weights)
        result *= total / own
        return result

    def _product(self, view: int) -> Matrix:
        """U_v U_vᵀ; with one thread, so that its rounding is the same everywhere."""
        wide = self.landmarks[:, column_slices(self.sizes)[view]].astype(np.float64)
        with one_blas_thread():
            result: Matrix = wide @ wide.T
        return result


def pattern_groups(present: Mask) -> list[tuple[Mask, Rows]]:
    """Return each combination of views that occurs, with the rows that have it.

    Examples
    --------
    >>> for pattern, rows in pattern_groups(np.array([[False, True], [True, True], [False, True]])):
    ...     print(pattern, rows)
    [ True  True] [1]
    [False  True] [0 2]
    """
    distinct, numbers = patterns(present)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(distinct)))
    return list(zip(distinct, np.split(order, ends[:-1]), strict=True))


def patterns(present: Mask) -> tuple[Mask, Rows]:
    """Return the combinations of views that occur, and the number of each row's combination.

    All views come first, if that occurs; the order depends on which combinations occur only.

    Examples
    --------
    >>> distinct, numbers = patterns(np.array([[False, True], [True, True], [True, False], [True, True]]))
    >>> distinct.tolist()
    [[True, True], [True, False], [False, True]]
    >>> numbers
    array([2, 0, 1, 0])
    """
    numbers = np.zeros(len(present), dtype=np.intp)
    for byte in np.packbits(~present, axis=1).T:  # eight views at a time: rows sort slowly, numbers fast
        numbers = np.unique(numbers * 256 + byte, return_inverse=True)[1]
    first = np.unique(numbers, return_index=True)[1]
    return present[first], numbers


def row_grams(complete: Matrix, grams: PatternGrams | None, present: Mask) -> list[tuple[Matrix, Rows]]:
    """Return the Gram matrices of some rows, each with the rows it belongs to."""
    if grams is None:
        raise ValueError("Some rows lack views, but the problem has only the Gram matrix of complete rows.")
    return [(complete if pattern.all() else grams.of(pattern), rows) for pattern, rows in pattern_groups(present)]
