"""The rows of a table as a person reads them, and the lines of the file that they are in."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import CommandError
from .gathering import RunData
from .tables import csv_delimiter, read_table, suffix_of, table_names

_MOST_COLUMNS = 200  # to choose from
_BLOCK = 2**20  # bytes read at a time


def read_contents(data: RunData) -> Any:
    """Read the table of a run again, without ids and labels: it is not kept while the model is fitted.

    None if the rows do not come from one table, or it has changed in the meantime.
    """
    if data.file is None:
        return None
    try:
        columns = [name for name in table_names(data.file) if name not in data.unread][:_MOST_COLUMNS]
        table = read_table(data.file, columns) if columns else None
    except CommandError:  # it is gone: the report can do without
        return None
    return table if table is not None and table.num_rows == len(data.views) else None


@dataclass(frozen=True)
class RowPlaces:
    """Where rows of a file are found: "reviews.csv, line 17".

    Parameters
    ----------
    path : Path
        The file.
    n_rows : int
        How many rows it has.
    """

    path: Path
    n_rows: int

    def __call__(self, rows: Sequence[int]) -> list[str]:
        """Return the places of rows, given by their numbers from 0."""
        name = self.path.name
        if suffix_of(self.path) == ".parquet":
            return [f"{name}, row {row + 1}" for row in rows]
        lines = find_lines(self.path, rows, self.n_rows)
        return [f"{name}, line {lines[row]}" if row in lines else f"{name}, row {row + 1}" for row in rows]


def find_lines(path: Path, rows: Sequence[int], n_rows: int) -> dict[int, int]:
    """Return the line, from 1, in which rows of a CSV file begin; cells may hold line breaks, and lines be empty."""
    try:
        with _open(path) as stream:
            blocks = iter(lambda: stream.read(_BLOCK), b"")
            n_breaks, last = 0, b""
            for block in blocks:
                n_breaks += block.count(b"\n")
                last = block
        if n_breaks + (not last.endswith(b"\n")) == n_rows + 1:  # the usual case: a line for each row, and the header
            return {row: row + 2 for row in rows}
        return _count_lines(path, set(rows))
    except (OSError, EOFError, csv.Error, UnicodeDecodeError):
        return {}


def _count_lines(path: Path, wanted: set[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    csv.field_size_limit(2**31 - 1)
    with io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=csv_delimiter(path))
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


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]
