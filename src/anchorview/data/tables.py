"""Tables of pandas, polars, pyarrow and their kin, through narwhals: their columns, by name, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from ..core.checks import is_missing


def is_table(data: Any) -> bool:
    """Tell a table with named columns, of any library, from arrays and sequences."""
    if isinstance(data, np.ndarray | list | tuple | dict):
        return False
    if is_pandas(data) and getattr(data, "columns", None) is not None:  # the usual one, told at once
        return True
    if nw.dependencies.is_polars_lazyframe(data):
        raise TypeError("The table is a LazyFrame, which holds no rows yet; call .collect() on it first.")
    return bool(nw.dependencies.is_into_dataframe(data))


def is_pandas(data: Any) -> bool:
    """Tell what has pandas' index, and maybe columns of several levels, from the other tables and columns."""
    return hasattr(data, "iloc")


def has_levels(data: Any) -> bool:
    """Tell a table whose columns have several levels, of which the first names the view."""
    return is_pandas(data) and getattr(data, "columns", None) is not None and data.columns.nlevels > 1


def column_labels(table: Any) -> list[Any]:
    """Return the labels of the columns, in order; pandas' may be of any type, and repeat."""
    return list(table.columns) if is_pandas(table) else list(nw.from_native(table, eager_only=True).columns)


def take_columns(table: Any, numbers: Sequence[int]) -> Any:
    """Return some columns of a table, by their numbers, as a table of the same library."""
    if is_pandas(table):
        return table.iloc[:, list(numbers)]
    labels = column_labels(table)
    return nw.from_native(table, eager_only=True).select([labels[number] for number in numbers]).to_native()


def column_names(table: Any) -> list[Any] | None:
    """Return the names of the columns; None for those that are merely numbered."""
    names = column_labels(table)
    return None if all(isinstance(name, int | np.integer) for name in names) else names


def index_of(table: Any) -> Any:
    """Return the index of pandas' rows as an array; None if there is none, or it just counts the rows from 0."""
    if not is_pandas(table):
        return None
    index = table.index.to_numpy() if table.index.nlevels == 1 else np.array([*table.index, None], dtype=object)[:-1]
    if index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index))):
        return None
    return index


def table_matrix(table: Any, view: str) -> npt.NDArray[Any]:
    """Return the columns of a table as one numeric array; what is null in them is NaN, True and False are 1 and 0."""
    if is_pandas(table):
        kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in table.dtypes}
        if kinds <= set("fiu") or kinds == {"b"}:
            matrix: npt.NDArray[Any] = table.to_numpy()  # of one type, it is not copied
            return matrix
        series = [table.iloc[:, number] for number in range(table.shape[1])]
    else:
        frame = nw.from_native(table, eager_only=True)
        series = [frame.get_column(name).to_native() for name in frame.columns]
    labels = column_labels(table)
    columns = [column_values(one, f"View {view!r}", repr(name)) for one, name in zip(series, labels, strict=True)]
    return np.column_stack(columns) if columns else np.empty((len(table), 0))


def column_values(column: Any, owner: str, label: str) -> npt.NDArray[Any]:
    """Return one column of a table as numbers; an error names its owner, its label and the first value that is none."""
    series: Any = nw.from_native(column, series_only=True)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        if series.null_count() > 0 or series.dtype in (nw.Decimal, nw.Int128, nw.UInt128):
            series = series.cast(nw.Float32 if series.dtype == nw.Float32 else nw.Float64)
        values = np.asarray(series.to_numpy())
        return values if values.dtype.kind in "fiub" else values.astype(np.float64)
    values = np.asarray(column) if is_pandas(column) else np.array([*series.to_list(), None], dtype=object)[:-1]
    if values.dtype.kind == "O":
        return numbers_of(values, owner, label)
    if values.dtype.kind not in "fiub":
        kind = getattr(column, "dtype", None) or series.dtype
        raise ValueError(f"{owner}: column {label} is not numeric ({kind}). {_RAW_TABLE}")
    return values


_RAW_TABLE = (
    "TableViews turns raw tables with text, categories and dates into views: make_pipeline(TableViews(), FSSMSC()), "
    "with a DataFrame that has all its columns."
)


def numbers_of(values: npt.NDArray[Any], owner: str, label: str) -> npt.NDArray[Any]:
    """Return a column of objects as float64; missing ones are NaN, and text is refused even where it looks like one."""
    result = np.empty(len(values))
    for row, value in enumerate(values):
        if is_missing(value):
            result[row] = np.nan
            continue
        if isinstance(value, str | bytes):
            raise ValueError(
                f"{owner} is not numeric: column {label}, row {row} holds {value!r}, which is text. {_RAW_TABLE} "
                "Digits that are stored as text become numbers by .astype(float)."
            )
        try:
            result[row] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            message = (
                f"{owner} is not numeric: column {label}, row {row} holds {_shown(value)} "
                "(argument must be a string or a real number of float64); encode such columns as numbers first."
            )
            raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from None
    return result


def _shown(value: Any) -> str:
    if isinstance(value, int) and abs(value) > 10**30:  # Python refuses to print the longest ones
        return "an integer too large"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def as_column(values: Any) -> Any:
    """Return a column of polars or pyarrow, or a table of one column, as a list or as pandas' Series; others as is."""
    if isinstance(values, np.ndarray | list | tuple | dict):
        return values
    if is_table(values) and len(column_labels(values)) == 1:
        values = values.iloc[:, 0] if is_pandas(values) else values[column_labels(values)[0]]
    if is_pandas(values) or not (nw.dependencies.is_into_series(values) or hasattr(values, "to_pylist")):
        return values
    return values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()
