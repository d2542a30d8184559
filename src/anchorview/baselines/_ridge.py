"""Ridge regression with a weight per row: min over W of Σ_i w_i ‖x_i W − f_i‖² + λ ‖W‖².

Small systems are factorised on their shorter side; if both sides are long, conjugate gradients use nothing but
products with the rows, so wide sparse views never meet a matrix of d × d or n × n.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..core.arrays import AnyMatrix, Matrix, squared_norms
from ._matrix import multiply, scale_each_row

_DIRECT = 2000  # largest system to factorise: 32 MB
_TOLERANCE = 1e-5
_MAX_STEPS = 50


def weighted_ridge(rows: AnyMatrix, weights: Matrix, targets: Matrix, penalty: float, start: Matrix | None = None) -> Matrix:
    """Return W of shape (n_features, n_targets).

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, n_features)
        Features.
    weights : ndarray of shape (n,)
        Positive.
    targets : ndarray of shape (n, n_targets)
        What to predict.
    penalty : float
        λ, positive.
    start : ndarray of shape (n_features, n_targets), optional
        Where conjugate gradients begin. They end after a few dozen steps at the latest, and each of them lowers the
        sum above, so the result is never worse than `start`.

    Examples
    --------
    >>> weighted_ridge(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), np.array([[3.0], [4.0]]), 1.0)
    array([[1.9]])
    """
    n, d = rows.shape
    if min(n, d) > _DIRECT:
        return _by_gradients(rows, weights, targets, penalty, start)
    root = np.sqrt(weights)
    scaled, right = scale_each_row(rows, root), root[:, None] * targets
    if d <= n:
        return _factorise(multiply(scaled.T, scaled), penalty, multiply(scaled.T, right))
    return multiply(scaled.T, _factorise(multiply(scaled, scaled.T), penalty, right))  # W = Xᵀ(XXᵀ + λI)⁻¹F


def _factorise(gram: Matrix, penalty: float, right: Matrix) -> Matrix:
    """Solve (gram + λI) W = right."""
    # Rounding of the largest entries could make the matrix indefinite where λ is small beside them.
    places = np.diag_indices_from(gram)
    gram[places] += penalty + 4 * np.finfo(np.float64).eps * gram[places].max()
    result: Matrix = linalg.solve(gram, right, assume_a="pos")
    return result


def _by_gradients(rows: AnyMatrix, weights: Matrix, targets: Matrix, penalty: float, start: Matrix | None) -> Matrix:
    """Conjugate gradients on (XᵀBX + λI) W = XᵀBF, all columns at once, with the diagonal as preconditioner."""
    transposed = rows.T.tocsr() if hasattr(rows, "tocsr") else rows.T
    scale = 1.0 / (squared_norms(scale_each_row(rows, np.sqrt(weights)).T) + penalty)[:, None]
    solution = np.zeros((rows.shape[1], targets.shape[1])) if start is None else start.copy()
    misfit = targets if start is None else targets - multiply(rows, start)
    residual = multiply(transposed, weights[:, None] * misfit) - penalty * solution
    limit = _TOLERANCE * np.linalg.norm(multiply(transposed, weights[:, None] * targets), axis=0)
    direction = scale * residual
    power = np.einsum("ij,ij->j", residual, direction)
    for _ in range(_MAX_STEPS):
        active = np.linalg.norm(residual, axis=0) > limit
        if not active.any():
            break
        image = multiply(transposed, weights[:, None] * multiply(rows, direction)) + penalty * direction
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.where(active, power / np.where(curvature > 0, curvature, 1.0), 0.0)
        solution += step * direction
        residual -= step * image
        conditioned = scale * residual
        previous, power = power, np.einsum("ij,ij->j", residual, conditioned)
        direction = conditioned + power / np.where(previous > 0, previous, 1.0) * direction
    return solution
