"""CSV files: packed or not, in UTF-8, UTF-16 or Windows-1252, with commas, semicolons or tabs."""

from __future__ import annotations

import codecs
import csv as text_csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from ..core.user_errors import DataError
from .csv_cells import unmark_table, unmark_text
from .sources import check_names, error_line, open_stream, suffix_of

UTF8 = "utf-8"
_NAMES = {"cp1252": "Windows-1252 (Latin-1)", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-16": "UTF-16"}
_MOST_DIGITS = 1e40  # of whole numbers that are written out
_BLOCK = 2**26  # bytes of a CSV file over which types are inferred at first
_BYTES = 2**24  # of a CSV file, parsed together when it is read in blocks
_DELIMITERS = (",", ";", "\t", "|")


class CsvFormat(NamedTuple):
    """How a CSV file is written."""

    encoding: str
    delimiter: str
    header: str  # the first line


def csv_format(path: Path) -> CsvFormat:
    """Return how a CSV file is written, by looking through it once."""
    try:
        stat = path.stat()
        return _format(path, stat.st_size, stat.st_mtime_ns)
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error_line(error)}") from None


def encoding_note(path: Path) -> str | None:
    """Return what to say of a file that is not UTF-8."""
    encoding = csv_format(path).encoding
    if encoding == UTF8:
        return None
    name = _NAMES.get(encoding, encoding)
    return f"{path.name} is not UTF-8; it was read as {name}. If letters look wrong, save it as UTF-8."


@lru_cache(maxsize=256)
def _format(path: Path, size: int, changed: int) -> CsvFormat:
    with open_stream(path) as stream:
        start = stream.read(2**16)
    encoding = _wide_encoding(start) or (UTF8 if _is_utf8(path) else "cp1252")
    with open_stream(path) as stream:
        raw = _first_bytes(stream, encoding)
    try:
        header = raw.decode("utf-8-sig" if encoding == UTF8 else encoding, "strict" if encoding == UTF8 else "replace")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: line 1 cannot be read as text: {error.reason}.") from None
    header = header.removeprefix("\ufeff").splitlines()[0] if header.strip("\ufeff\r\n") else ""
    if suffix_of(path) == ".tsv":
        return CsvFormat(encoding, "\t", header)
    unquoted = re.sub(r'"[^"]*"', "", header)
    return CsvFormat(encoding, max(_DELIMITERS, key=unquoted.count), header)


def _first_bytes(stream: Any, encoding: str) -> bytes:
    """Return the bytes of the first line, and in UTF-16 no half of a character."""
    if not encoding.startswith("utf-16"):
        line: bytes = stream.readline(2**24)
        return line
    start: bytes = b""
    mark = "\n".encode("utf-16-be" if encoding == "utf-16-be" else "utf-16-le")
    while block := stream.read(2**12):
        start += block
        places = [place for place in range(0, len(start) - 1, 2) if start[place : place + 2] == mark]
        if places:
            return bytes(start[: places[0]])
    return start


def _wide_encoding(start: bytes) -> str | None:
    """Return the kind of UTF-16 that a file begins as; zeros in every other byte are Latin letters without a mark."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    some = start[:4096]
    if len(some) >= 8 and b"\0" in some:
        if some[1::2].count(0) > 0.7 * len(some[1::2]) and not some[::2].count(0):
            return "utf-16-le"
        if some[::2].count(0) > 0.7 * len(some[::2]) and not some[1::2].count(0):
            return "utf-16-be"
    return None


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder(UTF8)()
    try:
        with open_stream(path) as stream:
            for block in iter(partial(stream.read, _BYTES), b""):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def csv_names(path: Path) -> list[str]:
    """Return the names of the columns."""
    return check_names([unmark_text(name) for name in _written_names(path)], str(path))


def _written_names(path: Path) -> list[str]:
    found = csv_format(path)
    return next(text_csv.reader([found.header], delimiter=found.delimiter), []) if found.header.strip() else []


def _stored_names(path: Path) -> dict[str, str]:
    """Return the names of the columns as the first line writes them, by what they are."""
    return dict(zip(csv_names(path), _written_names(path), strict=True))


def read_csv(path: Path, columns: Sequence[str] | None, text: Collection[str]) -> Any:
    """Read a CSV file; columns of `text` are text whatever they look like."""
    import pyarrow as pa
    from pyarrow import csv

    names, found = csv_names(path), csv_format(path)
    parsing = csv.ParseOptions(delimiter=found.delimiter, newlines_in_values=True)
    stored = _stored_names(path)
    types = {stored[name]: pa.string() for name in text if name in stored}
    wanted = None if columns is None else [stored.get(name, name) for name in columns]
    threads = True
    while True:
        converting = csv.ConvertOptions(column_types=types, include_columns=wanted)
        reading = csv.ReadOptions(block_size=_BLOCK, use_threads=threads, encoding=_codec(found))
        try:
            table = csv.read_csv(path, reading, parsing, converting)
            changed = [*_rounded_integers(table), *_times(table), *_codes(path, found, table)]
            changed = [name for name in changed if name not in types]
            if not changed:
                break
            types |= {name: pa.string() for name in changed}  # digits that a number would lose
        except pa.ArrowInvalid as error:
            message = error_line(error)
            column = re.search(r"In CSV column #(\d+)", message)
            if column and stored[names[int(column[1])]] not in types:
                # The first part of the file looked like numbers, a later one does not: the column is text.
                types[stored[names[int(column[1])]]] = pa.string()
            elif threads and "parse error" in message:
                threads = False  # then the message names the line
            else:
                raise DataError(f"{path}: {csv_error(error)}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{path} cannot be read as text: {error.reason}; save it as UTF-8.") from None
    return unmark_table(table)


def csv_blocks(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    """Iterate over tables of some of the rows, all cells as text."""
    import pyarrow as pa
    from pyarrow import csv

    stored, found = _stored_names(path), csv_format(path)
    wanted = [stored.get(name, name) for name in columns]
    converting = csv.ConvertOptions(
        column_types={name: pa.string() for name in wanted}, include_columns=wanted, check_utf8=True
    )
    try:
        with csv.open_csv(
            path,
            csv.ReadOptions(block_size=_BYTES, use_threads=False, encoding=_codec(found)),  # errors then name the line
            csv.ParseOptions(delimiter=found.delimiter, newlines_in_values=True),
            converting,
        ) as reader:
            for batch in reader:
                yield unmark_table(pa.Table.from_batches([batch]))
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: {csv_error(error)}") from None


def _codec(found: CsvFormat) -> str:
    return "utf8" if found.encoding == UTF8 else found.encoding


def _rounded_integers(table: Any) -> list[str]:
    """Return columns of whole numbers beyond 64 bits, which were read as floating-point numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for field in table.schema:
        if pa.types.is_float64(field.type):
            largest = pc.max(pc.abs(table.column(field.name))).as_py()
            if largest is not None and 2**63 <= largest < _MOST_DIGITS:
                found.append(field.name)
    return found


def _times(table: Any) -> list[str]:
    """Return columns of times of day, which are text to all who read tables."""
    import pyarrow as pa

    return [field.name for field in table.schema if pa.types.is_time(field.type)]


def _codes(path: Path, found: CsvFormat, table: Any) -> list[str]:
    """Return columns of whole numbers some of which begin with 0, as codes do, in the first part of a file."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    names = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    if not names:
        return []
    types = dict.fromkeys(names, pa.string())
    with csv.open_csv(
        path,
        csv.ReadOptions(block_size=_BYTES, use_threads=False, encoding=_codec(found)),
        csv.ParseOptions(delimiter=found.delimiter, newlines_in_values=True),
        csv.ConvertOptions(column_types=types, include_columns=names),
    ) as reader:
        first = next(iter(reader), None)
    if first is None:
        return []
    return [name for name in names if pc.any(pc.match_substring_regex(first.column(name), r"^\s*0\d")).as_py()]


def csv_error(error: BaseException) -> str:
    """Return what pyarrow says of a CSV file, with the line if it names one."""
    message = error_line(error)
    row = re.search(r"Row #(\d+): (.*)", message)
    text = row[2] if row else message.removeprefix("CSV parse error: ")
    text = re.sub(
        r"^Expected (\d+) columns, got (\d+):", r"\1 cells were expected, as in the first line, and \2 found:", text
    )
    return f"line {row[1]}: {text}" if row else text


def find_csv_lines(path: Path, rows: Sequence[int], n_rows: int) -> dict[int, int]:
    """Return the line, from 1, in which rows begin; cells may hold line breaks, and lines be empty."""
    found = csv_format(path)
    if found.encoding == UTF8:
        with open_stream(path) as stream:
            n_breaks, last = 0, b""
            for block in iter(partial(stream.read, _BYTES), b""):
                n_breaks, last = n_breaks + block.count(b"\n"), block
        if n_breaks + (not last.endswith(b"\n")) == n_rows + 1:  # the usual case: a line for each row, and the header
            return {row: row + 2 for row in rows}
    return _count_lines(path, found, set(rows))


def _count_lines(path: Path, about: CsvFormat, wanted: set[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    text_csv.field_size_limit(2**31 - 1)
    encoding = "utf-8-sig" if about.encoding == UTF8 else about.encoding
    with io.TextIOWrapper(open_stream(path), encoding=encoding, newline="") as stream:
        reader = text_csv.reader(stream, delimiter=about.delimiter)
        start, row = 1, -1  # the header is row -1
        for cells in reader:
            if cells:  # pyarrow leaves out empty lines, too
                if row in wanted:
                    found[row] = start
                row += 1
            start = reader.line_num + 1
            if len(found) == len(wanted):
                break
    return found
