"""Columns of a raw table turned into views: fitted on one table, applied to the next, which is matched by name.

The state of an encoder is plain: text, numbers, and lists of them, so that a model file can hold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from ..core.arrays import Mask, Matrix
from .columns import ISO, Column

WORDS: dict[str, Any] = {"token_pattern": r"(?u)\b\w+\b"}  # one letter is a word too: "C", "R"
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (2, 4)}
_MAX_TERMS = 50_000  # of a text view, the most frequent: enough for any language, and bounded
_MAX_CATEGORIES = 1000  # of a column, the most frequent
_RARE = 2  # rows that a word or category must be in: what appears once tells nothing about other rows
_FEW_ROWS = 50  # below which everything is kept
_MANY_EMPTY = 0.05  # share of empty cells above which a column of its own says where they are
_TAIL = 0.01  # share of the numbers at either end that do not count for the range
_MOST_UNREADABLE = 0.5  # share of cells that are no numbers (dates) above which the column is not the one of the fit


@dataclass(frozen=True)
class Part:
    """One view made of columns: rows, which of them have it, and the names of its features."""

    name: str
    array: Any
    present: Mask
    features: list[str]


@dataclass
class Unseen:
    """What was ignored in a column of a new table, and out of how many."""

    what: str
    count: int = 0
    total: int = 0


Report = dict[str, Unseen]


class Encoder(Protocol):
    """Makes views of some columns of a table."""

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return the views of the columns; what is ignored is counted in `unseen`."""


@dataclass(frozen=True)
class TextEncoder:
    """A column of text as counts of its words, and of its character n-grams."""

    column: str
    words: list[str]
    characters: list[str]

    @classmethod
    def fit(cls, column: Column) -> TextEncoder:
        """Choose the words and n-grams that count."""
        texts = [text or "" for text in column.texts()]
        least = 1 if len(texts) < _FEW_ROWS else _RARE
        return cls(column.name, *(_vocabulary(texts, options, least) for options in (WORDS, CHARACTERS)))

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return two sparse views; a row without any known word, or n-gram, lacks the view."""
        column = columns[self.column]
        _expect(column, ("text", "category"), "text")
        texts = [text or "" for text in column.texts()]
        parts = []
        for name, options, terms in (("words", WORDS, self.words), ("characters", CHARACTERS, self.characters)):
            if not terms:
                continue
            counter = CountVectorizer(vocabulary=terms, dtype=np.float32, **options)
            counts = sparse.csr_array(counter.transform(texts))
            parts.append(Part(f"{self.column}:{name}", counts, np.diff(counts.indptr) > 0, list(terms)))
            if name == "words":
                analyse = counter.build_analyzer()
                total = sum(len(analyse(text)) for text in texts)
                unseen[self.column] = Unseen("words", total - int(counts.sum(dtype=np.float64)), total)
        return parts


@dataclass(frozen=True)
class ListEncoder:
    """A column of lists of numbers, all of one length, as a dense view."""

    column: str
    n_features: int

    @classmethod
    def fit(cls, column: Column) -> ListEncoder:
        """Note the length of the lists."""
        sizes = {len(one) for one in column.lists() if one is not None}
        if len(sizes) != 1:
            lengths = ", ".join(map(str, sorted(sizes)[:5])) or "none"
            raise ValueError(f"Column {column.name!r} needs lists of numbers of one length; its lengths are {lengths}.")
        return cls(column.name, sizes.pop())

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one view; rows without a list lack it."""
        column = columns[self.column]
        _expect(column, ("list", "text"), "lists of numbers")
        array = np.zeros((len(column), self.n_features), dtype=np.float32)
        present = np.zeros(len(column), dtype=bool)
        for row, (cell, values) in enumerate(zip(column.cells, column.lists(), strict=True)):
            if cell is None or (isinstance(cell, str) and not cell.strip()):
                continue
            if values is None or len(values) != self.n_features:
                what = "no list of numbers" if values is None else f"a list of {len(values)} numbers"
                raise ValueError(
                    f"Column {self.column!r} holds {what} in row {row}; at the fit it held lists of {self.n_features}."
                )
            array[row], present[row] = values, True
        return [Part(self.column, array, present, [str(number) for number in range(self.n_features)])]


@dataclass(frozen=True)
class CategoryEncoder:
    """Columns of categories as one sparse view, a feature for each category; an empty cell is a category as well."""

    values: dict[str, list[str]] = field(default_factory=dict)  # categories of each column, "" for empty cells

    @classmethod
    def fit(cls, columns: Sequence[Column]) -> CategoryEncoder:
        """Choose the categories that count."""
        values = {}
        for column in columns:
            counts = Counter(text or "" for text in column.texts())
            least = 1 if len(column) < _FEW_ROWS else _RARE
            kept = [text for text, count in counts.most_common(_MAX_CATEGORIES) if count >= least]
            values[column.name] = sorted(kept)
        return cls(values)

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one view; a row that has known categories in no column lacks it."""
        if not self.values:
            return []
        blocks, features = [], []
        for name, known in self.values.items():
            column = columns[name]
            _expect(column, ("text", "category", "boolean", "number", "date"), "categories")
            texts = [text or "" for text in column.texts()]
            place = {text: number for number, text in enumerate(known)}
            ids = np.array([place.get(text, -1) for text in texts], dtype=np.intp)
            filled = sum(text != "" for text in texts)
            ignored = int(sum(number < 0 and text != "" for number, text in zip(ids, texts, strict=True)))
            if column.storage == "number" and filled and ignored == filled and not any(map(_is_number, known)):
                raise _changed(column, "categories", "numbers")
            unseen[name] = Unseen("categories", ignored, filled)
            rows = np.flatnonzero(ids >= 0)
            cells = np.ones(len(rows), dtype=np.float32), (rows, ids[rows])
            blocks.append(sparse.csr_array(cells, shape=(len(texts), len(known))))
            features += [f"{name}={text}" for text in known]
        array = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        return [Part("categories", array, np.diff(array.indptr) > 0, features)]


@dataclass(frozen=True)
class NumberColumn:
    """How a column of numbers, or the part of a date, is read.

    Parameters
    ----------
    column : str
        Its name.
    part : str or None
        The part of a date; None for a number.
    date_format : str
        How dates are written.
    low, high : float
        What becomes 0 and 1.
    fill : float
        What an empty cell becomes.
    tells_empty : bool
        Whether a feature of its own says which cells are empty.
    """

    column: str
    part: str | None
    date_format: str
    low: float
    high: float
    fill: float
    tells_empty: bool

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column if self.part is None else f"{self.column}:{self.part}"

    def scale(self, values: Matrix) -> npt.NDArray[np.float32]:
        """Return numbers from 0 to 1; what lies outside is cut off."""
        scaled = (np.where(np.isnan(values), self.fill, values) - self.low) / (self.high - self.low)
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
    def fit(cls, columns: Sequence[Column], date_formats: Mapping[str, str]) -> NumberEncoder:
        """Note ranges and medians, and which parts of dates vary."""
        fitted = []
        for column in columns:
            date_format = date_formats.get(column.name)
            parts = {None: column.numbers()} if date_format is None else _date_parts(column.seconds(date_format))
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
                    fitted.append(NumberColumn(column.name, part, date_format or ISO, *about))
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
        _expect(column, ("date", "text") if is_date else ("number", "boolean", "text"), what)
        values = column.seconds(one.date_format) if is_date else column.numbers()
        if np.isinf(values).any():
            raise _infinite(column.name, values)
        if column.storage == "text":
            filled = column.has_cell()
            unreadable = filled & np.isnan(values)
            if unreadable.sum() > _MOST_UNREADABLE * filled.sum():
                row = int(np.argmax(unreadable))
                raise _changed(column, what, f"text such as {column.cells[row]!r} (row {row})")
            unseen[column.name] = Unseen(f"cells that are no {what}", int(unreadable.sum()), int(filled.sum()))
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


def _vocabulary(texts: list[str], options: dict[str, Any], least: int) -> list[str]:
    counter = CountVectorizer(min_df=least, max_features=_MAX_TERMS, dtype=np.float32, **options)
    try:
        return sorted(counter.fit(texts).vocabulary_)
    except ValueError:  # no term is left
        return []


def _expect(column: Column, storages: tuple[str, ...], what: str) -> None:
    """Raise an error if a column is stored as something else than at the fit; one that is empty may be anything."""
    if column.storage not in storages and column.has_cell().any():
        stored = {"number": "numbers", "list": "lists", "date": "dates", "boolean": "True and False"}
        raise _changed(column, what, stored.get(column.storage, column.storage))


def _changed(column: Column, before: str, now: str) -> ValueError:
    return ValueError(
        f"Column {column.name!r} held {before} at the fit and now holds {now}; give the column as it was, or leave its "
        "cells empty."
    )


def _infinite(name: str, values: Matrix) -> ValueError:
    row = int(np.argmax(np.isinf(values)))
    return ValueError(f"Column {name!r} holds infinity in row {row}; leave the cell empty, or give a number.")


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit()
