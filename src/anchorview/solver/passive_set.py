"""Compiled upkeep of a passive set: P, the inverse M of H on it, and the solution x = M b_P.

An index that enters or leaves P changes M by a matrix of rank one and x by a multiple of a column: a few hundred
multiplications in plain loops, where a Cholesky factor would need short recurrences and a new factor after each
removal. Up to eight indices enter together, by a change of rank eight that reads M twice instead of sixteen times.
Rows and columns of `inverse` beyond P hold finite leftovers.

Assignments stand one on a line: numba builds and takes apart a tuple for each line that holds several, which takes it
longer to compile. So do functions that call each other: each is optimised once for itself and again in its caller.
A division by zero gives infinity, as in NumPy: a row that it spoils is handed back as not solved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix
from ..core.compiled import compiled, inlined

FAST = {"reassoc", "contract", "arcp", "nsz"}  # vectorised sums; NaN and infinity keep their meaning
WIDTH = 8  # inner loops run over whole groups of this size, so that no entry is left to a scalar loop
BLOCK = 8  # indices that enter together
_LINE = 64  # bytes of a line of the cache
_SINGULAR = 1e-12  # a pivot below this part of the diagonal is rounding
_DEPENDENT = 1e-4  # indices with smaller pivots enter one by one, which loses less precision


def make_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Return zeros that begin with a line of the cache: NumPy's begin anywhere, and can be a third slower to use."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def make_work(padded: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return work space for sets of up to `padded` indices."""
    return make_zeros((BLOCK, padded)), make_zeros((BLOCK, padded)), make_zeros((BLOCK, 16))


@compiled(fastmath=FAST, error_model="numpy")
def add_indices(
    hessian: Any, b: Any, inverse: Any, x: Any, passive: Any, size: int, wanted: Any, first: int, last: int, work: Any
) -> int:
    """Add the indices wanted[first:last] to P, those that would make H on it singular left out; return its new size.

    Up to eight, Q, enter together. With C = H_PQ, V = M C and S = H_QQ − CᵀV,

        M ← [[M + V S⁻¹ Vᵀ, −V S⁻¹], [−S⁻¹ Vᵀ, S⁻¹]],   x ← [x − V y, y],   y = S⁻¹ (b_Q − Cᵀ x).

    Fewer than eight are filled up with zeros, so that the inner sums have a fixed number of terms. One or two enter one
    by one, and so do those with which H would be near to singular.

    `work` is `columns` (8×padded: Cᵀ, later S⁻¹Vᵀ), `wide` (8×padded: Vᵀ) and `small` (8×16: S, its inverse, the
    right-hand side, y). The zeros at the end of V keep the leftovers beyond P from spreading.
    """
    columns, wide, small = work
    h = columns[0]
    v = wide[0]
    while first < last:
        count: Any = last - first
        if count > BLOCK:
            count = np.int64(BLOCK)
        padded = (size + WIDTH - 1) & -WIDTH
        is_independent = count > 2
        if is_independent:
            for k in range(BLOCK):
                for t in range(padded):
                    columns[k, t] = 0.0
                    wide[k, t] = 0.0
            for k in range(count):
                j = wanted[first + k]
                for i in range(size):
                    columns[k, i] = hessian[j, passive[i]]
            for i in range(size):  # V = M C, eight sums in one pass over a row of M
                a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
                for t in range(padded):
                    value = inverse[i, t]
                    a0 += value * columns[0, t]
                    a1 += value * columns[1, t]
                    a2 += value * columns[2, t]
                    a3 += value * columns[3, t]
                    a4 += value * columns[4, t]
                    a5 += value * columns[5, t]
                    a6 += value * columns[6, t]
                    a7 += value * columns[7, t]
                wide[0, i] = a0
                wide[1, i] = a1
                wide[2, i] = a2
                wide[3, i] = a3
                wide[4, i] = a4
                wide[5, i] = a5
                wide[6, i] = a6
                wide[7, i] = a7
            for k in range(BLOCK):
                for other in range(BLOCK):
                    small[k, other] = 0.0
                small[k, 8] = 0.0
                small[k, 9] = 0.0
            for k in range(count):
                j = wanted[first + k]
                for other in range(k + 1):
                    total = np.float64(hessian[j, wanted[first + other]])
                    for t in range(padded):
                        total -= wide[other, t] * columns[k, t]
                    small[k, other] = total
                    small[other, k] = total
                total = np.float64(b[j])
                for t in range(size):
                    total -= columns[k, t] * x[t]
                small[k, 8] = total
            for k in range(count):  # Gauss-Jordan inversion in place: S is positive definite and needs no pivoting
                pivot = small[k, k]
                j = wanted[first + k]
                if pivot <= _DEPENDENT * hessian[j, j]:
                    is_independent = False
                    break
                scale = 1.0 / pivot
                small[k, k] = 1.0
                for other in range(BLOCK):
                    small[k, other] *= scale
                for i in range(count):
                    if i != k:
                        factor = small[i, k]
                        small[i, k] = 0.0
                        for other in range(BLOCK):
                            small[i, other] -= factor * small[k, other]
        if is_independent:
            for k in range(count):
                for other in range(count):
                    small[k, 9] += small[k, other] * small[other, 8]
            for k in range(BLOCK):  # S⁻¹ Vᵀ, over the C that is no longer needed
                s0 = small[k, 0]
                s1 = small[k, 1]
                s2 = small[k, 2]
                s3 = small[k, 3]
                s4 = small[k, 4]
                s5 = small[k, 5]
                s6 = small[k, 6]
                s7 = small[k, 7]
                for t in range(padded):
                    some = s0 * wide[0, t] + s1 * wide[1, t] + s2 * wide[2, t] + s3 * wide[3, t]
                    columns[k, t] = some + s4 * wide[4, t] + s5 * wide[5, t] + s6 * wide[6, t] + s7 * wide[7, t]
            for i in range(size):
                for k in range(count):
                    x[i] -= wide[k, i] * small[k, 9]
                v0 = wide[0, i]
                v1 = wide[1, i]
                v2 = wide[2, i]
                v3 = wide[3, i]
                v4 = wide[4, i]
                v5 = wide[5, i]
                v6 = wide[6, i]
                v7 = wide[7, i]
                for t in range(padded):
                    some = v0 * columns[0, t] + v1 * columns[1, t] + v2 * columns[2, t] + v3 * columns[3, t]
                    others = v4 * columns[4, t] + v5 * columns[5, t] + v6 * columns[6, t] + v7 * columns[7, t]
                    inverse[i, t] += some + others
                for k in range(count):
                    inverse[i, size + k] = -columns[k, i]
                    inverse[size + k, i] = -columns[k, i]
            for k in range(count):
                for other in range(count):
                    inverse[size + k, size + other] = small[k, other]
                x[size + k] = small[k, 9]
                passive[size + k] = wanted[first + k]
            size += count
            first += count
            continue
        for k in range(first, first + count):  # one by one
            j = np.int64(wanted[k])
            padded = (size + WIDTH - 1) & -WIDTH
            for t in range(padded):
                v[t] = 0.0
            for i in range(size):  # v = M h
                hi = np.float64(hessian[j, passive[i]])
                h[i] = hi
                for t in range(padded):
                    v[t] += hi * inverse[i, t]
            for t in range(size, padded):
                v[t] = 0.0
            pivot = np.float64(hessian[j, j])
            rest = np.float64(b[j])
            for t in range(size):
                pivot -= h[t] * v[t]
                rest -= h[t] * x[t]
            if pivot <= _SINGULAR * hessian[j, j]:
                continue
            scale = 1.0 / pivot
            value = rest * scale
            for i in range(size):
                vi = v[i] * scale
                x[i] -= v[i] * value
                for t in range(padded):
                    inverse[i, t] += vi * v[t]
                inverse[i, size] = -vi
                inverse[size, i] = -vi
            inverse[size, size] = scale
            x[size] = value
            passive[size] = j
            size += 1
        first += count
    return size


@compiled(fastmath=FAST, error_model="numpy")
def remove_index(inverse: Any, x: Any, passive: Any, size: int, p: int, c: Any) -> None:
    """Take the index at position p out of P; the last one takes its place. c is work space."""
    padded = (size + WIDTH - 1) & -WIDTH
    scale = 1.0 / inverse[p, p]
    value = x[p] * scale
    for t in range(padded):
        c[t] = inverse[p, t]
    for t in range(size, padded):
        c[t] = 0.0
    for i in range(size):
        ci = c[i] * scale
        x[i] -= c[i] * value
        for t in range(padded):
            inverse[i, t] -= ci * c[t]
    last = size - 1
    if p != last:
        for t in range(size):
            inverse[p, t] = inverse[last, t]
        for i in range(size):
            inverse[i, p] = inverse[i, last]
        inverse[p, p] = inverse[last, last]
        x[p] = x[last]
        passive[p] = passive[last]


@inlined
def drop_non_positive(inverse: Any, x: Any, passive: Any, size: int, c: Any) -> int:
    """Drop the most negative index until the solution on P is positive; return the size left."""
    while size > 0:
        worst: Any = np.int64(0)
        for i in range(1, size):
            if x[i] < x[worst]:
                worst = i
        if x[worst] > 0.0:
            break
        remove_index(inverse, x, passive, size, worst, c)
        size -= 1
    return size


@inlined
def start_from(
    b: Any, start: Any, first: int, size: int, inverses: Any, offset: int, inverse: Any, x: Any, passive: Any
) -> None:
    """Set P to `size` indices of `start` from `first` on, its inverse, which is known, and x."""
    padded = (size + WIDTH - 1) & -WIDTH
    for i in range(size):
        passive[i] = start[first + i]
        total = 0.0
        for t in range(size):
            inverse[i, t] = inverses[offset + i * size + t]
            total += inverses[offset + i * size + t] * b[start[first + t]]
        for t in range(size, padded):
            inverse[i, t] = 0.0
        x[i] = total
