"""Compiled kernels that Python calls: the row solver, and sums over sparse codes.

Each row's code solves, exactly,

    min_{0 ≤ z ≤ u}  ½ zᵀ H z − bᵀ z,        H = G + (μ + L) I

by an active-set method on the Gram matrix. P holds the indices that may be non-zero, x the solution on them; see
`passive_set`. At the solution on P the objective is −½ bᵀx, so whether a move helped is read off x.
Moves add several violated indices and drop negative ones; if such a move does not lower the objective it is undone
and a single-index step with a ratio test (Lawson and Hanson's) is made instead, which always does. Objectives over
passive sets are finitely many and strictly falling, so the method ends.

Where H is nearly singular (duplicated landmarks, no ridge), rounding can still spoil M, and x with it. So every
solution is checked before it is stored, 0 < x ≤ u and H x = b on P, and one that fails is handed back, to be finished
by coordinate descent in the box, which no rounding can lead out of it (`row_solver`).

At most `BLOCK` indices enter in one move: more are mostly dropped again, fewer need more moves. Everything here runs
without the GIL on one thread; `anchorview.engine` runs blocks of rows in parallel. While a kernel runs nobody can
interrupt it, so those that may take long stop in between and can be called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .moves import largest_violations, negative_gradient, step_back
from .passive_set import BLOCK, FAST, add_indices, drop_non_positive, start_from

INEXACT = 100.0  # times the tolerance: a gradient on P that the rounding of M does not explain
ROW, SIZE, MOVES, IGNORED, REASON, NEEDED = range(6)  # places in the state of `solve_rows`
FINISHED, PAUSED, SHORT_OF_ROOM, SHORT_OF_SPACE, NOT_SOLVED = range(5)  # why it stopped
RESUMED, STARTED, UNDONE, ALL_ADDED, ONE_ADDED = range(5)  # stages of a move: which indices have entered last


@compiled(fastmath=FAST, error_model="numpy")
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
    budget: int,
    state: Any,
    inverse: Any,
    x: Any,
    current: Any,
    passive: Any,
    before: Any,
    violated: Any,
    w: Any,
    maxima: Any,
    work: Any,
    indptr: Any,
    indices: Any,
    data: Any,
) -> None:
    """Solve the box-constrained problem of row after row, from where `state` says on, and leave there why it stopped.

    Nothing is allocated here: numba would compile each allocation, and its caller has to be asked anyway.

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
    budget : int
        Stop after about so many multiplications.
    state : ndarray of int
        The row that is next; if it is begun (`MOVES` not negative) also the size of P, the moves made, the index that
        is ignored; the reason of the stop; and for `SHORT_OF_SPACE` the number of indices that `inverse` must hold.
    inverse, x, current, passive, before, violated, w, maxima, work : ndarray
        Work space: see `row_solver`.
    indptr, indices, data : ndarray
        CSR arrays that take the codes, with sorted indices.
    """
    n_rows, m = linear.shape
    capacity = len(inverse)
    row = state[ROW]
    size = state[SIZE]
    moves = state[MOVES]
    ignored = state[IGNORED]
    spent, reason = 0, FINISHED
    # Of the type of every size: 0 and 1 themselves have types of their own, for which all would be compiled again.
    zero: Any = np.int64(0)
    one: Any = np.int64(1)
    size_before, value, value_before = zero, 0.0, 0.0
    spare = work[0][0]
    while row < n_rows:
        b = linear[row]
        is_solved = False
        # Each helper is called at one place, in a loop that knows its stage: numba compiles a helper at every place.
        stage = RESUMED
        wanted = start_indices
        first: Any = zero  # to `last`: the indices in `wanted` that enter next
        last: Any = zero
        if moves < 0:  # a new row
            if indptr[row] + m > len(indices):
                reason = SHORT_OF_ROOM
                break
            stage = STARTED
            size = zero
            moves = zero
            ignored = -one  # an index whose violation rounding made: adding it changes nothing
            pattern = start_row[row]
            if pattern >= 0:
                first = np.int64(start_indptr[pattern])
                last = np.int64(start_indptr[pattern + 1])
                if last - first > capacity:
                    state[NEEDED] = last - first
                    reason = SHORT_OF_SPACE
                    moves = -one
                    break
                if len(offsets) > 0:
                    if offsets[pattern] >= 0:
                        size = last - first
                        start_from(b, start_indices, first, size, inverses, offsets[pattern], inverse, x, passive)
                    first = last
        while True:
            size = add_indices(hessian, b, inverse, x, passive, size, wanted, first, last, work)
            if stage == UNDONE:
                if size < size_before:  # rounding has made singular what was not: `current` no longer fits
                    break
                stage = ONE_ADDED
                wanted = violated
                last = one
                continue
            if stage == ONE_ADDED:
                if size > size_before:
                    current[size_before] = 0.0
                    size = step_back(inverse, x, passive, size, current, spare)
            elif stage != RESUMED:
                size = drop_non_positive(inverse, x, passive, size, spare)
            value = 0.0  # bᵀx: at the solution on P the objective is minus half of it
            for i in range(size):
                value += x[i] * b[passive[i]]
            if stage >= ALL_ADDED and value <= value_before * (1.0 + 1e-14):  # no gain
                if stage == ALL_ADDED:
                    stage = UNDONE
                    size = zero
                    wanted = before
                    last = size_before
                    continue
                if ignored == violated[0]:
                    break
                ignored = np.int64(violated[0])

            if moves >= 10 * m:
                break
            if spent > budget:
                reason = PAUSED
                break
            spent += m + size * (m + 2 * BLOCK * size)
            negative_gradient(hessian, b, x, passive, size, w)
            error = 0.0
            for i in range(size):
                violation = abs(w[passive[i]])
                if violation > error:
                    error = np.float64(violation)
                w[passive[i]] = -1.0  # an index in P cannot be added
            if ignored >= 0:
                w[ignored] = -1.0
            n_violated = largest_violations(w, maxima, tol, violated)
            if n_violated == 0:
                is_solved = ignored < 0 and error <= INEXACT * tol
                break
            if size + n_violated > capacity:
                state[NEEDED] = size + n_violated
                reason = SHORT_OF_SPACE
                break
            moves += 1
            size_before = size
            value_before = value
            for i in range(size):
                before[i] = passive[i]
                current[i] = x[i]
            stage = ALL_ADDED
            wanted = violated
            first = zero
            last = n_violated
        if reason != FINISHED:
            break

        for i in range(size):
            is_solved = is_solved and 0.0 < x[i] <= upper
        if not is_solved:
            reason = NOT_SOLVED
            break
        n_stored = indptr[row]
        for i in range(size):  # in ascending order, by counting: P is short, and no branch has to be guessed
            rank = n_stored
            for t in range(size):
                rank += passive[t] < passive[i]
            indices[rank], data[rank] = passive[i], x[i]
        row += 1
        indptr[row] = n_stored + size
        moves = -1
    state[ROW] = row
    state[SIZE] = size
    state[MOVES] = moves
    state[IGNORED] = ignored
    state[REASON] = reason


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
