"""Scaling of one dense view: fitted in one pass over its rows, applied block by block by a compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix, Weights, is_sparse
from ..core.checks import NotFiniteError
from ..core.compiled import compiled
from ..data.row_checks import check_view, largest_usable
from ..engine.blocks import add_up, reduce_rows, rows_of
from ..engine.sources.base import StoredRows
from .auto import DENSE_ROWS, are_embedded, some_rows

_LARGEST = 1e30  # of a float32 range that is scaled in float32
_SOME_ROWS = 200  # that tell an embedding from other features
_ROUNDINGS = 8.0


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
            scale_rows(out, start, stop, shift, factor)


@compiled(fastmath={"reassoc", "contract", "nsz"})  # no "arcp": 1/x of tiny x overflows
def scale_rows(rows: Any, start: int, stop: int, shift: Any, factor: Any) -> None:
    """Replace some columns of each row by (x − shift) · factor, if these are given, and scale them to unit length.

    Zeros stay zeros. `rows` is C-contiguous, so that its pieces are known to be contiguous too.
    """
    for i in range(rows.shape[0]):
        row = rows[i, start:stop]
        total = rows.dtype.type(0)
        if len(shift) == len(row):
            for t in range(len(row)):
                value = (row[t] - shift[t]) * factor[t]
                row[t] = value
                total += value * value
        else:
            for t in range(len(row)):
                total += row[t] * row[t]
        if not (1e-30 < total < 1e30):  # squares may have overflowed, or vanished
            largest = rows.dtype.type(0)
            for t in range(len(row)):
                value = abs(row[t])
                largest = value if value > largest else largest
            if largest == 0:
                continue
            total = rows.dtype.type(0)
            for t in range(len(row)):
                row[t] /= largest
                total += row[t] * row[t]
        norm = rows.dtype.type(1) / np.sqrt(total)
        for t in range(len(row)):
            row[t] *= norm


Extremes = tuple[npt.NDArray[Any], npt.NDArray[Any]] | None  # minima and maxima of the columns; None of no rows


def column_extremes(
    array: Any, name: str, n_threads: int, counted: Mask | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return column minima and maxima; NaN and infinity show up in them and raise an error that names the rows."""
    found: Extremes = reduce_rows(_find_extremes, _wider, None, array, DENSE_ROWS, n_threads, (counted,))
    if found is None:  # no row has the view
        return np.zeros(array.shape[1]), np.zeros(array.shape[1])
    if not (np.isfinite(found[0]).all() and np.isfinite(found[1]).all()):
        bad = reduce_rows(_find_not_finite, iadd, [], array, DENSE_ROWS, n_threads, (counted,))
        raise NotFiniteError(name, bad, "remove or impute")
    if isinstance(array, StoredRows) and array.dtype.kind == "f":  # rows in memory were looked at before
        largest = max(float(found[1].max(initial=0)), -float(found[0].min(initial=0)))
        if largest > largest_usable(np.dtype(array.dtype)):
            check_view(array, name, counted)
    return found


def _counted_rows(rows: npt.NDArray[Any], counted: Mask | None) -> npt.NDArray[Any]:
    return rows if counted is None or counted.all() else rows[counted]


def _find_extremes(rows: npt.NDArray[Any], block: slice, counted: Mask | None) -> Extremes:
    part = _counted_rows(rows, counted)
    return (part.min(axis=0), part.max(axis=0)) if len(part) else None


def _wider(one: Extremes, other: Extremes) -> Extremes:
    if one is None or other is None:
        return one or other
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _find_not_finite(rows: npt.NDArray[Any], block: slice, counted: Mask | None) -> list[tuple[int, bool]]:
    """Return the first five rows that hold NaN or infinity, and of each whether it holds NaN."""
    is_bad = ~np.isfinite(rows).all(axis=1)
    if counted is not None:
        is_bad &= counted
    bad = np.flatnonzero(is_bad)[:5]
    return list(zip((bad + block.start).tolist(), np.isnan(rows[bad]).any(axis=1).tolist(), strict=True))


def _moments(
    array: npt.NDArray[Any],
    width: Matrix,
    n_threads: int,
    counted: Mask | None,
    weights: Weights,
) -> tuple[Matrix, Matrix]:
    """Mean and standard deviation per column, in float64.

    Shifted by the first row against cancellation, and in units of the column's `width` against overflow.
    """
    origin = np.asarray(
        rows_of(array, np.array([0 if counted is None else int(np.argmax(counted))]))[0], dtype=np.float64
    )

    work = partial(_sum_powers, origin=origin, width=width)
    start = (np.zeros(len(width)), np.zeros(len(width)), 0.0)
    first, second, count = reduce_rows(work, add_up, start, array, DENSE_ROWS, n_threads, (counted, weights))
    first, second = first / count, second / count
    deviation: Matrix = np.sqrt(np.maximum(second - first**2, 0.0)) * width
    first *= width
    deviation[deviation <= 1e-12 * (np.abs(origin + first) + np.abs(first))] = 0.0
    return origin + first, deviation


def _sum_powers(
    rows: npt.NDArray[Any], block: slice, counted: Mask | None, weights: Weights, origin: Matrix, width: Matrix
) -> tuple[Matrix, Matrix, float]:
    """Return sums and sums of squares of the columns, and the number of rows; all weighted."""
    centred = _counted_rows(rows, counted) - origin
    centred /= width
    if weights is None:
        return centred.sum(axis=0), np.einsum("ij,ij->j", centred, centred), float(len(centred))
    weight = _counted_rows(weights, counted)
    return weight @ centred, np.einsum("i,ij,ij->j", weight, centred, centred), float(weight.sum())


def _noise_of(array: npt.NDArray[Any], counted: Mask | None) -> float:
    """Return the half range below which a column of an embedding holds nothing but rounding; 0 for other features.

    Rows of an embedding have all the same length, and columns the same unit. A column that the model left constant
    varies by a few roundings of that length, and scaled to its own range
    it would be noise as loud as any feature. Where columns have units of their own, small values may mean something.
    """
    some = some_rows(array, counted, _SOME_ROWS)
    if not are_embedded(some):
        return 0.0
    return _ROUNDINGS * float(np.finfo(np.float32).eps) * float(np.linalg.norm(some.astype(np.float64), axis=1).mean())


def fit_dense(
    array: npt.NDArray[Any],
    kind: str,
    name: str,
    dtype: np.dtype[np.floating],
    n_threads: int = 1,
    counted: Mask | None = None,
    weights: Weights = None,
) -> DenseScaler:
    """Fit the scaling of one dense view on the rows that are `counted` (by default all)."""
    n_out = array.shape[1]
    low, high = (extreme.astype(np.float64) for extreme in column_extremes(array, name, n_threads, counted))
    if kind == "none":
        largest = max(float(high.max()), -float(low.min()))
        if largest > 1e-3 * np.sqrt(np.finfo(dtype).max):  # products of rows add up many squares
            raise ValueError(
                f"View {name!r} holds values up to {largest:.2g}, whose squares overflow {dtype}; "
                "choose a scaling other than 'none' for it."
            )
        return DenseScaler(n_out, None, None, unit_rows=False)
    if kind == "l2":
        return DenseScaler(n_out, None, None, unit_rows=True)
    spread: Matrix = high / 2 - low / 2  # halves: the difference itself could overflow
    spread[spread < np.finfo(np.float64).tiny] = 0.0  # one over it would overflow
    spread[spread <= _noise_of(array, counted)] = 0.0
    extreme = bool(np.any(spread > _LARGEST) or np.any((spread > 0) & (spread < 1 / _LARGEST)))
    if kind == "standard":
        is_constant = spread == 0
        shift, spread = _moments(array, np.where(is_constant, 1.0, spread), n_threads, counted, weights)
        spread[is_constant] = 0.0
        factor = 1.0 / np.where(spread > 0, spread, 1.0)
    else:
        shift = low if kind == "minmax" else low / 2 + high / 2
        factor = (0.5 if kind == "minmax" else 1.0) / np.where(spread > 0, spread, 1.0)
    factor[spread == 0] = 0.0  # a constant feature carries no information, about new rows neither
    extreme = extreme or bool(np.any(np.abs(shift) * factor > 1e4))  # rounding the shift would bias the feature
    return DenseScaler(n_out, shift, factor, unit_rows=True, extreme=extreme)
