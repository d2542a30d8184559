"""Numbers too large to compute with: refused at once, whatever the scaling, by view and row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from operator import iadd
from typing import Any

import numpy as np

from ..core.arrays import Mask, Presence, is_sparse
from ..data.views import Views
from ..engine.blocks import reduce_rows
from ..engine.sources.base import is_stored

_ROWS = 4096  # looked at together


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
    if array.shape[0] <= _ROWS and not is_stored(array):  # a row at a time: without the overhead of blocks
        found = find(array, slice(0, array.shape[0]), counted)
    else:
        found = reduce_rows(find, iadd, [], array, _ROWS, 1, (counted,))
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
