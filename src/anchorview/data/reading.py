"""Every form in which views are given, turned into 2-D numeric arrays and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import is_sparse

ColumnGroups = Sequence[Any] | Mapping[str, Any]


def is_mudata(data: Any) -> bool:
    """Tell a MuData object by what it has, so that the package it comes from is not needed."""
    return isinstance(getattr(data, "mod", None), Mapping) and hasattr(data, "obs_names")


@dataclass(frozen=True)
class RawViews:
    """Views as they were given, one entry a view."""

    arrays: list[Any]
    names: list[str]
    features: list[list[Any] | None]  # names of the columns, where a DataFrame has such
    indexes: list[Any]  # index of the rows, where a DataFrame has one that is not a plain range


def read_arrays(data: Any, views: ColumnGroups | None) -> RawViews:
    """Return the arrays and their names; nothing is copied that is a numeric array or a CSR matrix already."""
    if isinstance(data, Mapping) and not is_sparse(data):  # SciPy's DOK matrices are mappings too
        _refuse_groups(views, "dict")
        parts, names = list(data.values()), [str(n) for n in data]
    elif _is_table(data):
        parts, names = _split_table(data, views)
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        _refuse_groups(views, "list")
        parts, names = list(data), [f"view{i}" for i in range(len(data))]
    else:
        raise TypeError(
            f"Cannot read views from {type(data).__name__}; pass a list of 2-D arrays, a dict of 2-D arrays, "
            "or one 2-D array with views=."
        )
    if len(parts) == 0:
        raise ValueError("No view was given; pass at least one 2-D array.")
    arrays = [as_matrix(part, name) for part, name in zip(parts, names, strict=True)]
    return RawViews(arrays, names, [_column_names(part) for part in parts], [_index_of(part) for part in parts])


def _column_names(part: Any) -> list[Any] | None:
    """Return the names of a DataFrame's columns; None for arrays, and for columns that are merely numbered."""
    if not hasattr(part, "iloc"):
        return None
    names = part.columns.tolist()
    return None if all(isinstance(name, int | np.integer) for name in names) else names


def _index_of(part: Any) -> Any:
    """Return the index of a DataFrame (or Series) as an array, unless it just counts the rows from 0."""
    if not hasattr(part, "iloc"):
        return None
    index = part.index.to_numpy() if part.index.nlevels == 1 else np.array([*part.index, None], dtype=object)[:-1]
    if index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index))):
        return None
    return index


def _refuse_groups(views: ColumnGroups | None, form: str) -> None:
    if views is not None:
        raise ValueError(
            f"views= cuts one 2-D array or DataFrame; a {form} of views is cut already (use names= to name them)."
        )


def _is_table(data: Any) -> bool:
    """Tell a 2-D array or DataFrame from a sequence of views."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return True
    if hasattr(data, "shape"):
        return True
    return isinstance(data, Sequence) and len(data) > 0 and all(_is_row(row) for row in data)


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(np.ndim(item) == 0 for item in value)
    )


def as_matrix(array: Any, name: str) -> Any:
    """Return a view as a numeric 2-D array or CSR array, without copying one that is."""
    if hasattr(array, "iloc"):  # a DataFrame
        _check_columns(array, name)
        array = array.to_numpy()
    if isinstance(array, np.ma.MaskedArray):  # a masked value is one that is not there
        array = np.ma.filled(array.astype(np.float64), np.nan) if np.ma.is_masked(array) else np.asarray(array)
    result = array if isinstance(array, np.ndarray) or is_sparse(array) else np.asarray(array)
    if result.ndim == 1:
        raise ValueError(
            f"View {name!r} is one-dimensional. Reshape your data: use array.reshape(-1, 1) for one feature, or "
            "array.reshape(1, -1) for a single sample. Expected 2D array, got 1D array instead."
        )
    if result.ndim != 2:
        raise ValueError(f"View {name!r} has {result.ndim} dimensions; every view must be 2-D (rows × features).")
    if result.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: view {name!r} is complex.")
    if result.dtype.kind == "O" and not is_sparse(result):
        result = _to_numeric(result, name)
    if result.dtype.kind not in "fiub":
        raise ValueError(f"View {name!r} is not numeric (dtype {result.dtype}); encode its columns as numbers first.")
    if result.shape[1] == 0:
        raise ValueError(f"View {name!r} has 0 feature(s) (shape={result.shape}) while a minimum of 1 is required.")
    return _as_csr(result, name) if is_sparse(result) else result


def _as_csr(matrix: Any, name: str) -> sparse.csr_array:
    """Return a CSR array with sorted, distinct entries in each row, on the user's own arrays if they are so."""
    if matrix.format in ("csr", "csc"):  # an index out of range would read, or write, beyond the arrays
        kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
        try:
            checked = kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)  # not the user's object
            checked.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"View {name!r} is a malformed sparse matrix: {error}.") from None
        matrix = checked
    result = sparse.csr_array(matrix)  # a new object: flags that SciPy notes on the way are not the user's
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def _to_numeric(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    for column in range(array.shape[1]):
        for row, value in enumerate(array[:, column]):
            try:
                float(value)
            except (TypeError, ValueError) as error:
                message = (
                    f"View {name!r} is not numeric: column {column}, row {row} holds {value!r} "
                    "(argument must be a string or a real number); encode such columns as numbers first."
                )
                raise type(error)(message) from None
    return array.astype(np.float64)


def _check_columns(frame: Any, name: str) -> None:
    for column, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if getattr(dtype, "kind", "O") not in "fiubO":
            raise ValueError(f"View {name!r}: column {column!r} is not numeric ({dtype}); encode it as numbers first.")


def _split_table(table: Any, views: ColumnGroups | None) -> tuple[list[Any], list[str]]:
    """Cut one table into views."""
    is_frame = hasattr(table, "iloc")
    if views is None and is_frame and table.columns.nlevels > 1:
        return _split_top_level(table)
    if views is None:
        return [table], ["view0"]
    groups = dict(views.items()) if isinstance(views, Mapping) else {f"view{i}": g for i, g in enumerate(views)}
    if not groups:
        raise ValueError("views= is empty; name at least one group of columns.")
    matrix = None if is_frame else as_matrix(table, "X")
    n_columns = table.shape[1] if is_frame else matrix.shape[1]  # type: ignore[union-attr]
    if all(isinstance(group, int | np.integer) for group in groups.values()):
        sizes = [int(group) for group in groups.values()]
        if min(sizes) < 1 or sum(sizes) != n_columns:
            raise ValueError(f"views={list(views)} adds up to {sum(sizes)} features, but X has {n_columns} features.")
        ends = np.cumsum(sizes)
        groups = {n: slice(int(e) - s, int(e)) for n, s, e in zip(groups, sizes, ends, strict=True)}
    parts = []
    for name, group in groups.items():
        if is_frame:
            part = _frame_columns(table, group, name)
        else:
            assert matrix is not None
            part = matrix[:, _column_numbers(group, n_columns, name)]
        parts.append(part)
    return parts, [str(name) for name in groups]


def _split_top_level(frame: Any) -> tuple[list[Any], list[str]]:
    """Cut a DataFrame whose columns have several levels by the first one."""
    top = frame.columns.get_level_values(0)
    parts = {label: frame.loc[:, top == label] for label in top.unique()}
    return list(parts.values()), [str(label) for label in parts]


def _frame_columns(frame: Any, group: Any, name: str) -> Any:
    if isinstance(group, slice):
        return frame.iloc[:, group]
    columns = [group] if isinstance(group, str) else list(group)
    if all(isinstance(column, int | np.integer) for column in columns) and not set(columns) <= set(frame.columns):
        return frame.iloc[:, _column_numbers(columns, frame.shape[1], name)]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"View {name!r} names columns the DataFrame lacks: {missing[:5]}.")
    return frame[columns]


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
