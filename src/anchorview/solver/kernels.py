"""Compiled kernels of the active-set solver: one small quadratic problem per row.

Each row's code solves, exactly,

    min_{0 ≤ z ≤ u}  ½ zᵀ H z − bᵀ z,        H = G + (μ + L) I   (design 2.2)

by an active-set method on the Gram matrix. The passive set P (the indices that may be non-zero) starts from a
guess; H_PP = C Cᵀ is kept as a Cholesky factor that grows by one row per new index. At the solution on P the
objective is −½ ‖y‖² with y = C⁻¹ b_P, so whether a move helped is read off y. Moves add several violated indices and
drop all negative ones at once; if such a move does not lower the objective it is undone and a single-index step with a
ratio test (Lawson and Hanson's) is made instead, which always does. Objectives over passive sets are finitely many
and strictly falling, so the method ends.

Everything here runs without the GIL on one thread; `anchorview.engine` runs blocks of rows in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # vectorised sums; NaN and infinity keep their meaning
_MAX_ADDED = 8  # indices added by one move: more are mostly dropped again, fewer need more moves


@njit(cache=True, nogil=True, fastmath=_FAST)
def _append(hessian: Any, b: Any, chol: Any, y: Any, passive: Any, size: int, j: int) -> bool:
    """Add index j to the factor; False if H on the larger set is numerically singular."""
    row = chol[size]
    for i in range(size):
        other = chol[i]
        acc = np.float64(hessian[j, passive[i]])
        for t in range(i):
            acc -= other[t] * row[t]
        row[i] = acc / other[i]
    pivot = np.float64(hessian[j, j])
    rhs = np.float64(b[j])
    for t in range(size):
        pivot -= row[t] * row[t]
        rhs -= row[t] * y[t]
    if pivot <= 1e-12 * hessian[j, j]:
        return False
    row[size] = np.sqrt(pivot)
    y[size] = rhs / row[size]
    passive[size] = j
    return True


@njit(cache=True, nogil=True, fastmath=_FAST)
def _back_substitute(chol: Any, y: Any, x: Any, size: int) -> None:
    """Solve Cᵀ x = y."""
    for i in range(size):
        x[i] = y[i]
    for i in range(size - 1, -1, -1):
        row = chol[i]
        x[i] /= row[i]
        xi = x[i]
        for t in range(i):
            x[t] -= row[t] * xi


@njit(cache=True, nogil=True)
def _rebuild(hessian: Any, b: Any, chol: Any, y: Any, passive: Any, keep: int, wanted: Any, n_wanted: int) -> int:
    """Extend the factor of the first `keep` indices by `wanted`; return the new size."""
    size = keep
    for i in range(n_wanted):
        if _append(hessian, b, chol, y, passive, size, wanted[i]):
            size += 1
    return size


@njit(cache=True, nogil=True)
def _drop_non_positive(hessian: Any, b: Any, chol: Any, y: Any, x: Any, passive: Any, size: int, spare: Any) -> int:
    """Drop indices until the solution on the passive set is positive; return the size left."""
    while True:
        _back_substitute(chol, y, x, size)
        first = -1
        for i in range(size):
            if x[i] <= 0.0:
                first = i
                break
        if first < 0:
            return size
        n_kept = 0
        for i in range(first + 1, size):
            if x[i] > 0.0:
                spare[n_kept] = passive[i]
                n_kept += 1
        size = _rebuild(hessian, b, chol, y, passive, first, spare, n_kept)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _negative_gradient(hessian: Any, b: Any, x: Any, passive: Any, size: int, w: Any) -> None:
    """W = b − H[:, P] x."""
    m = len(b)
    for j in range(m):
        w[j] = b[j]
    i = 0
    while i + 3 < size:  # four rows at a time: w is read and written a quarter as often
        r0, r1, r2, r3 = hessian[passive[i]], hessian[passive[i + 1]], hessian[passive[i + 2]], hessian[passive[i + 3]]
        x0, x1, x2, x3 = w.dtype.type(x[i]), w.dtype.type(x[i + 1]), w.dtype.type(x[i + 2]), w.dtype.type(x[i + 3])
        for j in range(m):
            w[j] -= x0 * r0[j] + x1 * r1[j] + x2 * r2[j] + x3 * r3[j]
        i += 4
    while i < size:
        r0 = hessian[passive[i]]
        x0 = w.dtype.type(x[i])
        for j in range(m):
            w[j] -= x0 * r0[j]
        i += 1


@njit(cache=True, nogil=True)
def _largest_violations(w: Any, is_passive: Any, tol: float, found: Any) -> int:
    """Find the indices outside P with the largest w > tol, largest first; at most len(found)."""
    count = 0
    for j in range(len(w)):
        if w[j] > tol and not is_passive[j]:
            if count < len(found):
                place = count
                count += 1
            elif w[j] > w[found[count - 1]]:
                place = count - 1
            else:
                continue
            while place > 0 and w[found[place - 1]] < w[j]:
                found[place] = found[place - 1]
                place -= 1
            found[place] = j
    return count


@njit(cache=True, nogil=True)
def _single_step(
    hessian: Any, b: Any, chol: Any, y: Any, x: Any, passive: Any, size: int, j: int, current: Any, spare: Any
) -> int:
    """Lawson and Hanson's step: add index j and move towards each new solution until one is positive."""
    if not _append(hessian, b, chol, y, passive, size, j):
        return size
    size += 1
    current[size - 1] = 0.0
    while True:
        _back_substitute(chol, y, x, size)
        step = 2.0
        for i in range(size):
            if x[i] <= 0.0:
                step = min(step, current[i] / (current[i] - x[i]) if current[i] > 0.0 else 0.0)
        if step > 1.0:
            return size
        first, n_kept = -1, 0
        for i in range(size):
            moved = current[i] + step * (x[i] - current[i])
            if x[i] <= 0.0 and moved <= 1e-15:
                if first < 0:
                    first = i
            elif first < 0:
                current[i] = moved
            else:
                current[first + n_kept] = moved
                spare[n_kept] = passive[i]
                n_kept += 1
        if first < 0:
            return size
        size = _rebuild(hessian, b, chol, y, passive, first, spare, n_kept)


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
def solve_rows(
    hessian: Any, linear: Any, start_row: Any, start_indptr: Any, start_indices: Any, upper: float, tol: float
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
    upper : float
        Upper bound of every entry.
    tol : float
        An index may be left out while its gradient is above −tol.

    Returns
    -------
    indptr, indices, data : CSR arrays with sorted indices.
    """
    n_rows, m = linear.shape
    capacity = min(m, 64)
    chol = np.empty((capacity, capacity))
    y, x, current = np.empty(m), np.empty(m), np.empty(m)
    passive, spare, before = np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m, np.int32)
    found = np.empty(_MAX_ADDED, np.int32)
    is_passive = np.zeros(m, np.bool_)
    w = np.empty(m, linear.dtype)
    indptr = np.zeros(n_rows + 1, np.int64)
    indices = np.empty(n_rows * 32 + m, np.int32)
    data = np.empty(n_rows * 32 + m, linear.dtype)
    n_stored = 0

    for row in range(n_rows):
        b = linear[row]
        n_start = 0
        if start_row[row] >= 0:
            first, last = start_indptr[start_row[row]], start_indptr[start_row[row] + 1]
            n_start = last - first
            spare[:n_start] = start_indices[first:last]
        if n_start > capacity:
            capacity = min(m, 2 * n_start)
            chol = np.empty((capacity, capacity))
        size = _rebuild(hessian, b, chol, y, passive, 0, spare, n_start)
        size = _drop_non_positive(hessian, b, chol, y, x, passive, size, spare)
        ignored = -1  # an index whose violation rounding made: adding it changes nothing
        for _ in range(10 * m):
            _negative_gradient(hessian, b, x, passive, size, w)
            for i in range(size):
                is_passive[passive[i]] = True
            if ignored >= 0:
                is_passive[ignored] = True
            n_found = _largest_violations(w, is_passive, tol, found)
            for i in range(size):
                is_passive[passive[i]] = False
            if ignored >= 0:
                is_passive[ignored] = False
            if n_found == 0:
                break
            if size + n_found > capacity:
                capacity = min(m, 2 * (size + n_found))
                larger = np.empty((capacity, capacity))
                larger[:size, :size] = chol[:size, :size]
                chol = larger
            size_before, value_before = size, 0.0
            for i in range(size):
                before[i] = passive[i]
                current[i] = x[i]
                value_before += y[i] * y[i]
            size = _rebuild(hessian, b, chol, y, passive, size, found, n_found)
            size = _drop_non_positive(hessian, b, chol, y, x, passive, size, spare)
            value = 0.0
            for i in range(size):
                value += y[i] * y[i]
            if value <= value_before * (1.0 + 1e-14):
                size = _rebuild(hessian, b, chol, y, passive, 0, before, size_before)
                size = _single_step(hessian, b, chol, y, x, passive, size, found[0], current, spare)
                value = 0.0
                for i in range(size):
                    value += y[i] * y[i]
                if value <= value_before * (1.0 + 1e-14):
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
        order = np.argsort(passive[:size])
        for i in range(size):
            indices[n_stored + i] = passive[order[i]]
            data[n_stored + i] = x[order[i]]
        n_stored += size
        indptr[row + 1] = n_stored
    return indptr, indices[:n_stored].copy(), data[:n_stored].copy()


@njit(cache=True, nogil=True)
def add_code_gram(indptr: Any, indices: Any, data: Any, weights: Any, out: Any) -> None:
    """Add Zᵀ diag(weights) Z to the upper triangle of `out`, for CSR codes with sorted indices."""
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            value = weights[row] * data[a]
            target = out[indices[a]]
            for t in range(a, indptr[row + 1]):
                target[indices[t]] += value * data[t]
