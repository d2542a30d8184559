"""Numbers as people write them: 1234.5, 1,234.5, and with a decimal comma 1234,5 or 1.234,5."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

POINT, COMMA = ".", ","
_WITH_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")  # 1,234 and 1,234,567.8, but not 0,123
_POINTS_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")  # 1.234 beside 1.234,5
_NAMES = ("nan", "inf", "infinity")  # numbers to Python only


def decimal_mark(cells: Iterable[str]) -> str:
    """Return what stands before the fraction of the numbers of a column: a comma, if they can be read so only.

    ``1,234`` alone can be either; as long as every comma groups digits, and some number has none or several, they do.

    Examples
    --------
    >>> decimal_mark(["3,5", "12", "1.200,75"]), decimal_mark(["1,234", "56"]), decimal_mark(["1,250", "2,500"])
    (',', '.', ',')
    """
    listed = [cell for cell in cells if COMMA in cell]
    read_so = [cell for cell in listed if _WITH_COMMA.fullmatch(cell)]
    if len(read_so) * 2 <= len(listed):
        return POINT
    if any(not _GROUPED.fullmatch(cell) for cell in read_so):
        return COMMA
    return COMMA if all(COMMA in cell for cell in cells) and len(read_so) == len(listed) else POINT


def read_number(text: str, decimal: str = POINT) -> float:
    """Return a text as a number; NaN if it is none.

    Examples
    --------
    >>> read_number("1,234.5"), read_number("1.234,5", ","), read_number("12 kg")
    (1234.5, 1234.5, nan)
    """
    text = text.strip()
    if decimal == COMMA:
        if _WITH_COMMA.fullmatch(text) or _POINTS_GROUP.fullmatch(text):
            text = text.replace(".", "").replace(COMMA, ".")
    elif COMMA in text and _GROUPED.fullmatch(text):
        text = text.replace(COMMA, "")
    if "_" in text or text.lower().lstrip("+-") in _NAMES:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan
