"""A block of scaled rows, all views side by side: dense columns as one array, sparse views as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .view_input import is_sparse

Matrix = npt.NDArray[np.floating]


@dataclass(frozen=True)
class ScaledRows:
    """Rows in the scaled feature space.

    Parameters
    ----------
    parts : list of (slice, ndarray or csr_array)
        Columns of the feature space and the rows' values there. Neighbouring dense views share one array.
    n_rows, n_features : int
        Size of the block.
    dtype : dtype
        Working precision.
    """

    parts: list[tuple[slice, Any]]
    n_rows: int
    n_features: int
    dtype: np.dtype[np.floating]

    def __len__(self) -> int:
        return self.n_rows

    def product(self, matrix: Matrix, out: Matrix | None = None) -> Matrix:
        """Return ``rows @ matrix`` for a dense matrix with one row per feature."""
        result = np.empty((self.n_rows, matrix.shape[1]), dtype=self.dtype) if out is None else out
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are reported by those who meet them
            for number, (columns, values) in enumerate(self.parts):
                if number == 0 and not is_sparse(values):
                    np.matmul(values, matrix[columns], out=result)
                elif number == 0:
                    result[:] = values @ matrix[columns]
                else:
                    result += values @ matrix[columns]
        return result

    def take(self, columns: slice, projection: Matrix | None = None) -> Matrix:
        """Return the columns of one view as a dense array, or their product with a projection."""
        for covered, values in self.parts:
            if covered.start <= columns.start and columns.stop <= covered.stop:
                local = values[:, columns.start - covered.start : columns.stop - covered.start]
                result = local if projection is None else local @ projection
                found: Matrix = result.toarray() if is_sparse(result) else result
                return found
        raise IndexError(f"{columns} are not the columns of a view")

    def squared_norm(self) -> float:
        """Sum of the squares of all entries."""
        parts = [values.data if is_sparse(values) else values for _, values in self.parts]
        with np.errstate(invalid="ignore", over="ignore"):
            return float(sum(np.vdot(part, part) for part in parts))

    def squared_norms(self) -> Matrix:
        """Squared length of each row."""
        total = np.zeros(self.n_rows, dtype=self.dtype)
        for _, values in self.parts:
            if is_sparse(values):
                total += np.asarray(values.multiply(values).sum(axis=1)).ravel()
            else:
                total += np.einsum("ij,ij->i", values, values)
        return total

    def sum_by(self, labels: npt.NDArray[np.intp], n_groups: int, weights: Matrix | None = None) -> Matrix:
        """Sum the rows of each group, as a product with a sparse indicator: many times faster than ``np.add.at``."""
        entries = np.ones(self.n_rows, dtype=self.dtype) if weights is None else weights.astype(self.dtype)
        indicator = sparse.csr_array((entries, (labels, np.arange(self.n_rows))), shape=(n_groups, self.n_rows))
        sums = np.empty((n_groups, self.n_features), dtype=self.dtype)
        for columns, values in self.parts:
            part = indicator @ values
            sums[:, columns] = part.toarray() if is_sparse(part) else part
        return sums

    def dense(self) -> Matrix:
        """All columns as one array; only for a few rows when views are sparse."""
        if len(self.parts) == 1 and not is_sparse(self.parts[0][1]):
            only: Matrix = self.parts[0][1]
            return only
        result = np.empty((self.n_rows, self.n_features), dtype=self.dtype)
        for columns, values in self.parts:
            result[:, columns] = values.toarray() if is_sparse(values) else values
        return result
