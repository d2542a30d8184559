"""The rows of a run as the page shows them: ids, places on the map, text, cells, pictures and links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...core.arrays import Matrix

LONGEST = 4000  # characters of a cell
_MOST_CELLS = 30
_LONG = 60  # characters from which a cell is text to read
_PICTURE = re.compile(r"\.(png|jpe?g|gif|webp)$", re.IGNORECASE)
_LINK = re.compile(r"https?://\S+$")
_STARTS = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


@dataclass(frozen=True, eq=False)
class PageRows:
    """All rows.

    Parameters
    ----------
    ids : list of str
        What rows are called.
    places : ndarray of float32 of shape (n_rows, 2)
        Where they are on the map.
    coordinates : ndarray of shape (n_rows, p)
        Unit rows, alike where rows are alike.
    contents : pyarrow.Table or None
        Their cells.
    folder : Path or None
        Where pictures are that cells name.
    """

    ids: list[str]
    places: Matrix
    coordinates: Matrix
    contents: Any = None
    folder: Path | None = None
    _texts: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def cells(self, row: int) -> dict[str, Any]:
        """Return what a person needs of a row: texts, cells, links and whether there is a picture."""
        texts, cells, links = list[list[str]](), list[list[str]](), list[list[str]]()
        picture = False
        for name in [] if self.contents is None else self.contents.column_names[: 2 * _MOST_CELLS]:
            value = self.contents.column(name)[row].as_py()
            if value is None or value == "":
                continue
            shown = str(value)[:LONGEST]
            if isinstance(value, str) and _PICTURE.search(value):
                picture = True
            elif isinstance(value, str) and _LINK.match(value):
                links.append([name, shown])
            elif isinstance(value, str) and len(value) >= _LONG:
                texts.append([name, shown])
            elif len(cells) < _MOST_CELLS:
                cells.append([name, shown])
        if not texts:  # the longest cell is what people read
            words = [cell for cell in cells if re.search(r"[^\W\d]", cell[1])]
            if words:
                texts = [max(words, key=lambda cell: len(cell[1]))]
                cells.remove(texts[0])
        return {"id": self.ids[row], "texts": texts, "cells": cells, "links": links, "picture": picture}

    def picture(self, row: int) -> tuple[bytes, str] | None:
        """Return the picture that a cell of a row names, and its type; None if there is none that can be read."""
        if self.contents is None or self.folder is None:
            return None
        for name in self.contents.column_names:
            value = self.contents.column(name)[row].as_py()
            if not isinstance(value, str) or not _PICTURE.search(value):
                continue
            path = self.folder / value
            try:
                data = path.read_bytes() if path.is_file() else b""
            except OSError:
                return None
            kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), None)
            return None if kind is None else (data, kind)  # a file that is no picture is not sent
        return None

    def search(self, text: str) -> list[int]:
        """Return rows whose id or cells hold a text, whatever its case."""
        wanted = text.casefold().strip()
        if not wanted:
            return []
        found = {row for row, name in enumerate(self._folded("", self.ids)) if wanted in name}
        for name in [] if self.contents is None else self.contents.column_names:
            column = self.contents.column(name)
            if str(column.type) in ("string", "large_string"):
                found |= {row for row, cell in enumerate(self._folded(name, column)) if wanted in cell}
        return sorted(found)

    def _folded(self, name: str, column: Any) -> list[str]:
        if name not in self._texts:
            values = column if isinstance(column, list) else column.to_pylist()
            self._texts[name] = ["" if value is None else str(value).casefold() for value in values]
        return self._texts[name]


def fill_places(places: Matrix) -> Matrix:
    """Bring places to a square from -1 to 1; rows without one lie in its corner."""
    shown: Matrix = np.asarray(places, dtype=np.float32).copy()
    known = np.isfinite(shown).all(axis=1)
    if known.any():
        low, high = shown[known].min(axis=0), shown[known].max(axis=0)
        scale = max(float((high - low).max()) / 2, 1e-9)
        shown[known] = (shown[known] - (low + high) / 2) / scale
    shown[~known] = -1.0
    return shown
