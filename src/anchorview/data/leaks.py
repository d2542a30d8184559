"""Columns that give the label away: known for the rows that are labelled, and seldom for those to come."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrays import ClassIds
from .column_kinds import ColumnKind
from .columns import Column
from .tag_words import TAG_READERS

_LEAST_LABELS = 20  # by which a column is judged: of fewer, one value a class is no surprise
_MOST_LABELS = 5000  # that are looked at
_RIGHT = 0.98  # share of labels that a column must tell: a few may be slips
_USUAL = 0.9  # share of the largest class above which nothing can be told
_COVERED = 0.5  # share of labelled rows whose value some other labelled row has
_DISTINCT = 3  # values a class, up to which numbers are names of something


def leaking_columns(
    columns: Mapping[str, Column], kinds: Mapping[str, ColumnKind], labels: Sequence[Any]
) -> dict[str, str]:
    """Return the columns that give the label away, and how that is seen.

    The label of each labelled row is read off the other rows with the same value of the column (of text that names a
    class: off the text); if nearly all are right, so is the column, and a model will look at nothing else.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns that are used.
    kinds : mapping of str to ColumnKind
        What they were taken for.
    labels : sequence
        The label of each row, None where there is none.

    Examples
    --------
    >>> topics = ["car", "food", "sport"] * 10
    >>> column = Column("code", np.array([{"car": "A", "food": "B", "sport": "C"}[topic] for topic in topics]))
    >>> leaking_columns({"code": column}, {"code": ColumnKind("category", "")}, topics)
    {'code': 'each of its values goes with one class, in all of 30 labelled rows'}
    """
    rows = [row for row, label in enumerate(labels) if label is not None]
    rows = rows[:: -(-len(rows) // _MOST_LABELS)] if len(rows) > _MOST_LABELS else rows
    if len(rows) < _LEAST_LABELS:
        return {}
    classes, class_ids = np.unique([str(labels[row]) for row in rows], return_inverse=True)
    if len(classes) < 2 or np.bincount(class_ids).max() > _USUAL * len(rows):
        return {}
    found = {}
    for name, column in columns.items():
        kind = kinds[name].kind
        said = None
        if kind in ("category", "boolean", "number", "date"):
            said = _by_value(_values(column, kind, rows, len(classes)), class_ids)
        elif kind == "text" or kind in TAG_READERS:
            cells = column.cells
            said = _by_name(
                ["" if cells[row] is None else str(cells[row]) for row in rows], classes.tolist(), class_ids
            )
        if said is not None:
            found[name] = said
    return found


def _values(column: Column, kind: str, rows: Sequence[int], n_classes: int) -> list[Hashable] | None:
    """Return the values of rows; None for numbers that are too many to be names of classes."""
    texts = column.texts()
    values = [texts[row] for row in rows]
    if kind in ("number", "date") and len(set(values)) > _DISTINCT * n_classes:
        return None
    return list(values)


def _by_value(values: list[Hashable] | None, class_ids: ClassIds) -> str | None:
    """Read each label off the other rows with the same value."""
    if values is None:
        return None
    place = {value: number for number, value in enumerate(dict.fromkeys(values))}
    numbers = np.array([place[value] for value in values])
    counts = np.zeros((len(place), int(class_ids.max()) + 1))
    np.add.at(counts, (numbers, class_ids), 1)
    others = counts[numbers]
    others[np.arange(len(numbers)), class_ids] -= 1
    shared = np.array([value is not None for value in values]) & (others.sum(axis=1) > 0)
    if shared.sum() < max(_LEAST_LABELS, _COVERED * len(values)):
        return None
    right = others[shared].argmax(axis=1) == class_ids[shared]
    usual = np.bincount(class_ids[shared]).max() / shared.sum()
    if right.mean() < _RIGHT or usual > _USUAL:
        return None
    share = "all" if right.all() else f"{right.mean():.0%}"
    return f"each of its values goes with one class, in {share} of {int(shared.sum()):,} labelled rows"


def _by_name(texts: Sequence[str], classes: Sequence[str], class_ids: ClassIds) -> str | None:
    """Tell whether texts contain the name of their class, and of no other."""
    names = [name.lower().replace("_", " ") for name in classes]
    clear = [text.lower().replace("_", " ") for text in texts]
    right = [
        names[own] in text and not any(name in text for name in names if name not in names[own])
        for text, own in zip(clear, class_ids, strict=True)
    ]
    if np.mean(right) < _RIGHT:
        return None
    return f"its text has the name of the class, in {np.mean(right):.0%} of {len(right):,} labelled rows"
