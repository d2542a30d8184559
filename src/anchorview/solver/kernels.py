"""Compiled kernels of the active-set solver: one small quadratic problem per row.

Each row's code solves, exactly,

    min_{0 ≤ z ≤ u}  ½ zᵀ H z − bᵀ z,        H = G + (μ + L) I   (design 2.2)

by an active-set method on the Gram matrix. P holds the indices that may be non-zero, x the solution on them; see
`passive_set`. At the solution on P the objective is −½ bᵀx, so whether a move helped is read off x.
Moves add several violated indices and drop negative ones; if such a move does not lower the objective it is undone
and a single-index step with a ratio test (Lawson and Hanson's) is made instead, which always does. Objectives over
passive sets are finitely many and strictly falling, so the method ends.

Everything here runs without the GIL on one thread; `anchorview.engine` runs blocks of rows in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .passive_set import BLOCK, add_indices, drop_non_positive, make_work, remove_index, start_from

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # vectorised sums; NaN and infinity keep their meaning
_MAX_ADDED = BLOCK  # indices added by one move: more are mostly dropped again, fewer need more moves
_GROUP = 16  # entries of the gradient looked at together


@njit(cache=True, nogil=True, fastmath=_FAST)
def _gain(b: Any, x: Any, passive: Any, size: int) -> float:
    """Return bᵀx: at the solution on P the objective is minus half of it."""
    total = 0.0
    for i in range(size):
        total += x[i] * b[passive[i]]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _negative_gradient(hessian: Any, b: Any, x: Any, passive: Any, size: int, w: Any) -> None:
    """W = b − H[:, P] x."""
    m = len(b)
    for j in range(m):
        w[j] = b[j]
    for j in range(m, len(w)):
        w[j] = -1.0
    i, number = 0, w.dtype.type
    while i + 7 < size:  # eight rows at a time: w is read and written an eighth as often
        p0, p1, p2, p3 = passive[i], passive[i + 1], passive[i + 2], passive[i + 3]
        p4, p5, p6, p7 = passive[i + 4], passive[i + 5], passive[i + 6], passive[i + 7]
        x0, x1, x2, x3 = number(x[i]), number(x[i + 1]), number(x[i + 2]), number(x[i + 3])
        x4, x5, x6, x7 = number(x[i + 4]), number(x[i + 5]), number(x[i + 6]), number(x[i + 7])
        for j in range(m):
            first = x0 * hessian[p0, j] + x1 * hessian[p1, j] + x2 * hessian[p2, j] + x3 * hessian[p3, j]
            w[j] -= first + x4 * hessian[p4, j] + x5 * hessian[p5, j] + x6 * hessian[p6, j] + x7 * hessian[p7, j]
        i += 8
    while i < size:
        p0, x0 = passive[i], number(x[i])
        for j in range(m):
            w[j] -= x0 * hessian[p0, j]
        i += 1


@njit(cache=True, nogil=True, fastmath=_FAST | {"nnan"})
def _group_maxima(wide: Any, maxima: Any) -> None:
    """Largest entry of each row of a matrix without NaN."""
    for g in range(wide.shape[0]):
        largest = wide[g, 0]
        for t in range(wide.shape[1]):
            largest = max(largest, wide[g, t])
        maxima[g] = largest


@njit(cache=True, nogil=True)
def _largest_violations(w: Any, maxima: Any, tol: float, found: Any) -> int:
    """Find indices with the largest w > tol, largest first; at most len(found), and one of each group.

    A strict order over all indices would cost more, in mispredicted branches, than it saves in moves. `maxima` is work
    space, one entry per group.
    """
    count = 0
    _group_maxima(w.reshape(-1, _GROUP), maxima)
    while count < len(found):
        best, value = -1, w.dtype.type(tol)
        for g in range(len(maxima)):
            if maxima[g] > value:
                best, value = g, maxima[g]
        if best < 0:
            break
        for j in range(_GROUP * best, _GROUP * (best + 1)):
            if w[j] == value:
                found[count] = j
                break
        maxima[best] = -1.0
        count += 1
    return count


@njit(cache=True, nogil=True)
def _single_step(
    hessian: Any, b: Any, inverse: Any, x: Any, passive: Any, size: int, j: int, current: Any, work: Any
) -> int:
    """Lawson and Hanson's step: add index j and move towards each new solution until one is positive.

    `current` holds the positive values of the present solution, in the order of P.
    """
    added = add_indices(hessian, b, inverse, x, passive, size, np.array([j], np.int32), work)
    if added == size:
        return size
    current[size] = 0.0
    size += 1
    while True:
        step, blocking = 2.0, -1
        for i in range(size):
            if x[i] <= 0.0:
                reach = current[i] / (current[i] - x[i]) if current[i] > 0.0 else 0.0
                if reach < step:
                    step, blocking = reach, i
        if blocking < 0:
            return size
        for i in range(size):
            current[i] += step * (x[i] - current[i])
        remove_index(inverse, x, passive, size, blocking, work[0][0])
        size -= 1
        current[blocking] = current[size]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _box_descent(hessian: Any, b: Any, z: Any, w: Any, upper: float, tol: float) -> None:
    """Coordinate descent with both bounds: the rare row whose code would exceed the upper one.

    Takes z within the box and w = b − H z; leaves the solution in z.
    """
    m = len(b)
    for _ in range(10000):
        largest = 0.0
        for j in range(m):
            value = min(max(z[j] + w[j] / hessian[j, j], 0.0), upper)
            change = value - z[j]
            if change != 0.0:
                largest = max(largest, abs(change) * hessian[j, j])
                z[j] = value
                row = hessian[j]
                for t in range(m):
                    w[t] -= change * row[t]
        if largest <= tol:
            return


@njit(cache=True, nogil=True)
def nearest_landmarks(linear: Any, half_squares: Any) -> Any:
    """Return the landmark nearest to each row: the largest b_j − G_jj / 2."""
    nearest = np.zeros(len(linear), np.int64)
    for row in range(len(linear)):
        best = linear[row, 0] - half_squares[0]
        for j in range(1, linear.shape[1]):
            value = linear[row, j] - half_squares[j]
            if value > best:
                best = value
                nearest[row] = j
    return nearest


@njit(cache=True, nogil=True)
def solve_rows(
    hessian: Any,
    linear: Any,
    start_row: Any,
    start_indptr: Any,
    start_indices: Any,
    offsets: Any,
    inverses: Any,
    upper: float,
    tol: float,
) -> Any:
    """Solve the box-constrained problem of every row.

    Parameters
    ----------
    hessian : ndarray of shape (m, m)
        H, positive definite.
    linear : ndarray of shape (rows, m)
        b of each row, of the dtype of `hessian`.
    start_row : ndarray of int, shape (rows,)
        Row of the CSR pattern (`start_indptr`, `start_indices`) that guesses the non-zeros; −1 for none.
    offsets, inverses : ndarray
        Inverses of H on these patterns, as `invert_patterns` gives them; both empty if they are not known.
    upper : float
        Upper bound of every entry.
    tol : float
        An index may be left out while its gradient is above −tol.

    Returns
    -------
    indptr, indices, data : CSR arrays with sorted indices.
    """
    n_rows, m = linear.shape
    padded = (m + _GROUP - 1) // _GROUP * _GROUP
    maxima = np.empty(padded // _GROUP, linear.dtype)
    capacity = 72  # strides of a power of two would fall on the same lines of the cache
    inverse = np.zeros((capacity, capacity))
    x, current, work = np.zeros(padded), np.empty(padded), make_work(padded)
    passive, before = np.empty(m, np.int32), np.empty(m, np.int32)
    found = np.empty(_MAX_ADDED, np.int32)
    w = np.empty(padded, linear.dtype)
    indptr = np.zeros(n_rows + 1, np.int64)
    indices = np.empty(n_rows * 32 + m, np.int32)
    data = np.empty(n_rows * 32 + m, linear.dtype)
    n_stored = 0

    for row in range(n_rows):
        b = linear[row]
        size = 0
        if start_row[row] >= 0:
            start = start_indices[start_indptr[start_row[row]] : start_indptr[start_row[row] + 1]]
            if len(start) > capacity:
                capacity = (2 * len(start) + 15) // 16 * 16 + 8
                inverse = np.zeros((capacity, capacity))
            if len(offsets) == 0:
                size = add_indices(hessian, b, inverse, x, passive, 0, start, work)
            elif offsets[start_row[row]] >= 0:
                size = start_from(b, start, inverses[offsets[start_row[row]] :], inverse, x, passive)
            size = drop_non_positive(inverse, x, passive, size, work[0][0])
        ignored = -1  # an index whose violation rounding made: adding it changes nothing
        for _ in range(10 * m):
            _negative_gradient(hessian, b, x, passive, size, w)
            for i in range(size):
                w[passive[i]] = -1.0  # an index in P cannot be added
            if ignored >= 0:
                w[ignored] = -1.0
            n_found = _largest_violations(w, maxima, tol, found)
            if n_found == 0:
                break
            if size + n_found > capacity:
                capacity = (2 * (size + n_found) + 15) // 16 * 16 + 8
                larger = np.zeros((capacity, capacity))
                larger[:size, :size] = inverse[:size, :size]
                inverse = larger
            size_before, gain_before = size, _gain(b, x, passive, size)
            for i in range(size):
                before[i] = passive[i]
                current[i] = x[i]
            size = add_indices(hessian, b, inverse, x, passive, size, found[:n_found], work)
            size = drop_non_positive(inverse, x, passive, size, work[0][0])
            if _gain(b, x, passive, size) <= gain_before * (1.0 + 1e-14):
                size = add_indices(hessian, b, inverse, x, passive, 0, before[:size_before], work)
                size = _single_step(hessian, b, inverse, x, passive, size, found[0], current, work)
                if _gain(b, x, passive, size) <= gain_before * (1.0 + 1e-14):
                    if ignored == found[0]:
                        break
                    ignored = found[0]

        too_large = False
        for i in range(size):
            too_large = too_large or x[i] > upper
        if too_large:
            z = np.zeros(m)
            for i in range(size):
                z[passive[i]] = min(x[i], upper)
            gradient = b.astype(np.float64) - hessian.astype(np.float64) @ z
            _box_descent(hessian, b, z, gradient, upper, max(tol, 1e-12))
            size = 0
            for j in range(m):
                if z[j] > 0.0:
                    passive[size] = j
                    x[size] = z[j]
                    size += 1

        if n_stored + size > len(indices):
            longer = max(2 * len(indices), n_stored + size)
            new_indices, new_data = np.empty(longer, np.int32), np.empty(longer, linear.dtype)
            new_indices[:n_stored], new_data[:n_stored] = indices[:n_stored], data[:n_stored]
            indices, data = new_indices, new_data
        for i in range(size):  # in ascending order, by counting: P is short, and no branch has to be guessed
            rank = 0
            for t in range(size):
                rank += passive[t] < passive[i]
            indices[n_stored + rank], data[n_stored + rank] = passive[i], x[i]
        n_stored += size
        indptr[row + 1] = n_stored
    return indptr, indices[:n_stored].copy(), data[:n_stored].copy()
