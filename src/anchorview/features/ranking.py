"""Which rows are near, exactly: candidates by products of blocks, and the nearest of them in order.

|q − p|² / 2 = |q|²/2 + (|p|²/2 − qᵀp): for one row q the order of the distances is that of |p|²/2 − qᵀp, its `halves`,
which cost one product of matrices. Their rounding is that of the squares, so that the few that matter are computed
anew from differences (`pairs`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import AnyMatrix, Matrix, Rows, as_dense, is_sparse, squared_norms

_MORE_CANDIDATES = 32  # than neighbours: above that, double precision


class Exact:
    """The order of the distances in double precision, of all rows but the query itself; ties by row number."""

    def __init__(self, parts: list[RowDistances]) -> None:
        self._parts = parts
        squares = np.sum([part.squares for part in parts], axis=0)
        self._size = np.sqrt(squares + squares.max())
        self._noise = np.sum([part.noise(np.float64) for part in parts], axis=0)
        self._slack = 2 * np.sum([part.noise(np.float32) for part in parts], axis=0) + self._noise
        # Sparse products gain nothing from single precision, and there are squares that it cannot hold.
        self._single = not any(part.is_sparse for part in parts) and 1e-30 < squares.max() < 1e30
        for part in parts:
            part.prepare(np.float64)
            if self._single:
                part.prepare(np.float32)

    def candidates(self, block: slice, count: int) -> Rows:
        """Return the columns that could be among the nearest, ascending."""
        if self._single:
            values = self._halves(block, np.float32)
            index = np.full((len(values), min(count + _MORE_CANDIDATES, values.shape[1])), -1, dtype=np.intp)
            from .kernels import list_smallest  # loads numba

            most: int = list_smallest(values, count, self._slack[block].astype(np.float32), index)
            if most <= index.shape[1]:
                return index[:, :most]
        return _smallest(self._halves(block, np.float64), count, self._noise[block])

    def _halves(self, block: slice, dtype: npt.DTypeLike) -> Matrix:
        result = self._parts[0].halves(block, dtype)
        for part in self._parts[1:]:
            result += part.halves(block, dtype)
        result[np.arange(len(result)), np.arange(block.start, block.stop)] = np.inf
        return result

    def nearest(self, block: slice, count: int, index: Rows, distances: Matrix) -> tuple[Rows, Matrix]:
        """Keep the nearest by their distances and sort them."""
        if index.shape[1] > count:
            total = np.where(index < 0, np.inf, distances.sum(axis=0) / 2)
            kept = _smallest(total, count, self._noise[block])
            index = np.take_along_axis(index, kept, axis=1)
            distances = np.take_along_axis(distances, kept[None], axis=2)
        ordered = _in_order(index, distances.sum(axis=0), self._size[block])
        place = ordered.argsort(axis=1).argsort(axis=1)  # in `index`, which ascends
        return ordered, np.take_along_axis(distances, place[None], axis=2)


def _smallest(distances: Matrix, count: int, noise: Matrix) -> Rows:
    """Columns of the smallest entries of each row, ascending; of tied entries those with the lowest columns."""
    last = np.partition(distances, count - 1, axis=1)[:, count - 1]
    near = distances <= (last + noise)[:, None]
    for row in np.flatnonzero(np.count_nonzero(near, axis=1) > count):
        surely = distances[row] < last[row] - noise[row]
        ties = np.flatnonzero(near[row] & ~surely)
        near[row, ties[count - np.count_nonzero(surely) :]] = False
    return near.nonzero()[1].reshape(len(distances), count)


def _in_order(index: Rows, distances: Matrix, size: Matrix) -> Rows:
    """Sort by distance; distances that only rounding tells apart are ties, and go by row number."""
    order = np.argsort(distances, axis=1, kind="stable")
    index, distances = np.take_along_axis(index, order, axis=1), np.take_along_axis(distances, order, axis=1)
    noise = 8 * np.finfo(np.float64).eps * size[:, None] * np.sqrt(np.abs(distances[:, 1:]))
    rank = np.cumsum(np.diff(distances, axis=1) > noise, axis=1)
    rank = np.concatenate([np.zeros((len(rank), 1), dtype=rank.dtype), rank], axis=1)
    return np.take_along_axis(index, np.lexsort((index, rank), axis=1), axis=1)


class RowDistances:
    """Squared distances between the rows of one view, in double precision; 1 − inner product for "cosine".

    For the latter rows are of unit length, or zero. With `centred`, distances are those of the rows less their own mean
    μ, without filling the zeros of a sparse view: (x − μ_x 1)ᵀ(y − μ_y 1) = xᵀy − d μ_x μ_y.

    Examples
    --------
    >>> distances = RowDistances(np.array([[0.0], [1.0], [5.0]]))
    >>> distances.pairs(slice(0, 1), np.array([[2, 1]]))
    array([[25.,  1.]])
    """

    def __init__(self, rows: AnyMatrix, metric: str = "euclidean", centred: bool = False) -> None:
        self.n_rows = int(rows.shape[0])
        self.is_sparse, self._metric = is_sparse(rows), metric
        self._shift = None
        if self.is_sparse:
            self._shift = np.sqrt(rows.shape[1]) * np.asarray(rows.mean(axis=1)).ravel() if centred else None
        elif metric == "euclidean":
            rows = rows - rows.mean(axis=1, keepdims=True) if centred else rows
            rows = rows - rows.mean(axis=0)  # far from the origin the products would round small distances away
        self._rows = rows
        self._factors: dict[Any, tuple[Any, Any]] = {}
        self.squares = squared_norms(rows)
        self._half_squares = self.squares / 2 if metric == "euclidean" else np.zeros(len(self.squares))

    def prepare(self, dtype: npt.DTypeLike) -> None:
        """Keep the factors of the products in a precision, so that threads do not each make them."""
        if self.is_sparse:
            self._factors[np.dtype(dtype)] = self._rows, self._rows.T.tocsr()
        else:
            rows = self._rows.astype(dtype, copy=False)
            self._factors[np.dtype(dtype)] = rows, rows.T

    def noise(self, dtype: npt.DTypeLike) -> Matrix:
        """Return the rounding of each row's `halves`: those closer than that cannot be told apart."""
        result: Matrix = (
            float(np.finfo(dtype).eps) * (8 + np.sqrt(self._rows.shape[1])) * (self.squares + self.squares.max())
        )
        return result

    def halves(self, block: slice, dtype: npt.DTypeLike) -> Matrix:
        """Return half the distances in a precision that was prepared, but for the square of the row itself."""
        rows, columns = self._factors[np.dtype(dtype)]
        result = as_dense(rows[block] @ columns)
        np.subtract(self._half_squares.astype(dtype, copy=False), result, out=result)
        if self._shift is not None:
            result += np.outer(self._shift[block], self._shift) - self._shift**2 / 2
        return result

    def pairs(self, block: slice, index: Rows) -> Matrix:
        """Return the distances, squared."""
        own, result = self._rows[block], np.empty(index.shape)
        for rank in range(index.shape[1]):
            other = self._rows[index[:, rank]]
            if self._metric == "euclidean":
                result[:, rank] = squared_norms(own - other)
            elif self.is_sparse:
                result[:, rank] = 1.0 - np.asarray(own.multiply(other).sum(axis=1)).ravel()
            else:
                result[:, rank] = 1.0 - np.einsum("ij,ij->i", own, other)
        if self._shift is not None:
            result = np.maximum(result - (self._shift[block][:, None] - self._shift[index]) ** 2, 0.0)
        return result
