"""Tables from files of every kind that people have; errors name the file, the column and the line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.user_errors import DataError
from .csv_tables import csv_blocks, csv_names, encoding_note, find_csv_lines, read_csv
from .record_tables import read_records, record_blocks, record_names, record_places, sheet_note
from .sources import LINES, PHOTO, PHOTOS, check_readable, error_line, files_of, import_extra, photo_paths, suffix_of

_CSV = (".csv", ".tsv")
_ARROW = (".feather", ".arrow")
_BYTES = 2**24  # counted together
FIRST_LINE = 2  # of a CSV file, the one that its first row stands on


def read_table(path: Path, columns: Sequence[str] | None = None, text: Collection[str] = ()) -> Any:
    """Read a table: a file, a part of it, or several files below each other.

    Parameters
    ----------
    path : Path
        What to read (see `sources`).
    columns : sequence of str, optional
        The only columns to read.
    text : collection of str
        Columns that are text whatever they look like: ids and labels, whose zeros in front count.

    Returns
    -------
    pyarrow.Table
    """
    import_extra("pyarrow", f"{path} is read by pyarrow")
    check_readable(path)
    files = files_of(path)
    if len(files) == 1:
        return _read_file(files[0], columns, text)
    names = table_names(path)
    return _stack(files, names if columns is None else list(columns), text)


def table_names(path: Path) -> list[str]:
    """Return the names of the columns of a table, without reading it all; several files need the same."""
    import_extra("pyarrow", f"{path} is read by pyarrow")
    check_readable(path)
    first, *others = files_of(path)
    names = _names(first)
    for file in others:
        own = _names(file)
        if set(own) != set(names):
            name = sorted(set(own) ^ set(names))[0]
            lacking, having = (first, file) if name in own else (file, first)
            raise DataError(f"{having} has a column {name!r} and {lacking} has none; files of one table need the same.")
    return names


def table_blocks(path: Path, columns: Sequence[str], text: Collection[str], n_rows: int) -> Iterator[Any]:
    """Iterate over a table in tables of as many rows, the last one perhaps shorter.

    Parameters
    ----------
    path : Path
        What to read.
    columns : sequence of str
        The columns to read.
    text : collection of str
        Those that are text whatever they look like. Of a CSV file, the others are numbers where all of a block are.
    n_rows : int
        Rows of a block.
    """
    names = table_names(path)
    lacking = [name for name in columns if name not in names]
    if lacking:
        shown = ", ".join(names[:10])
        raise DataError(f"{path} is missing columns of the fit: {', '.join(map(repr, lacking[:5]))}. It has {shown}.")

    def parts() -> Iterator[Any]:
        for file in files_of(path):
            with _explained(file):
                yield from _file_blocks(file, columns, text, n_rows)

    waiting: list[Any] = []
    for part in parts():
        waiting.append(part)
        n_waiting = sum(one.num_rows for one in waiting)
        while n_waiting >= n_rows:
            table = _concat(waiting)
            yield _typed(table.slice(0, n_rows), text)
            waiting, n_waiting = [table.slice(n_rows)], n_waiting - n_rows
    if sum(one.num_rows for one in waiting):
        yield _typed(_concat(waiting), text)


def _file_blocks(path: Path, columns: Sequence[str], text: Collection[str], n_rows: int) -> Iterator[Any]:
    import pyarrow as pa

    if suffix_of(path) in _CSV:
        yield from csv_blocks(path, columns)
    elif suffix_of(path) == ".parquet":
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
                yield pa.Table.from_batches([batch])
    elif suffix_of(path) in (*_ARROW, PHOTOS):
        table = (_photo_table(path) if suffix_of(path) == PHOTOS else _read_arrow(path)).select(list(columns))
        for start in range(0, table.num_rows, n_rows):
            yield table.slice(start, n_rows)
    else:
        yield from record_blocks(path, columns, text, n_rows)


def count_rows(paths: Sequence[Path]) -> int:
    """Return about how many rows tables have; of CSV files the lines but one, as texts may have several.

    Of packed files, sheets and databases nothing is known beforehand: 0 then.
    """
    import pyarrow.parquet

    total = 0
    for path in (file for one in paths for file in files_of(one)):
        if suffix_of(path) == ".parquet":
            total += pyarrow.parquet.read_metadata(path).num_rows
        elif path.suffix.lower() in LINES:
            with path.open("rb") as stream:
                n_breaks = sum(block.count(b"\n") for block in iter(lambda: stream.read(_BYTES), b""))
            total += n_breaks - (suffix_of(path) in _CSV)
        else:
            return 0
    return max(total, 0)


def count_file_rows(path: Path) -> int:
    """Return how many rows one file has, by reading its first column."""
    return int(_read_file(path, _names(path)[:1], ()).num_rows)


def notes_on_files(path: Path) -> list[str]:
    """Return what to say about how files were read: another encoding, a sheet among several."""
    files = files_of(path)
    notes = [f"{len(files):,} files are read as one table."] if len(files) > 1 else []
    for file in files:
        note = encoding_note(file) if suffix_of(file) in _CSV else sheet_note(file)
        notes += [note] if note else []
    return notes


def find_lines(path: Path, rows: Sequence[int], n_rows: int) -> dict[int, int]:
    """Return the line (of a sheet: the row), from 1, in which rows of a file begin; none where it has no lines."""
    try:
        if suffix_of(path) in _CSV:
            return find_csv_lines(path, rows, n_rows)
        return record_places(path, rows)
    except (OSError, EOFError, ValueError, DataError):
        return {}


def _names(path: Path) -> list[str]:
    with _explained(path):
        if suffix_of(path) in _CSV:
            return csv_names(path)
        if suffix_of(path) == PHOTOS:
            return [PHOTO]
        if suffix_of(path) == ".parquet":
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(path).names)
        return list(_read_arrow(path).column_names) if suffix_of(path) in _ARROW else record_names(path)


def _read_file(path: Path, columns: Sequence[str] | None, text: Collection[str]) -> Any:
    with _explained(path):
        if suffix_of(path) in _CSV:
            return read_csv(path, columns, text)
        if suffix_of(path) == PHOTOS:
            return _photo_table(path)
        if suffix_of(path) == ".parquet":
            import pyarrow.parquet

            return pyarrow.parquet.read_table(path, columns=None if columns is None else list(columns))
        if suffix_of(path) in _ARROW:
            return _read_arrow(path) if columns is None else _read_arrow(path).select(list(columns))
        return read_records(path, columns, text)


def _photo_table(folder: Path) -> Any:
    import pyarrow as pa

    return pa.table({PHOTO: photo_paths(folder)})


def _read_arrow(path: Path) -> Any:
    """Read a Feather file, or Arrow's record batches, as a file or as a stream."""
    import pyarrow as pa
    from pyarrow import feather, ipc

    try:
        return feather.read_table(path)
    except pa.ArrowInvalid:
        with pa.memory_map(str(path)) as source:
            return ipc.open_stream(source).read_all()


def _stack(files: Sequence[Path], columns: Sequence[str], text: Collection[str]) -> Any:
    """Read files below each other; a column that is text in one of them is text in all."""
    import pyarrow as pa

    tables = [_read_file(file, columns, text) for file in files]
    mixed = {
        name for name in columns if len({_family(table.schema.field(name).type) for table in tables} - {"null"}) > 1
    }
    if mixed:
        tables = [_read_file(file, columns, {*text, *mixed}) for file in files]
        tables = [pa.table({name: _text_if(name in mixed, table.column(name)) for name in columns}) for table in tables]
    return _concat(tables)


def _text_if(is_mixed: bool, column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.string()) if is_mixed else column


def _family(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_null(kind):
        return "null"
    return "number" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else str(kind)


def _concat(tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables([table.select(tables[0].column_names) for table in tables], promote_options="permissive")


class _explained:
    """Turn errors of pyarrow and of the disk into errors of the data, which name the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, DataError):
            return
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError | EOFError):
            raise DataError(f"{self._path} cannot be read: {error_line(error)}") from None


def _typed(table: Any, text: Collection[str]) -> Any:
    """Turn columns of text that are numbers throughout into numbers; an empty cell is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, field in enumerate(table.schema):
        if field.name in text or not pa.types.is_string(field.type):
            continue
        column = table.column(number)
        try:
            values = pc.cast(pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column), pa.float64())
        except pa.ArrowInvalid:
            continue
        table = table.set_column(number, field.name, values)
    return table
