"""Sparse codes (CSR, one row per sample): put together, and summed as far as J needs it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Rows, Weights
from ..engine.blocks import row_blocks

_BLOCK_ROWS = 4096  # copied at a time
_GROWTH = 1.1  # of arrays that are too short


def code_gram(codes: sparse.csr_array, weights: Weights = None) -> Matrix:
    """Return ``codesᵀ diag(weights) codes`` as a dense float64 matrix.

    Examples
    --------
    >>> from scipy import sparse
    >>> code_gram(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    from .kernels import add_code_gram, mirror_upper

    m = codes.shape[1]
    gram = np.zeros((m, m))
    weights = np.ones(codes.shape[0]) if weights is None else weights
    add_code_gram(codes.indptr, codes.indices, codes.data, weights, gram)
    mirror_upper(gram)
    return gram


def multiply(codes: sparse.csr_array, matrix: Matrix) -> Matrix:
    """Return ``codes @ matrix``, block by block: SciPy would hold a copy of all codes in the wider of the precisions.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> multiply(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([[1.0], [1.0]]))
    array([[3.],
           [3.]])
    """
    result = np.empty((codes.shape[0], *matrix.shape[1:]), dtype=np.result_type(codes, matrix))
    for block in row_blocks(codes.shape[0], _BLOCK_ROWS):
        result[block] = codes[block] @ matrix
    return result


def stack_codes(blocks: Iterable[sparse.csr_array], n_columns: int) -> sparse.csr_array:
    """Put blocks of codes under one another, each as it comes.

    The arrays of the result grow by little at a time, which moves no memory where the system can map it elsewhere. To
    hold all blocks until the end would take twice the memory, and what many blocks leave behind is not given back.
    """
    indices, data = np.empty(0, np.int32), np.empty(0)
    lengths = [np.zeros(1, np.int64)]
    n_stored = 0
    for block in blocks:
        if len(lengths) == 1:
            data = data.astype(block.dtype)
        end = n_stored + block.nnz
        if end > len(data):
            for array in (indices, data):
                array.resize(max(end, int(_GROWTH * len(data))), refcheck=False)
        indices[n_stored:end], data[n_stored:end] = block.indices, block.data
        lengths.append(np.diff(block.indptr))
        n_stored, n_columns = end, block.shape[1]
    for array in (indices, data):
        array.resize(n_stored, refcheck=False)
    indptr = np.cumsum(np.concatenate(lengths), dtype=np.int64)
    if n_stored <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


def gather_rows(parts: Iterable[sparse.csr_array], places: Sequence[Rows]) -> sparse.csr_array:
    """Put codes that were computed in parts, at least one, into the order of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> parts = [sparse.csr_array([[1.0], [3.0]]), sparse.csr_array([[2.0]])]
    >>> gather_rows(parts, [np.array([0, 2]), np.array([1])]).toarray().ravel()
    array([1., 2., 3.])
    """
    stacked = stack_codes(parts, 0)
    order = np.concatenate(places)
    if (np.diff(order) > 0).all():
        return stacked
    return sparse.csr_array(stacked[np.argsort(order)])


def replace_rows(codes: sparse.csr_array, index: Rows, rows: sparse.csr_array) -> sparse.csr_array:
    """Return the codes with the rows ``index`` (ascending) replaced.

    Written block by block into the arrays of the result: beside codes and result nothing of their size is held.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> codes = sparse.csr_array([[1.0, 0.0], [2.0, 0.0]])
    >>> replace_rows(codes, np.array([1]), sparse.csr_array([[0.0, 3.0]])).toarray()
    array([[1., 0.],
           [0., 3.]])
    """
    if len(index) == 0:
        return codes
    lengths = np.diff(codes.indptr)
    lengths[index] = np.diff(rows.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    indices, data = np.empty(indptr[-1], codes.indices.dtype), np.empty(indptr[-1], codes.dtype)
    for block in row_blocks(codes.shape[0], _BLOCK_ROWS):
        first, last = np.searchsorted(index, [block.start, block.stop])
        part = sparse.csr_array(codes[block])
        if first < last:
            order = np.arange(part.shape[0])
            order[index[first:last] - block.start] = part.shape[0] + np.arange(last - first)
            part = sparse.csr_array(sparse.vstack([part, rows[first:last]], format="csr")[order])
        place = slice(indptr[block.start], indptr[block.stop])
        indices[place], data[place] = part.indices, part.data
    return sparse.csr_array((data, indices, indptr.astype(codes.indptr.dtype)), shape=codes.shape)


@dataclass(frozen=True)
class Reduction:
    """Weighted sums over rows. Those of blocks add up; those of moved rows are exchanged by a difference."""

    gram: Matrix  # Σ w z zᵀ
    fit: float  # Σ w eᵀz
    total: float  # Σ w 1ᵀz
    quadratic: float = 0.0  # Σ w zᵀ G_p z with missing views; else it is ⟨G, Σ w z zᵀ⟩, and this stays 0

    def __add__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram + other.gram,
            self.fit + other.fit,
            self.total + other.total,
            self.quadratic + other.quadratic,
        )

    def __sub__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram - other.gram,
            self.fit - other.fit,
            self.total - other.total,
            self.quadratic - other.quadratic,
        )


def reduce_codes(
    codes: sparse.csr_array,
    cross: Matrix,
    weights: Weights = None,
    groups: Sequence[tuple[Matrix, Rows]] = (),
) -> Reduction:
    """Sum over the rows of a block.

    Parameters
    ----------
    codes : csr_array of shape (rows, m)
        z of each row, with sorted indices.
    cross : ndarray of shape (rows, m)
        e of each row.
    weights : ndarray of shape (rows,), optional
        w of each row, one by default.
    groups : sequence of (ndarray of shape (m, m), ndarray of int)
        With missing views: each Gram matrix G_p with the rows it belongs to.
    """
    from .kernels import dot_codes, quadratic_codes

    arrays = codes.indptr, codes.indices, codes.data
    each = np.ones(codes.shape[0]) if weights is None else weights
    if weights is None:
        total = float(codes.data.sum(dtype=np.float64))
    else:
        total = float(np.repeat(weights, np.diff(codes.indptr)) @ codes.data)
    quadratic = sum(float(quadratic_codes(*arrays, each, gram, rows)) for gram, rows in groups)
    return Reduction(code_gram(codes, each), dot_codes(*arrays, each, cross), total, quadratic)
