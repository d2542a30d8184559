"""Scaled rows: what scales the views of a fit, and applies that to any rows, block by block.

The paper does not scale; it matters more than any parameter of the model (docs/method.md). Every choice but "none"
ends with rows of unit length in each view, so that views count the same, or by their weights (`view_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, Rows, is_sparse
from ..data.views import Views
from ..engine.blocks import rows_of
from .text import TextScaler
from .view_weights import ViewWeights

BLOCK_ROWS = 256  # a block of a few thousand features then stays in a core's cache


@dataclass(frozen=True)
class DenseScaler:
    """x ↦ (x − shift) · factor, then unit length if asked."""

    n_out: int
    shift: Matrix | None
    factor: Matrix | None
    unit_rows: bool
    extreme: bool = False  # ranges or offsets that float32 cannot work with

    is_sparse = False

    def write(self, block: Any, out: Matrix, start: int) -> None:
        """Write the scaled block to the columns of ``out`` from ``start`` on; the block itself is not touched."""
        block = block.toarray() if is_sparse(block) else block  # new rows may be sparse where the fit had dense ones
        stop = start + block.shape[1]
        shift = factor = np.zeros(0, out.dtype)
        if self.shift is None or self.factor is None:
            out[:, start:stop] = block
        elif block.dtype == out.dtype and self.unit_rows and not self.extreme:
            out[:, start:stop] = block
            shift, factor = self.shift.astype(out.dtype), self.factor.astype(out.dtype)
        else:  # integers, wider floats, extreme features: subtract before rounding to the working precision
            np.multiply(block - self.shift, self.factor, out=out[:, start:stop], casting="same_kind")
        if self.unit_rows:
            from .kernels import scale_rows  # loads numba, which takes most of a second: not before it is needed

            scale_rows(out, start, stop, shift, factor)


@dataclass(frozen=True)
class ScaledRows:
    """Rows in the scaled feature space."""

    parts: list[tuple[slice, Any]]  # columns and the rows' values there; neighbouring dense views share one array
    n_rows: int
    n_features: int
    dtype: np.dtype[np.floating]  # working precision

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

    def stacked(self) -> Any:
        """Return the rows as one matrix: dense, or CSR if a view is sparse."""
        if any(is_sparse(values) for _, values in self.parts):
            parts = [sparse.csr_array(values) for _, values in self.parts]
            return sparse.csr_array(sparse.hstack(parts, format="csr"))
        return self.dense()

    def columns(self, columns: slice, projection: Matrix | None = None) -> Matrix:
        """Return the columns of one view as a dense array, or their product with a projection."""
        for covered, values in self.parts:
            if covered.start <= columns.start and columns.stop <= covered.stop:
                local = values[:, columns.start - covered.start : columns.stop - covered.start]
                result = local if projection is None else local @ projection
                dense: Matrix = result.toarray() if is_sparse(result) else result
                return dense
        raise IndexError(f"{columns} are not the columns of a view")

    def dense(self) -> Matrix:
        """All columns as one array; only for a few rows when views are sparse."""
        if len(self.parts) == 1 and not is_sparse(self.parts[0][1]):
            only: Matrix = self.parts[0][1]
            return only
        result = np.empty((self.n_rows, self.n_features), dtype=self.dtype)
        for columns, values in self.parts:
            result[:, columns] = values.toarray() if is_sparse(values) else values
        return result


@dataclass(frozen=True)
class ViewsScaler:
    """Scalers of all views; turns rows of Views into one block of scaled features side by side."""

    scalers: tuple[DenseScaler | TextScaler, ...]
    dtype: np.dtype[np.floating]
    sizes: tuple[int, ...]  # number of scaled features of each view
    view_weights: ViewWeights = None  # how much each view counts; None if all do the same

    def of_view(self, number: int) -> ViewsScaler:
        """Return what scales one view alone, as it is scaled beside the others."""
        weights = None if self.view_weights is None else self.view_weights[number : number + 1]
        return ViewsScaler(self.scalers[number : number + 1], self.dtype, self.sizes[number : number + 1], weights)

    def read(self, views: Views, block: slice, present: Presence = None) -> ScaledRows:
        """Return the scaled features of consecutive rows; zero where a view is missing by `present` (of all rows)."""
        return self.scale(
            [rows_of(array, block) for array in views.arrays], None if present is None else present[block]
        )

    def take(self, views: Views, rows: Rows, present: Presence = None) -> ScaledRows:
        """Return the scaled features of rows by their numbers."""
        return self.scale([rows_of(array, rows) for array in views.arrays], None if present is None else present[rows])

    def scale(self, parts: list[Any], present: Presence = None) -> ScaledRows:
        """Scale the rows that were read of each view; `present` is of these rows."""
        n_rows = parts[0].shape[0]
        if present is not None:
            parts = [_blank(part, ~present[:, number]) for number, part in enumerate(parts)]
        scaled, factors = [], [] if self.view_weights is None else np.sqrt(self.view_weights).tolist()
        for first, last, start, stop in self._runs():
            if self.scalers[first].is_sparse:
                rows = self.scalers[first].rows(parts[first])  # type: ignore[union-attr]
                scaled.append((slice(start, stop), rows * factors[first] if self.view_weights else rows))
                continue
            out = np.empty((n_rows, stop - start), dtype=self.dtype)
            column = 0
            for number in range(first, last):
                scaler = self.scalers[number]
                scaler.write(parts[number], out, column)
                if self.view_weights is not None:
                    out[:, column : column + scaler.n_out] *= factors[number]
                if present is not None:
                    out[~present[:, number], column : column + scaler.n_out] = 0
                column += scaler.n_out
            scaled.append((slice(start, stop), out))
        return ScaledRows(scaled, n_rows, sum(self.sizes), self.dtype)

    def _runs(self) -> list[tuple[int, int, int, int]]:
        """Neighbouring views with dense results, each sparse view alone: first view, last, first column, last."""
        runs: list[tuple[int, int, int, int]] = []
        column = 0
        for number, scaler in enumerate(self.scalers):
            stop = column + scaler.n_out
            if runs and not scaler.is_sparse and not self.scalers[runs[-1][0]].is_sparse:
                runs[-1] = (runs[-1][0], number + 1, runs[-1][2], stop)
            else:
                runs.append((number, number + 1, column, stop))
            column = stop
        return runs


def _blank(block: Any, lacks: Mask) -> Any:
    """Return a block with zeros in the rows that lack the view, whatever stands there."""
    if not lacks.any():
        return block
    block = block.copy()
    if is_sparse(block):
        block.data[np.repeat(lacks, np.diff(block.indptr))] = 0
    else:
        block[lacks] = 0
    return block
