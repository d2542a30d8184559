"""Scaling of each view: fitted in one pass over the rows, stored, applied block by block.

The paper does not scale; it matters more than any parameter of the model (docs/method.md). Every choice but "none"
ends with rows of unit length, so that each view has the same say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .engine.parallel import map_blocks
from .views import Views

SCALINGS = ("minmax", "symmetric", "standard", "l2", "none")
BLOCK_ROWS = 256  # a block of a few thousand features then stays in a core's cache
_PASS_ROWS = 512  # minima and maxima are two passes; the second finds the block in the cache
_LARGEST = 1e30  # of a float32 range that is scaled in float32

ScalingChoice = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True)
class ViewScaler:
    """x ↦ (x − shift) · factor, then unit length if asked."""

    shift: npt.NDArray[np.float64] | None
    factor: npt.NDArray[np.float64] | None
    unit_rows: bool
    extreme: bool = False  # ranges or offsets that float32 cannot work with

    def apply(self, block: npt.NDArray[Any], out: npt.NDArray[np.floating], start: int) -> None:
        """Write the scaled block to the columns of ``out`` from ``start`` on; the block itself is not touched."""
        from .engine.scale_kernel import scale_rows

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


@dataclass(frozen=True)
class ViewsScaler:
    """Scalers of all views; turns rows of Views into one block of scaled features side by side."""

    scalers: tuple[ViewScaler, ...]
    sizes: tuple[int, ...]
    dtype: np.dtype[np.floating]

    def rows(self, views: Views, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return the scaled features of some rows, all views side by side."""
        parts = [array[index] for array in views.arrays]
        out = np.empty((len(parts[0]), sum(self.sizes)), dtype=self.dtype)
        start = 0
        for scaler, part, size in zip(self.scalers, parts, self.sizes, strict=True):
            scaler.apply(part, out, start)
            start += size
        return out


def fit_scaling(views: Views, scaling: ScalingChoice, n_threads: int = 1) -> ViewsScaler:
    """Fit the scaling of every view in one pass, which also finds NaN and infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> X = Views([np.array([[0.0, 3.0], [4.0, 3.0], [4.0, 7.0]])])
    >>> fit_scaling(X, "minmax").rows(X, slice(0, 3)).round(2)
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.71, 0.71]])
    """
    kinds, dtype = resolve_scaling(views, scaling), working_dtype(views)
    scalers = tuple(
        _fit_view(array, kind, name, dtype, n_threads) for (name, array), kind in zip(views.items(), kinds, strict=True)
    )
    return ViewsScaler(scalers, tuple(views.sizes), dtype)


def working_dtype(views: Views) -> np.dtype[np.floating]:
    """float32 when every view fits in it without loss, else float64."""
    narrow = all(np.can_cast(array.dtype, np.float32) for array in views.arrays)
    return np.dtype(np.float32 if narrow else np.float64)


def resolve_scaling(views: Views, scaling: ScalingChoice) -> list[str]:
    """Return one scaling per view, or raise an error that names the choices."""
    if isinstance(scaling, str):
        kinds = [scaling] * len(views.names)
    elif isinstance(scaling, Mapping):
        unknown = sorted(set(scaling) - set(views.names))
        if unknown:
            raise ValueError(f"scaling names views that are not there: {unknown}; the views are {views.names}.")
        kinds = [scaling.get(name, "minmax") for name in views.names]
    else:
        kinds = list(scaling) if isinstance(scaling, Iterable) else [scaling] * len(views.names)
        if len(kinds) != len(views.names):
            raise ValueError(f"scaling lists {len(kinds)} choices for {len(views.names)} views.")
    for kind, name in zip(kinds, views.names, strict=True):
        if kind not in SCALINGS:
            raise ValueError(f"scaling={kind!r} (view {name!r}) is not known; choose one of {', '.join(SCALINGS)}.")
    return kinds


def check_finite(views: Views, n_threads: int = 1) -> None:
    """Raise an error naming the view and the first rows that hold NaN or infinity."""
    for name, array in views.items():
        if array.dtype.kind == "f":
            _extremes(array, name, n_threads)


def _blocks(n_rows: int) -> list[slice]:
    return [slice(start, min(start + _PASS_ROWS, n_rows)) for start in range(0, n_rows, _PASS_ROWS)]


def _extremes(array: npt.NDArray[Any], name: str, n_threads: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Column minima and maxima; NaN and infinity show up in them."""

    def of_block(block: slice) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        part = array[block]
        return part.min(axis=0), part.max(axis=0)

    parts = map_blocks(of_block, _blocks(len(array)), n_threads)
    low = np.min([part[0] for part in parts], axis=0)
    high = np.max([part[1] for part in parts], axis=0)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        _raise_not_finite(array, name)
    return low, high


def _raise_not_finite(array: npt.NDArray[Any], name: str) -> None:
    bad: list[int] = []
    has_nan = False
    for block in _blocks(len(array)):
        part = array[block]
        rows = np.flatnonzero(~np.isfinite(part).all(axis=1))
        has_nan = has_nan or bool(np.isnan(part).any())
        bad.extend(int(row) + block.start for row in rows[: 5 - len(bad)])
        if len(bad) == 5:
            break
    what = "NaN" if has_nan else "infinity"
    raise ValueError(
        f"View {name!r} contains {what} (NaN or infinity) in row{'s' if len(bad) > 1 else ''} "
        f"{', '.join(map(str, bad))}{', …' if len(bad) == 5 else ''}; remove or impute those values before fitting."
    )


def _moments(
    array: npt.NDArray[Any], width: npt.NDArray[np.float64], n_threads: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean and standard deviation per column, in float64.

    Shifted by the first row against cancellation, and in units of the column's `width` against overflow.
    """
    origin = np.asarray(array[0], dtype=np.float64)

    def of_block(block: slice) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        centred = array[block] - origin
        centred /= width
        return centred.sum(axis=0), np.einsum("ij,ij->j", centred, centred)

    parts = map_blocks(of_block, _blocks(len(array)), n_threads)
    first = np.sum([part[0] for part in parts], axis=0) / len(array)
    second = np.sum([part[1] for part in parts], axis=0) / len(array)
    deviation: npt.NDArray[np.float64] = np.sqrt(np.maximum(second - first**2, 0.0)) * width
    first *= width
    deviation[deviation <= 1e-12 * (np.abs(origin + first) + np.abs(first))] = 0.0
    return origin + first, deviation


def _fit_view(
    array: npt.NDArray[Any], kind: str, name: str, dtype: np.dtype[np.floating], n_threads: int
) -> ViewScaler:
    low, high = (extreme.astype(np.float64) for extreme in _extremes(array, name, n_threads))
    if kind == "none":
        largest = max(float(high.max()), -float(low.min()))
        if largest > 1e-3 * np.sqrt(np.finfo(dtype).max):  # products of rows add up many squares
            raise ValueError(
                f"View {name!r} holds values up to {largest:.2g}, whose squares overflow {dtype}; "
                "choose a scaling other than 'none' for it."
            )
        return ViewScaler(None, None, unit_rows=False)
    if kind == "l2":
        return ViewScaler(None, None, unit_rows=True)
    spread = high / 2 - low / 2  # halves: the difference itself could overflow
    spread[spread < np.finfo(np.float64).tiny] = 0.0  # one over it would overflow
    extreme = bool(np.any(spread > _LARGEST) or np.any((spread > 0) & (spread < 1 / _LARGEST)))
    if kind == "standard":
        shift, spread = _moments(array, np.where(spread > 0, spread, 1.0), n_threads)
        factor = 1.0 / np.where(spread > 0, spread, 1.0)
    else:
        shift = low if kind == "minmax" else low / 2 + high / 2
        factor = (0.5 if kind == "minmax" else 1.0) / np.where(spread > 0, spread, 1.0)
    factor[spread == 0] = 0.0  # a constant feature says nothing, also about new rows
    extreme = extreme or bool(np.any(np.abs(shift) * factor > 1e4))  # rounding the shift would bias the feature
    return ViewScaler(shift, factor, unit_rows=True, extreme=extreme)
