"""Tables, figures and text of an experiment, as plain data that every output format is made from."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.files import replace_file


@dataclass
class Cell:
    """One cell of a table; ``mark`` is "best", "second" or nothing."""

    text: str
    mark: str = ""


@dataclass
class Table:
    """A table; a row of one cell is a heading within the table, and ``ours`` are the headers of our own methods."""

    name: str
    title: str
    header: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    note: str = ""
    ours: list[str] = field(default_factory=list)

    def add(self, *cells: str | Cell) -> None:
        """Append a row."""
        self.rows.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells])

    def add_heading(self, text: str) -> None:
        """Append a heading over all columns."""
        self.rows.append([Cell(text)])


@dataclass
class Figure:
    """A figure that lies as ``figures/<name>.png`` and ``.svg``."""

    name: str
    title: str


@dataclass
class Section:
    """What an experiment has to show."""

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Write it as JSON, to be put together with the other sections."""
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / f"{self.name}.json", json.dumps(asdict(self), ensure_ascii=False, indent=1))

    @classmethod
    def load(cls, path: Path) -> Section:
        """Read what `save` wrote; ValueError if the file holds something else."""
        try:
            saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            tables = [Table(**{**t, "rows": [[Cell(**c) for c in row] for row in t["rows"]]}) for t in saved["tables"]]
            figures = [Figure(**figure) for figure in saved["figures"]]
            return cls(saved["name"], saved["title"], saved["text"], tables, figures)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is not a section of results ({type(error).__name__}: {error})") from None


def score_cells(
    means: Sequence[float | None],
    texts: Sequence[str],
    *,
    smallest: bool = False,
    groups: Sequence[Hashable] | None = None,
) -> list[Cell]:
    """Mark the best and the second best of a row; equal texts share a mark.

    With `groups` cells are ranked among those of the same group only, so that like is compared with like.

    Examples
    --------
    >>> [cell.mark for cell in score_cells([90.0, None, 97.1, 97.1, 95.0], ["90.0", "OM", "97.1", "97.1", "95.0"])]
    ['', '', 'best', 'best', 'second']
    >>> [cell.mark for cell in score_cells([50.0, 60.0, 97.1], ["50.0", "60.0", "97.1"], groups=["a", "a", "b"])]
    ['second', 'best', '']
    """
    shown = [
        None if mean is None or math.isnan(mean) else _leading_number(t) for mean, t in zip(means, texts, strict=True)
    ]
    of = [None] * len(shown) if groups is None else list(groups)
    marks: dict[tuple[Hashable, float], str] = {}
    for group in set(of):
        alike = {value for value, other in zip(shown, of, strict=True) if value is not None and other == group}
        if len(alike) > 1:
            ranked = sorted(alike, reverse=not smallest)
            marks |= {(group, ranked[0]): "best", (group, ranked[1]): "second"}
    cells = zip(texts, shown, of, strict=True)
    return [Cell(text, "" if value is None else marks.get((group, value), "")) for text, value, group in cells]


def _leading_number(text: str) -> float:
    return float(text.split(" ")[0].split("(")[0].replace(",", ""))


def scientific(value: float) -> str:
    """Return a number as in the paper's tables.

    Examples
    --------
    >>> scientific(143_000_000)
    '1.43e8'
    """
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"
