"""Lists of single rows: labels to check and rows to label next, what they hold, and what the model makes of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from html import escape

from .run_map import class_colours
from .run_summary import RunSummary
from .run_tables import MOST_LISTED, class_name, photo_image, swatch, table, text
from .run_words import percent, suggestion_reason

_SHORT = 12  # characters up to which a cell is no text to read


def suspect_table(summary: RunSummary) -> str:
    """Return the labels that the model disputes, the worst first, with what the rows hold and the likeliest classes."""
    found, rows = summary.suspects, []
    for row, given, preferred, quality in zip(
        found.rows[:MOST_LISTED], found.given, found.preferred, found.quality, strict=False
    ):
        rows.append(
            [
                row_name(summary, row),
                row_contents(summary, row),
                class_chip(summary, int(preferred)),
                class_chip(summary, int(given)),
                text(percent(float(quality))),
            ]
        )
    header = [row_heading(summary), "contents", "the model prefers", "to the label given", "its quality"]
    return _row_table("Suspect labels", header, rows, texts=(1, 2, 3))


def suggestion_table(summary: RunSummary) -> str:
    """Return the rows to label next: what they hold, the two likeliest classes, and why a label helps there."""
    rows = []
    for row in summary.suggested.tolist():
        about = summary.about(row)
        sure, second = (summary.confidence[row], about.second_confidence) if summary.has_labels else (None, None)
        rows.append(
            [
                row_name(summary, row),
                row_contents(summary, row),
                class_chip(summary, int(summary.class_ids[row]), sure),
                class_chip(summary, about.second, second),
                text(suggestion_reason(summary, row)),
            ]
        )
    guess = "the model's guess" if summary.has_labels else "cluster"
    other = "second guess" if summary.has_labels else "next nearest"
    header = [row_heading(summary), "contents", guess, other, "why this one"]
    return _row_table("Rows to label next", header, rows, texts=(1, 2, 3, 4))


def _row_table(title: str, header: list[str], rows: list[list[str]], texts: Sequence[int]) -> str:
    """Return a table of rows; without a column of contents, if nothing is known of them."""
    if not any(row[1] for row in rows):
        header, rows, texts = header[:1] + header[2:], [row[:1] + row[2:] for row in rows], texts[:-1]
    return table(title, header, rows, texts=texts, kind="rows")


def row_name(summary: RunSummary, row: int) -> str:
    """Return a row's id or number, and its place in the file."""
    where = summary.about(row).where
    return text(summary.id_of(row)) + (f'<small class="where"><bdi>{escape(where)}</bdi></small>' if where else "")


def row_contents(summary: RunSummary, row: int) -> str:
    """Return what a row holds: its first text, and other cells with the names of their columns."""
    cells, photo = summary.about(row).cells, summary.about(row).photo
    parts = [] if photo is None else [photo_image(photo)]
    for place, (name, cell) in enumerate(cells):
        shown = f"<bdi>{escape(cell)}</bdi>"
        if place == 0 and len(cell) > _SHORT:
            parts.append(f'<span class="main">{shown}</span>')
        else:
            named = f"<b><bdi>{escape(name)}</bdi></b> " if name else ""
            parts.append(f'<span class="cell">{named}{shown}</span>')
    return "".join(parts)


def class_chip(summary: RunSummary, number: int, probability: float | None = None) -> str:
    """Return a class in its colour, with a probability."""
    if number < 0:
        return "–"
    colours = _colours(len(summary.classes))
    sure = "" if probability is None else f' <span class="sure">{percent(float(probability))}</span>'
    name = class_name(summary.classes[number])
    return f'<span class="chip">{swatch(number, colours)}<span>{name}{sure}</span></span>'


@functools.cache
def _colours(n_classes: int) -> tuple[list[str], list[str]]:
    return class_colours(n_classes)


def row_heading(summary: RunSummary) -> str:
    """Return how rows are called."""
    return "row, from 0" if summary.ids is None else "id"
