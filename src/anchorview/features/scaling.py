"""The scaling of all views, fitted in one pass over the rows, which also finds NaN and infinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter, iadd
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix, Presence, Weights
from ..core.progress import Ticker
from ..data.validation import check_view, largest_usable
from ..data.view_errors import NotFiniteError, name_cell
from ..data.views import Views
from ..engine.blocks import add_up, map_blocks, reduce_rows, rows_of
from ..engine.sources.base import StoredRows
from .auto import DENSE_ROWS, are_embedded, some_rows
from .scaled import DenseScaler, ViewsScaler
from .text import PASS_ROWS, TextScaler, check_finite_sparse, fit_text
from .view_weights import ViewWeights

_LARGEST = 1e30  # of a float32 range that is scaled in float32
_SOME_ROWS = 200  # that tell an embedding from other features
_ROUNDINGS = 8.0
TextScalers = dict[tuple[int, str, int], TextScaler]  # by number of the view, kind and seed


def fit_scaling(
    views: Views,
    scaling: str | Sequence[str],
    n_threads: int = 1,
    *,
    rng: np.random.RandomState | None = None,
    present: Presence = None,
    weights: Weights = None,
    known: TextScalers | None = None,
    view_weights: ViewWeights = None,
) -> ViewsScaler:
    """Fit the scaling of every view, one kind for all or one each, in one pass, which also finds NaN and infinity.

    "auto" is replaced before, by `resolve_scaling`. `rng` is for "lsa". Rows that lack the view are not looked at; a
    row of weight 2 counts as two rows, one of weight 0 not at all. Scalers of text that earlier calls on the same rows
    have fitted are in `known`; those of this call are added. `view_weights` say how much each view counts.

    Examples
    --------
    >>> X = Views([np.array([[0.0, 3.0], [4.0, 3.0], [4.0, 7.0]])])
    >>> fit_scaling(X, "minmax").read(X, slice(0, 3)).dense().round(2)
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.71, 0.71]])
    """
    kinds = [scaling] * len(views.names) if isinstance(scaling, str) else scaling
    dtype = working_dtype(views)
    rng = np.random.RandomState(0) if rng is None else rng
    is_text = [known or kind in ("tfidf", "lsa") for known, kind in zip(views.is_sparse_view, kinds, strict=True)]
    # Each view has a seed of its own: what is found for it does not depend on how the others are scaled.
    seeds = [int(rng.randint(2**31 - 1)) if kind == "lsa" else 0 for kind in kinds]
    known = {} if known is None else known
    ticker = Ticker("scaling", len(views.names), "views")

    def fit_view(number: int, n_threads: int) -> DenseScaler | TextScaler:
        name, array, kind = views.names[number], views.arrays[number], kinds[number]
        has_view = None if present is None else present[:, number]
        counted = _counted(has_view, weights)
        scaler: DenseScaler | TextScaler
        with _naming_cells(views, number):
            if not is_text[number]:
                if weights is not None:
                    _check_view(views, number, n_threads, has_view)  # rows of weight 0 must be finite too
                scaler = fit_dense(array, kind, name, dtype, n_threads, counted, weights)
            else:
                key = number, kind, seeds[number]
                if key not in known:
                    _check_view(views, number, n_threads, has_view)
                    own = np.random.RandomState(seeds[number])
                    known[key] = fit_text(array, kind, name, dtype, own, counted, weights, n_threads)
                scaler = known[key]
        ticker.done()
        return scaler

    numbers = range(len(views.names))
    if sum(is_text) > 1 and len(views) <= PASS_ROWS and not views.is_on_cluster:
        # Each text is a single block, so threads work on several views.
        scalers = map_blocks(partial(fit_view, n_threads=1), numbers, n_threads)
    else:
        scalers = [fit_view(number, n_threads) for number in numbers]
    return ViewsScaler(tuple(scalers), dtype, tuple(map(attrgetter("n_out"), scalers)), view_weights)


def _counted(has_view: Mask | None, weights: Weights) -> Mask | None:
    """Rows that the scaling of a view is fitted on; None for all."""
    if weights is None:
        return has_view
    return weights > 0 if has_view is None else has_view & (weights > 0)


def working_dtype(views: Views) -> np.dtype[np.floating]:
    """Return float32 when every view fits in it without loss, else float64."""
    narrow = all(np.can_cast(array.dtype, np.float32) for array in views.arrays)
    return np.dtype(np.float32 if narrow else np.float64)


def check_finite(views: Views, n_threads: int = 1, present: Presence = None) -> None:
    """Raise an error naming the view and the first rows that hold NaN or infinity."""
    for number, array in enumerate(views.arrays):
        if array.dtype.kind == "f":
            with _naming_cells(views, number):
                _check_view(views, number, n_threads, None if present is None else present[:, number])


@contextmanager
def _naming_cells(views: Views, number: int) -> Iterator[None]:
    """Add the names of row and column, where the view has some, to an error about NaN or infinity."""
    try:
        yield
    except NotFiniteError as error:
        raise ValueError(f"{error}{name_cell(views, number, error.row)}") from None


def _check_view(views: Views, number: int, n_threads: int, has_view: Mask | None) -> None:
    name, array = views.names[number], views.arrays[number]
    if views.is_sparse_view[number]:
        check_finite_sparse(array, name, has_view, n_threads)
    else:
        column_extremes(array, name, n_threads, has_view)  # finds NaN and infinity


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
