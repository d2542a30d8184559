"""What a report says of a single row that it lists: where it is, what it holds, the guesses, and why it is listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, Rows
from ..label_loop.judging import LabelLoop
from .class_photos import Photo, PhotoFiles, load_photos
from .markup import one_line
from .row_cells import Cells, row_cells
from .row_reasons import Standing, find_standing

MOST_ROWS = 1000  # listed in detail; the page would grow with more
_MOST_PHOTOS = 100  # of them


@dataclass(frozen=True)
class RowDetails:
    """A row that a report lists.

    Attributes
    ----------
    cells : list of (str, str)
        What it holds: names of columns and contents, texts first.
    where : str
        Where it is found, such as "reviews.csv, line 17"; empty if that is not known.
    guess, second : int
        The likeliest class and the next, -1 if there is none; of a given label, that label and the likeliest other.
    confidence, second_confidence : float
        Their probabilities.
    standing : Standing or None
        What a label for this row would stand for, if it is suggested.
    photo : Photo or None
        Its photo, if it has one that can be read.
    """

    cells: Cells = field(default_factory=list)
    where: str = ""
    guess: int = -1
    confidence: float = 0.0
    second: int = -1
    second_confidence: float = 0.0
    standing: Standing | None = None
    photo: Photo | None = None


def describe_rows(
    model: LabelLoop,
    suspects: Rows,
    suggested: Rows,
    class_ids: ClassIds,
    *,
    contents: Any = None,
    X: Any = None,
    where: Callable[[Sequence[int]], Sequence[str]] | None = None,
    photos: PhotoFiles | None = None,
) -> dict[int, RowDetails]:
    """Describe the rows that a report lists: given labels that are suspect, and rows to label next."""
    listed = list(dict.fromkeys([*suggested.tolist(), *suspects.tolist()]))[:MOST_ROWS]
    if not listed:
        return {}
    rows = np.array(listed, dtype=np.intp)
    cells = row_cells(contents, X, listed, class_ids)
    places = [""] * len(listed) if where is None else [one_line(str(place)) for place in where(listed)]
    standing = find_standing(model, suggested)
    guesses = _guesses(model, rows, class_ids)
    pictures = {} if photos is None else _photos(listed[:_MOST_PHOTOS], photos)
    return {
        row: RowDetails(cells.get(row, []), place, *guess, standing.get(row), pictures.get(row))
        for row, place, guess in zip(listed, places, guesses, strict=True)
    }


def _photos(rows: Sequence[int], photos: PhotoFiles) -> dict[int, Photo]:
    loaded = ((row, load_photos([file])) for row, file in zip(rows, photos(rows), strict=True))
    return {row: found[0] for row, found in loaded if found}


def _guesses(model: LabelLoop, rows: Rows, class_ids: ClassIds) -> list[tuple[int, float, int, float]]:
    """Return the two likeliest classes of rows and their probabilities."""
    seconds, values = model._runner_up
    columns = class_ids[rows], np.asarray(model.confidence_)[rows], seconds[rows], values[rows]
    return list(zip(*(column.tolist() for column in columns), strict=True))
