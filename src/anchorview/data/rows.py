"""Which rows have which view: masks, and ids by which views of different rows are aligned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Rows, is_sparse
from ..core.checks import is_missing
from ..engine.sources.base import StoredRows
from ..engine.sources.derived import place_rows
from .tables import as_column, column_labels, is_table


def read_mask(mask: Any, n_rows: int, names: list[str]) -> Mask:
    """Return a mask as a new boolean array of shape (n_rows, n_views)."""
    if isinstance(mask, Mapping) or is_table(mask):  # a table: its columns may be in another order
        named = mask if isinstance(mask, Mapping) else {name: mask[name] for name in column_labels(mask)}
        columns = {str(name): np.asarray(column) for name, column in named.items()}
        _check_names("mask", columns, names)
        present = np.ones((n_rows, len(names)), dtype=bool)
        for name, column in columns.items():
            _check_mask(column, (n_rows,), f"mask of view {name!r}")
            present[:, names.index(name)] = column
        return present
    array = np.asarray(mask)
    _check_mask(array, (n_rows, len(names)), "mask")
    return array.copy()


def join_columns(columns: Sequence[Mask | None], arrays: Sequence[Any], names: list[str]) -> Mask | None:
    """Return which rows have which view, from what is known of each view; None if nothing is known of any."""
    if all(column is None for column in columns):
        return None
    n_rows = arrays[0].shape[0]
    for array, name in zip(arrays, names, strict=True):
        if array.shape[0] != n_rows:
            raise ValueError(f"View {name!r} has {array.shape[0]} rows but view {names[0]!r} has {n_rows}.")
    return np.column_stack([np.ones(n_rows, dtype=bool) if column is None else column for column in columns])


def _check_mask(array: npt.NDArray[Any], shape: tuple[int, ...], what: str) -> None:
    if array.shape != shape:
        raise ValueError(
            f"The {what} has shape {array.shape} but needs {shape}: one row per sample"
            f"{' and one column per view' if len(shape) == 2 else ''}, True where the row has the view."
        )
    if array.dtype.kind != "b":
        raise ValueError(f"The {what} must hold True and False, not {array.dtype}; convert it with .astype(bool).")


def _check_names(what: str, given: Mapping[str, Any], names: list[str]) -> None:
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ValueError(f"{what} names views that are not there: {unknown}; the views are {names}.")


def is_per_view(ids: Any) -> bool:
    """Tell ids given for each view from one sequence of ids for all rows (tuples are ids)."""
    if isinstance(ids, Mapping):
        return True
    return (
        isinstance(ids, list | tuple)
        and len(ids) > 0
        and all(hasattr(part, "__len__") and not isinstance(part, str | bytes | tuple) for part in ids)
    )


def read_ids(ids: Any, n_rows: int, owner: str) -> npt.NDArray[Any]:
    """Return distinct ids, one for each row: text or integers as such arrays, anything else as objects."""
    if isinstance(ids, str | bytes | set | frozenset) or not isinstance(ids, Iterable):
        raise TypeError(f"{owner} has {ids!r} as ids; give a sequence with one id for each row.")
    if getattr(ids, "ndim", 1) != 1:
        raise ValueError(f"{owner} has ids of shape {ids.shape}; give a one-dimensional sequence.")  # type: ignore[attr-defined]
    ids = as_column(ids)
    items: list[Any] = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if len(items) != n_rows:
        raise ValueError(f"{owner} has {n_rows} rows but {len(items)} ids; give one id for each row.")
    blank = [row for row, item in enumerate(items) if is_missing(item)]
    if blank:
        raise ValueError(f"{owner} has no id in {_rows(blank)} (None or NaN); give each row an id.")
    if len(set(items)) != len(items):
        _raise_repeated(items, owner)
    return _id_array(items)


def _rows(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"row{'s' if len(numbers) > 1 else ''} {shown}{', …' if len(numbers) > 5 else ''}"


def _raise_repeated(items: list[Any], owner: str) -> None:
    places: dict[Any, list[int]] = {}
    for row, item in enumerate(items):
        places.setdefault(item, []).append(row)
    repeated = [(item, rows) for item, rows in places.items() if len(rows) > 1]
    shown = "; ".join(f"{item!r} ({_rows(rows)})" for item, rows in repeated[:5])
    raise ValueError(
        f"{owner} repeats {len(repeated)} of its ids: {shown}{'; …' if len(repeated) > 5 else ''}. "
        "Each row needs an id of its own: remove or merge the repeated rows."
    )


def _id_array(items: list[Any]) -> npt.NDArray[Any]:
    """Text and integers become arrays of their own kind; asarray would turn a mix of the two into text."""
    for kind in (str, int):
        if all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
            return np.array(items, dtype=None if items else kind)
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def ids_by_view(ids: Any, arrays: Sequence[Any], names: list[str]) -> list[npt.NDArray[Any]]:
    """Read the ids of each view, given as a list beside the views or as a mapping from their names."""
    if isinstance(ids, Mapping):
        named = {str(name): part for name, part in ids.items()}
        _check_names("ids", named, names)
        lacking = [name for name in names if name not in named]
        if lacking:
            raise ValueError(f"ids has no entry for the views {lacking}; give the ids of every view.")
        parts = [named[name] for name in names]
    else:
        parts = list(ids)
        if len(parts) != len(names):
            raise ValueError(f"ids lists the ids of {len(parts)} views, but there are {len(names)}: {names}.")
    read = [read_ids(p, a.shape[0], f"View {n!r}") for p, a, n in zip(parts, arrays, names, strict=True)]
    for name, part in zip(names, read, strict=True):
        if {part.dtype.kind, read[0].dtype.kind} == {"U", "i"}:
            raise ValueError(
                f"The ids of view {name!r} and of view {names[0]!r} are text in one and numbers in the other, "
                "so that none match; convert them to one type."
            )
    return read


def align_indexes(indexes: Sequence[Any], names: list[str]) -> tuple[npt.NDArray[Any] | None, list[Rows | None]]:
    """Return the ids that the indexes of DataFrames give, and the order that brings each view to the first one's rows.

    Views without an index go by position. Where indexes differ by more than their order, or an id repeats, rows cannot
    be told apart: an error names the first ids concerned.
    """
    given = [number for number, index in enumerate(indexes) if index is not None]
    orders: list[Rows | None] = [None] * len(indexes)
    if not given:
        return None, orders
    first = indexes[given[0]].tolist()
    is_distinct = len(set(first)) == len(first) and not any(is_missing(item) for item in first)
    for number in given[1:]:
        other = indexes[number].tolist()
        if other == first:
            continue
        place = {item: row for row, item in enumerate(other)}
        lacking = [item for item in first if item not in place] or [item for item in other if item not in set(first)]
        if lacking or not is_distinct or len(place) != len(other):
            what = f"the ids {', '.join(map(repr, lacking[:5]))} are in one only" if lacking else "ids repeat"
            raise ValueError(
                f"The indexes of view {names[given[0]]!r} and view {names[number]!r} differ: {what}. Give both the "
                "same rows, pass ids= with the ids of each view (a view is then missing in the other rows), or "
                "reset_index(drop=True) if rows correspond by position."
            )
        orders[number] = np.array([place[item] for item in first], dtype=np.intp)
    if any(order is not None for order in orders) and len(given) < len(indexes):
        without = next(name for name, index in zip(names, indexes, strict=True) if index is None)
        raise ValueError(
            f"The indexes of the DataFrames are in different orders, and view {without!r} has none to align it by; "
            "give it an index too, or bring all views to one order."
        )
    return (_id_array(first) if is_distinct else None), orders


def join_ids(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the ids of all views together, in order of first appearance."""
    return _id_array(list(dict.fromkeys(item for part in parts for item in part.tolist())))


def align_rows(
    arrays: Sequence[Any], parts: Sequence[npt.NDArray[Any]], ids: npt.NDArray[Any]
) -> tuple[list[Any], Mask]:
    """Bring views, whose rows have the ids in `parts`, to the rows `ids`; rows a view lacks are 0 in it.

    Dense views are copied to their full height and sparse ones stay sparse; a view that has these very rows already
    is not copied.
    """
    place = {item: row for row, item in enumerate(ids.tolist())}
    present = np.zeros((len(ids), len(arrays)), dtype=bool)
    aligned = []
    for number, (array, part) in enumerate(zip(arrays, parts, strict=True)):
        rows = np.array([place[item] for item in part.tolist()], dtype=np.intp)
        present[rows, number] = True
        aligned.append(array if np.array_equal(rows, np.arange(len(ids))) else spread_rows(array, rows, len(ids)))
    return aligned, present


def spread_rows(array: Any, rows: Rows, n_rows: int) -> Any:
    """Put the rows of an array to the places `rows` of a taller one; those of a store when they are read."""
    if not is_sparse(array) and not isinstance(array, StoredRows):
        taller = np.zeros((n_rows, array.shape[1]), dtype=array.dtype)
        taller[rows] = array
        return taller
    source = np.full(n_rows, -1)
    source[rows] = np.arange(len(rows))
    if isinstance(array, StoredRows):
        return place_rows(array, source)
    ends = np.append(array.indptr, array.indptr[-1])  # one empty row more, at the end: row -1
    longer = sparse.csr_array((array.data, array.indices, ends), shape=(len(ends) - 1, array.shape[1]))
    return longer[source]
