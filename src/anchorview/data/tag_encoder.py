"""Columns with several values a cell: lists of words, and the parts of e-mail addresses and web addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np

from .column_encoders import Part, Report, Unseen, expect_storage
from .columns import Column
from .tag_words import TAG_READERS
from .text_counts import count_pairs

_MOST = 5000  # tags of a column, the most frequent
_RARE, _FEW_ROWS = 2, 50  # rows that a tag must be in; below so many rows everything is kept


@dataclass(frozen=True)
class TagEncoder:
    """Columns of tags as one sparse view, a feature for each tag; a row without any known tag lacks it."""

    kinds: dict[str, str] = field(default_factory=dict)  # of each column: "tags", "email" or "url"
    values: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def fit(cls, columns: Sequence[Column], kinds: Mapping[str, str]) -> TagEncoder:
        """Choose the tags that count."""
        values = {}
        for column in columns:
            read = TAG_READERS[kinds[column.name]]
            found = [read(cell) or () for cell in column.cells if cell is not None]
            counts = Counter(tag for tags in found for tag in dict.fromkeys(tags))
            least = 1 if len(column) < _FEW_ROWS else _RARE
            kept = [tag for tag, n_rows in counts.most_common(_MOST) if least <= n_rows]
            if kept:
                values[column.name] = sorted(kept)
        return cls({name: kinds[name] for name in values}, values)

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """The column of each tag, by the name of the column it stands in: computed once for many single rows."""
        numbers = count()
        return {name: {tag: next(numbers) for tag in known} for name, known in self.values.items()}

    @cached_property
    def _features(self) -> list[str]:
        return [f"{name}={tag}" for name, known in self.values.items() for tag in known]

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one view."""
        if not self.values:
            return []
        rows: list[int] = []
        places: list[int] = []
        start = n_rows = 0
        for name, known in self.values.items():
            column = columns[name]
            n_rows = len(column)
            expect_storage(column, ("text", "list", "category"), f"{self.kinds[name]} (several values a cell)")
            place = self._places[name]
            read, n_tags, n_unknown = TAG_READERS[self.kinds[name]], 0, 0
            for row, cell in enumerate(column.cells):
                tags = None if cell is None else read(cell)
                for tag in dict.fromkeys(tags or ()):
                    n_tags += 1
                    if tag in place:
                        rows.append(row)
                        places.append(place[tag])
                    else:
                        n_unknown += 1
            unseen[name] = Unseen("tags", n_unknown, n_tags)
            start += len(known)
        array = count_pairs(np.array(rows, np.intp), np.array(places, np.intp), (n_rows, start))
        return [Part("tags", array, np.diff(array.indptr) > 0, self._features)]
