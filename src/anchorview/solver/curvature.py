"""The largest curvature of the must-link term, per copy of a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..pair_laplacian import lanczos_bound
from ..supervision import Laplacian

_FEW_ROWS = 20  # up to this many the matrix is formed


def largest_curvature(laplacian: Laplacian, weights: npt.NDArray[np.float64] | None) -> float:
    """Return the largest eigenvalue of D_w^-½ L D_w^-½, or an upper bound of it.

    L comes weighted, L_ij ∝ w_i w_j, and a step of row i counts w_i times. So this is the eigenvalue that L would
    have with each row given w_i times, whatever the scale of the weights within L.

    Parameters
    ----------
    laplacian : Laplacian
        L.
    weights : ndarray of shape (n_labelled,), optional
        w of its rows, all one by default. Rows of weight 0 are left out.
    """
    if weights is None:
        return laplacian.largest_eigenvalue()
    inverse_root = np.where(weights > 0, weights, np.inf) ** -0.5
    n_rows = len(weights)

    def apply(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        return inverse_root[:, None] * laplacian.apply(inverse_root[:, None] * values)

    if n_rows <= _FEW_ROWS:
        dense = apply(np.eye(n_rows))
        return float(max(linalg.eigvalsh((dense + dense.T) / 2)[-1], 0.0))
    operator = LinearOperator((n_rows, n_rows), matvec=lambda v: apply(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_rows)
    try:  # labels have one eigenvalue per class: a few steps find it to the last digits
        return float(eigsh(operator, k=1, v0=start, tol=1e-12, maxiter=20, return_eigenvectors=False)[0])
    except ArpackError:  # many pairs, slow to converge
        return lanczos_bound(apply, n_rows, laplacian.largest_eigenvalue() * float(inverse_root.max()) ** 2)
