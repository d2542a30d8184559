"""Numbers with a currency or a unit, as people write them: € 12.50, 1 234,50 EUR, 3 kg, 250 MB, 45 %, $1.2k, (5.00)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from .number_text import decimal_mark, read_number

_READABLE = 0.95  # share of cells that must have the unit: some are "n/a"
_CURRENCY = (
    r"[€$£¥₹₽₩₺₫฿]|(?:US|A|C|NZ|HK)\$|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|BRL|R\$|Rs\.?|kr\.?"
)
_SHAPE = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{_CURRENCY})?\s*(?P<number>[+-]?\d[\d.,' \u00a0\u202f]*|[+-]?[.,]\d+)"
    r"(?P<gap>\s*)(?P<after>%|‰|°?[^\W\d_]+(?:/[^\W\d_]+)?[²³.]?|[€$£¥₹₽₩₺₫฿])?",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"(?<=\d)[' \u00a0\u202f](?=\d{3}(?!\d))")  # 1 234 and 1'234
_ORDINAL = re.compile(r"st|nd|rd|th|er|e|ème", re.IGNORECASE)  # 3rd is no quantity
_FAMILIES: dict[str, dict[str, float]] = {
    "bytes": {"b": 1, "byte": 1, "bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
    | {"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40},
    "g": {"mg": 1e-3, "g": 1, "kg": 1e3, "t": 1e6, "oz": 28.349523125, "lb": 453.59237, "lbs": 453.59237},
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3, "in": 0.0254, "inch": 0.0254, "ft": 0.3048, "mi": 1609.344},
    "s": {"ms": 1e-3, "s": 1, "sec": 1, "min": 60, "mins": 60, "h": 3600, "hr": 3600, "hrs": 3600}
    | {"second": 1, "seconds": 1, "minute": 60, "minutes": 60, "hour": 3600, "hours": 3600}
    | {"d": 86400, "day": 86400, "days": 86400, "week": 604800, "weeks": 604800},
    "thousands": {"": 1, "k": 1e3, "m": 1e6, "mio": 1e6, "bn": 1e9},
}


class Quantities(NamedTuple):
    """How the quantities of a column are written."""

    unit: str  # "", "€", "kg", or the base of several units of one kind, such as "g"
    decimal: str


def recognise_quantities(cells: Sequence[str]) -> Quantities | None:
    """Return how the cells of a column are written, if nearly all are numbers with one unit, or units of one kind.

    Examples
    --------
    >>> recognise_quantities(["3 kg", "250 g", "1.5 kg"])
    Quantities(unit='g', decimal='.')
    >>> recognise_quantities(["1.200,50 €", "12 €"])
    Quantities(unit='€', decimal=',')
    >>> recognise_quantities(["3 kg", "2 m"]) is None
    True
    """
    parts = [part for part in map(_split, cells) if part is not None]
    if len(parts) < _READABLE * len(cells):
        return None
    units = {part.unit for part in parts}
    named = units - {""}
    if len(named) <= 1:
        unit = next(iter(named), "")
    else:
        unit = next((base for base, family in _FAMILIES.items() if units <= set(family)), "")
        if not unit:
            return None
    found = Quantities(unit, decimal_mark([part.number for part in parts]))
    readable = sum(not math.isnan(read_quantity(cell, found)) for cell in cells)
    return found if readable >= _READABLE * len(cells) else None


def read_quantity(text: str, quantities: Quantities) -> float:
    """Return a text as a number in the unit of its column; NaN if it is none, or has another unit.

    Examples
    --------
    >>> read_quantity("250 g", Quantities("g", ".")), read_quantity("2 kg", Quantities("g", "."))
    (250.0, 2000.0)
    >>> read_quantity("250 g", Quantities("kg", ".")), read_quantity("$ 5", Quantities("€", "."))
    (0.25, nan)
    """
    part = _split(text)
    if part is None:
        return math.nan
    value = part.factor * read_number(part.number, quantities.decimal)
    if part.unit == quantities.unit or not part.unit:
        return value
    return value * _factor(part.unit, quantities.unit)


def _factor(unit: str, base: str) -> float:
    """Return how many of one unit another one is, if both are of one kind; NaN if not."""
    for name, family in _FAMILIES.items():
        if base and unit in family and (base == name or base in family):
            return family[unit] / family.get(base, 1.0)
    return math.nan


class _Part(NamedTuple):
    """What a quantity is made of: its digits, its unit in small letters, and what the number is to be multiplied by."""

    number: str
    unit: str
    factor: float = 1.0


def _split(text: str) -> _Part | None:
    """Return what a text is made of; None if it is no quantity. Bookkeepers put losses in brackets.

    Examples
    --------
    >>> _split("$1.5k"), _split("(12.50)")
    (_Part(number='1.5', unit='$', factor=1000.0), _Part(number='12.50', unit='', factor=-1.0))
    """
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        inner = _split(text[1:-1])
        return None if inner is None else inner._replace(factor=-inner.factor)
    found = _SHAPE.fullmatch(text)
    if found is None:
        return None
    after, factor = found["after"] or "", 1.0
    if found["before"] and after:
        if after.lower() not in _FAMILIES["thousands"]:
            return None
        after, factor = "", float(_FAMILIES["thousands"][after.lower()])
    if after and not found["gap"] and _ORDINAL.fullmatch(after):
        return None
    number = found["sign"] + _GROUPS.sub("", found["number"].strip())
    return _Part(number, (found["before"] or after).lower(), factor) if " " not in number else None
