"""The files and lines in which rows of a table are found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...files.sources import LINES, files_of, split_part, suffix_of
from ...files.tables import count_file_rows, find_lines
from ..errors import DataError

_ROW = re.compile(r"\brow (\d+)\b")


@dataclass(frozen=True)
class RowPlaces:
    """Where rows of a table are found: "reviews.csv, line 17", "book.xlsx, sheet 'Orders', row 4".

    Parameters
    ----------
    path : Path
        The table: one file, or several.
    n_rows : int
        How many rows it has.
    """

    path: Path
    n_rows: int

    def __call__(self, rows: Sequence[int]) -> list[str]:
        """Return the places of rows, given by their numbers from 0."""
        files = files_of(self.path)
        sizes = (self.n_rows,) if len(files) == 1 else _sizes(tuple(files))
        found: dict[int, str] = {}
        start = 0
        for file, size in zip(files, sizes, strict=True):
            own = [row - start for row in rows if start <= row < start + size]
            found |= {start + row: place for row, place in _in_file(file, own, size).items()}
            start += size
        return [found.get(row, f"row {row + 1}") for row in rows]

    def add_to(self, message: str, first: int = 0) -> str:
        """Return an error with the place of the row that it names, counted from the row `first` of the table."""
        named = _ROW.search(message)
        if named is None or first + int(named[1]) >= self.n_rows:
            return message
        return f"{message} (That is {self([first + int(named[1])])[0]}.)"


def _in_file(path: Path, rows: Sequence[int], n_rows: int) -> dict[int, str]:
    if not rows:
        return {}
    file, part = split_part(path)
    name = file.name if part is None else f"{file.name}, {'sheet' if suffix_of(path) == '.xlsx' else 'table'} {part!r}"
    lines = find_lines(path, rows, n_rows)
    word = "line" if suffix_of(path) in LINES else "row"
    return {row: f"{name}, {word} {lines[row]}" if row in lines else f"{name}, row {row + 1}" for row in rows}


@lru_cache(maxsize=16)
def _sizes(files: tuple[Path, ...]) -> tuple[int, ...]:
    try:
        return tuple(count_file_rows(file) for file in files)
    except DataError:  # one of them is gone
        return (0,) * len(files)
