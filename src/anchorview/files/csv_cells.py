"""Cells of CSV files that a spreadsheet would run as a formula, written as text and read back the same.

A text that begins with =, +, -, @, a tab or a carriage return, and is no number, gets an apostrophe in front, as people
type it in a spreadsheet. So does a text that begins with apostrophes and then one of these, so that taking one
apostrophe away gives back every text that was written.
"""

from __future__ import annotations

import re
from typing import Any

_STARTS = r"[=+\-@\t\r]"
_RISKY = re.compile(rf"'*{_STARTS}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MARKED = re.compile(rf"'('*{_STARTS})")


def mark_text(value: Any) -> Any:
    """Return a cell as it is written; anything but text stays.

    Examples
    --------
    >>> [mark_text(text) for text in ("=1+1", "-5", "- 5", "'quoted'", "'=1+1", 3)]
    ["'=1+1", '-5', "'- 5", "'quoted'", "''=1+1", 3]
    """
    is_risky = isinstance(value, str) and _RISKY.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_risky else value


def unmark_text(text: str) -> str:
    """Return a cell as it was before it was written.

    Examples
    --------
    >>> [unmark_text(text) for text in ("'=1+1", "-5", "''=1+1", "'quoted'")]
    ['=1+1', '-5', "'=1+1", "'quoted'"]
    """
    return text[1:] if _MARKED.match(text) else text


def mark_table(table: Any) -> Any:
    """Return a pyarrow table as it is written: names of columns, and columns of text."""
    return _changed(table, mark_text).rename_columns([mark_text(name) for name in table.column_names])


def unmark_table(table: Any) -> Any:
    """Return a pyarrow table as it was before it was written."""
    return _changed(table, unmark_text).rename_columns([unmark_text(name) for name in table.column_names])


def _changed(table: Any, change: Any) -> Any:
    """Change cells of text; most columns have none that begins so, and are not copied."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        column = table.column(number)
        found = pc.match_substring_regex(column.cast(pa.large_string()), rf"^'*{_STARTS}")
        if pc.any(found).as_py():
            values = [cell if cell is None else change(cell) for cell in column.to_pylist()]
            table = table.set_column(number, field.name, pa.array(values, kind))
    return table
