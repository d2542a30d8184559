"""Columns of numbers and dates turned into one dense view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix
from .column_encoders import Part, Report, Unseen, changed_column, expect_storage
from .columns import ISO, Column
from .number_text import POINT
from .quantities import Quantities

_MANY_EMPTY = 0.05  # share of empty cells above which a column of its own says where they are
_TAIL = 0.01  # share of the numbers at either end that do not count for the range
_MOST_UNREADABLE = 0.5  # share of cells that are no numbers (dates) above which the column is not the one of the fit


@dataclass(frozen=True)
class NumberColumn:
    """How a column of numbers, or the part of a date, is read."""

    column: str
    part: str | None  # of a date; None for a number
    date_format: str
    low: float  # becomes 0
    high: float  # becomes 1
    fill: float  # what an empty cell becomes
    tells_empty: bool  # whether a feature of its own says which cells are empty
    decimal: str = POINT  # what stands before the fraction of numbers that are text
    unit: str = ""  # their currency or unit

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column if self.part is None else f"{self.column}:{self.part}"

    def scale(self, values: Matrix) -> npt.NDArray[np.float32]:
        """Return numbers from 0 to 1; what lies outside is cut off."""
        filled = np.where(np.isnan(values), self.fill, values)
        scaled = (filled / 2 - self.low / 2) / (self.high / 2 - self.low / 2)  # halves: a difference may overflow
        return np.clip(scaled, 0, 1).astype(np.float32)


@dataclass(frozen=True)
class NumberEncoder:
    """Columns of numbers and dates as one dense view; rows in which all of them are empty lack it.

    Columns of a table have units of their own, and tails: each is brought to 0 … 1 by its 1st and 99th percentile. Rows
    are brought to unit length by the models, after which a row of small numbers is the same as one of large numbers; so
    a column comes with its opposite, 1 − x, and nothing is lost.
    """

    numbers: list[NumberColumn] = field(default_factory=list)

    @classmethod
    def fit(
        cls, columns: Sequence[Column], date_formats: Mapping[str, str], forms: Mapping[str, Quantities]
    ) -> NumberEncoder:
        """Note ranges and medians, and which parts of dates vary."""
        fitted = []
        for column in columns:
            date_format, (unit, decimal) = date_formats.get(column.name), forms.get(column.name, Quantities("", POINT))
            parts: dict[str | None, Matrix]
            if date_format is None:
                parts = {None: column.numbers(decimal, unit)}
            else:
                parts = _date_parts(column.seconds(date_format))
            for part, values in parts.items():
                filled = values[~np.isnan(values)].astype(np.float64)
                if not len(filled):
                    raise ValueError(f"Column {column.name!r} holds no number; leave it out: kind 'ignore'.")
                if not np.isfinite(filled).all():
                    raise _infinite(column.name, values)
                low, middle, high = np.quantile(filled, [_TAIL, 0.5, 1 - _TAIL])
                if low == high:  # nearly all the same
                    low, high = filled.min(), filled.max()
                is_first = part in (None, "time")  # the parts of a date are empty together
                tells = is_first and 1 - len(filled) / len(values) > _MANY_EMPTY
                if low < high or tells:
                    high = high if low < high else low + 1
                    about = float(low), float(high), float(middle), bool(tells)
                    fitted.append(NumberColumn(column.name, part, date_format or ISO, *about, decimal, unit))
        return cls(fitted)

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one view."""
        if not self.numbers:
            return []
        read = {one.column: self._read(one, columns[one.column], unseen) for one in self.numbers}
        present = np.zeros(len(columns[self.numbers[0].column]), dtype=bool)
        arrays: list[npt.NDArray[np.float32]] = []
        features: list[str] = []
        for one in self.numbers:
            values = read[one.column][one.part]
            empty = np.isnan(values)
            present |= ~empty
            scaled = one.scale(values)
            arrays += [scaled, 1 - scaled]
            features += [one.name, f"1-{one.name}"]
            if one.tells_empty:
                arrays.append(empty.astype(np.float32))
                features.append(f"{one.name}:empty")
        return [Part("numbers", np.column_stack(arrays), present, features)]

    @staticmethod
    def _read(one: NumberColumn, column: Column, unseen: Report) -> dict[str | None, Matrix]:
        is_date = one.part is not None
        what = "dates" if is_date else "numbers"
        expect_storage(column, ("date", "text") if is_date else ("number", "boolean", "text"), what)
        values = column.seconds(one.date_format) if is_date else column.numbers(one.decimal, one.unit)
        if np.isinf(values).any():
            raise _infinite(column.name, values)
        if column.storage == "text":
            filled = column.has_cell()
            unreadable = filled & np.isnan(values)
            if unreadable.sum() > _MOST_UNREADABLE * filled.sum():
                row = int(np.argmax(unreadable))
                before = f"{what} in {one.unit}" if one.unit and not is_date else what
                raise changed_column(column, before, f"text such as {column.cells[row]!r} (row {row})")
            unseen[column.name] = Unseen(f"cells that are not {what}", int(unreadable.sum()), int(filled.sum()))
        return dict(_date_parts(values)) if is_date else {None: values}


def _date_parts(seconds: Matrix) -> dict[str | None, Matrix]:
    """Return the time, month, weekday and hour of moments."""
    empty = np.isnan(seconds)
    moments = np.where(empty, 0, seconds).astype(np.int64).astype("datetime64[s]")
    days = moments.astype("datetime64[D]").astype(np.int64)
    parts: dict[str | None, npt.NDArray[Any]] = {
        "time": seconds,
        "month": moments.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "weekday": (days + 3) % 7,  # Monday is 0
        "hour": moments.astype("datetime64[h]").astype(np.int64) % 24,
    }
    return {name: np.where(empty, np.nan, values) for name, values in parts.items()}


def _infinite(name: str, values: Matrix) -> ValueError:
    row = int(np.argmax(np.isinf(values)))
    return ValueError(f"Column {name!r} holds infinity in row {row}; leave the cell empty, or give a number.")
