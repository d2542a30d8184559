"""Products, norms and singular vectors; those of rows are the same for dense and sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

Dense = npt.NDArray[np.float64]
Matrix = Any  # Dense or csr_array of float64: their types have too little in common to be written down
Index = npt.NDArray[np.intp]


def is_sparse(matrix: Any) -> bool:
    """Tell sparse from dense."""
    return bool(sparse.issparse(matrix))


def as_dense(matrix: Any) -> Dense:
    """Return the matrix as an array, whatever it was."""
    result: Dense = matrix.toarray() if is_sparse(matrix) else np.asarray(matrix)
    return result


def multiply(left: Any, right: Any) -> Dense:
    """Product of two matrices, either of them dense or sparse, as an array.

    Examples
    --------
    >>> multiply(sparse.csr_array([[1.0, 0.0], [0.0, 2.0]]), np.ones((2, 1))).ravel()
    array([1., 2.])
    """
    return as_dense(left @ right)


def squared_norms(rows: Matrix) -> Dense:
    """Squared length of each row."""
    if is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    result: Dense = np.einsum("ij,ij->i", rows, rows)
    return result


def diagonal(values: Dense) -> Any:
    """Return a sparse matrix with these values on its diagonal."""
    return sparse.dia_array((values[None], [0]), shape=(len(values), len(values)))


def scale_each_row(rows: Matrix, factor: Dense) -> Matrix:
    """Return the rows multiplied by one number each."""
    return sparse.csr_array(diagonal(factor) @ rows) if is_sparse(rows) else rows * factor[:, None]


def scale_each_column(rows: Matrix, factor: Dense) -> Matrix:
    """Return the columns multiplied by one number each."""
    return sparse.csr_array(rows @ diagonal(factor)) if is_sparse(rows) else rows * factor


def unit_rows(rows: Matrix) -> Matrix:
    """Scale rows to unit length; rows of zeros stay.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    largest = abs(rows).max(axis=1)  # first divided by it, so that squares neither overflow nor vanish
    rows = scale_each_row(rows, inverse(as_dense(largest).ravel()))
    return scale_each_row(rows, inverse(np.sqrt(squared_norms(rows))))


def inverse(values: Dense) -> Dense:
    """Return one over each value, and 0 where the value is 0 (or so small that one over it overflows)."""
    small = np.abs(values) < 1e-300
    result: Dense = np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))
    return result


def one_hot(codes: Index, n_classes: int) -> Dense:
    """Return a row per code with a one at its place.

    Examples
    --------
    >>> one_hot(np.array([1, 0]), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    result = np.zeros((len(codes), n_classes))
    result[np.arange(len(codes)), codes] = 1.0
    return result


def leading_vectors(matrix: Dense, count: int) -> Dense:
    """Return the left singular vectors of the largest singular values, without those whose value is zero.

    Examples
    --------
    >>> np.abs(leading_vectors(np.array([[3.0, 0.0], [0.0, 0.0], [4.0, 0.0]]), 2)).round(2)
    array([[0.6],
           [0. ],
           [0.8]])
    """
    size = matrix.shape[1]
    values, vectors = linalg.eigh(matrix.T @ matrix, subset_by_index=(max(size - count, 0), size - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > 1e-10 * values[0]
    result: Dense = matrix @ (vectors[:, kept] / np.sqrt(values[kept]))
    return result
