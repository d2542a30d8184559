"""Compiled kernels that Python calls: the row solver, and sums over sparse codes.

Each row's code solves, exactly,

    min_{0 ≤ z ≤ u}  ½ zᵀ H z − bᵀ z,        H = G + (μ + L) I

by an active-set method on the Gram matrix. P holds the indices that may be non-zero, x the solution on them; see
`passive_set`. At the solution on P the objective is −½ bᵀx, so whether a move helped is read off x.
Moves add several violated indices and drop negative ones; if such a move does not lower the objective it is undone
and a single-index step with a ratio test (Lawson and Hanson's) is made instead, which always does. Objectives over
passive sets are finitely many and strictly falling, so the method ends.

Where H is nearly singular (duplicated landmarks, no ridge), rounding can still spoil M, and x with it. So every
solution is checked before it is stored, 0 < x ≤ u and H x = b on P, and one that fails is finished by coordinate
descent in the box, which no rounding can lead out of it.

At most `BLOCK` indices enter in one move: more are mostly dropped again, fewer need more moves. Everything here runs
without the GIL on one thread; `anchorview.engine` runs blocks of rows in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .moves import GROUP, box_descent, gain, largest_violations, negative_gradient, single_step
from .passive_set import BLOCK, WIDTH, add_indices, drop_non_positive, make_work, start_from

INEXACT = 100.0  # times the tolerance: a gradient on P that the rounding of M does not explain


@compiled()
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


@compiled()
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
    n_unfinished : number of rows that are optimal to less than `tol`, because coordinate descent was cut short.
    """
    n_rows, m = linear.shape
    padded = (m + GROUP - 1) // GROUP * GROUP
    maxima = np.empty(padded // GROUP, linear.dtype)
    capacity = 72  # strides of a power of two would fall on the same lines of the cache
    inverse = np.zeros((capacity, capacity))
    x, current, work = np.zeros(padded), np.empty(padded), make_work(padded)
    passive, before = np.empty(m, np.int32), np.empty(m, np.int32)
    violated = np.empty(BLOCK, np.int32)
    z, gradient = np.zeros(m), np.empty(m)
    w = np.empty(padded, linear.dtype)
    indptr = np.zeros(n_rows + 1, np.int64)
    indices = np.empty(n_rows * 32 + m, np.int32)
    data = np.empty(n_rows * 32 + m, linear.dtype)
    n_stored, n_unfinished = 0, 0

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
        is_solved = False
        for _ in range(10 * m):
            negative_gradient(hessian, b, x, passive, size, w)
            error = 0.0
            for i in range(size):
                error = max(error, abs(w[passive[i]]))
                w[passive[i]] = -1.0  # an index in P cannot be added
            if ignored >= 0:
                w[ignored] = -1.0
            n_violated = largest_violations(w, maxima, tol, violated)
            if n_violated == 0:
                is_solved = ignored < 0 and error <= INEXACT * tol
                break
            if size + n_violated > capacity:
                capacity = (2 * (size + n_violated) + 15) // 16 * 16 + 8
                larger = np.zeros((capacity, capacity))
                for i in range(size):  # loops: a slice would make numba compile the text of an error
                    for t in range(size):
                        larger[i, t] = inverse[i, t]
                inverse = larger
            size_before, gain_before = size, gain(b, x, passive, size)
            for i in range(size):
                before[i] = passive[i]
                current[i] = x[i]
            size = add_indices(hessian, b, inverse, x, passive, size, violated[:n_violated], work)
            size = drop_non_positive(inverse, x, passive, size, work[0][0])
            if gain(b, x, passive, size) <= gain_before * (1.0 + 1e-14):
                size = add_indices(hessian, b, inverse, x, passive, 0, before[:size_before], work)
                if size < size_before:  # rounding has made singular what was not: `current` no longer fits
                    break
                size = single_step(hessian, b, inverse, x, passive, size, violated[0], current, work)
                if gain(b, x, passive, size) <= gain_before * (1.0 + 1e-14):
                    if ignored == violated[0]:
                        break
                    ignored = violated[0]

        for i in range(size):
            is_solved = is_solved and 0.0 < x[i] <= upper
        if not is_solved:
            for j in range(m):
                z[j] = 0.0
            for i in range(size):
                z[passive[i]] = min(x[i], upper) if x[i] > 0.0 else 0.0
            n_unfinished += not box_descent(hessian, b, z, gradient, upper, INEXACT * tol)
            size = 0
            for j in range(m):
                if z[j] > 0.0:
                    passive[size] = j
                    x[size] = z[j]
                    size += 1

        if n_stored + size > len(indices):
            longer = max(2 * len(indices), n_stored + size)
            new_indices, new_data = np.empty(longer, np.int32), np.empty(longer, linear.dtype)
            for t in range(n_stored):
                new_indices[t], new_data[t] = indices[t], data[t]
            indices, data = new_indices, new_data
        for i in range(size):  # in ascending order, by counting: P is short, and no branch has to be guessed
            rank = 0
            for t in range(size):
                rank += passive[t] < passive[i]
            indices[n_stored + rank], data[n_stored + rank] = passive[i], x[i]
        n_stored += size
        indptr[row + 1] = n_stored
    return indptr, indices[:n_stored].copy(), data[:n_stored].copy(), n_unfinished


@compiled()
def invert_patterns(hessian: Any, indptr: Any, indices: Any, offsets: Any, out: Any) -> None:
    """Write the inverse of H on each row of a CSR pattern to out[offsets[row]:offsets[row + 1]].

    A set on which H is numerically singular gets offset −1.
    """
    m = len(hessian)
    padded = (m + WIDTH - 1) // WIDTH * WIDTH
    zero, x = np.zeros(m), np.zeros(padded)
    passive = np.empty(m, np.int32)
    work = make_work(padded)
    longest = 1
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    capacity = (longest + BLOCK + WIDTH) // WIDTH * WIDTH
    inverse = np.zeros((capacity, capacity))
    for row in range(len(indptr) - 1):
        wanted = indices[indptr[row] : indptr[row + 1]]
        count = len(wanted)
        if add_indices(hessian, zero, inverse, x, passive, 0, wanted, work) < count:
            offsets[row] = -1
            continue
        for i in range(count):
            for t in range(count):
                out[offsets[row] + i * count + t] = inverse[i, t]


@compiled()
def dot_codes(indptr: Any, indices: Any, data: Any, weights: Any, cross: Any) -> float:
    """Return ⟨diag(weights) E, Z⟩ in double precision, for CSR codes."""
    total = 0.0
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            total += weights[row] * data[a] * cross[row, indices[a]]
    return total


@compiled()
def quadratic_codes(indptr: Any, indices: Any, data: Any, weights: Any, gram: Any, rows: Any) -> float:
    """Return Σ w zᵀ G z over some rows of CSR codes."""
    total = 0.0
    for row in rows:
        value = 0.0
        for a in range(indptr[row], indptr[row + 1]):
            line = gram[indices[a]]
            product = 0.0
            for t in range(indptr[row], indptr[row + 1]):
                product += data[t] * line[indices[t]]
            value += data[a] * product
        total += weights[row] * value
    return total


@compiled()
def add_code_gram(indptr: Any, indices: Any, data: Any, weights: Any, out: Any) -> None:
    """Add Zᵀ diag(weights) Z to the upper triangle of `out`, for CSR codes with sorted indices."""
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            value = weights[row] * data[a]
            target = out[indices[a]]
            for t in range(a, indptr[row + 1]):
                target[indices[t]] += value * data[t]


@compiled()
def mirror_upper(matrix: Any) -> None:
    """Copy the upper triangle to the lower one, in squares that fit in the cache."""
    m = len(matrix)
    for first in range(0, m, 32):
        for start in range(0, first + 1, 32):
            for i in range(first, min(first + 32, m)):
                for j in range(start, min(start + 32, i)):
                    matrix[i, j] = matrix[j, i]
