"""Compiled kernels that Python calls: the row solver, and sums over sparse codes.

Each row's code solves, exactly,

    min_{0 ≤ z ≤ u}  ½ zᵀ H z − bᵀ z,        H = G + (μ + L) I

by an active-set method on the Gram matrix. P holds the indices that may be non-zero, x the solution on them, and y what
it is computed from; see `passive_set`. At the solution on P the objective is −½ bᵀx = −½ yᵀy, so whether a move helped
is read off y. Moves add several violated indices and drop negative ones; if such a move does not lower the objective
it is undone and a single-index step with a ratio test (Lawson and Hanson's) is made instead, which always does.
Objectives over passive sets are finitely many and strictly falling, so the method ends.

Which indices are violated is asked of all m in the precision of H; before one enters, its gradient is computed again in
double precision, with those that entered before it in the same move. So a violation that rounding made changes nothing,
and a move adds many indices without many of them being dropped again.

Where H is nearly singular (duplicated landmarks, no ridge), rounding can still spoil x. So every solution is checked
before it is stored, 0 < x ≤ u and H x = b on P, and one that fails is handed back, to be finished by coordinate descent
in the box, which no rounding can lead out of it (`row_solver`).

Everything here runs without the GIL on one thread; `anchorview.engine` runs blocks of rows in parallel. While a kernel
runs nobody can interrupt it, so those that may take long stop in between and can be called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .moves import blocking_index, largest_violations, most_negative, negative_gradient
from .passive_set import ANY, FAST, add_indices, remove_index, solve_factor, start_from

INEXACT = 100.0  # times the tolerance: a gradient on P that the rounding of L does not explain
TOGETHER = 8  # indices that enter in one move: more are mostly dropped again, fewer need more moves
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
    factors: Any,
    upper: float,
    tol: float,
    budget: int,
    state: Any,
    factor: Any,
    chosen: Any,
    panel: Any,
    y: Any,
    x: Any,
    current: Any,
    passive: Any,
    before: Any,
    violated: Any,
    w: Any,
    maxima: Any,
    turns: Any,
    indptr: Any,
    indices: Any,
    data: Any,
) -> None:
    """Solve the box-constrained problem of row after row, from where `state` says on, and leave there why it stopped.

    Nothing is allocated here: numba would compile each allocation, and its caller has to be asked anyway.

    Parameters
    ----------
    hessian, linear : ndarray of shape (m, m) and (rows, m)
        H, positive definite, and b of each row, of one dtype.
    start_row : ndarray of int, shape (rows,)
        Row of the CSR pattern (`start_indptr`, `start_indices`) that guesses the non-zeros; −1 for none.
    offsets, factors : ndarray
        Factors of H on these patterns, as `factor_patterns` gives them; both empty if they are not known.
    upper, tol, budget : float, float, int
        Upper bound of every entry; an index may be left out while its gradient is above −tol; stop after about so many
        multiplications.
    state : ndarray of int
        The row that is next; if it is begun (`MOVES` not negative) also the size of P, the moves made, the index that
        is ignored; the reason of the stop; and for `SHORT_OF_SPACE` the number of indices that `factor` must hold.
    factor, chosen, panel, y, x, current, passive, before, violated, w, maxima, turns : ndarray
        Work space: see `row_solver`.
    indptr, indices, data : ndarray
        CSR arrays that take the codes, with sorted indices.
    """
    n_rows, m = linear.shape
    capacity = len(factor)
    row = state[ROW]
    size = state[SIZE]
    moves = state[MOVES]
    ignored = state[IGNORED]
    spent, reason = 0, FINISHED
    # Of the type of every size: 0 and 1 themselves have types of their own, for which all would be compiled again.
    zero: Any = np.int64(0)
    one: Any = np.int64(1)
    size_before, value, value_before = zero, 0.0, 0.0
    while row < n_rows:
        b = linear[row]
        is_solved = False
        # Each helper is called at one place, in a loop that knows its stage: numba compiles a helper at every place.
        stage = RESUMED
        wanted = start_indices
        first: Any = zero  # to `last`: the indices in `wanted` that enter next
        last: Any = zero
        least = ANY
        if moves < 0:  # a new row
            if indptr[row] + m > len(indices):
                reason = SHORT_OF_ROOM
                break
            stage = STARTED
            size = zero
            moves = zero
            ignored = -one  # an index that cannot enter
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
                        start_from(b, start_indices, first, size, factors, offsets[pattern], factor, y, passive)
                    first = last
        while True:
            size = add_indices(hessian, b, factor, y, passive, size, wanted, first, last, least, chosen, panel)
            first = last
            if stage == UNDONE:
                if size < size_before:  # rounding has made singular what was not: `current` no longer fits
                    break
                stage = ONE_ADDED
                wanted = violated
                first = zero
                last = one
                current[size] = 0.0  # of the index that enters
                continue
            solve_factor(factor, y, x, size)
            leaving = blocking_index(x, current, size) if stage == ONE_ADDED else most_negative(x, size)
            if leaving >= 0:
                remove_index(factor, y, passive, size, leaving, turns)
                size -= 1
                continue
            value = 0.0  # yᵀy = bᵀx: at the solution on P the objective is minus half of it
            for i in range(size):
                value += y[0, i] * y[0, i]
            if stage >= ALL_ADDED and value <= value_before * (1.0 + 1e-14):  # no gain
                if stage == ALL_ADDED:
                    stage = UNDONE
                    size = zero
                    wanted = before
                    first = zero
                    last = size_before
                    least = ANY
                    continue
                if ignored == violated[0]:
                    break
                ignored = np.int64(violated[0])

            if moves >= 10 * m:
                break
            if spent > budget:
                reason = PAUSED
                break
            spent += m + size * (m + 2 * TOGETHER * size)
            negative_gradient(hessian, b, x, passive, size, w)
            error = 0.0
            for i in range(size):
                violation = abs(w[passive[i]])
                if violation > error:
                    error = np.float64(violation)
                w[passive[i]] = -1.0  # an index in P cannot be added
            if ignored >= 0:
                w[ignored] = -1.0
            n_violated = largest_violations(w, maxima, tol, violated, TOGETHER)
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
            least = 0.0  # in double precision: what is positive then belongs into the code
        if reason != FINISHED:
            break

        for i in range(size):
            is_solved = is_solved and 0.0 < x[i] <= upper
        if not is_solved:
            reason = NOT_SOLVED
            break
        n_stored = indptr[row]
        for i in range(size):  # in ascending order, by counting: P is short, and no branch has to be guessed
            rank = np.int32(0)
            for t in range(size):
                rank += np.int32(passive[t] < passive[i])
            indices[n_stored + rank] = passive[i]
            data[n_stored + rank] = x[i]
        row += 1
        indptr[row] = n_stored + size
        moves = -1
    state[ROW] = row
    state[SIZE] = size
    state[MOVES] = moves
    state[IGNORED] = ignored
    state[REASON] = reason


# Below, places in arrays are unsigned: of a signed one numba looks each time whether it counts from the end.


@compiled()
def dot_codes(indptr: Any, indices: Any, data: Any, weights: Any, cross: Any) -> float:
    """Return ⟨diag(weights) E, Z⟩ in double precision, for CSR codes."""
    total = 0.0
    for row in range(len(indptr) - 1):
        for a in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            total += weights[row] * data[a] * cross[row, np.uint32(indices[a])]
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
    """Add Zᵀ diag(weights) Z to the upper triangle of `out`, for CSR codes with sorted indices.

    Two entries of a code at a time, so that the others are read half as often.
    """
    one = np.uint64(1)
    for row in range(len(indptr) - 1):
        a = np.uint64(indptr[row])
        end = np.uint64(indptr[row + 1])
        while a < end:
            value = weights[row] * data[a]
            j = np.uint32(indices[a])
            out[j, j] += value * data[a]
            if a + one < end:
                other = weights[row] * data[a + one]
                k = np.uint32(indices[a + one])
                for t in range(a + one, end):
                    column = np.uint32(indices[t])
                    out[j, column] += value * data[t]
                    out[k, column] += other * data[t]
            a += one + one


@compiled(fastmath=FAST)
def box_descent(hessian: Any, b: Any, z: Any, w: Any, upper: float, tol: float, is_new: bool, n_sweeps: int) -> bool:
    """Coordinate descent with both bounds, for the rare row that the active set does not solve.

    Takes z within the box and moves it by some sweeps, keeping w = b − H z, which it computes if the row is new. True
    if z is the solution.
    """
    m = len(b)
    if is_new:
        for j in range(m):
            w[j] = b[j]
        for j in range(m):
            if z[j] != 0.0:
                for t in range(m):
                    w[t] -= z[j] * hessian[j, t]
    for _ in range(n_sweeps):
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
            return True
    return False
