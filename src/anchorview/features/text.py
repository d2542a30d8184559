"""Scaling of sparse views, and of counts in general: unit rows, tf-idf, and latent semantic analysis (tf-idf → SVD).

Zeros stay zeros, so a sparse view is never filled in; only "lsa" gives dense columns, a hundred or so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Mask, Matrix, Weights, unit_rows, unit_sparse_rows
from ..core.checks import NotFiniteError
from ..engine.blocks import one_blas_thread

LSA_COMPONENTS = 150
_SVD_ITERATIONS = 3
_SVD_EXTRA = 20  # columns beyond those asked for, which make the leading ones accurate


@dataclass(frozen=True)
class TextScaler:
    """x ↦ x · weight, unit length if asked; then, with `components`, their coordinates at unit length.

    Parameters
    ----------
    n_out : int
        Columns of the result.
    weight : ndarray of shape (d,), or None
        Weight of each feature.
    components : ndarray of shape (d, n_out), or None
        Directions of the truncated SVD.
    unit : bool
        Scale rows to unit length.
    dtype : dtype
        Working precision.
    """

    n_out: int
    weight: Matrix | None
    components: Matrix | None
    unit: bool
    dtype: np.dtype[np.floating]

    @property
    def is_sparse(self) -> bool:
        """Whether the result is sparse."""
        return self.components is None

    def rows(self, block: Any) -> sparse.csr_array:
        """Return the weighted rows of a block, sparse."""
        rows: sparse.csr_array = sparse.csr_array(_widened(block)).astype(self.dtype, copy=True)
        if self.weight is not None:
            rows.data *= self.weight[rows.indices].astype(self.dtype)
        return unit_sparse_rows(rows) if self.unit else rows

    def write(self, block: Any, out: Matrix, start: int) -> None:
        """Write the coordinates of a block to the columns of ``out`` from ``start`` on."""
        assert self.components is not None
        out[:, start : start + self.n_out] = unit_rows(self.rows(block) @ self.components)


def fit_text(
    array: Any,
    kind: str,
    name: str,
    dtype: np.dtype[np.floating],
    rng: np.random.RandomState,
    counted: Mask | None = None,
    weights: Weights = None,
) -> TextScaler:
    """Fit the scaling of one sparse view (for "tfidf" and "lsa" also a dense one) on the rows that are `counted`.

    Parameters
    ----------
    kind : {"none", "l2", "minmax", "tfidf", "lsa"}
        "minmax" divides each feature by its largest absolute value: with a smallest value of 0 that is min-max.
    """
    matrix = sparse.csr_array(_widened(array))
    n_features = matrix.shape[1]
    if kind in ("none", "l2"):
        return TextScaler(n_features, None, None, kind == "l2", dtype)
    if counted is not None and not counted.all():
        matrix, weights = matrix[counted], None if weights is None else weights[counted]
    if kind == "minmax":
        largest = np.asarray(abs(matrix).max(axis=0).todense(), dtype=np.float64).ravel()
        has_values = largest >= np.finfo(np.float64).tiny  # a feature of zeros tells nothing of new rows
        return TextScaler(n_features, has_values / np.where(has_values, largest, 1.0), None, True, dtype)
    if matrix.nnz and matrix.data.min() < 0:
        row = int(np.searchsorted(matrix.indptr, int(np.argmax(matrix.data < 0)), side="right")) - 1
        row = row if counted is None else int(np.flatnonzero(counted)[row])
        raise ValueError(
            f"View {name!r} has negative values (first seen in row {row}), so scaling={kind!r} makes no sense for it; "
            "choose 'l2' or, for a dense view, 'minmax'."
        )
    row_weights = np.ones(matrix.shape[0]) if weights is None else weights
    frequency = np.zeros(n_features)
    np.add.at(
        frequency, matrix.indices[matrix.data > 0], np.repeat(row_weights, np.diff(matrix.indptr))[matrix.data > 0]
    )
    inverse_frequency = np.log((1.0 + row_weights.sum()) / (1.0 + frequency)) + 1.0
    weighted = TextScaler(n_features, inverse_frequency, None, True, dtype)
    if kind == "tfidf":
        return weighted
    n_components = min(LSA_COMPONENTS, min(matrix.shape) - 1)
    if n_components < 1:
        return weighted
    scaled = weighted.rows(matrix)
    if weights is not None:  # a row of weight 2 is the row twice
        scaled.data *= np.repeat(np.sqrt(weights), np.diff(scaled.indptr)).astype(dtype)
    with one_blas_thread():  # the same directions whatever the number of threads
        components = leading_directions(scaled, n_components, rng).astype(dtype)
    return TextScaler(components.shape[1], inverse_frequency, components, True, dtype)


def leading_directions(matrix: sparse.csr_array, n_components: int, rng: np.random.RandomState) -> Matrix:
    """Return the leading right singular vectors (d×k) by subspace iteration from random directions.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> directions = leading_directions(sparse.csr_array(np.diag([5.0, 3.0, 1.0])), 2, np.random.RandomState(0))
    >>> abs(directions).round(4)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    width = min(n_components + _SVD_EXTRA, min(matrix.shape))
    transposed = matrix.T.tocsr()
    basis = rng.standard_normal((matrix.shape[1], width)).astype(matrix.dtype)
    for _ in range(_SVD_ITERATIONS + 1):
        basis = _orthonormal(transposed @ _orthonormal(matrix @ basis))
    images = (matrix @ basis).astype(np.float64)
    _, rotation = np.linalg.eigh(images.T @ images)  # of BᵀAᵀAB: turns the basis B into singular vectors of A
    result: Matrix = basis @ rotation[:, ::-1][:, :n_components].astype(matrix.dtype)
    largest = result[np.abs(result).argmax(axis=0), np.arange(result.shape[1])]
    return np.ascontiguousarray(result * np.where(largest < 0, -1, 1).astype(matrix.dtype))  # signs mean nothing


def _widened(rows: Any) -> Any:
    """Return half-precision numbers, which SciPy has no sparse matrices of, in single precision; others as they are."""
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def _orthonormal(columns: Matrix) -> Matrix:
    """Return an orthonormal basis of the columns, by their Gram matrix: six times as fast as QR on tall matrices.

    Directions shorter than 1e-5 of the longest are left out: they are rounding errors, or not there at all.
    """
    wide = columns.astype(np.float64)
    squares, directions = np.linalg.eigh(wide.T @ wide)
    kept = squares >= 1e-10 * squares.max()
    lengths = np.sqrt(np.maximum(squares[kept], np.finfo(np.float32).tiny))  # all zero: a matrix of zeros
    result: Matrix = columns @ (directions[:, kept] / lengths).astype(columns.dtype)
    return result


def check_finite_sparse(matrix: sparse.csr_array, name: str, counted: Mask | None = None) -> None:
    """Raise an error naming the rows of a sparse view, of those that are `counted`, that hold NaN or infinity."""
    if matrix.dtype.kind != "f" or np.isfinite(matrix.data).all():
        return
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    bad_rows = np.unique(np.searchsorted(matrix.indptr, bad, side="right") - 1)
    rows = (bad_rows if counted is None else bad_rows[counted[bad_rows]])[:5].tolist()
    if not rows:
        return
    raise NotFiniteError(
        f"View {name!r} contains NaN or infinity in row{'s' if len(rows) > 1 else ''} "
        f"{', '.join(map(str, rows))}{', …' if len(rows) == 5 else ''}; remove those values before fitting.",
        rows[0],
    )
