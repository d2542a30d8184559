"""Columns of a table as arrays of rows: numbers, or lists of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.number_text import COMMA, read_number
from ...files.sources import LINES, check_readable, error_line, files_of, reads_as_number, suffix_of
from ...files.tables import FIRST_LINE, read_table
from ..errors import DataError

_ROWS = 8192  # rows of a table turned at a time: columns in, rows out, within a cache
Groups = Mapping[str, Sequence[str]]


def read_columns(path: Path, groups: Groups, others: Sequence[str]) -> tuple[dict[str, npt.NDArray[Any]], Any]:
    """Read groups of columns as arrays, and other columns as a table.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    groups : mapping of str to sequence of str
        Columns of each view.
    others : sequence of str
        Columns of ids and labels; in CSV files they are text whatever they look like.

    Returns
    -------
    dict of str to ndarray, pyarrow.Table
    """
    check_readable(path)
    if suffix_of(path) == ".parquet" and files_of(path) == [path]:
        read = _read_row_groups(path, groups, others)
        if read is not None:
            return read
    wanted = dict.fromkeys([*(name for group in groups.values() for name in group), *others])
    table = read_table(path, list(wanted), text=others)
    line = FIRST_LINE if suffix_of(path) in LINES[:2] and files_of(path) == [path] else 0
    return {view: column_matrix(table, group, str(path), line) for view, group in groups.items()}, table


def _read_row_groups(path: Path, groups: Groups, others: Sequence[str]) -> tuple[dict[str, Any], Any] | None:
    """Read a Parquet file part by part, so that columns are not held beside arrays; None unless all are numbers."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
            columns = list(dict.fromkeys(name for group in groups.values() for name in group))
            if not all(_is_numeric(schema.field(name).type) for name in columns):
                return None
            arrays = {
                view: np.empty((n_rows, len(group)), dtype=_dtype_of([schema.field(name).type for name in group]))
                for view, group in groups.items()
            }
            start = 0
            for number in range(file.num_row_groups):
                part = file.read_row_group(number, columns)
                for view, group in groups.items():
                    _turn(part.select(list(group)), arrays[view][start : start + part.num_rows])
                start += part.num_rows
            return arrays, file.read(list(others)) if others else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise DataError(f"{path} cannot be read: {error_line(error)}") from None


def column_matrix(table: Any, columns: Sequence[str], place: str, line_of_row: int = 0) -> npt.NDArray[Any]:
    """Return columns of numbers, or one column of lists, as an array; what is empty is NaN.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    columns : sequence of str
        Names of the columns, in order.
    place : str
        Name of the file, for errors.
    line_of_row : int
        Line of the file that the first row stands on; 0 if the file has no lines.
    """
    chosen = table.select(list(columns))
    types = [field.type for field in chosen.schema]
    if any(_is_list(kind) for kind in types):
        return np.column_stack([_list_matrix(chosen.column(name), name, place) for name in columns])
    for name, kind in zip(columns, types, strict=True):
        if not _is_numeric(kind):
            raise not_numbers(table.column(name), name, place, line_of_row)
    result = np.empty(chosen.shape, dtype=_dtype_of(types))
    _turn(chosen, result)
    return result


def _turn(table: Any, result: npt.NDArray[Any]) -> None:
    """Write the columns of a table into rows, some thousand at a time."""
    start = 0
    for batch in table.to_batches(max_chunksize=_ROWS):
        block = np.empty((batch.num_columns, batch.num_rows), dtype=result.dtype)
        for number, column in enumerate(batch.columns):
            block[number] = column.to_numpy(zero_copy_only=False)
        result[start : start + batch.num_rows] = block.T
        start += batch.num_rows


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _dtype_of(kinds: Sequence[Any]) -> type[np.floating[Any]]:
    import pyarrow as pa

    return np.float32 if all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in kinds) else np.float64


def not_numbers(column: Any, name: str, place: str, line_of_row: int) -> DataError:
    """Return the error for text where numbers should be: it names the first cell that is no number."""
    for row, cell in enumerate(column.to_pylist()):
        if cell not in (None, "") and not reads_as_number(cell):
            where = f"line {row + line_of_row}" if line_of_row else f"row {row}"
            remedy = "Put numbers there"
            if not math.isnan(read_number(str(cell), COMMA)):
                remedy = "Write it with a decimal point"
            return DataError(
                f"{place}, column {name!r}, {where}: {_shown(cell)} is not a number. {remedy}, leave the column out of "
                "--view, or give the table without --view: columns of text are recognised then."
            )
    return DataError(f"{place}: column {name!r} ({column.type}) holds no numbers.")


def _list_matrix(column: Any, name: str, place: str) -> npt.NDArray[Any]:
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    lengths = np.asarray(pa.compute.list_value_length(column).to_numpy(zero_copy_only=False), dtype=np.float64)
    filled = ~np.isnan(lengths)
    sizes = np.unique(lengths[filled])
    if len(sizes) != 1:
        other = int(np.argmax(filled & (lengths != lengths[np.argmax(filled)]))) if filled.any() else 0
        raise DataError(f"{place}, column {name!r}: lists need one length; row {other} differs from the first.")
    values = column.flatten()
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise DataError(f"{place}, column {name!r}: its lists hold {values.type}, not numbers.")
    cells = values.to_numpy(zero_copy_only=False)
    kind = np.float32 if cells.dtype.itemsize <= 4 and cells.dtype.kind == "f" else np.float64
    result = np.full((len(column), int(sizes[0])), np.nan, dtype=kind)
    result[filled] = cells.reshape(-1, int(sizes[0]))
    return result


def _shown(cell: Any) -> str:
    text = repr(str(cell))
    return text if len(text) <= 60 else f"{text[:59]}…"
