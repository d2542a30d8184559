"""Compiled moves of the row solver: which indices violate optimality, which leaves, and careful steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import inlined

GROUP = 16  # entries of the gradient looked at together


@inlined
def negative_gradient(hessian: Any, b: Any, x: Any, passive: Any, size: int, w: Any) -> None:
    """W = b − H[:, P] x."""
    m = len(b)
    for j in range(m):
        w[j] = b[j]
    for j in range(m, len(w)):
        w[j] = -1.0
    i, number = 0, w.dtype.type
    while i + 7 < size:  # eight rows at a time: w is read and written an eighth as often
        p0 = passive[i]
        p1 = passive[i + 1]
        p2 = passive[i + 2]
        p3 = passive[i + 3]
        p4 = passive[i + 4]
        p5 = passive[i + 5]
        p6 = passive[i + 6]
        p7 = passive[i + 7]
        x0 = number(x[i])
        x1 = number(x[i + 1])
        x2 = number(x[i + 2])
        x3 = number(x[i + 3])
        x4 = number(x[i + 4])
        x5 = number(x[i + 5])
        x6 = number(x[i + 6])
        x7 = number(x[i + 7])
        for j in range(m):
            first = x0 * hessian[p0, j] + x1 * hessian[p1, j] + x2 * hessian[p2, j] + x3 * hessian[p3, j]
            w[j] -= first + x4 * hessian[p4, j] + x5 * hessian[p5, j] + x6 * hessian[p6, j] + x7 * hessian[p7, j]
        i += 8
    while i < size:
        p0, x0 = passive[i], number(x[i])
        for j in range(m):
            w[j] -= x0 * hessian[p0, j]
        i += 1


@inlined
def largest_violations(w: Any, maxima: Any, tol: float, violated: Any, most: int) -> int:
    """Find up to so many indices with the largest w > tol, in any order and one of each group; return how many.

    A choice among all indices would cost more than it saves in moves. Which groups are among the largest is found by
    counting, for each, how many are larger: no branch has to be guessed. `maxima` is work space, one entry per group,
    and `violated` is as long.
    """
    n_groups, n_found = len(maxima), 0
    for g in range(n_groups):
        largest = w[GROUP * g]
        for t in range(GROUP * g, GROUP * (g + 1)):
            largest = w[t] if w[t] > largest else largest
        maxima[g] = largest
        n_found += largest > tol
    if n_found == 0:
        return n_found
    count = 0
    for g in range(n_groups):
        rank = np.int32(0)
        if n_found > most:
            for other in range(n_groups):
                rank += np.int32(maxima[other] > maxima[g])
        if (rank < most) & (maxima[g] > tol) & (count < most):
            place = np.int32(0)
            for t in range(GROUP):
                place = np.int32(t) if w[GROUP * g + t] == maxima[g] else place
            violated[count] = GROUP * g + place
            count += 1
    return count


@inlined
def most_negative(x: Any, size: int) -> int:
    """Return the position of the smallest entry of the solution on P; −1 if all are positive."""
    worst: Any = np.int64(-1)
    least = 0.0
    for i in range(size):
        if x[i] <= least:
            least = x[i]
            worst = i
    return int(worst)


@inlined
def blocking_index(x: Any, current: Any, size: int) -> int:
    """Move `current` towards the solution on P, as Lawson and Hanson do, until an entry is zero, and take it out.

    Returns its position in P, from which it is to be removed; −1 if the solution is positive, and reached. `current`
    holds the positive values of the present solution, in the order of P, and 0 for the index added last.
    """
    step = 2.0
    blocking: Any = np.int64(-1)
    for i in range(size):
        if x[i] <= 0.0:
            reach = current[i] / (current[i] - x[i]) if current[i] > 0.0 else 0.0
            if reach < step:
                step = reach
                blocking = i
    if blocking >= 0:
        for i in range(size):
            current[i] += step * (x[i] - current[i])
        for i in range(blocking, size - 1):
            current[i] = current[i + 1]
    return int(blocking)
