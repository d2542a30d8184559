"""Which scaling each view gets: what the user chose, and for "auto" what the features look like.

Where labels can decide, they do (`tuning.auto`); this is what is tried first, and what is taken without labels. Each
view goes by its own nature:

- Sparse views, and dense ones that are text filled in with zeros: "lsa".
- Signed features whose rows have all the same length: "l2". A model brought them to that length and compares them by
  angle; columns scaled one by one would undo what it learned, and blow up those that are constant but for rounding.
- Features that vary little beside their distance from the minimum, so that rows scaled to 0 … 1 and to unit length
  would be nearly parallel. A row is then like every landmark, and its code tells little (an example with figures is in
  docs/method.md). Signed ones get "symmetric", as zero is where they start from; the others "standard", which centres.
- All others: "minmax".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import PARALLEL, Mask, Matrix, Rows
from ..data.views import Views
from ..engine.blocks import row_blocks

SCALINGS = ("auto", "minmax", "symmetric", "standard", "l2", "tfidf", "lsa", "none")
FOR_SPARSE = ("auto", "minmax", "l2", "tfidf", "lsa", "none")
_TEXT_ZEROS, _TEXT_FEATURES = 0.95, 100  # a dense view with as many zeros and features is text that was filled in
_SOME_ROWS = 1000
_RANGE_ROWS = 20_000  # that ranges are taken from: they grow with the rows, and cosines with the ranges
_RANGE_BLOCK = 512  # of them that are looked at together
DENSE_ROWS = 512  # of a pass over a dense view: minima and maxima are two, the second finds the block in the cache
_BLOCK_ENTRIES = 2**18  # of rows that are copied in double precision: 2 MB
_SIGNED = 0.1  # share of either sign among values that are not zero; a few are noise about zero
_SAME_LENGTH = 0.01  # deviation of lengths, to their mean

ScalingChoice = str | Sequence[str] | Mapping[str, str]


def resolve_scaling(views: Views, scaling: ScalingChoice) -> list[str]:
    """Return one scaling per view, "auto" settled by its features; or raise an error that names the choices."""
    return suit_views(views, read_scaling(views, scaling))


def suit_views(views: Views, kinds: Sequence[str]) -> list[str]:
    """Return the scalings with what suits the features in place of "auto"."""
    found = list(kinds)
    for number, (array, is_text) in enumerate(zip(views.arrays, views.is_sparse_view, strict=True)):
        if found[number] == "auto":
            has_view = None if views.present is None else views.present[:, number]
            found[number] = "lsa" if is_text else suit_view(array, has_view)
    return found


def read_scaling(views: Views, scaling: ScalingChoice) -> list[str]:
    """Return one scaling per view as asked for, or raise an error that names the choices."""
    if isinstance(scaling, str):
        kinds = [scaling] * len(views.names)
    elif isinstance(scaling, Mapping):
        unknown = sorted(set(scaling) - set(views.names))
        if unknown:
            raise ValueError(f"scaling names views that are not there: {unknown}; the views are {views.names}.")
        kinds = [scaling.get(name, "auto") for name in views.names]
    else:
        kinds = list(scaling) if isinstance(scaling, Iterable) else [scaling] * len(views.names)
        if len(kinds) != len(views.names):
            raise ValueError(f"scaling lists {len(kinds)} choices for {len(views.names)} views.")
    for kind, name, is_text in zip(kinds, views.names, views.is_sparse_view, strict=True):
        if kind not in SCALINGS:
            raise ValueError(f"scaling={kind!r} (view {name!r}) is not known; choose one of {', '.join(SCALINGS)}.")
        if is_text and kind not in FOR_SPARSE:
            raise ValueError(
                f"scaling={kind!r} would fill in the zeros of the sparse view {name!r}; "
                f"choose one of {', '.join(FOR_SPARSE)} for it."
            )
    return kinds


def suit_view(array: Any, has_view: Mask | None = None) -> str:
    """Return the scaling that suits the features of a dense view by what they look like, on some of its rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> signed, counts = rng.normal(size=(50, 8)), rng.poisson(3.0, size=(50, 8))
    >>> suit_view(signed), suit_view(signed / np.linalg.norm(signed, axis=1, keepdims=True)), suit_view(counts)
    ('minmax', 'l2', 'minmax')
    >>> signed[:2] = [[20.0], [-20.0]]  # all others are near the middle of the range, and alike
    >>> suit_view(signed), suit_view(signed + 100)
    ('symmetric', 'standard')
    """
    if zero_share(array) > _TEXT_ZEROS:
        return "lsa"
    some = some_rows(array, has_view, _SOME_ROWS)
    if are_embedded(some):
        return "l2"
    if scaled_cosine(array, has_view) <= PARALLEL:
        return "minmax"
    return "symmetric" if is_signed(some) else "standard"


def some_rows(array: npt.NDArray[Any], has_view: Mask | None, number: int) -> npt.NDArray[Any]:
    """Return about so many rows, all over the view, without those that lack it or are not finite.

    Not copied unless some are left out: wide rows would take more than anything else that a fit holds.
    """
    step = max(1, len(array) // number)
    some = np.asarray(array[::step])
    kept = np.ones(len(some), dtype=bool) if has_view is None else has_view[::step].copy()
    for block in _blocks(some):
        kept[block] &= np.isfinite(some[block]).all(axis=1)
    return np.asarray(some if kept.all() else some[kept])


def _blocks(rows: npt.NDArray[Any]) -> list[slice]:
    """Cut rows so that a copy of a block in double precision is small, however wide they are."""
    return row_blocks(len(rows), max(1, _BLOCK_ENTRIES // max(rows.shape[1], 1)))


def is_signed(rows: npt.NDArray[Any]) -> bool:
    """Tell whether values are of both signs, as in embeddings and principal components."""
    n_other = np.count_nonzero(rows)
    n_negative = sum(np.count_nonzero(rows[block] < 0) for block in _blocks(rows))
    return bool(_SIGNED * n_other < n_negative < (1 - _SIGNED) * n_other)


def are_embedded(rows: npt.NDArray[Any]) -> bool:
    """Tell whether rows are like those of an embedding: signed, and all of the same length, which no column makes up.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(50, 8))
    >>> are_embedded(rows), are_embedded(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    (False, True)
    """
    if not is_signed(rows):
        return False
    by_row, by_column = np.empty(len(rows)), np.zeros(rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        for block in _blocks(rows):
            squares = rows[block].astype(np.float64) ** 2
            by_row[block] = squares.sum(axis=1)
            by_column += squares.sum(axis=0)
        lengths = np.sqrt(by_row)
        same = lengths.std() <= _SAME_LENGTH * lengths.mean()
        return bool(same and by_column.max() <= 0.5 * by_row.sum())


def zero_share(array: npt.NDArray[Any]) -> float:
    """Return the part of zeros in some rows of a dense view; 0 if it has negative or few features, or only zeros."""
    if array.shape[1] < _TEXT_FEATURES:
        return 0.0
    some = some_rows(array, None, _SOME_ROWS)
    n_other = np.count_nonzero(some)
    if n_other == 0 or any((some[block] < 0).any() for block in _blocks(some)):
        return 0.0
    return 1.0 - n_other / some.size


def mean_cosine(rows: npt.NDArray[Any]) -> float:
    """Return the mean cosine between pairs of rows of about the same length; 0 if all are zero.

    Examples
    --------
    >>> mean_cosine(np.array([[1.0, 0.0], [1.0, 0.0]])), mean_cosine(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    (1.0, 0.0)
    """
    squares = float(np.einsum("ij,ij->i", rows, rows).mean()) if len(rows) else 0.0
    return float((rows.mean(axis=0, dtype=np.float64) ** 2).sum()) / squares if squares > 0 else 0.0


def scaled_cosine(array: npt.NDArray[Any], has_view: Mask | None = None) -> float:
    """Return the mean cosine between rows of a dense view once they are scaled to 0 … 1 and to unit length."""
    step = max(1, len(array) // _RANGE_ROWS)
    many = np.asarray(array[::step])
    kept, low, high = _ranges(many, None if has_view is None else has_view[::step])
    if len(kept) < 2:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
    varies, some = width > 0, kept[:: max(1, len(kept) // _SOME_ROWS)]
    total, squares = np.zeros(np.count_nonzero(varies)), 0.0
    for block in row_blocks(len(some), max(1, _BLOCK_ENTRIES // max(len(varies), 1))):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (many[some[block]].astype(np.float64) - low)[:, varies] / width[varies]
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        rows = np.nan_to_num(scaled / np.where(lengths > 0, lengths, 1))  # entries of 0 … 1 need no guard
        total += rows.sum(axis=0)
        squares += float(np.einsum("ij,ij->", rows, rows))
    return float(((total / len(some)) ** 2).sum()) / (squares / len(some)) if squares > 0 else 0.0


def _ranges(rows: npt.NDArray[Any], has_view: Mask | None) -> tuple[Rows, Matrix, Matrix]:
    """Return which rows have the view and are finite, and their least and largest values, column by column.

    Block by block: the second look at a block finds it in the cache. NaN and infinity show up in the extremes.
    """
    low, high, kept = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf), [np.empty(0, dtype=np.intp)]
    for block in row_blocks(len(rows), _RANGE_BLOCK):
        numbers = np.arange(block.start, block.stop)
        if has_view is not None:
            numbers = numbers[has_view[block]]
        part = rows[block] if len(numbers) == block.stop - block.start else rows[numbers]
        least, largest = _extremes(part)
        if not (np.isfinite(least).all() and np.isfinite(largest).all()):
            finite = np.isfinite(part).all(axis=1)
            numbers, (least, largest) = numbers[finite], _extremes(part[finite])
        if len(numbers):
            low, high = np.minimum(low, least), np.maximum(high, largest)
            kept.append(numbers)
    return np.concatenate(kept), low, high


def _extremes(rows: npt.NDArray[Any]) -> tuple[Matrix, Matrix]:
    if len(rows) == 0:
        return np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    return rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
