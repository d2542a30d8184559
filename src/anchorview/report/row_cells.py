"""What a row holds, for a reader: its text, and the cells that tell most about its class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows, is_sparse
from ..data.columns import Column, table_columns
from ..data.tables import is_table
from ..data.views import Views
from .markup import one_line

Cells = list[tuple[str, str]]  # name of the column, "" for a text without one; and what it holds

LONGEST_TEXT = 300  # characters of a cell: enough to judge a label by
_MOST_TEXTS, _MOST_CELLS = 3, 5
_WORDS = 2.5  # a cell above which text is read, not compared
_VECTOR = re.compile(r"\[[\d\s.,eE+-]+\]")
_ENOUGH = 5000  # rows that tell which columns differ between classes


def row_cells(contents: Any, X: Any, rows: Sequence[int], class_ids: ClassIds) -> dict[int, Cells]:
    """Return what some rows hold: texts first, then the cells of the columns in which the classes differ most.

    Of the texts, columns whose cells mostly differ come before those that repeat: they tell which row it is.

    Parameters
    ----------
    contents : table of pandas, polars or pyarrow, or sequence of str, or None
        All rows of the fit, as a person would read them.
    X : Views or None
        Where there is nothing to read: its columns of numbers that have names.
    rows : sequence of int
        The rows to describe.
    class_ids : ndarray of int of shape (n_rows,)
        The class that each row got.
    """
    if contents is None:
        columns = _named_features(X, class_ids)
        return _pick([], columns, rows)
    if not is_table(contents):
        texts = list(contents)
        return {int(row): [("", _shorten(texts[row]))] for row in rows if texts[row] not in (None, "")}
    words, others = _ranked(contents, class_ids)
    telling = [column for score, column in others if score > 0 or not words]  # something must be shown
    return _pick(words[:_MOST_TEXTS], telling[:_MOST_CELLS], rows)


def telling_columns(contents: Any, class_ids: ClassIds) -> list[str]:
    """Return the names of a table's columns, what tells most first: texts, then those in which classes differ most.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"noise": [1, 2, 1, 2, 1, 2, 1, 2], "size": [1, 1, 1, 1, 9, 9, 9, 9]})
    >>> telling_columns(table, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    ['size', 'noise']
    """
    words, others = _ranked(contents, class_ids)
    return [column.name for column in [*words, *(column for _, column in others)]]


def _ranked(contents: Any, class_ids: ClassIds) -> tuple[list[Column], list[tuple[float, Column]]]:
    """Return columns of text, and the others with how far the classes differ in them, most first."""
    words, others = list[Column](), list[tuple[float, Column]]()
    sample = _sample(len(class_ids))
    for column in table_columns(contents):
        if column.storage in ("list", "other") or _holds_vectors(column):
            continue
        if _is_text(column, sample):
            words.append(column)
        else:
            others.append((_separation(column, sample, class_ids), column))
    words.sort(key=lambda column: _repeats(column, sample))
    return words, sorted(others, key=lambda pair: -pair[0])


def _pick(texts: list[Column], others: list[Column], rows: Sequence[int]) -> dict[int, Cells]:
    found = {}
    for row in map(int, rows):
        cells = [(column.name, column.cells[row]) for column in [*texts, *others]]
        found[row] = [(one_line(name), _shorten(cell)) for name, cell in cells if cell is not None and cell != ""]
    return found


def _shorten(cell: Any) -> str:
    if isinstance(cell, float | np.floating):
        number = float(cell)
        cell = f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}"
    text = " ".join(one_line(str(cell)).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1].rstrip() + "…"


def _sample(n_rows: int) -> Rows:
    return np.arange(n_rows)[:: max(1, -(-n_rows // _ENOUGH))]


def _is_text(column: Column, sample: Rows) -> bool:
    if column.storage != "text":
        return False
    filled = [str(column.cells[row]) for row in sample if column.cells[row] is not None]
    return bool(filled) and float(np.mean([text.count(" ") + 1 for text in filled])) >= _WORDS


def _holds_vectors(column: Column) -> bool:
    """Tell lists of numbers that are written as text, which nobody reads."""
    first = next((cell for cell in column.cells if cell is not None), None) if column.storage == "text" else None
    return first is not None and _VECTOR.fullmatch(str(first).strip()) is not None


def _repeats(column: Column, sample: Rows) -> bool:
    """Tell whether fewer than half of the filled cells are different."""
    filled = [str(column.cells[row]) for row in sample if column.cells[row] is not None]
    return 2 * len(set(filled)) < len(filled)


def _separation(column: Column, sample: Rows, class_ids: ClassIds) -> float:
    """Return the share of a column's variance that lies between the classes, less what chance would give."""
    kept = sample[class_ids[sample] >= 0]
    if len(kept) < 3:
        return 0.0
    if column.storage in ("number", "date"):
        numbers = column.numbers() if column.storage == "number" else column.seconds()
        values = numbers[kept]
        fine = np.isfinite(values)
        if fine.sum() < 3 or np.ptp(values[fine]) == 0:
            return 0.0
        ranks = np.argsort(np.argsort(values[fine])).astype(np.float64)  # one huge number must not decide
        return _between(ranks[:, None], class_ids[kept][fine])
    names, codes = np.unique([str(column.cells[row]) for row in kept], return_inverse=True)
    if not 1 < len(names) <= len(kept) / 2:
        return 0.0
    common = np.argsort(-np.bincount(codes), kind="stable")[:50]
    return _between((codes[:, None] == common).astype(np.float64), class_ids[kept])


def _between(values: Matrix, class_ids: ClassIds) -> float:
    centred = values - values.mean(axis=0)
    total = float((centred**2).sum())
    classes, places = np.unique(class_ids, return_inverse=True)
    sums = np.zeros((len(classes), values.shape[1]))
    np.add.at(sums, places, centred)
    between = float((sums**2 / np.bincount(places)[:, None]).sum())
    freedom = len(classes) - 1
    by_chance = (freedom + 3 * np.sqrt(2 * freedom)) / max(len(values) - 1, 1)  # mean of χ², and three deviations
    return float(max(between / total - by_chance, 0.0)) if total > 0 else 0.0


def _named_features(X: Any, class_ids: ClassIds) -> list[Column]:
    """Return the named columns of dense views in memory in which the classes differ most."""
    if not isinstance(X, Views):
        return []
    sample = _sample(len(class_ids))
    sample = sample[class_ids[sample] >= 0]
    found = list[tuple[float, Column]]()
    for name, array, features in zip(X.names, X.arrays, X.features, strict=True):
        if features is None or is_sparse(array) or not isinstance(array, np.ndarray) or name == "numbers":
            continue  # "numbers" are scaled: what TableViews read is what a person knows
        if all(str(one).isdigit() for one in features):  # of photos, embeddings: nobody reads them
            continue
        values = np.nan_to_num(np.asarray(array[sample], dtype=np.float64))
        scores = [_between(values[:, [place]], class_ids[sample]) for place in range(min(values.shape[1], 200))]
        best = np.argsort(-np.array(scores), kind="stable")[:_MOST_CELLS]
        found += [(scores[place], Column(str(features[place]), array[:, place])) for place in best if scores[place] > 0]
    return [column for _, column in sorted(found, key=lambda pair: -pair[0])[:_MOST_CELLS]]
