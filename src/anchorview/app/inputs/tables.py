"""Tables from CSV and Parquet files, by pyarrow; errors name the file, the column and the line."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ..csv_cells import unmark_table, unmark_text
from ..errors import CommandError, DataError

TABLES = (".csv", ".tsv", ".parquet")
_BLOCK = 2**26  # bytes of a CSV file over which types are inferred at first


def suffix_of(path: Path) -> str:
    """Return the suffix that tells what a file is: that of ``a.csv.gz`` is .csv."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_table(path: Path, columns: Sequence[str] | None = None, text: Collection[str] = ()) -> Any:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : Path
        The file: .csv or .tsv, perhaps .gz, or .parquet.
    columns : sequence of str, optional
        The only columns to read.
    text : collection of str
        Columns of a CSV file that are text whatever they look like: ids and labels, whose zeros in front count.

    Returns
    -------
    pyarrow.Table
    """
    pa = require("pyarrow", f"{path} is read by pyarrow")
    check_readable(path)
    try:
        if suffix_of(path) == ".parquet":
            import pyarrow.parquet

            return pyarrow.parquet.read_table(path, columns=None if columns is None else list(columns))
        return _read_csv(path, columns, text)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
        raise DataError(f"{path} cannot be read: {one_line(error)}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {one_line(error)}") from None


def table_names(path: Path) -> list[str]:
    """Return the names of the columns of a file, without reading it all."""
    require("pyarrow", f"{path} is read by pyarrow")
    check_readable(path)
    if suffix_of(path) == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet

        try:
            return list(pyarrow.parquet.read_schema(path).names)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{path} cannot be read: {one_line(error)}") from None
    return _header(path)


def _read_csv(path: Path, columns: Sequence[str] | None, text: Collection[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    names = _header(path)
    parsing = csv.ParseOptions(delimiter=csv_delimiter(path), newlines_in_values=True)
    stored = stored_names(path)
    types = {stored[name]: pa.string() for name in text if name in stored}
    wanted = None if columns is None else [stored.get(name, name) for name in columns]
    threads = True
    while True:
        converting = csv.ConvertOptions(column_types=types, include_columns=wanted)
        reading = csv.ReadOptions(block_size=_BLOCK, use_threads=threads)
        try:
            table = csv.read_csv(path, reading, parsing, converting)
            break
        except pa.ArrowInvalid as error:
            message = one_line(error)
            column = re.search(r"In CSV column #(\d+)", message)
            if column and stored[names[int(column[1])]] not in types:
                # The first part of the file looked like numbers, a later one does not: the column is text.
                types[stored[names[int(column[1])]]] = pa.string()
            elif threads and "parse error" in message:
                threads = False  # then the message names the line
            else:
                raise DataError(f"{path}: {csv_error(error)}") from None
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise DataError(f"{path}: column {field.name!r} is not UTF-8 text; save the file as UTF-8.")
    return unmark_table(table)


def csv_error(error: BaseException) -> str:
    """Return what pyarrow says of a CSV file, with the line if it names one."""
    message = one_line(error)
    row = re.search(r"Row #(\d+): (.*)", message)
    text = row[2] if row else message.removeprefix("CSV parse error: ")
    text = re.sub(
        r"^Expected (\d+) columns, got (\d+):", r"\1 cells were expected, as in the first line, and \2 found:", text
    )
    return f"line {row[1]}: {text}" if row else text


def stored_names(path: Path) -> dict[str, str]:
    """Return the names of the columns of a CSV file as its first line writes them, by what they are."""
    import csv as text_csv

    written = next(text_csv.reader([_first_line(path)], delimiter=csv_delimiter(path)), [])
    return dict(zip(_header(path), written, strict=True))


def _header(path: Path) -> list[str]:
    import csv as text_csv

    line = _first_line(path)
    names = [unmark_text(name) for name in next(text_csv.reader([line], delimiter=csv_delimiter(path)), [])]
    if not names or not line.strip():
        raise DataError(f"{path} is empty; its first line must name the columns.")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{path}: line 1 names a column twice: {repeated[0]!r}; rename one of them.")
    if all(is_number(name) for name in names):
        raise DataError(f"{path}: line 1 holds numbers only; it must name the columns.")
    return names


def _first_line(path: Path) -> str:
    import gzip

    try:
        with path.open("rb") as raw:
            stream: Any = gzip.GzipFile(fileobj=raw) if path.suffix.lower() == ".gz" else raw
            line: bytes = stream.readline(2**24)
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {one_line(error)}") from None
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{path}: line 1 is not UTF-8 text; save the file as UTF-8.") from None


def csv_delimiter(path: Path) -> str:
    """Return the tab of .tsv; else comma or semicolon, whichever the first line has more of."""
    if suffix_of(path) == ".tsv":
        return "\t"
    line = _first_line(path)
    return ";" if line.count(";") > line.count(",") else ","


def require(package: str, purpose: str) -> Any:
    """Import a package of the extra [cli]; an error says how to get it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise CommandError(f"{purpose}, which is not installed: pip install 'anchorview[cli]'") from None


def check_readable(path: Path) -> None:
    """Raise an error if a file is not there, or may not be read."""
    try:
        if path.is_dir() and path.suffix != ".zarr":
            raise DataError(f"{path} is a folder; name a file.")
        if not path.is_dir():
            with path.open("rb"):
                pass
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def is_number(cell: Any) -> bool:
    """Tell whether a cell can be read as a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def one_line(error: BaseException) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())
