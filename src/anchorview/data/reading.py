"""Every form in which views are given, turned into 2-D numeric arrays, their names, and what is known of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Mask, is_sparse
from ..engine.sources.base import StoredRows
from ..engine.sources.derived import place_rows, select_columns
from ..engine.sources.opening import is_delayed, stored_form
from .matrices import as_matrix
from .rows import align_indexes
from .tables import column_labels, column_names, has_levels, index_of, is_table, take_columns

ColumnGroups = Sequence[Any] | Mapping[str, Any]


def is_annotated(data: Any) -> bool:
    """Tell an AnnData or MuData object by what it has, so that the packages they come from are not needed."""
    return hasattr(data, "obs_names") and (isinstance(getattr(data, "mod", None), Mapping) or hasattr(data, "obsm"))


@dataclass(frozen=True)
class RawViews:
    """Views as they were given, one entry a view."""

    arrays: list[Any]
    names: list[str]
    features: list[list[Any] | None]  # names of the columns, where a table has such
    has_view: list[Mask | None]  # which rows have it, where that is known
    ids: Any = None  # of the rows, where an index gives them
    named: bool = True  # whether the names are the user's


def read_raw_views(data: Any, views: ColumnGroups | None, *, by_index: bool = True) -> RawViews:
    """Return the arrays and their names; nothing is copied that is a numeric array or a CSR matrix already.

    `views` cuts one table. With `by_index`, views with an index of their own are brought to the same rows by it.
    """
    named = True
    if isinstance(data, Mapping) and not is_sparse(data):  # SciPy's DOK matrices are mappings too
        _refuse_groups(views, "dict")
        parts, names = list(data.values()), [str(n) for n in data]
    elif _is_one(data):
        named = isinstance(views, Mapping) or (views is None and has_levels(data))
        parts, names = _split_table(data, views)
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        _refuse_groups(views, "list")
        parts, names, named = list(data), [f"view{i}" for i in range(len(data))], False
    else:
        raise TypeError(
            f"Cannot read views from {type(data).__name__}; pass a list of 2-D arrays, a dict of 2-D arrays, "
            "or one 2-D array with views=."
        )
    if len(parts) == 0:
        raise ValueError("No view was given; pass at least one 2-D array.")
    return _align([_read_part(part, name) for part, name in zip(parts, names, strict=True)], names, named, by_index)


def _read_part(part: Any, name: str) -> tuple[Any, list[Any] | None, Any, Mask | None]:
    """Return the array of a view, the names of its columns, its index, and which rows have it."""
    stored = None if is_sparse(part) else stored_form(part, name)
    if stored is not None:
        return stored, stored.columns, None, None
    if hasattr(part, "known_ids"):  # Views within a list: what it knows of its rows is kept
        if len(part.arrays) != 1:
            raise ValueError(
                f"View {name!r} is itself made of {len(part.arrays)} views: {part.names}; give all views in one list "
                "or dict of arrays, with one mask= and ids= for all."
            )
        present = None if part.present is None else part.present[:, 0]
        return part.arrays[0], part.features[0], part.ids, present
    if is_sparse(part) or not is_table(part):
        return as_matrix(part, name), None, None, None
    return as_matrix(part, name), column_names(part), index_of(part), None


def _align(parts: list[Any], names: list[str], named: bool, by_index: bool) -> RawViews:
    """Bring all views to the rows of the first, by their indexes."""
    arrays, features, indexes, has_view = (list(column) for column in zip(*parts, strict=True))
    if not by_index:
        return RawViews(arrays, names, features, has_view, named=named)
    ids, orders = align_indexes(indexes, names)
    for number, order in enumerate(orders):
        if order is not None:
            stored = isinstance(arrays[number], StoredRows)
            arrays[number] = place_rows(arrays[number], order) if stored else arrays[number][order]
            has_view[number] = None if has_view[number] is None else has_view[number][order]
    return RawViews(arrays, names, features, has_view, ids, named)


def _refuse_groups(views: ColumnGroups | None, form: str) -> None:
    if views is not None:
        raise ValueError(
            f"views= cuts one 2-D array or DataFrame; a {form} of views is cut already (use names= to name them)."
        )


def _is_one(data: Any) -> bool:
    """Tell a 2-D array or table from a sequence of views."""
    if is_delayed(data) or hasattr(data, "shape") or is_table(data):
        return True
    return isinstance(data, Sequence) and len(data) > 0 and all(_is_row(row) for row in data)


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and not is_delayed(value)
        and all(np.ndim(item) == 0 for item in value)
    )


def name_groups(views: ColumnGroups) -> dict[str, Any]:
    """Return the groups of columns by the names of the views."""
    if isinstance(views, str):
        raise ValueError(f"views={views!r} is one text; give a list of groups, or a mapping from names to groups.")
    groups = dict(views.items()) if isinstance(views, Mapping) else {f"view{i}": g for i, g in enumerate(views)}
    if not groups:
        raise ValueError("views= is empty; name at least one group of columns.")
    return groups


def groups_in(table: Any, views: ColumnGroups) -> ColumnGroups:
    """Return the groups of columns, less those of which the table has no column at all: these views are absent."""
    labels = set(column_labels(table))

    def is_absent(group: Any) -> bool:
        if isinstance(group, slice | int | np.integer):
            return False
        columns = [group] if isinstance(group, str) else list(group)
        by_name = any(not isinstance(column, int | np.integer) for column in columns)
        return by_name and not labels.intersection(columns)

    absent = [name for name, group in name_groups(views).items() if is_absent(group)]
    return {name: group for name, group in name_groups(views).items() if name not in absent} if absent else views


def _split_table(table: Any, views: ColumnGroups | None) -> tuple[list[Any], list[str]]:
    """Cut one table into views."""
    is_frame = not is_sparse(table) and is_table(table)
    if views is None and has_levels(table):
        top = table.columns.get_level_values(0)
        parts = {label: table.loc[:, top == label] for label in top.unique()}
        return list(parts.values()), [str(label) for label in parts]
    if views is None:
        return [table], ["view0"]
    groups = name_groups(views)
    stored = None if is_frame or is_sparse(table) else stored_form(table, "X")
    matrix = None if is_frame else as_matrix(table if stored is None else stored, "X")
    n_columns = len(column_labels(table)) if matrix is None else matrix.shape[1]
    if all(isinstance(group, int | np.integer) for group in groups.values()):
        sizes = [int(group) for group in groups.values()]
        if min(sizes) < 1 or sum(sizes) != n_columns:
            raise ValueError(f"views={list(views)} adds up to {sum(sizes)} features, but X has {n_columns} features.")
        ends = np.cumsum(sizes)
        groups = {n: slice(int(e) - s, int(e)) for n, s, e in zip(groups, sizes, ends, strict=True)}
    if stored is not None:
        cut = [select_columns(stored, _stored_columns(stored, group, name)) for name, group in groups.items()]
        return cut, [str(name) for name in groups]
    cut = [
        _table_columns(table, group, name) if matrix is None else matrix[:, _column_numbers(group, n_columns, name)]
        for name, group in groups.items()
    ]
    return cut, [str(name) for name in groups]


def _stored_columns(stored: StoredRows, group: Any, name: str) -> Any:
    """Return the numbers of the columns of a group, which may be given by name where the store has names."""
    columns = [group] if isinstance(group, str) else group
    if isinstance(columns, slice) or not all(isinstance(column, str) for column in columns):
        return _column_numbers(group, stored.shape[1], name)
    lacking = [column for column in columns if column not in (stored.columns or [])]
    if lacking:
        raise ValueError(f"View {name!r} names columns that are not in {stored.name}: {lacking[:5]}.")
    return np.array([(stored.columns or []).index(column) for column in columns])


def _table_columns(table: Any, group: Any, name: str) -> Any:
    """Return the columns of a group, given as a slice, by their names, or by numbers that are no names."""
    labels = column_labels(table)
    if isinstance(group, slice):
        return take_columns(table, range(len(labels))[group])
    columns = [group] if isinstance(group, str) else list(group)
    if all(isinstance(column, int | np.integer) for column in columns) and not set(columns) <= set(labels):
        return take_columns(table, np.arange(len(labels))[_column_numbers(columns, len(labels), name)].tolist())
    missing = [column for column in columns if column not in labels]
    if missing:
        raise ValueError(
            f"View {name!r} names columns that are not in the DataFrame: {missing[:5]}. Select or rename columns. "
            "If none of its columns is given, predict treats the view as missing."
        )
    places: dict[Any, list[int]] = {}
    for number, label in enumerate(labels):
        places.setdefault(label, []).append(number)
    return take_columns(table, [number for column in columns for number in places[column]])


def _column_numbers(group: Any, n_columns: int, name: str) -> Any:
    if isinstance(group, slice):
        return group
    numbers = np.asarray(group)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"View {name!r}: columns of an array are given as a size, a slice or a list of numbers.")
    if numbers.min() < -n_columns or numbers.max() >= n_columns:
        wrong = numbers[(numbers < -n_columns) | (numbers >= n_columns)][0]
        raise ValueError(f"View {name!r} names column {wrong}, but X has {n_columns} features.")
    return numbers
