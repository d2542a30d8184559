"""Codes of rows on their own: the non-negative elastic net, with the coupling term switched off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

UPPER = 1.0  # m_Z of the paper: the largest value an entry of Z may take


def optimality_tol(gram: npt.NDArray[np.floating], dtype: np.dtype[np.floating]) -> float:
    """Gradient below which an index counts as optimal at zero: a few roundings of the largest entry of G."""
    return 32 * float(np.finfo(dtype).eps) * max(float(np.diagonal(gram).max(initial=0.0)), 1e-30)


def hessian_of(gram: npt.NDArray[np.float64], ridge: float, dtype: np.dtype[np.floating]) -> npt.NDArray[np.floating]:
    """Return H = G + μ I. A floor on μ keeps H positive definite when there are more landmarks than features."""
    scale = max(float(np.diagonal(gram).max(initial=0.0)), 1e-30)
    floor = (1e-9 if dtype == np.float64 else 1e-5) * scale
    result: npt.NDArray[np.floating] = gram.astype(dtype)
    result[np.diag_indices_from(result)] += max(ridge, floor)
    return result


def solve_codes(
    hessian: npt.NDArray[np.floating],
    linear: npt.NDArray[np.floating],
    tol: float,
    start: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """Minimise ½ zᵀHz − bᵀz over 0 ≤ z ≤ 1 for every row b of ``linear``, starting from the pattern ``start``."""
    from .kernels import solve_rows

    n_rows, m = linear.shape
    if start is None:
        pattern = (np.full(n_rows, -1), np.zeros(1, np.int32), np.zeros(0, np.int32))
    else:
        pattern = (np.arange(n_rows), start.indptr, start.indices)
    indptr, indices, data = solve_rows(hessian, linear, *pattern, UPPER, tol)
    return sparse.csr_array((data, indices, indptr.astype(np.int32)), shape=(n_rows, m))


@dataclass(frozen=True)
class ElasticNetEncoder:
    """Codes for any rows: argmin over 0 ≤ z ≤ 1 of ½ zᵀ(G + μI)z − (e − λ_Z 1)ᵀz."""

    gram: npt.NDArray[np.float64]
    ridge: float
    l1: float

    def encode(self, cross: npt.NDArray[np.floating]) -> sparse.csr_array:
        """Return the codes for some rows of E, in the precision of those rows."""
        hessian = hessian_of(self.gram, self.ridge, cross.dtype)
        linear = np.subtract(cross, cross.dtype.type(self.l1))
        return solve_codes(hessian, linear, optimality_tol(self.gram, cross.dtype))
