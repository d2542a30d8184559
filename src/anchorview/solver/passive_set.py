"""Compiled upkeep of a passive set: P, the factor L of H on it (L Lᵀ = H_PP), and y = L⁻¹ b_P.

An index that enters P is one more row of L; those before it stay. Up to eight enter together, from one triangular
solve with eight right-hand sides (`panel`). One that leaves takes its row along, and rotations make the rows below
triangular again, few where it came late: those that leave mostly did. x = L⁻ᵀ y solves the problem on P.

The diagonal of `factor` holds the reciprocals of that of L, and its upper triangle leftovers; `y` is
a matrix of one row.

Assignments stand one on a line: numba builds and takes apart a tuple for each line that holds several, which takes it
longer to compile. A division by zero gives infinity, as in NumPy: a row that it spoils is handed back as not solved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.compiled import compiled, inlined
from ..core.vectors import WIDTH
from .panel import subtract_rows

FAST = {"reassoc", "contract", "arcp", "nsz"}  # vectorised sums; NaN and infinity keep their meaning
ANY = -math.inf  # no least gradient: all indices enter
_SINGULAR = 1e-12  # a pivot below this part of the diagonal is rounding


@compiled(fastmath=FAST, error_model="numpy")
def add_indices(
    hessian: Any,
    b: Any,
    factor: Any,
    y: Any,
    passive: Any,
    size: int,
    wanted: Any,
    first: int,
    last: int,
    least: float,
    chosen: Any,
    panel: Any,
) -> int:
    """Add indices of wanted[first:last] to P; return its new size.

    They enter in their order if there is no `least` gradient, else the largest gradient first, as it is once others
    have entered; those that are not above it are left out. So are those with which H would be singular on P. For eight
    of them, Q, the panel takes V = L⁻¹ H_PQ, and its last row their gradients g = b_Q − Vᵀy. The row of L that belongs
    to an index is its column v of V, and with it go

        L_jj² = H_jj − ‖v‖²,   y_j = g_j / L_jj.

    Each that enters adds a row to V, and changes the gradients of those behind it. `chosen` is work space for eight
    indices, and the panel has one row more than P may have indices.
    """
    last_row = len(panel) - 1
    while first < last:
        count: Any = last - first
        if count > WIDTH:
            count = np.int64(WIDTH)
        for place in range(WIDTH):  # fewer than eight are filled up with the first one
            chosen[place] = wanted[first + place] if place < count else wanted[first]
        for i in range(size):  # by rows of H that the last gradient has read: the others are not in the cache
            line = np.uint32(passive[i])  # unsigned places need no look whether they count from the end
            for place in range(WIDTH):
                panel[i, place] = hessian[line, np.uint32(chosen[place])]
        for place in range(WIDTH):
            panel[last_row, place] = b[chosen[place]]
        for t in range(size):
            subtract_rows(factor, t, panel, t, t, factor[t, t])
        subtract_rows(y, 0, panel, size, last_row, 1.0)
        for place in range(count, WIDTH):
            panel[last_row, place] = ANY
        for number in range(count):
            k: Any = np.int64(number)
            if least > ANY:  # the largest gradient first
                for other in range(WIDTH):
                    k = np.int64(other) if panel[last_row, other] > panel[last_row, k] else k
            gradient = panel[last_row, k]
            if gradient <= least:
                break
            panel[last_row, k] = ANY  # has had its turn
            j = np.int64(chosen[k])
            for i in range(size):
                factor[size, i] = panel[i, k]
            pivot = np.float64(hessian[j, j])
            for i in range(size):
                pivot -= factor[size, i] * factor[size, i]
            if pivot <= _SINGULAR * hessian[j, j]:
                continue
            scale = 1.0 / math.sqrt(pivot)
            value = gradient * scale
            factor[size, size] = scale
            y[0, size] = value
            passive[size] = j
            for other in range(WIDTH):
                panel[size, other] = hessian[j, chosen[other]]
            subtract_rows(factor, size, panel, size, size, scale)
            for other in range(WIDTH):
                panel[last_row, other] -= value * panel[size, other]
            size += 1
        first += count
    return size


@compiled(fastmath=FAST, error_model="numpy")
def remove_index(factor: Any, y: Any, passive: Any, size: int, p: int, turns: Any) -> None:
    """Take the index at position p out of P; those behind it move up. `turns` is work space, two rows as long as P.

    Without the row p of L, those below have one entry more than a triangle: rotations of neighbouring columns, the
    same ones for all rows, move it to the right and out.
    """
    one = np.uint64(1)
    place = np.uint64(p)  # unsigned: of a signed one numba looks each time whether it counts from the end
    end = np.uint64(size)
    rest = y[0, place]
    for row in range(place + one, end):
        t = row - one
        for i in range(place):
            factor[t, i] = factor[row, i]
        carried = factor[row, place]
        for j in range(place, t):
            value = factor[row, j + one]
            factor[t, j] = turns[0, j] * carried + turns[1, j] * value
            carried = turns[0, j] * value - turns[1, j] * carried
        diagonal = 1.0 / factor[row, row]
        scale = 1.0 / math.sqrt(carried * carried + diagonal * diagonal)
        turns[0, t] = carried * scale
        turns[1, t] = diagonal * scale
        factor[t, t] = scale
        value = y[0, row]
        y[0, t] = turns[0, t] * rest + turns[1, t] * value
        rest = turns[0, t] * value - turns[1, t] * rest
        passive[t] = passive[row]


@compiled(fastmath=FAST, error_model="numpy")
def solve_factor(factor: Any, y: Any, x: Any, size: int) -> None:
    """Set x to L⁻ᵀ y: from the last entry to the first, four at a time."""
    for i in range(size):
        x[i] = y[0, i]
    t = size
    while t & 3:
        t -= 1
        x0 = x[t] * factor[t, t]
        x[t] = x0
        for i in range(t):
            x[i] -= factor[t, i] * x0
    while t > 0:
        t -= 4
        x3 = x[t + 3] * factor[t + 3, t + 3]
        x2 = (x[t + 2] - factor[t + 3, t + 2] * x3) * factor[t + 2, t + 2]
        x1 = (x[t + 1] - factor[t + 3, t + 1] * x3 - factor[t + 2, t + 1] * x2) * factor[t + 1, t + 1]
        x0 = x[t] - factor[t + 3, t] * x3 - factor[t + 2, t] * x2 - factor[t + 1, t] * x1
        x0 *= factor[t, t]
        x[t + 3] = x3
        x[t + 2] = x2
        x[t + 1] = x1
        x[t] = x0
        for i in range(t):
            x[i] -= factor[t, i] * x0 + factor[t + 1, i] * x1 + factor[t + 2, i] * x2 + factor[t + 3, i] * x3


@inlined
def start_from(
    b: Any, start: Any, first: int, size: int, factors: Any, offset: int, factor: Any, y: Any, passive: Any
) -> None:
    """Set P to `size` indices of `start` from `first` on, its factor, which is known, and y."""
    line = np.uint64(offset)
    for i in range(np.uint64(size)):
        j = start[first + np.int64(i)]
        passive[i] = j
        total = np.float64(b[j])
        for t in range(i):
            value = factors[line + t]
            factor[i, t] = value
            total -= value * y[0, t]
        factor[i, i] = factors[line + i]
        y[0, i] = total * factors[line + i]
        line += i + np.uint64(1)
