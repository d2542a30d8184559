"""Products, scaling and singular vectors; those of rows are the same for dense and sparse ones."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from ..core.arrays import AnyMatrix, ClassIds, Matrix, as_dense, is_sparse, unit_rows, unit_sparse_rows


def multiply(left: AnyMatrix, right: AnyMatrix) -> Matrix:
    """Product of two matrices, either of them dense or sparse, as an array.

    Examples
    --------
    >>> multiply(sparse.csr_array([[1.0, 0.0], [0.0, 2.0]]), np.ones((2, 1))).ravel()
    array([1., 2.])
    """
    return as_dense(left @ right)


def diagonal(values: Matrix) -> sparse.dia_array:
    """Return a sparse matrix with these values on its diagonal."""
    return sparse.dia_array((values[None], [0]), shape=(len(values), len(values)))


def scale_each_row(rows: AnyMatrix, factor: Matrix) -> AnyMatrix:
    """Return the rows multiplied by one number each."""
    return sparse.csr_array(diagonal(factor) @ rows) if is_sparse(rows) else rows * factor[:, None]


def scale_each_column(rows: AnyMatrix, factor: Matrix) -> AnyMatrix:
    """Return the columns multiplied by one number each."""
    return sparse.csr_array(rows @ diagonal(factor)) if is_sparse(rows) else rows * factor


def unit_length(rows: AnyMatrix) -> AnyMatrix:
    """Scale rows to unit length, dense or sparse; rows of zeros stay."""
    return unit_sparse_rows(rows) if is_sparse(rows) else unit_rows(rows)


def inverse(values: Matrix) -> Matrix:
    """Return one over each value, and 0 where the value is 0 (or so small that one over it overflows)."""
    small = np.abs(values) < 1e-300
    return np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))


def one_hot(class_ids: ClassIds, n_classes: int) -> Matrix:
    """Return, for each row, zeros with a one at its class.

    Examples
    --------
    >>> one_hot(np.array([1, 0]), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    result = np.zeros((len(class_ids), n_classes))
    result[np.arange(len(class_ids)), class_ids] = 1.0
    return result


def leading_vectors(matrix: Matrix, count: int) -> Matrix:
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
    result: Matrix = matrix @ (vectors[:, kept] / np.sqrt(values[kept]))
    return result
