"""What rows are checked for before anything is computed: views that they lack, numbers too large to compute with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Presence, Rows, is_sparse
from ..engine.blocks import reduce_rows
from ..engine.sources.base import StoredRows
from .view_errors import check_no_empty
from .views import Views

_BLOCK_CELLS = 2**22  # cells looked at together, so that memory stays small for wide views too
_BLOCK_ROWS = 4096  # rows looked at together


@dataclass(frozen=True)
class RowChecks:
    """What an estimator asks of rows."""

    drops_empty: bool  # rows without any view are no error
    scaling: Any  # as the user gave it: of features that are used as they are, fewer numbers are small enough

    def find_present(self, views: Views) -> tuple[Presence, Mask | None]:
        """Return which rows have which view, and which have none: an error that names them unless they are dropped."""
        present = find_present(views)
        if present is None or present.any(axis=1).all():
            return present, None
        if not self.drops_empty:
            check_no_empty(present, views.ids)
        empty: Mask = np.logical_not(present.any(axis=1))
        return present, empty

    def check(self, views: Views, first_row: int = 0) -> tuple[Presence, Mask | None]:
        """Do the same, and raise an error for numbers too large to compute with."""
        present, empty = self.find_present(views)
        check_magnitude(views, present, first_row, unscaled=is_unscaled(self.scaling))
        return present, empty


def find_present(views: Views) -> Mask | None:
    """Return which rows have which view: as the mask or ids of `views` have it, less rows of a view that are all NaN.

    None if no view is missing anywhere. A row that is NaN in part only is not missing.

    Examples
    --------
    >>> gap = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, 3.0]])
    >>> find_present(Views([gap, np.ones((3, 1))]))
    array([[ True,  True],
           [False,  True],
           [ True,  True]])
    """
    present = np.ones((len(views), len(views.names)), dtype=bool) if views.present is None else views.present.copy()
    for number, (array, is_text) in enumerate(zip(views.arrays, views.is_sparse_view, strict=True)):
        if not is_text and array.dtype.kind == "f":
            missing = _nan_rows_in_store(array) if isinstance(array, StoredRows) else _nan_rows(array)
            if len(missing):
                present[missing, number] = False
    return None if present.all() else present


def _nan_rows_in_store(array: Any) -> Rows:
    """Return the rows that are NaN throughout, in one pass over a store."""
    return np.concatenate([np.empty(0, dtype=np.intp), *reduce_rows(_find_nan_rows, iadd, [], array, _BLOCK_ROWS, 1)])


def _find_nan_rows(rows: npt.NDArray[Any], block: slice) -> list[Rows]:
    begin = np.flatnonzero(np.isnan(rows[:, 0]))
    missing: Rows = begin[np.isnan(rows[begin]).all(axis=1)] + block.start
    return [missing] if len(missing) else []


def _nan_rows(array: npt.NDArray[Any]) -> Rows:
    """Return the rows that are NaN throughout; only rows that begin with NaN are read as a whole."""
    step = max(1, _BLOCK_CELLS // array.shape[1])
    missing = []
    for start in range(0, len(array), step):
        begins = np.isnan(array[start : start + step, 0])
        if begins.any():
            rows = start + np.flatnonzero(begins)
            missing.append(rows[np.isnan(array[rows]).all(axis=1)])
    return np.concatenate(missing) if missing else np.empty(0, dtype=np.intp)


def largest_usable(dtype: np.dtype[Any], *, unscaled: bool = False) -> float:
    """Return the largest number that can be computed with.

    Scalings divide before they square, but sums of a million numbers must not overflow. Features that are not scaled
    are squared, and squares added up.

    Examples
    --------
    >>> [f"{largest_usable(np.dtype(name)):.1e}" for name in ("float16", "float32", "float64")]
    ['3.4e+32', '3.4e+32', '1.8e+302']
    >>> f"{largest_usable(np.dtype(np.float64), unscaled=True):.1e}"
    '1.3e+151'
    """
    most = float(np.finfo(dtype if dtype.itemsize > 4 else np.float32).max)
    return 1e-3 * most**0.5 if unscaled else 1e-6 * most


def is_unscaled(scaling: Any) -> bool:
    """Tell whether some view is, or may be, used without scaling.

    Examples
    --------
    >>> is_unscaled("none"), is_unscaled({"a": "l2", "b": "none"}), is_unscaled(["auto", ["l2", "minmax"]])
    (True, True, False)
    """
    if isinstance(scaling, str) or not isinstance(scaling, Iterable):
        return bool(isinstance(scaling, str) and scaling == "none")
    return any(map(is_unscaled, scaling.values() if isinstance(scaling, Mapping) else scaling))


def check_magnitude(views: Views, present: Presence = None, first_row: int = 0, *, unscaled: bool = False) -> None:
    """Raise an error that names the view and the first row that hold a number too large to compute with.

    What `present` says is missing is not looked at. `first_row` is the number of the first row in the user's eyes, and
    `unscaled` tells whether features may be used as they are.
    """
    for number, (name, array) in enumerate(views.items()):
        counted = None if present is None else present[:, number]
        check_view(array, name, counted, views.ids, first_row, unscaled=unscaled)


def check_view(
    array: Any, name: str, counted: Mask | None = None, ids: Any = None, first_row: int = 0, *, unscaled: bool = False
) -> None:
    """Do the same for one view; rows that do not count are not looked at."""
    if array.dtype.kind != "f":
        return
    find = partial(_find_too_large, most=largest_usable(array.dtype, unscaled=unscaled))
    found: list[tuple[int, float]]
    if array.shape[0] <= _BLOCK_ROWS and not isinstance(array, StoredRows):  # without the overhead of blocks
        found = find(array, slice(0, array.shape[0]), counted)
    else:
        found = reduce_rows(find, iadd, [], array, _BLOCK_ROWS, 1, (counted,))
    if found:
        row, value = found[0]
        known = "" if ids is None else f" (id {ids[[row]].tolist()[0]!r})"
        raise ValueError(
            f"View {name!r} holds {value:.2g} in row {first_row + row}{known}, too large to compute with in "
            f"{array.dtype}{' without scaling: choose one other than none' if unscaled else ''}. Correct it, leave "
            "the row out, or divide the view by a constant."
        )


def _find_too_large(rows: Any, block: slice, counted: Mask | None, *, most: float) -> list[tuple[int, float]]:
    """Return the first row with such a number, and the number."""
    values = rows.data if is_sparse(rows) else rows
    if values.size == 0 or max(float(np.fmax.reduce(values, None)), -float(np.fmin.reduce(values, None))) <= most:
        return []
    is_large = np.isfinite(values) & (np.abs(values) > most)  # infinity is reported as what it is
    places = np.argwhere(is_large)
    of_rows = np.searchsorted(rows.indptr, places[:, 0], side="right") - 1 if is_sparse(rows) else places[:, 0]
    kept = np.flatnonzero(np.ones(len(of_rows), dtype=bool) if counted is None else counted[of_rows])
    return [(block.start + int(of_rows[kept[0]]), float(values[tuple(places[kept[0]])]))] if len(kept) else []
