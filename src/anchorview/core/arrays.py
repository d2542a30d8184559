"""Types of arrays, by what they hold, and what is done with rows of numbers everywhere."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Matrix = npt.NDArray[np.floating]  # numbers, in single or double precision
AnyMatrix = Any  # Matrix or csr_array: their types have too little in common to be written down
Rows = npt.NDArray[np.intp]  # numbers of rows
ClassIds = npt.NDArray[np.intp]  # class (or cluster) number of each row, −1 where it is not known
Mask = npt.NDArray[np.bool_]
Presence = Mask | None  # which rows have which view (rows × views); None if all rows have all views
Weights = Matrix | None  # weight of each row; None if all are one

# Landmarks beyond these need products in double precision. Single precision rounds by 1e-7 of the squares: long ones
# (of features that are not scaled) make that as large as the weights of the model, which products are compared with;
# nearly parallel ones leave only a small part of the squares to tell rows apart. Codes would be right to a few digits,
# and other ones with every kernel of BLAS.
LONG = 100.0  # squared length; 1 per view where rows are scaled
PARALLEL = 0.95  # mean cosine; 0.03 to 0.93 between rows of the sets where scaling to 0 … 1 works


_TINY = {kind: np.sqrt(np.finfo(kind).tiny) for kind in "efd"}  # lengths whose squares have few digits left


# SciPy's own annotation would leave type checkers with a type that has no shape.
LEAST_SHARE = 1e-9  # of the votes, that a class has
is_sparse: Callable[[Any], bool] = sparse.issparse

_IN_MEMORY = 64 * 2**20
_MOST = 8 * 2**30  # beyond that it is not kept: to compute it again beats a disk that fills up


def unit_rows(rows: Matrix) -> Matrix:
    """Scale rows to unit length; rows of zeros stay.

    Rows whose squares overflow, or vanish, are divided by their largest entry first.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [3e200, 4e200]]))
    array([[0.6, 0.8],
           [0. , 0. ],
           [0.6, 0.8]])
    """
    with np.errstate(over="ignore", under="ignore"):
        norms = row_norms(rows)
    tiny = _TINY.get(rows.dtype.char, 0.0)
    usual = (norms > tiny) & (norms < np.inf)
    if not usual.all():
        extreme = np.flatnonzero(~usual[:, 0])
        largest = np.abs(rows[extreme]).max(axis=1, keepdims=True, initial=0.0)
        if np.any((largest > 0) & np.isfinite(largest)):
            rows = np.array(rows, dtype=np.result_type(rows, norms))
            rows[extreme] /= np.where((largest > 0) & np.isfinite(largest), largest, 1)
            norms[extreme] = row_norms(rows[extreme])
        return rows / np.where(norms > 0, norms, 1)
    return rows / norms


def row_norms(rows: Matrix) -> Matrix:
    """Return the length of each row, as a column: `numpy.linalg.norm` without what it takes for a single row."""
    wide = rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    result: Matrix = np.sqrt(np.add.reduce(wide * wide, axis=1, keepdims=True))
    return result


def unit_sparse_rows(rows: sparse.csr_array, *, copy: bool = True) -> sparse.csr_array:
    """Scale rows to unit length as `unit_rows` does; the order of the entries stays as it is.

    Without a copy `rows` themselves are changed.

    Examples
    --------
    >>> unit_sparse_rows(sparse.csr_array([[3.0, 4.0], [0.0, 0.0], [3e200, 4e200]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ],
           [0.6, 0.8]])
    """
    # In place: a product with a diagonal matrix would change the order of the entries.
    unit, counts = rows.copy() if copy else rows, np.diff(rows.indptr)
    with np.errstate(over="ignore", under="ignore"):
        norms = np.sqrt(squared_norms(unit))
    extreme = ~((norms > np.sqrt(np.finfo(unit.dtype).tiny)) & np.isfinite(norms)) & (counts > 0)
    if extreme.any():
        largest = as_dense(abs(unit).max(axis=1)).ravel()
        unit.data /= np.repeat(np.where(extreme & (largest > 0) & np.isfinite(largest), largest, 1), counts)
        norms = np.sqrt(squared_norms(unit))
    with np.errstate(invalid="ignore"):  # infinity becomes NaN, which is found in the products
        unit.data /= np.repeat(np.where(norms > 0, norms, 1), counts).astype(unit.dtype)
    return unit


def softmax_at(scores: Matrix, temperature: float) -> Matrix:
    """Return the softmax of each row of scores / T.

    Examples
    --------
    >>> softmax_at(np.array([[0.0, 2 * np.log(3.0)]]), 2.0).round(6)
    array([[0.25, 0.75]])
    """
    result: Matrix = scores / temperature
    result -= result.max(axis=1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=1, keepdims=True)
    return result


def temper(votes: Matrix, temperature: float) -> Matrix:
    """Return probabilities in proportion to the votes to the power 1/T."""
    with np.errstate(invalid="ignore"):  # NaN is reported by those who meet it
        shares = np.maximum(votes / votes.sum(axis=-1, keepdims=True), LEAST_SHARE) ** (1 / temperature)
    result: Matrix = shares / shares.sum(axis=-1, keepdims=True)
    return result


def group_equal(rows: Matrix) -> Rows:
    """Return numbers from 0 on, the same number for rows that are the same to rounding.

    Rows that are the same lie beside each other in any direction: only neighbours along one are compared.

    Examples
    --------
    >>> group_equal(np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0 + 1e-10]]))
    array([0, 1, 0])
    """
    wide = np.asarray(rows, dtype=np.float64)
    direction = np.random.RandomState(0).standard_normal(wide.shape[1])
    place = wide @ (direction / max(float(np.linalg.norm(direction)), 1e-30))
    lengths, spread = np.sqrt(squared_norms(wide)), np.sqrt(squared_norms(wide - wide.mean(axis=0)).mean())
    # To the rounding of a row's own length, and to a hundred-thousandth of what sets the rows apart.
    rounding = max(1e-8, 4 * float(np.finfo(rows.dtype).eps))
    reach = np.maximum(rounding * lengths, 1e-5 * np.minimum(lengths, spread))
    order = np.argsort(place, kind="stable")
    along = place[order]
    groups = np.arange(len(wide))
    for first in np.flatnonzero(np.diff(along) <= 2 * reach[order[:-1]]):
        leader = order[first]
        if groups[leader] != leader:
            continue  # in the group of one before it
        near = order[first : np.searchsorted(along, along[first] + 2 * reach[leader], side="right")]
        near = near[groups[near] == near]
        groups[near[np.sqrt(squared_norms(wide[near] - wide[leader])) <= reach[leader]]] = leader
    return np.unique(groups, return_inverse=True)[1].astype(np.intp)


def squared_norms(rows: AnyMatrix) -> Matrix:
    """Return the squared length of each row, dense or sparse."""
    if is_sparse(rows) and rows.format == "csr" and rows.has_canonical_format:
        filled = np.flatnonzero(np.diff(rows.indptr))  # what SciPy does, without the matrices in between
        sums = np.zeros(rows.shape[0], dtype=rows.dtype)
        sums[filled] = np.add.reduceat(rows.data * rows.data, rows.indptr[filled]) if len(filled) else 0
        return sums
    if is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    result: Matrix = np.einsum("ij,ij->i", rows, rows)
    return result


def as_dense(matrix: AnyMatrix) -> Matrix:
    """Return a matrix as an array, whatever it was.

    Examples
    --------
    >>> as_dense(sparse.csr_array([[0.0, 2.0]]))
    array([[0., 2.]])
    """
    return matrix.toarray() if is_sparse(matrix) else np.asarray(matrix)


def column_slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Return the columns of views of these sizes, side by side.

    Examples
    --------
    >>> column_slices([2, 3])
    (slice(0, 2, None), slice(2, 5, None))
    """
    ends = np.cumsum(sizes)
    return tuple(slice(int(end) - size, int(end)) for size, end in zip(sizes, ends, strict=True))


def weight_present(present: Mask, view_weights: Sequence[float] | None = None) -> tuple[Matrix, float]:
    """Return the weight of the views that each row has, and that of all views; without weights their numbers.

    Examples
    --------
    >>> weight_present(np.array([[True, False], [True, True]]), (1.5, 0.5))
    (array([1.5, 2. ]), 2.0)
    """
    weights = np.ones(present.shape[-1]) if view_weights is None else np.asarray(view_weights, dtype=np.float64)
    return present @ weights, float(weights.sum())


def fewer_digits(numbers: Matrix, bits: int) -> Matrix:
    """Round numbers to so many binary digits; files pack what is left of them.

    Examples
    --------
    >>> fewer_digits(np.array([0.123456789, -3.21]), 10).tolist()
    [0.1234130859375, -3.2109375]
    """
    fraction, exponent = np.frexp(numbers)
    size = 2.0**bits
    return np.ldexp(np.rint(fraction * size) / size, exponent).astype(numbers.dtype)


def keep_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
    """Return an array to write to, a large one in a file that has no name; None if it or its file cannot be made.

    Examples
    --------
    >>> keep_array((2, 3), np.float32).shape
    (2, 3)
    """
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes <= _IN_MEMORY:
        return np.empty(shape, dtype)
    if n_bytes > _MOST or not hasattr(os, "posix_fallocate"):
        return None
    try:
        with tempfile.TemporaryFile(prefix="anchorview-kept-") as file:
            # Reserved, or a disk that is full would end the process when a page is written.
            os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    except OSError:
        return None
