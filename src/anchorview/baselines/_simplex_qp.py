"""Many small quadratic programs on the simplex that share their Hessian, solved exactly.

minimise ½ zᵀ G z − cᵀ z  subject to  z ≥ 0, Σ z = 1,  for each row c of a matrix.

Once the set P of positive entries is known, the optimum is a linear system. Where few entries are positive, an
active-set method finds them one by one. Where many are, block principal pivoting does: solve for a guess of P, move
every entry with the wrong sign to the other side, repeat; usually some five times. A row whose pivots do not settle
goes back to the active-set method, which cannot fail to end. Per pivot the system of the smaller side is factorised:
G on P, or G⁻¹ on the entries that are zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arrays import Matrix
from ..core.compiled import compiled
from ..engine.blocks import map_blocks, one_blas_thread

_BLOCK_ROWS = 256
_FEW_STEPS = 60  # of the active-set method, before pivoting is tried
_PIVOTS_WITHOUT_PROGRESS = 3
_LARGEST_CONDITION = 1e8  # of G, up to which G⁻¹ is accurate enough to be used
_TOLERANCE = 1e-13  # of signs, in units of the largest diagonal entry


def minimize_on_simplex(hessian: Matrix, linear: Matrix, n_threads: int = 1) -> Matrix:
    """Return the minimiser for each row of `linear`, the vectors c; the Hessian G is positive definite.

    Examples
    --------
    >>> minimize_on_simplex(np.eye(3), np.array([[0.5, 0.7, -1.0]]))
    array([[0.4, 0.6, 0. ]])
    """
    scale = float(np.abs(np.diagonal(hessian)).max())
    rounding = len(hessian) * np.finfo(np.float64).eps  # less than that on the diagonal could not be factorised
    gram, cross = hessian / scale + rounding * np.eye(len(hessian)), linear / scale
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    has_inverse = bool(values[-1] < _LARGEST_CONDITION * values[0])
    inverse = (vectors / np.maximum(values, values[-1] / 1e14)) @ vectors.T
    sums = inverse.sum(axis=0)

    def of_block(start: int) -> Matrix:
        part = np.ascontiguousarray(cross[start : start + _BLOCK_ROWS])
        solution: Matrix = _solve_rows(gram, inverse, sums, part, part @ inverse, has_inverse)
        return solution

    return np.concatenate(map_blocks(of_block, range(0, len(linear), _BLOCK_ROWS), n_threads))


def simplex_residual(hessian: Matrix, linear: Matrix, solution: Matrix) -> float:
    """Return the largest violation of optimality, in units of the Hessian's diagonal.

    At the optimum Gz − c has its smallest value wherever z is positive.
    """
    slope = solution @ hessian - linear
    gap = ((slope - slope.min(axis=1, keepdims=True)) * solution).sum(axis=1)
    return float(gap.max() / np.abs(np.diagonal(hessian)).max())


@compiled()
def _solve_rows(gram: Any, inverse: Any, sums: Any, cross: Any, ridge: Any, has_inverse: bool) -> Any:
    n, m = cross.shape
    result = np.zeros((n, m))
    point, slope = np.empty(m), np.empty(m)
    for i in range(n):
        level = (ridge[i].sum() - 1.0) / sums.sum()
        positive = ridge[i] - level * sums > 0.0  # where the solution without z ≥ 0 is positive
        is_dense = 4 * positive.sum() > 3 * m
        solved = not is_dense and _active_set(gram, cross[i], _FEW_STEPS, positive, point, slope)
        solved = solved or _pivot(gram, inverse, sums, cross[i], ridge[i], has_inverse, positive, point, slope)
        if not solved:
            _active_set(gram, cross[i], 10 * m, positive, point, slope)
        for j in range(m):
            result[i, j] = max(point[j], 0.0)
        result[i] /= result[i].sum()
    return result


@compiled()
def _pivot(
    gram: Any, inverse: Any, sums: Any, c: Any, ridge: Any, has_inverse: bool, positive: Any, point: Any, slope: Any
) -> bool:
    """Exchange wrong signs until there are none; False if their number stops falling."""
    m = len(c)
    best, patience = m + 1, _PIVOTS_WITHOUT_PROGRESS
    while True:
        inside = np.flatnonzero(positive)
        if len(inside) == 0:
            return False
        if has_inverse and 2 * len(inside) > m:
            _solve_from_inverse(inverse, sums, ridge, np.flatnonzero(~positive), point, slope)
        else:
            _solve_on(gram, c, inside, point, slope)
        wrong = 0
        for j in range(m):
            if (positive[j] and point[j] < -_TOLERANCE) or (not positive[j] and slope[j] < -_TOLERANCE):
                positive[j] = not positive[j]
                wrong += 1
        if wrong == 0:
            return True
        if wrong < best:
            best, patience = wrong, _PIVOTS_WITHOUT_PROGRESS
        else:
            patience -= 1
            if patience < 0:
                return False


@compiled()
def _active_set(gram: Any, c: Any, max_steps: int, positive: Any, point: Any, slope: Any) -> bool:
    """Add one entry at a time, the steepest, and drop those that reach zero: the value falls with every step.

    False if that takes too many steps; `positive` is then where it got to.
    """
    m = len(c)
    current, target = np.zeros(m), np.empty(m)
    first = np.argmin(0.5 * np.diag(gram) - c)
    current[first] = 1.0
    inside = np.array([first])
    _solve_on(gram, c, inside, point, slope)
    for _ in range(max_steps):
        entering = np.argmin(slope)
        if slope[entering] >= -_TOLERANCE:
            return True
        inside = np.append(inside, entering)
        while True:
            _solve_on(gram, c, inside, target, slope)
            step = 1.0
            for j in inside:
                if target[j] < 0.0:
                    step = min(step, current[j] / (current[j] - target[j]))
            current += step * (target - current)
            if step == 1.0:
                break
            keep = current[inside] > 1e-15
            current[inside[~keep]] = 0.0
            inside = inside[keep]
        point[:] = current
    positive[:] = point > 0.0
    return False


@compiled()
def _solve_on(gram: Any, c: Any, inside: Any, point: Any, slope: Any) -> None:
    """Optimum with z = 0 outside `inside` and any sign within: G z = c − λ there; slope = Gz − c + λ elsewhere."""
    size, m = len(inside), len(c)
    part = np.empty((size, size))
    right = np.ones((size, 2))
    for a in range(size):
        right[a, 0] = c[inside[a]]
        for b in range(size):
            part[a, b] = gram[inside[a], inside[b]]
    _cholesky_solve(part, right)
    level = (right[:, 0].sum() - 1.0) / right[:, 1].sum()
    point[:] = 0.0
    slope[:] = level - c
    for a in range(size):
        value = right[a, 0] - level * right[a, 1]
        point[inside[a]] = value
        for j in range(m):
            slope[j] += value * gram[inside[a], j]
    for a in range(size):
        slope[inside[a]] = 0.0


@compiled()
def _solve_from_inverse(inverse: Any, sums: Any, ridge: Any, outside: Any, point: Any, slope: Any) -> None:
    """Find the same optimum by the multipliers y of the zero entries: z = G⁻¹(c − λ + y), with z = 0 on `outside`."""
    size, m = len(outside), len(ridge)
    part = np.empty((size, size))
    right = np.empty((size, 2))
    for a in range(size):
        right[a, 0], right[a, 1] = ridge[outside[a]], sums[outside[a]]
        for b in range(size):
            part[a, b] = inverse[outside[a], outside[b]]
    if size:
        _cholesky_solve(part, right)
    numerator, denominator = ridge.sum() - 1.0, sums.sum()
    for a in range(size):
        numerator -= sums[outside[a]] * right[a, 0]
        denominator -= sums[outside[a]] * right[a, 1]
    level = numerator / denominator
    slope[:] = 0.0
    point[:] = ridge - level * sums
    for a in range(size):
        multiplier = level * right[a, 1] - right[a, 0]
        slope[outside[a]] = multiplier
        for j in range(m):
            point[j] += multiplier * inverse[outside[a], j]
    for a in range(size):
        point[outside[a]] = 0.0


@compiled()
def _cholesky_solve(matrix: Any, right: Any) -> None:
    """Solve in place for the columns of `right`."""
    factor = np.linalg.cholesky(matrix)
    size, columns = right.shape
    for k in range(columns):
        for a in range(size):
            total = right[a, k]
            for b in range(a):
                total -= factor[a, b] * right[b, k]
            right[a, k] = total / factor[a, a]
        for a in range(size - 1, -1, -1):
            value = right[a, k] / factor[a, a]
            right[a, k] = value
            for b in range(a):
                right[b, k] -= factor[a, b] * value
