"""Gram matrices of rows that lack some views: one for each combination of views that occurs.

A row whose present views are the set p sees the landmarks through these only (design 2.7),

    G_p = (V/|p|) Σ_{v∈p} U_v U_vᵀ,

where the factor V/|p|, which its row of E carries too, keeps the meaning of λ_Z and μ.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..engine.parallel import one_blas_thread
from ..missing import patterns

Matrix = npt.NDArray[np.float64]
Presence = npt.NDArray[np.bool_]
T = TypeVar("T")

_CACHE_BYTES = 256 * 2**20  # of matrices kept: at 500 landmarks, those of 128 combinations of views


class Cache(Generic[T]):
    """Results computed once and kept while there is room; threads may share it, and it is pickled empty.

    Parameters
    ----------
    max_bytes : int, optional
        The results used longest ago go when more than this is held; by default all are kept.
    """

    def __init__(self, max_bytes: int | None = None) -> None:
        self.max_bytes = max_bytes
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T], n_bytes: int = 0) -> T:
        """Return what `make` gave for this key; it runs in one thread at a time."""
        with self._lock:
            if key not in self._items:
                self._items[key] = (make(), n_bytes)
                self._held += n_bytes
            self._items.move_to_end(key)
            while self.max_bytes is not None and self._held > self.max_bytes and len(self._items) > 1:
                self._held -= self._items.popitem(last=False)[1][1]
            return self._items[key][0]

    def __len__(self) -> int:
        return len(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_bytes,)


class PatternGrams:
    """The Gram matrix of each combination of views.

    Parameters
    ----------
    landmarks : ndarray of shape (m, d)
        The landmarks, views side by side. Kept as they are, not copied.
    sizes : sequence of int
        Number of features of each view.

    Examples
    --------
    >>> import numpy as np
    >>> grams = PatternGrams(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]), [1, 2])
    >>> grams.complete
    array([[ 5.,  2.],
           [ 2., 10.]])
    >>> grams.of(np.array([False, True]))
    array([[ 8.,  4.],
           [ 4., 20.]])
    """

    def __init__(self, landmarks: npt.NDArray[np.floating], sizes: Sequence[int]) -> None:
        if sum(sizes) != landmarks.shape[1]:
            raise ValueError(f"The landmarks have {landmarks.shape[1]} features, the views {sum(sizes)}.")
        self.landmarks = landmarks
        self.sizes = tuple(sizes)
        self._whole: Cache[Matrix] = Cache()  # of all views together, and of each view
        self._patterns: Cache[Matrix] = Cache(_CACHE_BYTES)

    @property
    def complete(self) -> Matrix:
        """G = Σ_v U_v U_vᵀ."""
        return self._product(-1, 0, sum(self.sizes))

    def of(self, pattern: Presence) -> Matrix:
        """Return G_p for the present views `pattern`; do not change it."""
        if pattern.shape != (len(self.sizes),):
            raise ValueError(f"A row tells of {pattern.size} views whether it has them; there are {len(self.sizes)}.")
        if pattern.all() or not pattern.any():  # without any view E is 0, and the code 0 whatever the matrix
            return self.complete
        return self._patterns.get(pattern.tobytes(), lambda: self._sum(pattern), 8 * len(self.landmarks) ** 2)

    def _sum(self, pattern: Presence) -> Matrix:
        ends = np.cumsum(self.sizes)
        result: Matrix = np.zeros((len(self.landmarks), len(self.landmarks)))
        for view in np.flatnonzero(pattern):
            result += self._product(int(view), int(ends[view]) - self.sizes[view], int(ends[view]))
        result *= len(pattern) / pattern.sum()
        return result

    def _product(self, key: int, start: int, stop: int) -> Matrix:
        """U Uᵀ over some columns; with one thread, so that its rounding is the same everywhere."""

        def make() -> Matrix:
            wide = self.landmarks[:, start:stop].astype(np.float64)
            with one_blas_thread():
                result: Matrix = wide @ wide.T
            return result

        return self._whole.get(key, make)


def pattern_groups(present: Presence) -> list[tuple[Presence, npt.NDArray[np.intp]]]:
    """Return each combination of views that occurs, with the rows that have it.

    Examples
    --------
    >>> import numpy as np
    >>> for pattern, rows in pattern_groups(np.array([[False, True], [True, True], [False, True]])):
    ...     print(pattern, rows)
    [ True  True] [1]
    [False  True] [0 2]
    """
    distinct, numbers = patterns(present)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(distinct)))
    return list(zip(distinct, np.split(order, ends[:-1]), strict=True))
