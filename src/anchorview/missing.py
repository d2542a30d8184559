"""Missing views: which rows have which view, and the rows and views that nothing can be done with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .view_input import is_sparse
from .views import Views

_BLOCK_CELLS = 2**22  # cells looked at together, so that memory stays small for wide views too


def find_present(views: Views) -> npt.NDArray[np.bool_] | None:
    """Tell which rows have which view: as `views` was told, less the rows of a view that are NaN throughout.

    Parameters
    ----------
    views : Views
        The views. Memory maps are read block by block.

    Returns
    -------
    ndarray of bool of shape (n_rows, n_views), or None
        None if no view is missing anywhere. A row that is NaN in part only is not missing.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> from anchorview.missing import find_present
    >>> gap = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, 3.0]])
    >>> find_present(Views([gap, np.ones((3, 1))]))
    array([[ True,  True],
           [False,  True],
           [ True,  True]])
    """
    present = np.ones((len(views), len(views.names)), dtype=bool) if views.present is None else views.present.copy()
    for number, array in enumerate(views.arrays):
        if not is_sparse(array) and array.dtype.kind == "f":
            present[_nan_rows(array), number] = False
    return None if present.all() else present


def _nan_rows(array: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the rows that are NaN throughout; only rows that begin with NaN are read as a whole."""
    step = max(1, _BLOCK_CELLS // array.shape[1])
    found = [np.empty(0, dtype=np.intp)]
    for start in range(0, len(array), step):
        rows = start + np.flatnonzero(np.isnan(array[start : start + step, 0]))
        if len(rows):
            found.append(rows[np.isnan(array[rows]).all(axis=1)])
    return np.concatenate(found)


def check_no_empty(present: npt.NDArray[np.bool_] | None, ids: npt.NDArray[Any] | None = None) -> None:
    """Raise an error naming the first rows that have no view at all.

    Parameters
    ----------
    present : ndarray of bool of shape (n_rows, n_views), or None
        Which rows have which view; None if all have all.
    ids : ndarray of shape (n_rows,), optional
        Ids to name the rows by, beside their numbers.
    """
    if present is None:
        return
    empty = np.flatnonzero(~present.any(axis=1))
    if len(empty) == 0:
        return
    more = ", …" if len(empty) > 5 else ""
    shown = ", ".join(map(str, empty[:5].tolist())) + more
    known = "" if ids is None else f" (ids {', '.join(map(repr, ids[empty[:5]].tolist()))}{more})"
    raise ValueError(
        f"{len(empty)} row{'s have' if len(empty) > 1 else ' has'} no view at all: {shown}{known}; "
        'remove such rows, or pass on_empty="drop".'
    )


def check_no_empty_view(
    present: npt.NDArray[np.bool_] | None, names: list[str], weights: npt.NDArray[np.float64] | None = None
) -> None:
    """Raise an error naming the views that are missing in every row.

    Parameters
    ----------
    present : ndarray of bool of shape (n_rows, n_views), or None
        Which rows have which view; None if all have all.
    names : list of str
        Names of the views.
    weights : ndarray of shape (n_rows,), optional
        Rows of weight 0 do not count.
    """
    if present is None:
        return
    counted = present if weights is None else present[weights > 0]
    for name, column in zip(names, counted.T, strict=True):
        if not column.any():
            where = "every row" if weights is None else "every row of positive weight"
            raise ValueError(f"View {name!r} is missing in {where}; leave it out, or check its mask, ids or values.")


def patterns(present: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Return the combinations of views that occur, and the number of each row's combination.

    Parameters
    ----------
    present : ndarray of bool of shape (n_rows, n_views)
        Which rows have which view.

    Returns
    -------
    distinct : ndarray of bool of shape (n_patterns, n_views)
        The combinations. All views come first, if that occurs; the order depends on which combinations occur only.
    numbers : ndarray of int of shape (n_rows,)
        For each row, its combination's place in `distinct`.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.missing import patterns
    >>> distinct, numbers = patterns(np.array([[False, True], [True, True], [True, False], [True, True]]))
    >>> distinct.tolist()
    [[True, True], [True, False], [False, True]]
    >>> numbers
    array([2, 0, 1, 0])
    """
    numbers = np.zeros(len(present), dtype=np.intp)
    for byte in np.packbits(~present, axis=1).T:  # eight views at a time: rows sort slowly, numbers fast
        numbers = np.unique(numbers * 256 + byte, return_inverse=True)[1]
    first = np.unique(numbers, return_index=True)[1]
    return present[first], numbers
