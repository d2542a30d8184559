"""What a column of a raw table is: text, numbers, categories, dates, lists, or of no use; with the reason in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .columns import DATE_FORMATS, ISO, Column, date_reader

USED = ("text", "number", "category", "boolean", "date", "list")
LEFT_OUT = ("id", "constant", "empty", "unusable", "ignore")

_SAMPLE = 10_000  # cells that text is judged by
_READABLE = 0.95  # share of cells that must be numbers (dates, lists) for text to be read as such: some are "n/a"
_REPEATS = 0.5  # distinct values per cell up to which some words are a category: each appears twice on average
_ALL_DIFFERENT = 0.95  # distinct values per cell above which single words are ids: a few may be entered twice
_TEXT_DISTINCT = 0.3  # above which cells of several words are text: free text seldom repeats
_MANY = 200  # values of several words beyond which they are text, however often they repeat
_SEVERAL_WORDS = 2.5  # words a cell: names have one or two
_NAMES = 1.5  # words a cell above which values that do not repeat are text all the same: titles, full names
_WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Thai, Chinese, …
_ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index)$", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnKind:
    """The kind of a column, and why.

    Parameters
    ----------
    kind : str
        "text", "number", "category", "boolean", "date" or "list"; or, of those left out, "id", "constant", "empty",
        "unusable" or "ignore".
    why : str
        The reason.
    date_format : str
        How dates are written, if they are text.
    storage : str
        What its cells were stored as: text can be read as numbers.
    """

    kind: str
    why: str
    date_format: str = ISO
    storage: str = "text"

    @property
    def used(self) -> bool:
        """Whether the column becomes (part of) a view."""
        return self.kind in USED


def recognise(column: Column) -> ColumnKind:
    """Tell what a column is, by its cells.

    Examples
    --------
    >>> import numpy as np
    >>> found = recognise(Column("size", np.array(["S", "M", "M", "L", "S", "M"])))
    >>> found.kind, found.why
    ('category', '3 different values in 6 cells')
    >>> recognise(Column("id", np.arange(5))).kind
    'id'
    """
    n_filled = int(column.has_cell().sum())
    if n_filled == 0:
        return ColumnKind("empty", "every cell is empty")
    if column.storage == "other":
        return ColumnKind("unusable", "its cells are neither text nor numbers, dates or lists")
    judge = {"number": _judge_numbers, "list": _judge_lists, "date": _judge_dates, "text": _judge_text}
    if column.storage in judge:
        return judge[column.storage](column)
    n_values = len({cell for cell in column.cells if cell is not None})
    if n_values == 1 and n_filled == len(column):
        return ColumnKind("constant", "every cell is the same")
    return ColumnKind(column.storage, "True and False" if column.storage == "boolean" else f"{n_values} categories")


def settle(column: Column, kind: str) -> ColumnKind:
    """Return what a column is when the user says so; an error if it cannot be."""
    if kind == "ignore":
        return ColumnKind("ignore", "as you said")
    if kind == "date" and column.storage == "text":
        cells = _sample([text for text in column.texts() if text is not None])
        return ColumnKind("date", "as you said", _date_format(cells) or ISO)
    return ColumnKind(kind, "as you said")


def _judge_numbers(column: Column) -> ColumnKind:
    values = column.numbers()
    filled = values[~np.isnan(values)]
    if not np.isfinite(filled).all():
        return ColumnKind("unusable", "it holds infinity")
    if filled.min() == filled.max():
        return ColumnKind("constant", f"every number in it is {filled[0]:g}")
    whole = len(filled) == len(column) and bool((filled == np.floor(filled)).all())
    if whole and len(filled) > 2 and np.array_equal(filled, filled[0] + np.arange(len(filled))):
        return ColumnKind("id", "it counts the rows")
    if whole and _ID_NAME.search(column.name) and len(np.unique(filled)) == len(filled):
        return ColumnKind("id", "whole numbers that never repeat, in a column named as an id")
    return ColumnKind("number", "numbers")


def _judge_dates(column: Column) -> ColumnKind:
    seconds = column.seconds()
    filled = seconds[~np.isnan(seconds)]
    if len(filled) and filled.min() == filled.max():
        return ColumnKind("constant", "every date in it is the same")
    return ColumnKind("date", "dates")


def _judge_lists(column: Column) -> ColumnKind:
    lists = [(cell, one) for cell, one in zip(column.cells, column.lists(), strict=True) if cell is not None]
    sizes = {len(one) for _, one in lists if one is not None}
    if len(sizes) != 1 or any(one is None for _, one in lists):
        shown = ", ".join(map(str, sorted(sizes)[:3]))
        why = f"its lists have several lengths ({shown}, …)" if len(sizes) > 1 else "its lists are not all numbers"
        return ColumnKind("unusable", why)
    return ColumnKind("list", f"lists of {sizes.pop()} numbers")


def _judge_text(column: Column) -> ColumnKind:
    filled = [text for text in column.texts() if text is not None]
    cells = _sample(filled)
    n_cells, n_values = len(cells), len(set(cells))
    if n_values == 1 and len(set(filled)) == 1 and len(filled) == len(column):
        return ColumnKind("constant", f"every cell is {_short(cells[0])}")
    if all(text[0] == "[" and text[-1] == "]" for text in cells):
        return _judge_lists(column)
    numbers = Column(column.name, np.array(cells, dtype=object)).numbers()
    if (readable := float((~np.isnan(numbers)).mean())) >= _READABLE:
        odd = next((cell for cell, number in zip(cells, numbers, strict=True) if np.isnan(number)), None)
        why = "numbers" if odd is None else f"{readable:.0%} numbers; cells such as {_short(odd)} count as empty"
        return ColumnKind("number", why)
    date_format = _date_format(cells)
    if date_format is not None:
        return ColumnKind("date", f"dates ({date_format})", date_format)
    words = sum(len(text.split()) + len(_WITHOUT_SPACES.findall(text)) for text in cells) / n_cells
    share = n_values / n_cells
    if words >= _SEVERAL_WORDS and (share >= _TEXT_DISTINCT or n_values > _MANY):
        return ColumnKind("text", f"{words:.1f} words a cell, {share:.0%} of the cells different")
    if share <= (_REPEATS if words >= _NAMES else _ALL_DIFFERENT):
        return ColumnKind("category", f"{n_values} different values in {len(filled)} cells")
    if words >= _NAMES:
        return ColumnKind("text", f"{words:.1f} words a cell, {share:.0%} of the cells different")
    return ColumnKind("id", f"single words, {share:.0%} of the cells different")


def _date_format(cells: Sequence[str]) -> str | None:
    """Return the format that nearly all cells have, None if there is none."""
    for date_format in DATE_FORMATS:
        read = date_reader(date_format)
        if np.isnan(read(cells[0])) and np.isnan(read(cells[-1])):
            continue
        if np.mean([not np.isnan(read(cell)) for cell in cells]) >= _READABLE:
            return date_format
    return None


def _sample(cells: list[str]) -> list[str]:
    return cells[:: -(-len(cells) // _SAMPLE)] if len(cells) > _SAMPLE else cells


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else f"{text[:29]}…")
