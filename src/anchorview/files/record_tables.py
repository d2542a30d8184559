"""Tables whose cells have types of their own: JSON lines, JSON, Excel sheets and SQLite tables."""

from __future__ import annotations

import datetime
import itertools
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from ..core.archives import is_bomb, packed_size, unpacked_size
from ..core.user_errors import DataError
from .sources import check_names, error_line, import_extra, open_stream, split_part, suffix_of

_SOME_LINES = 1000  # of JSON lines that are read for the names of the columns
_ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")  # of Excel's formulas
Record = Mapping[str, Any]


def record_names(path: Path) -> list[str]:
    """Return the names of the columns."""
    if suffix_of(path) in (".jsonl", ".ndjson", ".json"):
        names: dict[str, None] = {}
        for record in itertools.islice(_json_records(path), _SOME_LINES):
            names |= dict.fromkeys(record)
        if not names:
            raise DataError(f"{path} is empty; each line must be a JSON object.")
        return list(names)
    rows = _sheet_rows(path) if suffix_of(path) in (".xlsx", ".xlsm") else _sqlite_rows(path)
    return next(rows)


def read_records(path: Path, columns: Sequence[str] | None, text: Collection[str]) -> Any:
    """Read all rows as a pyarrow table."""
    records = list(_records(path))
    names = list(dict.fromkeys([*record_names(path), *(name for record in records for name in record)]))
    return _table(records, names if columns is None else columns, text)


def record_blocks(path: Path, columns: Sequence[str], text: Collection[str], n_rows: int) -> Iterator[Any]:
    """Iterate over tables of so many rows."""
    records = _records(path)
    while block := list(itertools.islice(records, n_rows)):
        yield _table(block, columns, text)


def record_places(path: Path, rows: Collection[int]) -> dict[int, int]:
    """Return the line of a file of JSON lines, or the row of a sheet, in which rows are found."""
    wanted, found = set(rows), {}
    if suffix_of(path) in (".jsonl", ".ndjson"):
        with open_stream(path) as stream:
            places = (line for line, cells in enumerate(stream, 1) if cells.strip())
            found = {row: line for row, line in enumerate(places) if row in wanted}
    elif suffix_of(path) in (".xlsx", ".xlsm"):
        places = (number for number, cells in _filled_rows(path))
        next(places)  # the names
        found = {row: number for row, number in enumerate(places) if row in wanted}
    return found


def _records(path: Path) -> Iterator[dict[str, Any]]:
    if suffix_of(path) in (".jsonl", ".ndjson", ".json"):
        yield from _json_records(path)
        return
    rows = _sheet_rows(path) if suffix_of(path) in (".xlsx", ".xlsm") else _sqlite_rows(path)
    names = next(rows)
    for cells in rows:
        yield dict(zip(names, cells, strict=False))


def _json_records(path: Path) -> Iterator[dict[str, Any]]:
    """Iterate over the objects of a file, with the members of objects in them as columns of their own ("a.b")."""
    if suffix_of(path) == ".json":
        with open_stream(path) as stream:
            listed = _parsed(stream.read(), str(path))
        if not isinstance(listed, list):
            raise DataError(f"{path} must hold a list of objects, or be written as JSON lines (.jsonl).")
        for row, value in enumerate(listed, 1):
            yield flat_record(value, f"{path}, row {row}")
        return
    with open_stream(path) as stream:
        for line, content in enumerate(stream, 1):
            if content.strip():
                yield flat_record(_parsed(content, f"{path}, line {line}"), f"{path}, line {line}")


def _parsed(content: bytes, place: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is not valid JSON: {error_line(error)}.") from None


def flat_record(value: Any, place: str) -> dict[str, Any]:
    """Return an object with the members of objects in it as columns of their own ("a.b")."""
    if not isinstance(value, dict):
        raise DataError(f'{place} must hold an object ({{"name": value, …}}), not {type(value).__name__}.')
    result: dict[str, Any] = {}
    for name, member in value.items():
        if isinstance(member, dict):
            result |= {f"{name}.{inner}": one for inner, one in flat_record(member, place).items()}
        else:
            result[str(name)] = member
    return result


def _sheet_rows(path: Path) -> Iterator[list[Any]]:
    """Iterate over the names of the columns, then the cells of each row that holds any."""
    rows = _filled_rows(path)
    _, header = next(rows, (0, []))
    width = max((number for number, cell in enumerate(header, 1) if cell is not None), default=0)
    names = [f"column {_letter(n)}" if cell is None else str(cell).strip() for n, cell in enumerate(header[:width])]
    yield check_names(names, str(path))
    for _, cells in rows:
        yield [None if cell in _ERRORS else cell for cell in [*cells, *[None] * (width - len(cells))][:width]]


def _filled_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    openpyxl = import_extra("openpyxl", f"{path} is read by openpyxl", "excel")
    file, part = split_part(path)
    try:
        with ZipFile(file) as archive:
            entries = archive.infolist()
            if is_bomb(unpacked_size(entries), packed_size(entries, file.stat().st_size)):
                raise DataError(f"{file} unpacks to {unpacked_size(entries):,} bytes, which no sheet of its size does.")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataError(
            f"{file} cannot be read as .xlsx ({error_line(error)}); open it in Excel and save it as .xlsx, without a "
            "password."
        ) from None
    try:
        if part is not None and part not in book.sheetnames:
            raise DataError(f"{file} has no sheet {part!r}; it has {', '.join(map(repr, book.sheetnames))}.")
        sheet = book[part] if part is not None else book.worksheets[0]
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if any(cell not in (None, "") for cell in cells):
                yield number, list(cells)
    finally:
        book.close()


def sheet_note(path: Path) -> str | None:
    """Return which sheet or table was read, if there are several and none was named."""
    file, part = split_part(path)
    if part is not None or suffix_of(path) not in (".xlsx", ".xlsm"):
        return None
    openpyxl = import_extra("openpyxl", f"{path} is read by openpyxl", "excel")
    book = openpyxl.load_workbook(file, read_only=True)
    names = list(book.sheetnames)
    book.close()
    if len(names) < 2:
        return None
    listed = ", ".join(map(repr, names[1:6]))
    return f"{file.name}: sheet {names[0]!r} was read; there are others ({listed}): --sheet NAME."


def _letter(number: int) -> str:
    letters = ""
    while number >= 0:
        letters, number = chr(65 + number % 26) + letters, number // 26 - 1
    return letters


def _sqlite_rows(path: Path) -> Iterator[list[Any]]:
    """Iterate over the names of the columns, then the cells of each row; the file is opened for reading only."""
    file, part = split_part(path)
    try:
        connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        try:
            listed = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
                "ESCAPE '\\' ORDER BY name"
            )
            names = [name for (name,) in listed]
            if part is None and len(names) != 1:
                shown = ", ".join(names[:10]) or "none"
                raise DataError(f"{file} has {len(names)} tables ({shown}); name one: --table NAME.")
            if part is not None and part not in names:
                raise DataError(f"{file} has no table {part!r}; it has {', '.join(names[:10])}.")
            quoted = (part or names[0]).replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            yield check_names([column[0] for column in cursor.description], str(path))
            for cells in cursor:
                yield [None if isinstance(cell, bytes) else cell for cell in cells]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(f"{file} cannot be read as SQLite: {error_line(error)}.") from None


def _table(records: Sequence[Record], names: Sequence[str], text: Collection[str]) -> Any:
    import pyarrow as pa

    return pa.table({name: _column([record.get(name) for record in records], name in text) for name in names})


def _column(cells: list[Any], as_text: bool) -> Any:
    """Return cells as a column of one type: what they all are, else text."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if as_text or (len(kinds) > 1 and not kinds <= {int, float} and not kinds <= {datetime.datetime, datetime.date}):
        return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string())
    try:
        return pa.array(cells, pa.float64() if kinds == {int, float} else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # lists of several kinds, whole numbers beyond 64 bits
        return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string())


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=str).strip('"')
