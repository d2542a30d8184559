"""Small operations on sparse codes (CSR, one row per sample)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse


def code_gram(codes: sparse.csr_array, weights: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
    """Return ``codesᵀ diag(weights) codes`` as a dense float64 matrix.

    Examples
    --------
    >>> from scipy import sparse
    >>> code_gram(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    from .code_kernels import add_code_gram, mirror_upper

    m = codes.shape[1]
    gram = np.zeros((m, m))
    weights = np.ones(codes.shape[0]) if weights is None else weights
    add_code_gram(codes.indptr, codes.indices, codes.data, weights, gram)
    mirror_upper(gram)
    return gram


def stack_codes(blocks: list[sparse.csr_array], n_columns: int) -> sparse.csr_array:
    """Put blocks of codes under one another."""
    if not blocks:
        return sparse.csr_array((0, n_columns))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def gather_rows(parts: list[sparse.csr_array], places: list[npt.NDArray[np.intp]]) -> sparse.csr_array:
    """Put codes that were computed in parts, at least one, into the order of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> parts = [sparse.csr_array([[1.0], [3.0]]), sparse.csr_array([[2.0]])]
    >>> gather_rows(parts, [np.array([0, 2]), np.array([1])]).toarray().ravel()
    array([1., 2., 3.])
    """
    stacked = parts[0] if len(parts) == 1 else stack_codes(parts, parts[0].shape[1])
    order = np.concatenate(places)
    if (np.diff(order) > 0).all():
        return stacked
    return sparse.csr_array(stacked[np.argsort(order)])


def replace_rows(codes: sparse.csr_array, index: npt.NDArray[np.intp], rows: sparse.csr_array) -> sparse.csr_array:
    """Return the codes with the rows ``index`` replaced."""
    if len(index) == 0:
        return codes
    order = np.arange(codes.shape[0])
    order[index] = codes.shape[0] + np.arange(len(index))
    return sparse.csr_array(sparse.vstack([codes, rows], format="csr")[order])
