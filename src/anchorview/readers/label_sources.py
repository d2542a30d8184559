"""Where each label comes from: only labels of rows that were drawn at random can say how accurate a model is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask
from ..core.checks import is_missing, shorten

SOURCES = ("random", "suggested", "lasso", "search", "review", "import", "unknown", "skipped")
UNKNOWN, RANDOM, SKIPPED, IMPORT, SUGGESTED = "unknown", "random", "skipped", "import", "suggested"
_NUMBERED = np.array(["", *SOURCES])  # "" for rows without a label; only add at the end: numbers are in model files


def number_sources(sources: npt.NDArray[np.str_]) -> npt.NDArray[np.int8]:
    """Return sources as small numbers: names would take 36 bytes a row.

    Examples
    --------
    >>> import numpy as np
    >>> number_sources(np.array(["", "random"])), name_sources(np.array([0, 1]))
    (array([0, 1], dtype=int8), array(['', 'random'], dtype='<U9'))
    """
    order = np.argsort(_NUMBERED)
    numbers: npt.NDArray[np.int8] = order[np.searchsorted(_NUMBERED, sources, sorter=order)].astype(np.int8)
    return numbers


def name_sources(numbers: npt.NDArray[np.int8]) -> npt.NDArray[np.str_]:
    """Return the names of numbered sources."""
    return _NUMBERED[numbers]


def rows_from(numbers: npt.NDArray[np.int8], *sources: str) -> Mask:
    """Tell which rows have one of these sources, by their numbers: names of all rows would take much memory.

    Examples
    --------
    >>> rows_from(np.array([0, 1, 2, 8], dtype=np.int8), "random", "skipped")
    array([False,  True, False,  True])
    """
    wanted = np.flatnonzero(np.isin(_NUMBERED, sources))
    result: Mask = np.isin(numbers, wanted.astype(np.int8))
    return result


def are_numbered(numbers: npt.NDArray[np.int8]) -> bool:
    """Tell whether each of these is the number of a source."""
    return numbers.dtype == np.int8 and bool(((numbers >= 0) & (numbers < len(_NUMBERED))).all())


def read_label_sources(
    label_source: Any,
    is_labelled: Mask,
    ids: npt.NDArray[Any] | None = None,
    before: npt.NDArray[np.str_] | None = None,
) -> npt.NDArray[np.str_]:
    """Return where the label of each row comes from: "" for rows without one, "unknown" where nothing is given.

    "skipped" is for a row that was shown to somebody who could not label it; all others are for rows with a label.

    Parameters
    ----------
    label_source : mapping, Series or array-like of str, optional
        A source for each row; or sources by id (row number, if rows have no ids) of a
        mapping or of a Series with an index of its own. Rows that it does not name are "unknown".
    is_labelled : ndarray of bool of shape (n_rows,)
        Which rows have a label.
    ids : ndarray of shape (n_rows,), optional
        Ids of the rows.
    before : ndarray of str of shape (n_rows,), optional
        What was known of the same rows: rows that `label_source` does not name keep it.

    Examples
    --------
    >>> import numpy as np
    >>> read_label_sources({0: "random", 2: "skipped"}, np.array([True, True, False])).tolist()
    ['random', 'unknown', 'skipped']
    >>> read_label_sources(["random", "guess", None], np.array([True, True, False]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: label_source of row 1 is 'guess'; use random, suggested, lasso, search, review, import, ...
    """
    n_rows = len(is_labelled)
    names = np.arange(n_rows) if ids is None else ids
    given = np.full(n_rows, "", dtype="U9")
    for row, source in _pairs(label_source, n_rows, names):
        if not is_missing(source) and source != "":
            given[row] = _checked(source, names[row])
    skipped = given == SKIPPED
    for wrong, text in (
        (skipped & is_labelled, "'skipped', but it has a label; say where the label comes from"),
        (~skipped & ~is_labelled & (given != ""), "{!r}, but it has no label; leave it out"),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"label_source of row {names[row]} is {text.format(str(given[row]))}.")
    if before is not None:
        is_kept = (given == "") & np.where(is_labelled, before != SKIPPED, before == SKIPPED)
        given[is_kept] = before[is_kept]
    given[is_labelled & (given == "")] = UNKNOWN
    return given


def _pairs(label_source: Any, n_rows: int, names: npt.NDArray[Any]) -> list[tuple[int, Any]]:
    """Return row numbers with what is given for them."""
    if label_source is None:
        return []
    if isinstance(label_source, str):
        raise ValueError(
            f"label_source must name a source for each row, or be a mapping from row to source; got {label_source!r}."
        )
    by_id = label_source if hasattr(label_source, "items") else None
    index = getattr(label_source, "index", None)
    if by_id is not None and not (index is not None and len(label_source) == n_rows and _counts_rows(index)):
        place = {name: row for row, name in enumerate(names.tolist())}
        pairs, unknown = [], []
        for name, source in by_id.items():
            row = place.get(name.item() if isinstance(name, np.generic) else name)
            pairs.append((row, source))
            unknown += [name] if row is None else []
        if unknown:
            listed = ", ".join(shorten(name) for name in unknown[:5])
            raise ValueError(f"label_source names rows that are not there: {listed}; check the ids.")
        return [(row, source) for row, source in pairs if row is not None]
    values = list(label_source)
    if len(values) != n_rows:
        raise ValueError(
            f"label_source has {len(values)} entries for {n_rows} rows; give one per row, or a mapping from row to "
            "source."
        )
    return list(enumerate(values))


def _counts_rows(index: Any) -> bool:
    """Return whether the index of a Series counts the rows from 0."""
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def _checked(source: Any, name: Any) -> str:
    if not isinstance(source, str) or source not in SOURCES:
        shown = shorten(source)
        raise ValueError(f"label_source of row {name} is {shown}; use {', '.join(SOURCES[:-1])} or {SOURCES[-1]}.")
    return source
