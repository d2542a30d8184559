"""Squared distances (or 1 − cosine) between the rows of one view: all from a block of rows, or to given rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._matrix import Dense, Index, Matrix, is_sparse, multiply, squared_norms


class Distances:
    """Distances between the rows of one view.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Finite rows; of unit length or zero for "cosine".
    metric : {"euclidean", "cosine"}
        Squared Euclidean distance, or 1 − inner product.
    centred : bool
        Distances are those of the rows less their own mean μ, without filling the zeros of a sparse view:
        (x − μ_x 1)ᵀ(y − μ_y 1) = xᵀy − d μ_x μ_y.

    Attributes
    ----------
    squares : ndarray of shape (n,)
        Squared lengths of the rows.
    is_sparse : bool
        Whether the view is sparse.

    Examples
    --------
    >>> found = Distances(np.array([[0.0], [1.0], [5.0]]))
    >>> found.pairs(slice(0, 1), np.array([[2, 1]]))
    array([[25.,  1.]])
    """

    def __init__(self, rows: Matrix, metric: str = "euclidean", centred: bool = False) -> None:
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
        self._halves = self.squares / 2 if metric == "euclidean" else np.zeros(len(self.squares))

    def prepare(self, dtype: npt.DTypeLike) -> None:
        """Keep the factors of the products in a precision, so that threads do not each make them."""
        if self.is_sparse:
            self._factors[np.dtype(dtype)] = self._rows, self._rows.T.tocsr()
        else:
            rows = self._rows.astype(dtype, copy=False)
            self._factors[np.dtype(dtype)] = rows, rows.T

    def noise(self, dtype: npt.DTypeLike) -> Dense:
        """Return the rounding of each row's `halves`: those closer than that cannot be told apart."""
        result: Dense = (
            float(np.finfo(dtype).eps) * (8 + np.sqrt(self._rows.shape[1])) * (self.squares + self.squares.max())
        )
        return result

    def halves(self, block: slice, dtype: npt.DTypeLike) -> npt.NDArray[np.floating]:
        """Half the distances from some rows to all, but for the square of the row itself: the order is the same."""
        rows, columns = self._factors[np.dtype(dtype)]
        result: npt.NDArray[np.floating] = multiply(rows[block], columns)
        np.subtract(self._halves.astype(dtype, copy=False), result, out=result)
        if self._shift is not None:
            result += np.outer(self._shift[block], self._shift) - self._shift**2 / 2
        return result

    def pairs(self, block: slice, index: Index) -> Dense:
        """Distances to given rows, from differences: those of the products lose the small ones to rounding."""
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
