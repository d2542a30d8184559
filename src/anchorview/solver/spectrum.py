"""The largest eigenvalue of an operator on rows, from above: solvers take steps that shrink with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..core.arrays import Matrix

_FEW_ROWS = 20  # up to this many the matrix is formed


def lanczos_bound(apply: Callable[[Matrix], Matrix], n_rows: int, bound: float) -> float:
    """Return the largest eigenvalue of an operator from above, by Lanczos' method, at most the known `bound`.

    The solver's steps shrink with this number, and a bound from the degrees alone may be twice the eigenvalue.
    """
    if bound == 0 or n_rows < 3:
        return bound
    try:
        largest = _largest(apply, n_rows, tol=1e-3, max_iter=100, which="LA")
    except ArpackError:  # not converged, or L = 0
        return bound
    return min(bound, 1.01 * largest)  # which is right to 0.1 %, from below


def largest_curvature(
    apply: Callable[[Matrix], Matrix], weights: Matrix, bound: Callable[[], float], max_iter: int = 20
) -> float:
    """Return the largest eigenvalue of D_w^-½ L D_w^-½, or an upper bound of it.

    L comes weighted, L_ij ∝ w_i w_j, and a step of row i counts w_i times. So this is the eigenvalue that L would
    have with each row given w_i times, whatever the scale of the weights within L. Rows of weight 0 are left out.

    Labels have one eigenvalue per class, which a few steps of Lanczos' method find to the last digits. Of many pairs,
    slow to converge, a bound is taken, from `bound`: that of the largest eigenvalue of L itself.
    """
    inverse_root = np.where(weights > 0, weights, np.inf) ** -0.5
    n_rows = len(weights)

    def scaled(values: Matrix) -> Matrix:
        return inverse_root[:, None] * apply(inverse_root[:, None] * values)

    if n_rows <= _FEW_ROWS:
        dense = scaled(np.eye(n_rows))
        return float(max(linalg.eigvalsh((dense + dense.T) / 2)[-1], 0.0))
    try:
        return _largest(scaled, n_rows, tol=1e-12, max_iter=max_iter, which="LM")
    except ArpackError:
        return lanczos_bound(scaled, n_rows, bound() * float(inverse_root.max()) ** 2)


def _largest(apply: Callable[[Matrix], Matrix], n_rows: int, *, tol: float, max_iter: int, which: str) -> float:
    operator = LinearOperator((n_rows, n_rows), matvec=lambda v: apply(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_rows)
    return float(eigsh(operator, k=1, which=which, v0=start, tol=tol, maxiter=max_iter, return_eigenvectors=False)[0])
