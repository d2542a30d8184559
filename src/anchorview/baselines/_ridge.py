"""Ridge regression with a weight per row: min over W of Σ_i w_i ‖x_i W − f_i‖² + λ ‖W‖².

Small systems are factorised on their shorter side; if both sides are long, conjugate gradients use nothing but
products with the rows, so wide sparse views never meet a matrix of d × d or n × n.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..core.arrays import AnyMatrix, Matrix, is_sparse, squared_norms
from ._conjugate import conjugate_gradients
from ._matrix import multiply, scale_each_row

_DIRECT = 2000  # largest system to factorise: 32 MB


def weighted_ridge(
    rows: AnyMatrix,
    weights: Matrix,
    targets: Matrix,
    penalty: float,
    start: Matrix | None = None,
    *,
    direct: int = _DIRECT,
    tol: float = 1e-5,
    max_iter: int = 50,
) -> Matrix:
    """Return W of shape (n_features, n_targets); weights and `penalty`, λ, are positive.

    Systems up to size `direct` are factorised. Conjugate gradients begin at `start`; each of their steps lowers the sum
    above, so the result is never worse. They leave at most `tol` of the right-hand side unless they end at `max_iter`.

    Examples
    --------
    >>> weighted_ridge(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), np.array([[3.0], [4.0]]), 1.0)
    array([[1.9]])
    """
    n, d = rows.shape
    if min(n, d) > direct:
        return _by_gradients(rows, weights, targets, penalty, start, tol, max_iter)
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


def _by_gradients(
    rows: AnyMatrix, weights: Matrix, targets: Matrix, penalty: float, start: Matrix | None, tol: float, max_iter: int
) -> Matrix:
    """Solve (XᵀBX + λI) W = XᵀBF by conjugate gradients."""
    transposed = rows.T.tocsr() if is_sparse(rows) else rows.T

    def apply(columns: Matrix) -> Matrix:
        return multiply(transposed, weights[:, None] * multiply(rows, columns)) + penalty * columns

    right = multiply(transposed, weights[:, None] * targets)
    residual = None
    if start is not None:  # from the misfit: right − apply(start) would lose digits
        residual = multiply(transposed, weights[:, None] * (targets - multiply(rows, start))) - penalty * start
    diagonal = squared_norms(scale_each_row(rows, np.sqrt(weights)).T) + penalty
    return conjugate_gradients(apply, right, diagonal, start, residual=residual, tol=tol, max_iter=max_iter).values
