"""Scaling of sparse views, and of counts in general: unit rows, tf-idf, and latent semantic analysis (tf-idf → SVD).

Zeros stay zeros, so a sparse view is never filled in; only "lsa" gives dense columns, a hundred or so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Mask, Matrix, Weights, is_sparse, unit_rows, unit_sparse_rows
from ..data.view_errors import NotFiniteError
from ..engine.blocks import add_up, one_blas_thread, reduce_rows, rows_of
from .directions import Directions, keep_directions

LSA_COMPONENTS = 150
_SVD_ITERATIONS = 3
PASS_ROWS = 8192  # of a pass over the rows: their images take 6 MB, and a sum over as many features is small beside
_CHECK_ROWS = 65_536  # looked at together for NaN and infinity
_SVD_EXTRA = 20  # columns beyond those asked for, which make the leading ones accurate

Products = tuple[Matrix, Matrix]  # BᵀAᵀAB and AᵀAB of a matrix A and directions B


@dataclass(frozen=True)
class TextScaler:
    """x ↦ x · weight, unit length if asked; then, with `components`, their coordinates at unit length."""

    n_out: int  # columns of the result
    weight: Matrix | None  # of each feature
    components: Directions | Matrix | None  # of the truncated SVD; an array in models of the first format of files
    unit: bool  # scale rows to unit length
    dtype: np.dtype[np.floating]  # working precision

    @property
    def is_sparse(self) -> bool:
        """Whether the result is sparse."""
        return self.components is None

    def rows(self, block: Any) -> sparse.csr_array:
        """Return the weighted rows of a block, sparse."""
        counts = block if is_sparse(block) and block.format == "csr" else sparse.csr_array(_widened(block))
        data = counts.data.astype(self.dtype)
        if self.weight is not None:
            data *= self.weight[counts.indices].astype(self.dtype)
        rows = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
        return unit_sparse_rows(rows, copy=False) if self.unit else rows

    def write(self, block: Any, out: Matrix, start: int) -> None:
        """Write the coordinates of a block to the columns of ``out`` from ``start`` on."""
        assert self.components is not None
        matrix = self.components.matrix if isinstance(self.components, Directions) else self.components
        out[:, start : start + self.n_out] = unit_rows(self.rows(block) @ matrix)


def fit_text(
    array: Any,
    kind: str,
    name: str,
    dtype: np.dtype[np.floating],
    rng: np.random.RandomState,
    counted: Mask | None = None,
    weights: Weights = None,
    n_threads: int = 1,
) -> TextScaler:
    """Fit the scaling of one sparse view (for "tfidf" and "lsa" also a dense one) on the rows that are `counted`.

    "minmax" divides each feature by its largest absolute value: with a smallest value of 0 that is min-max.
    """
    n_features = array.shape[1]
    if kind in ("none", "l2"):
        return TextScaler(n_features, None, None, kind == "l2", dtype)
    if kind == "minmax":
        largest = reduce_rows(_largest, np.maximum, np.zeros(n_features), array, PASS_ROWS, n_threads, (counted,))
        has_values = largest >= np.finfo(np.float64).tiny  # a feature of zeros tells nothing of new rows
        return TextScaler(n_features, has_values / np.where(has_values, largest, 1.0), None, True, dtype)
    along, count = (counted, weights), partial(_frequencies, kind=kind, name=name)
    frequency, n_rows = reduce_rows(count, add_up, (np.zeros(n_features), 0.0), array, PASS_ROWS, n_threads, along)
    inverse_frequency = np.log((1.0 + n_rows) / (1.0 + frequency)) + 1.0
    weighted = TextScaler(n_features, inverse_frequency, None, True, dtype)
    n_counted = array.shape[0] if counted is None else int(np.count_nonzero(counted))
    n_components = min(LSA_COMPONENTS, min(n_counted, n_features) - 1)
    if kind == "tfidf" or n_components < 1:
        return weighted
    with one_blas_thread():  # the same directions whatever the number of threads
        if array.shape[0] <= PASS_ROWS and n_counted < n_features:
            rows = _scaled_rows(rows_of(array, slice(0, array.shape[0])), counted, weights, weighted)
            components = directions_of_few(rows, n_components, rng)
        else:
            products = partial(_scaled_products, array, weighted, along, n_threads)
            components = leading_directions(products, (n_counted, n_features), dtype, n_components, rng)
    directions = keep_directions(components.astype(dtype))
    return TextScaler(components.shape[1], inverse_frequency, directions, True, dtype)


def _counted_sparse(rows: Any, counted: Mask | None) -> sparse.csr_array:
    """Return the rows that count, sparse."""
    matrix = sparse.csr_array(_widened(rows))
    return matrix if counted is None or counted.all() else sparse.csr_array(matrix[counted])


def _counted_weights(n_rows: int, counted: Mask | None, weights: Weights) -> Matrix:
    """Return the weights of these rows."""
    if weights is None:
        return np.ones(n_rows)
    return weights if counted is None else weights[counted]


def _largest(rows: Any, block: slice, counted: Mask | None) -> Matrix:
    """Return the largest absolute value of each feature."""
    matrix = _counted_sparse(rows, counted)
    if matrix.shape[0] == 0:
        return np.zeros(matrix.shape[1])
    return np.asarray(abs(matrix).max(axis=0).todense(), dtype=np.float64).ravel()


def _frequencies(
    rows: Any, block: slice, counted: Mask | None, weights: Weights, kind: str, name: str
) -> tuple[Matrix, float]:
    """Return in how many rows each feature is positive, and the number of rows; both weighted."""
    matrix = _counted_sparse(rows, counted)
    if matrix.nnz and matrix.data.min() < 0:
        row = int(np.searchsorted(matrix.indptr, int(np.argmax(matrix.data < 0)), side="right")) - 1
        row = block.start + (row if counted is None else int(np.flatnonzero(counted)[row]))
        raise ValueError(
            f"View {name!r} has negative values (first seen in row {row}), so scaling={kind!r} makes no sense for it; "
            "choose 'l2' or, for a dense view, 'minmax'."
        )
    row_weights = _counted_weights(matrix.shape[0], counted, weights)
    is_positive = matrix.data > 0
    each = np.repeat(row_weights, np.diff(matrix.indptr))[is_positive]
    found: Matrix = np.bincount(matrix.indices[is_positive], each, minlength=matrix.shape[1]).astype(np.float64)
    return found, float(row_weights.sum())


def _scaled_products(
    array: Any, scaler: TextScaler, along: tuple[Mask | None, Weights], n_threads: int, basis: Matrix
) -> Products:
    """Return BᵀAᵀAB and AᵀAB for the scaled rows A, in one pass over them."""
    start = (np.zeros((basis.shape[1], basis.shape[1])), np.zeros_like(basis))
    work = partial(_multiply, scaler=scaler, basis=basis)
    gram, product = reduce_rows(work, add_up, start, array, PASS_ROWS, n_threads, along)
    return gram, product


def _multiply(
    rows: Any, block: slice, counted: Mask | None, weights: Weights, scaler: TextScaler, basis: Matrix
) -> Products:
    return products_of(_scaled_rows(rows, counted, weights, scaler), basis)


def _scaled_rows(rows: Any, counted: Mask | None, weights: Weights, scaler: TextScaler) -> sparse.csr_array:
    """Return the rows that count, scaled, each times the root of its weight: one of weight 2 is the row twice."""
    scaled = scaler.rows(_counted_sparse(rows, counted))
    if weights is not None:
        each = np.sqrt(_counted_weights(scaled.shape[0], counted, weights))
        scaled.data *= np.repeat(each, np.diff(scaled.indptr)).astype(scaler.dtype)
    return scaled


def products_of(matrix: sparse.csr_array, basis: Matrix) -> Products:
    """Return BᵀAᵀAB, in double precision, and AᵀAB."""
    images = matrix @ basis
    wide = images.astype(np.float64)
    return wide.T @ wide, matrix.T @ images


def leading_directions(
    products: Callable[[Matrix], Products],
    shape: tuple[int, int],
    dtype: np.dtype[np.floating],
    n_components: int,
    rng: np.random.RandomState,
) -> Matrix:
    """Return the leading right singular vectors (d×k) of a matrix A by subspace iteration from random directions.

    `products` returns BᵀAᵀAB and AᵀAB for directions B: one pass over the rows of A, which need not be in memory.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.diag([5.0, 3.0, 1.0]))
    >>> rng = np.random.RandomState(0)
    >>> abs(leading_directions(partial(products_of, matrix), (3, 3), matrix.dtype, 2, rng)).round(4)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    width = min(n_components + _SVD_EXTRA, min(shape))
    basis: Matrix = rng.standard_normal((shape[1], width)).astype(dtype)
    for _ in range(_SVD_ITERATIONS + 1):
        gram, product = products(basis)
        del basis  # each is as large as features × directions: none is held longer than it is needed
        turned = product @ _orthonormal(gram).astype(dtype)  # Aᵀ times an orthonormal basis of AB
        del product
        basis = turned @ _orthonormal(_wide_gram(turned)).astype(dtype)
    _, rotation = np.linalg.eigh(products(basis)[0])  # of BᵀAᵀAB: turns the basis B into singular vectors of A
    return _with_signs(basis @ rotation[:, ::-1][:, :n_components].astype(dtype))


def directions_of_few(matrix: sparse.csr_array, n_components: int, rng: np.random.RandomState) -> Matrix:
    """Return the leading right singular vectors of a matrix in memory with fewer rows than columns.

    The same iteration with a basis of its columns, which is shorter: what is dense is done to n numbers, not to d, and
    the time of 5,000 short texts is halved.

    Examples
    --------
    >>> matrix = sparse.csr_array([[5.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    >>> abs(directions_of_few(matrix, 2, np.random.RandomState(0))).round(4)
    array([[1., 0.],
           [0., 0.],
           [0., 1.],
           [0., 0.]])
    """
    transposed = matrix.T.tocsr()  # products by its rows take half the time of those by columns
    width = min(n_components + _SVD_EXTRA, min(matrix.shape))
    basis: Matrix = rng.standard_normal((matrix.shape[0], width)).astype(matrix.dtype)
    for _ in range(_SVD_ITERATIONS):
        wide = (matrix @ (transposed @ basis)).astype(np.float64)
        basis = (wide @ _orthonormal(wide.T @ wide)).astype(matrix.dtype)
    images = transposed @ basis
    wide = images.astype(np.float64)
    return _with_signs(images @ _orthonormal(wide.T @ wide)[:, ::-1][:, :n_components].astype(matrix.dtype))


def _with_signs(directions: Matrix) -> Matrix:
    """Return directions with the largest entry of each positive: signs mean nothing."""
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return np.ascontiguousarray(directions * np.where(largest < 0, -1, 1).astype(directions.dtype))


def _wide_gram(columns: Matrix) -> Matrix:
    """Return the products of some columns with each other, in double precision."""
    wide = columns.astype(np.float64)
    return wide.T @ wide


def _widened(rows: Any) -> Any:
    """Return half-precision numbers, which SciPy has no sparse matrices of, in single precision; others as they are."""
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def _orthonormal(gram: Matrix) -> Matrix:
    """Return the matrix that turns columns with this Gram matrix into an orthonormal basis of what they span.

    Six times as fast as QR on tall matrices. Directions shorter than 1e-5 of the longest are left out: they are
    rounding errors, or not there at all.
    """
    squares, directions = np.linalg.eigh(gram)
    kept = squares >= 1e-10 * squares.max()
    lengths = np.sqrt(np.maximum(squares[kept], np.finfo(np.float32).tiny))  # all zero: a matrix of zeros
    result: Matrix = directions[:, kept] / lengths
    return result


def check_finite_sparse(matrix: Any, name: str, counted: Mask | None = None, n_threads: int = 1) -> None:
    """Raise an error naming the rows of a sparse view, of those that are `counted`, that hold NaN or infinity."""
    if matrix.dtype.kind != "f":
        return
    found: list[Any] = reduce_rows(_find_not_finite_sparse, iadd, [], matrix, _CHECK_ROWS, n_threads, (counted,))
    if found:
        raise NotFiniteError(name, found, "remove")


def _find_not_finite_sparse(rows: sparse.csr_array, block: slice, counted: Mask | None) -> list[tuple[int, bool]]:
    """Return the first five rows that hold NaN or infinity, and of each whether it holds NaN."""
    bad = np.flatnonzero(~np.isfinite(rows.data))
    bad_rows = np.unique(np.searchsorted(rows.indptr, bad, side="right") - 1)
    first = (bad_rows if counted is None else bad_rows[counted[bad_rows]])[:5]
    return [(int(row) + block.start, bool(np.isnan(rows[[row]].data).any())) for row in first]
