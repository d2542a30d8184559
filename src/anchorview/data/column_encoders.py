"""Columns of a raw table turned into views: fitted on one table, applied to the next, which is matched by name.

The state of an encoder is plain: text, numbers, and lists of them, so that a model file can hold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..core.arrays import Mask
from ..engine.blocks import count_threads
from .columns import Column
from .text_counts import Counted, GramIndex, WordIndex, choose_grams, choose_words, count_pairs

_MAX_TERMS = 50_000  # of a text view, the most frequent: enough for any language, and bounded
_MAX_TEXTS = 50_000  # cells from which words are chosen: what matters is in there
_MAX_CATEGORIES = 1000  # of a column, the most frequent
_RARE = 2  # rows that a word or category must be in: what appears once tells nothing about other rows
_FEW_ROWS = 50  # below which everything is kept


@dataclass(frozen=True)
class Part:
    """One view made of columns: rows, which of them have it, and the names of its features."""

    name: str
    array: Any
    present: Mask
    features: list[str]
    supporting: bool = False  # counts only if labels show that it helps


@dataclass
class Unseen:
    """What was ignored in a column of a new table, and out of how many."""

    what: str
    count: int = 0
    total: int = 0


Report = dict[str, Unseen]


class ColumnEncoder(Protocol):
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
    def fit(cls, column: Column) -> tuple[TextEncoder, list[Part]]:
        """Choose the words and n-grams that count; return the views of the same cells too, which are read once."""
        texts, n_threads = _texts(column), count_threads(None)
        some = texts[:: -(-len(texts) // _MAX_TEXTS)] if len(texts) > _MAX_TEXTS else texts
        least = 1 if len(some) < _FEW_ROWS else _RARE
        counted = [choose(some, least, _MAX_TERMS, n_threads) for choose in (choose_words, choose_grams)]
        encoder = cls(column.name, *(found.terms for found in counted))
        return encoder, encoder._parts(counted if some is texts else encoder._count(texts))

    @cached_property
    def _indices(self) -> tuple[WordIndex, GramIndex]:
        return WordIndex(self.words), GramIndex(self.characters)

    def _count(self, texts: list[str]) -> list[Counted]:
        return [index.count(texts, count_threads(None)) for index in self._indices]

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return two sparse views; a row without any known word, or n-gram, lacks the view."""
        column = columns[self.column]
        expect_storage(column, ("text", "category"), "text")
        words, grams = self._count(_texts(column))
        if self.words:
            unseen[self.column] = Unseen("words", words.n_seen - int(words.counts.sum(dtype=np.float64)), words.n_seen)
        return self._parts([words, grams])

    def _parts(self, counted: list[Counted]) -> list[Part]:
        named = zip(("words", "characters"), counted, strict=True)
        return [
            Part(f"{self.column}:{name}", found.counts, np.diff(found.counts.indptr) > 0, found.terms)
            for name, found in named
            if found.terms
        ]


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
        expect_storage(column, ("list", "text"), "lists of numbers")
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
            counts = Counter(_categories(column))
            least = 1 if len(column) < _FEW_ROWS else _RARE
            kept = [text for text, count in counts.most_common(_MAX_CATEGORIES) if count >= least]
            if len(kept) > 1:
                values[column.name] = sorted(kept)
        return cls(values)

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one view; a row that has known categories in no column lacks it."""
        if not self.values:
            return []
        rows, places, n_known = [], [], 0
        for name, known in self.values.items():
            column = columns[name]
            expect_storage(column, ("text", "category", "boolean", "number", "date"), "categories")
            texts = _categories(column)
            place = self._place_of[name]
            ids = np.array([place.get(text, -1) for text in texts], dtype=np.intp)
            filled = sum(text != "" for text in texts)
            ignored = int(sum(number < 0 and text != "" for number, text in zip(ids, texts, strict=True)))
            if column.storage == "number" and filled and ignored == filled and not any(map(_is_number, known)):
                raise changed_column(column, "categories", "numbers")
            unseen[name] = Unseen("categories", ignored, filled)
            rows.append(np.flatnonzero(ids >= 0))
            places.append(ids[rows[-1]] + n_known)
            n_known += len(known)
        array = count_pairs(np.concatenate(rows), np.concatenate(places), (len(column), n_known))
        return [Part("categories", array, np.diff(array.indptr) > 0, self._features)]

    @cached_property
    def _place_of(self) -> dict[str, dict[str, int]]:
        """Place of each category among those of its column."""
        return {name: {text: place for place, text in enumerate(known)} for name, known in self.values.items()}

    @cached_property
    def _features(self) -> list[str]:
        return [f"{name}={text}" for name, known in self.values.items() for text in known]


def _texts(column: Column) -> list[str]:
    return [text or "" for text in column.texts()]


def expect_storage(column: Column, storages: tuple[str, ...], what: str) -> None:
    """Raise an error if a column is stored as something else than at the fit; one that is empty may be anything."""
    if column.storage not in storages and column.has_cell().any():
        stored = {"number": "numbers", "list": "lists", "date": "dates", "boolean": "True and False"}
        raise changed_column(column, what, stored.get(column.storage, column.storage))


def changed_column(column: Column, before: str, now: str) -> ValueError:
    """Return the error for a column that is not what it was at the fit."""
    return ValueError(
        f"Column {column.name!r} held {before} at the fit and now holds {now}; give the column as it was, or leave its "
        "cells empty."
    )


def _categories(column: Column) -> list[str]:
    """Return the cells as categories, "" for empty ones; True and TRUE are true, as every reader of tables has it."""
    texts = [text or "" for text in column.texts()]
    return [text.lower() if text in ("True", "TRUE", "False", "FALSE") else text for text in texts]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit()
