"""Conjugate gradients for several right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.arrays import Matrix


class Solution(NamedTuple):
    """Where conjugate gradients ended, and whether every column met the tolerance."""

    values: Matrix
    converged: bool


def conjugate_gradients(
    apply: Callable[[Matrix], Matrix],
    right: Matrix,
    diagonal: Matrix,
    start: Matrix | None = None,
    *,
    residual: Matrix | None = None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Solve A X = B for each column of B, with the diagonal of A as preconditioner.

    `apply` returns A X; A is symmetric and positive definite. `start` is a first guess, `residual` its B − A X if the
    caller has it. Every step lowers the energy ⟨X, A X⟩ / 2 − ⟨X, B⟩ of each column, so that the result is never worse
    than the guess. The steps end when every column's residual is below `tol` times its right-hand side.

    Examples
    --------
    >>> matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> result = conjugate_gradients(
    ...     lambda x: matrix @ x, np.array([[1.0], [2.0]]), np.diag(matrix), tol=1e-10, max_iter=10
    ... )
    >>> result.values.round(4).ravel(), result.converged
    (array([0.0909, 0.6364]), True)
    """
    scale = 1.0 / diagonal[:, None]
    solution = np.zeros_like(right) if start is None else start.copy()
    if residual is None:
        residual = right.copy() if start is None else right - apply(start)
    limit = tol * np.linalg.norm(right, axis=0)
    direction = scale * residual
    power = np.einsum("ij,ij->j", residual, direction)
    for _ in range(max_iter):
        active = np.linalg.norm(residual, axis=0) > limit
        if not active.any():
            return Solution(solution, True)
        image = apply(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.where(active, power / np.where(curvature > 0, curvature, 1.0), 0.0)
        solution += step * direction
        residual -= step * image
        conditioned = scale * residual
        previous, power = power, np.einsum("ij,ij->j", residual, conditioned)
        direction = conditioned + power / np.where(previous > 0, previous, 1.0) * direction
    return Solution(solution, False)
