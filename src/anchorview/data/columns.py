"""One column of a raw table: what its cells are stored as, and its cells as text, numbers, dates or lists."""

from __future__ import annotations

import datetime
import json
import math
import numbers
from collections.abc import Callable, Collection, Iterator
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix
from ..core.checks import is_missing
from .number_text import POINT, read_number
from .quantities import Quantities, read_quantity
from .records import RecordTable
from .tables import column_values, is_pandas, is_table

ISO = "ISO 8601"
TIMES_OF_DAY = ("%H:%M", "%H:%M:%S", "%I:%M %p")
DATE_FORMATS = (
    *(ISO, "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"),
    *("%d.%m.%y", "%d-%m-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%a %b %d %H:%M:%S %Y"),
    *("%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %z"),
    *TIMES_OF_DAY,
)
_SOME_DAY = datetime.date(1900, 1, 1)  # that of strptime, where a text has none
_EXACT = 2**53  # up to which a floating-point number holds every integer
_SEQUENCES = (list, tuple, np.ndarray)


class Column:
    """A column of a table of pandas, polars or pyarrow, or of an array.

    Its `storage` is what the cells are, by their type: "number", "boolean", "date", "list", "category", "text" or
    "other". Text may still hold numbers, dates or lists.

    Examples
    --------
    >>> column = Column("age", np.array(["31", "n/a", "27"]))
    >>> column.storage, column.numbers()
    ('text', array([31., nan, 27.]))
    """

    def __init__(self, name: str, values: Any) -> None:
        self.name, self._values = name, values
        self._cells: list[Any] | None = None
        self._texts: list[str | None] | None = None
        if isinstance(values, np.ndarray):
            kinds = {"f": "number", "i": "number", "u": "number", "b": "boolean", "M": "date", "U": "text"}
            self._series = None
            self.storage = kinds.get(values.dtype.kind) or _storage_of(self.cells)
        else:
            self._series = nw.from_native(values, series_only=True)
            self.storage = _storage_of_type(self._series.dtype) or _storage_of(self.cells)
        if self.storage == "number" and self._holds_long_integers():
            self.storage = "text"

    def _holds_long_integers(self) -> bool:
        """Tell whether there are integers that floating-point numbers cannot tell apart: their digits are a name."""
        values = self._values if self._series is None else self._series
        if isinstance(values, np.ndarray):
            return values.dtype.kind in "iu" and len(values) > 0 and _is_long(values.min(), values.max())
        if not values.dtype.is_integer() or values.null_count() == len(values):
            return False
        return _is_long(values.min(), values.max())

    def __len__(self) -> int:
        return len(self._values)

    @property
    def cells(self) -> list[Any]:
        """The cells as Python objects; None where a cell is empty."""
        if self._cells is None:
            listed = self._values.tolist() if self._series is None else self._series.to_list()
            self._cells = [None if not isinstance(cell, _SEQUENCES) and is_missing(cell) else cell for cell in listed]
        return self._cells

    def texts(self) -> list[str | None]:
        """Return the cells as text without blanks around it; None where nothing is left."""
        if self._texts is None:
            self._texts = [None if cell is None else _text(cell).strip() or None for cell in self.cells]
        return self._texts

    def numbers(self, decimal: str = POINT, unit: str = "") -> Matrix:
        """Return the cells as numbers, `decimal` before the fraction of text; NaN where a cell is no number."""
        if self.storage in ("number", "boolean"):
            if self._series is None:
                return _floats(self._values)
            if self._series.dtype != nw.Duration and self._series.dtype != nw.Object:
                return _floats(column_values(self._values, "The table", repr(self.name)))
        form = Quantities(unit, decimal)
        return np.array([np.nan if cell is None else _number(cell, form) for cell in self.cells], dtype=np.float64)

    def seconds(self, date_format: str = ISO) -> Matrix:
        """Return the cells as seconds since 1970; NaN where a cell is empty or is no date of this format."""
        if self.storage == "date" and self._series is None:
            values = self._values.astype("datetime64[ms]")
            return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 1e3)
        if self.storage == "date" and self._series is not None and self._series.dtype != nw.Object:
            return np.asarray(self._series.dt.timestamp("ms").cast(nw.Float64).to_numpy(), dtype=np.float64) / 1e3
        read = date_reader(date_format)
        return np.array([np.nan if cell is None else read(cell) for cell in self.cells], dtype=np.float64)

    def lists(self) -> list[npt.NDArray[np.float64] | None]:
        """Return the cells as arrays of numbers; None where a cell is empty or is no list of numbers."""
        return [None if cell is None else _list(cell) for cell in self.cells]

    def has_cell(self) -> Mask:
        """Return which cells hold something; text that is blank does not."""
        if self.storage == "number":
            return ~np.isnan(self.numbers())
        return np.array([cell is not None for cell in (self.texts() if self.storage == "text" else self.cells)], bool)


def table_columns(table: Any, names: Collection[str] | None = None) -> Iterator[Column]:
    """Iterate over the columns of a table, all or some, or of a 2-D array, whose columns are named x0, x1 and so on."""
    if isinstance(table, RecordTable):
        for name, cells in table.columns.items():
            if names is None or name in names:
                yield Column(name, cells)
        return
    if not is_table(table):
        for number in range(table.shape[1]):
            if names is None or f"x{number}" in names:
                yield Column(f"x{number}", table[:, number])
        return
    if not is_pandas(table):
        whole = nw.from_native(table, eager_only=True)
        for label in whole.columns:
            if names is None or label in names:
                yield Column(label, whole[label].to_native())
        return
    for label, series in table.items():
        if names is not None and str(label) not in names:
            continue
        is_plain = isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiubO"
        yield Column(str(label), series.to_numpy() if is_plain else series)


def date_reader(date_format: str) -> Callable[[Any], float]:
    """Return a function from a cell to seconds since 1970, NaN for what is no date of this format.

    Examples
    --------
    >>> date_reader(ISO)("1970-01-02"), date_reader("%d.%m.%Y")("02.01.1970"), date_reader(ISO)("soon")
    (86400.0, 86400.0, nan)
    """

    def read(cell: Any) -> float:
        try:
            if isinstance(cell, str):
                text = cell.strip()
                if date_format == ISO:
                    # A bare number is read as a date by Python ("20240101"); a table more likely means a number.
                    moment = None if text.isdigit() else datetime.datetime.fromisoformat(text)
                else:
                    moment = datetime.datetime.strptime(text, date_format)
            elif isinstance(cell, datetime.datetime):
                moment = cell
            elif isinstance(cell, datetime.time):
                moment = datetime.datetime.combine(_SOME_DAY, cell)
            elif isinstance(cell, datetime.date):
                moment = datetime.datetime(cell.year, cell.month, cell.day)
            else:
                moment = None
            if moment is None:
                return math.nan
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
        except (ValueError, OverflowError):
            return math.nan

    return read


def _floats(values: npt.NDArray[Any]) -> Matrix:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():  # a column of whole numbers with empty cells is one of floats
        cell = int(cell)
    return str(cell)


def _number(cell: Any, form: Quantities) -> float:
    if isinstance(cell, datetime.timedelta):
        return cell.total_seconds()
    if isinstance(cell, str):
        value = read_number(cell, form.decimal)
        return read_quantity(cell, form) if math.isnan(value) else value
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _is_long(low: Any, high: Any) -> bool:
    return max(abs(int(low)), abs(int(high))) > _EXACT


def _list(cell: Any) -> npt.NDArray[np.float64] | None:
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")):
            return None
        try:
            cell = json.loads(text)
        except ValueError:
            cell = text[1:-1].replace(",", " ").split()  # as NumPy prints it
    try:
        values = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values if values.ndim == 1 and len(values) else None


def _storage_of_type(dtype: Any) -> str | None:
    """Return what a type says of its cells; None where they have to be looked at."""
    if dtype.is_numeric() or dtype == nw.Duration:
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Datetime, nw.Date):
        return "date"
    if dtype in (nw.List, nw.Array):
        return "list"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    return "text" if dtype == nw.String else None


def _storage_of(cells: list[Any]) -> str:
    """Return what cells of any type have in common."""
    filled = [cell for cell in cells if cell is not None]
    for storage, types in (
        ("text", str | datetime.time),
        ("boolean", bool | np.bool_),
        ("number", numbers.Real | datetime.timedelta),
        ("list", list | tuple | np.ndarray),
        ("date", datetime.date),
    ):
        if all(isinstance(cell, types) for cell in filled):
            return storage
    plain = all(isinstance(cell, str | numbers.Real) for cell in filled)
    return "text" if plain else "other"
