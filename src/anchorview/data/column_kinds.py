"""What a column of a raw table is: text, numbers, categories, dates, lists, or of no use; with the reason in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..files.sources import IMAGE_SUFFIXES
from .columns import DATE_FORMATS, ISO, TIMES_OF_DAY, Column, date_reader
from .number_text import POINT, decimal_mark, read_number
from .quantities import Quantities, recognise_quantities
from .tag_words import EMAIL, TAG_READERS, URL, is_address, is_web_address, read_tags

USED = ("text", "number", "category", "boolean", "date", "list", "image", "tags", "email", "url")
_LEFT_OUT_AS = {"id": ", an id", "varied": ", nearly unique values", "constant": ", constant"}
LEFT_OUT = ("id", "varied", "constant", "empty", "unusable", "ignore")  # "varied": values that hardly repeat

_SAMPLE = 10_000  # cells that text is judged by
_READABLE = 0.95  # share of cells that must be numbers (dates, lists) for text to be read as such: some are "n/a"
_REPEATS = 0.5  # distinct values per cell up to which they are a category: each appears twice on average
_ENOUGH = 50  # cells to tell how often values repeat: of five with three values, more may hold the same three
_ALL_DIFFERENT = 0.95  # distinct values per cell above which single words are ids: a few may be entered twice
_TEXT_DISTINCT = 0.3  # above which cells of several words are text: free text seldom repeats
_MANY = 200  # values of several words beyond which they are text, however often they repeat
_SEVERAL_WORDS = 2.5  # words a cell: names have one or two
_NAMES = 1.5  # words a cell above which values that do not repeat are text all the same: titles, full names
_WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Thai, Chinese, …
_LONG_INTEGER = re.compile(r"[+-]?\d{16,}")  # a floating-point number tells those up to 9007199254740992 apart
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_HEX = re.compile("[a-f]+")  # of random ids
_TRUTHS = ({"yes", "no"}, {"y", "n"}, {"t", "f"}, {"true", "false"}, {"on", "off"}, {"ja", "nein"}, {"oui", "non"})
_MONTH_FIRST = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%Y %H:%M": "%m/%d/%Y %H:%M"}
_LOOKED_AT = 1000  # dates, to see whether one has more than twelve in its second place
_ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index)$", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnKind:
    """The kind of a column, and why."""

    kind: str  # one of `USED` or `LEFT_OUT`
    why: str
    date_format: str = ISO  # how dates are written, if they are text
    storage: str = "text"  # what its cells were stored as: text can be read as numbers
    decimal: str = POINT  # what stands before the fraction of numbers that are text: a point or a comma
    unit: str = ""  # of numbers that are text: a currency, a unit, or what several units are brought to
    example: str = ""  # one of its cells
    hint: str = ""  # of a column that is left out: how to use it, if it may tell something

    @property
    def used(self) -> bool:
        """Whether the column becomes (part of) a view."""
        return self.kind in USED

    def describe(self) -> str:
        """Say in words what the column was taken for, with an example and the reason.

        Examples
        --------
        >>> ColumnKind("id", "it counts the rows", example="17").describe()
        "left out, an id, such as '17' (it counts the rows)"
        """
        what = self.kind if self.used else f"left out{_LEFT_OUT_AS.get(self.kind, '')}"
        shown = f", such as {self.example!r}" if self.example else ""
        return f"{what}{shown} ({self.why}{f'; {self.hint}' if self.hint else ''})"


def recognise(column: Column) -> ColumnKind:
    """Tell what a column is, by its cells.

    Examples
    --------
    >>> found = recognise(Column("size", np.array(["S", "M", "M", "L", "S", "M"])))
    >>> found.kind, found.why
    ('category', '3 different values in 6 cells')
    >>> recognise(Column("id", np.arange(5))).kind
    'id'
    """
    found = _recognise(column)
    example = next((cell for cell in column.cells if cell is not None and str(cell).strip()), "")
    return replace(found, example="" if found.kind == "empty" else one_line_of(str(example)))


def _recognise(column: Column) -> ColumnKind:
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


def declared_kind(column: Column, kind: str) -> ColumnKind:
    """Return what a column is when the user says so; an error if it cannot be."""
    example = next((cell for cell in column.cells if cell is not None and str(cell).strip()), "")
    return replace(_declared(column, kind), example=one_line_of(str(example)))


def _declared(column: Column, kind: str) -> ColumnKind:
    if kind == "ignore":
        return ColumnKind("ignore", "as you specified")
    if kind == "date" and column.storage == "text":
        cells = _sample([text for text in column.texts() if text is not None])
        return ColumnKind("date", "as you specified", _date_format(cells) or ISO)
    if kind == "number" and column.storage == "text":
        cells = _sample([text for text in column.texts() if text])
        found = recognise_quantities(cells) or Quantities("", decimal_mark(cells))
        return ColumnKind("number", "as you specified", decimal=found.decimal, unit=found.unit)
    return ColumnKind(kind, "as you specified")


def is_named_as_id(name: str) -> bool:
    """Tell whether a column is called an id.

    Examples
    --------
    >>> [is_named_as_id(name) for name in ("id", "user_id", "paid")]
    [True, True, False]
    """
    return _ID_NAME.search(name) is not None


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
    if whole and is_named_as_id(column.name) and len(np.unique(filled)) == len(filled):
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
    tags = [read_tags(cell) for cell, _ in lists]
    if tags and all(one is not None for one in tags) and any(tags):
        n_tags = len({tag for one in tags for tag in one or ()})
        return ColumnKind("tags", f"lists of words, {n_tags:,} different ones")
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
    if _are_long_integers(cells):
        return _judge_codes("whole numbers of 17 digits or more", n_values, n_cells)
    if all(map(str.isdigit, cells)) and any(cell[0] == "0" and len(cell) > 1 for cell in cells):
        return _judge_codes("codes that begin with 0", n_values, n_cells)
    if np.mean([text.lower().endswith(IMAGE_SUFFIXES) for text in cells]) >= _READABLE:
        return ColumnKind("image", "paths of photos")
    decimal = decimal_mark(cells)
    numbers = [read_number(cell, decimal) for cell in cells]
    if (readable := float((~np.isnan(numbers)).mean())) >= _READABLE:
        odd = next((cell for cell, number in zip(cells, numbers, strict=True) if np.isnan(number)), None)
        why = "numbers" if decimal == POINT else "numbers with a decimal comma"
        if odd is not None:
            why = f"{readable:.0%} {why}; cells such as {_short(odd)} count as empty"
        return ColumnKind("number", why, decimal=decimal)
    quantities = recognise_quantities(cells)
    if quantities is not None:
        return ColumnKind("number", _unit_words(quantities), decimal=quantities.decimal, unit=quantities.unit)
    date_format = _date_format(cells)
    if date_format is not None:
        what = "times of day" if date_format in TIMES_OF_DAY else "dates"
        return ColumnKind("date", f"{what} ({date_format}){_doubt(date_format, cells)}", date_format)
    for kind, is_one, what in ((EMAIL, is_address, "e-mail addresses"), (URL, is_web_address, "web addresses")):
        if np.mean([is_one(cell) for cell in cells]) >= _READABLE and _are_shared(
            list(map(TAG_READERS[kind], cells)), _READABLE
        ):
            return ColumnKind(kind, f"{what}: their parts are used")
    values = {cell.lower() for cell in cells}
    if len(values) == 2 and any(values == pair for pair in _TRUTHS):
        return ColumnKind("boolean", " and ".join(sorted(set(cells), key=str.lower)[:2]))
    words = sum(len(text.split()) + len(_WITHOUT_SPACES.findall(text)) for text in cells) / n_cells
    share = n_values / n_cells
    if words >= _SEVERAL_WORDS and (share >= _TEXT_DISTINCT or n_values > _MANY):
        return ColumnKind("text", f"{words:.1f} words a cell, {share:.0%} of the cells different")
    n_different = len(set(filled))  # of all cells: a sample of many holds few of each value
    if n_different <= (_REPEATS if words >= _NAMES or n_cells >= _ENOUGH else _ALL_DIFFERENT) * len(filled):
        return ColumnKind("category", f"{n_different} different values in {len(filled)} cells")
    if words >= _NAMES:
        return ColumnKind("text", f"{words:.1f} words a cell, {share:.0%} of the cells different")
    hint = "if parts of it tell something, read it as text" if _share_parts(cells) else ""
    if n_different > _ALL_DIFFERENT * len(filled):
        return ColumnKind("id", f"single words, {share:.0%} of the cells different", hint=hint)
    why = f"{n_different:,} different values in {len(filled):,} cells, too many for a category"
    return ColumnKind("varied", why, hint=hint)


def _are_long_integers(cells: Sequence[str]) -> bool:
    """Tell whether cells are whole numbers that differ where floating-point numbers do not."""
    return all(_LONG_INTEGER.fullmatch(cell) for cell in cells) and len({float(cell) for cell in cells}) < len(
        set(cells)
    )


def _judge_codes(what: str, n_values: int, n_cells: int) -> ColumnKind:
    """Tell what digits are that nobody has measured: names of something."""
    if n_values > _ALL_DIFFERENT * n_cells:
        return ColumnKind("id", f"{what}, {n_values / n_cells:.0%} of the cells different")
    if n_values <= _REPEATS * n_cells:
        return ColumnKind("category", f"{n_values} different {what}")
    return ColumnKind("varied", f"{n_values:,} different {what}, too many for a category")


def _share_parts(cells: Sequence[str]) -> bool:
    """Tell whether most cells have a part, of three letters or more, that some others have and most do not."""
    parts = [[part for part in _LETTERS.findall(cell.lower()) if not _HEX.fullmatch(part)] for cell in cells]
    return _are_shared(parts, 0.5)


def _are_shared(parts: Sequence[Collection[str] | None], most: float) -> bool:
    """Tell whether most cells have a part that some others have, and no more than this share of all."""
    counts = Counter(part for found in parts for part in set(found or ()))
    shared = {part for part, count in counts.items() if 2 <= count <= most * len(parts)}
    return sum(not shared.isdisjoint(found or ()) for found in parts) > len(parts) / 2


def _date_format(cells: Sequence[str]) -> str | None:
    """Return the format that nearly all cells have, None if there is none."""
    for date_format in DATE_FORMATS:
        read = date_reader(date_format)
        if np.isnan(read(cells[0])) and np.isnan(read(cells[-1])):
            continue
        if np.mean([not np.isnan(read(cell)) for cell in cells]) >= _READABLE:
            return date_format
    return None


def _unit_words(found: Quantities) -> str:
    mark = "" if found.decimal == POINT else " with a decimal comma"
    return f"numbers{mark}" + (f" in {found.unit}" if found.unit else "")


def _doubt(date_format: str, cells: Sequence[str]) -> str:
    """Say that the month may come first, if no date tells."""
    other = _MONTH_FIRST.get(date_format)
    if other is None or not all(not np.isnan(date_reader(other)(cell)) for cell in cells[:_LOOKED_AT]):
        return ""
    return "; the month may come first, which no date of these tells"


def _sample(cells: list[str]) -> list[str]:
    return cells[:: -(-len(cells) // _SAMPLE)] if len(cells) > _SAMPLE else cells


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else f"{text[:29]}…")


def one_line_of(text: str, length: int = 40) -> str:
    """Return a text on one line, cut if it is long.

    Examples
    --------
    >>> one_line_of("a  long" + chr(10) + "text", 6)
    'a lon…'
    """
    text = " ".join(text[: 4 * length].split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
