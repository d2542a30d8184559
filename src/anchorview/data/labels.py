"""Labels and weights as users give them: checked, numbered, and dealt out to folds."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..core.checks import HEAVIEST, is_missing, shorten
from .tables import as_column, column_values

UNLABELLED = -1


_LIKE_MISSING = frozenset(
    ("nan", "none", "null", "na", "n/a", "<na>", "nat", "missing", "unknown", "unlabelled", "unlabeled", "-1", "?")
)


def encode_labels(
    y: Any,
    n_rows: int,
    fitted: npt.NDArray[Any] | None = None,
    *,
    unlabelled: Any = None,
    ids: npt.NDArray[Any] | None = None,
) -> tuple[npt.NDArray[Any], ClassIds]:
    """Return the classes and each row's class number, −1 for unlabelled rows.

    Unlabelled are −1, NaN, masked entries, what equals `unlabelled`, and also None and blank text in string or object
    arrays. A Series with an index of its own, or a mapping from id to label, is aligned with the `ids` of the rows;
    rows that it does not name are unlabelled. The one exception is a `y` of −1 and 1 only, the usual way to write two
    classes: both are classes then, with a warning. Where the classes of a fit are `fitted` already, −1 is a class if it
    is one of them.

    Examples
    --------
    >>> encode_labels(["b", None, "a", ""], 4)
    (array(['a', 'b'], dtype='<U1'), array([ 1, -1,  0, -1]))
    >>> encode_labels([7.0, -1.0, 3.0], 3)
    (array([3, 7]), array([ 1, -1,  0]))
    """
    if y is None:
        return np.empty(0, dtype=int), np.full(n_rows, UNLABELLED, dtype=np.intp)
    if not isinstance(y, np.ndarray | list):
        y = as_column(y)
    y = _align(y, ids)
    if isinstance(y, np.ma.MaskedArray):
        y = np.array([None if hidden else value for value, hidden in zip(y.data, np.ma.getmaskarray(y), strict=True)])
    values = _series_values(y) if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray) else _as_array(y)
    if isinstance(y, list | tuple) and values.dtype.kind in "US" and any(not isinstance(v, str | bytes) for v in y):
        values = np.array(y, dtype=object)  # asarray would turn None and -1 into text
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: the labels in y are complex; labels are integers or text.")
    if values.ndim > 2 or values.dtype.kind in "VMm":
        raise ValueError(
            f"y has shape {values.shape} and type {values.dtype}; labels are integers or text, one per row."
        )
    values = column_or_1d(values, warn=True)
    if values.dtype.kind == "f" and np.isnan(values).any():
        missing = np.isnan(values)
        values = values.astype(object)  # not -1: beside labels of 1 that would be read as a class
        values[missing] = None
    if unlabelled is not None:
        marked = values == unlabelled
        values = values.astype(object)
        values[marked] = None
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} labels but X has {n_rows} rows; give -1 to rows without a label.")
    if values.dtype.kind == "O":
        is_labelled = np.array([not is_unlabelled(value) for value in values], dtype=bool)
        known = np.array(values[is_labelled].tolist()) if is_labelled.any() else np.empty(0, dtype=int)
        if known.ndim != 1:
            raise ValueError("y holds labels that are sequences themselves; labels are integers or text.")
        if known.dtype.kind in "US" and any(not isinstance(v, str | bytes) for v in values[is_labelled]):
            raise ValueError(
                "y mixes text and numbers; use one kind of label (and -1, None or '' for unlabelled rows)."
            )
    elif values.dtype.kind in "US":
        is_labelled = np.char.str_len(np.char.strip(values)) > 0
        known = values[is_labelled]
    else:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("Input y contains infinity; give -1 to rows without a label.")
        _refuse_wrapped(values)
        is_labelled = values != UNLABELLED
        if fitted is not None:
            is_labelled |= fitted.dtype.kind in "if" and UNLABELLED in fitted
        elif len(values) > 0 and not is_labelled.all() and set(np.unique(values)) == {-1, 1}:
            warnings.warn(
                "y holds -1 and 1 only: read as two classes, every row labelled. If -1 means unlabelled here, "
                "only one class is labelled; label rows of another class too.",
                UserWarning,
                stacklevel=3,
            )
            is_labelled[:] = True
        known = values[is_labelled]
    if known.dtype.kind == "f":
        check_classification_targets(known)
        known = known.astype(np.int64)
    elif known.dtype.kind not in "iubUS":
        raise ValueError(f"Unknown label type: {known.dtype}; labels are integers or text.")
    classes, inverse = np.unique(known, return_inverse=True)
    _refuse_missing_text(classes, inverse)
    class_ids = np.full(n_rows, UNLABELLED, dtype=np.intp)
    class_ids[is_labelled] = inverse
    return classes, class_ids


def number_by_appearance(
    classes: npt.NDArray[Any], class_ids: ClassIds, counted: Mask | None = None
) -> tuple[npt.NDArray[Any], ClassIds]:
    """Return classes in the order of their first rows: what a fit makes of them must not depend on how they are called.

    Each class has a row at least. Rows that are not `counted` come after all others.

    Examples
    --------
    >>> number_by_appearance(np.array(["a", "b", "c"]), np.array([2, -1, 0, 2, 1]))
    (array(['c', 'a', 'b'], dtype='<U1'), array([ 0, -1,  1,  0,  2]))
    """
    rows = np.flatnonzero(class_ids >= 0)
    if counted is not None:
        rows = np.concatenate([rows[counted[rows]], rows[~counted[rows]]])
    order = np.argsort(np.unique(class_ids[rows], return_index=True)[1])
    places = np.append(np.argsort(order), UNLABELLED)  # the last one is that of rows without a label
    return classes[order], places[class_ids]


def _as_array(y: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(y)
    except ValueError:  # lists of several lengths
        raise ValueError("y holds labels that are sequences themselves; labels are integers or text.") from None


def _align(y: Any, ids: npt.NDArray[Any] | None, what: str = "y", kind: str = "label") -> Any:
    """Bring labels (or weights) that carry ids of rows to the rows' order; rows that they do not name get None."""
    if isinstance(y, Mapping):
        if ids is None:
            raise ValueError(
                f"{what} maps ids to {kind}s, but the rows have no ids; give ids to Views, or one {kind} per row."
            )
        labels = dict(y)
    elif hasattr(y, "iloc") and getattr(y, "ndim", 1) == 1 and ids is not None:
        keys = y.index.tolist()
        if keys == list(range(len(keys))) or keys == ids.tolist():
            return y
        if len(set(keys)) != len(keys):
            raise ValueError(f"The index of {what} repeats ids, so that {kind}s cannot be matched with rows by it.")
        labels = dict(zip(keys, y.tolist(), strict=True))
    else:
        return y
    items = ids.tolist()
    known = set(items)
    strange = [key for key in labels if key not in known]
    if strange:
        raise ValueError(
            f"{what} has {kind}s for ids that no row has: {', '.join(map(repr, strange[:5]))}; the rows have "
            f"{', '.join(map(repr, items[:3]))}, … Ids must be equal in type too (7 is not '7')."
        )
    result = np.empty(len(items), dtype=object)
    result[:] = [labels.get(item) for item in items]
    return result


def _refuse_wrapped(values: npt.NDArray[Any]) -> None:
    """Raise an error if unsigned labels hold what −1 becomes in their type: 255 in uint8, say."""
    if values.dtype.kind != "u" or len(values) == 0:
        return
    wrapped = np.iinfo(values.dtype).max
    if values.max() == wrapped:
        raise ValueError(
            f"y is of type {values.dtype}, which has no -1, and row {int(values.argmax())} holds {wrapped}, which is "
            "what -1 becomes in it. Give y as a signed type (y.astype(np.int64) before -1 is put in); if it is a "
            "class, give it another number."
        )


def _refuse_missing_text(classes: npt.NDArray[Any], class_ids: ClassIds) -> None:
    """Raise an error if most labels are a text that usually means "no label"."""
    if classes.dtype.kind not in "US" or len(class_ids) == 0:
        return
    counts = np.bincount(class_ids)
    for name, count in zip(classes.tolist(), counts.tolist(), strict=True):
        text = name.decode(errors="replace") if isinstance(name, bytes) else name
        if looks_missing(text) and 2 * count > len(class_ids):
            raise ValueError(
                f"{count} of {len(class_ids)} labels are the text {text!r}, which looks like a missing label. Pass "
                f"unlabelled={text!r} to the estimator, or give None, '' or -1 to rows without a label."
            )


def _series_values(y: Any) -> npt.NDArray[Any]:
    """Return the labels of a Series; NaN, which pandas puts for a missing label, makes them objects."""
    values = np.asarray(y.to_numpy())
    return values.astype(object) if values.dtype.kind == "f" and np.isnan(values).any() else values


def looks_missing(name: Any) -> bool:
    """Tell whether the name of a class is a text that usually means "no label"."""
    return isinstance(name, str) and name.strip().lower() in _LIKE_MISSING


def is_unlabelled(value: Any) -> bool:
    """Tell whether a single value means "no label" (or "no group"): -1, blank text, or nothing at all."""
    if isinstance(value, str | bytes):
        return len(value.strip()) == 0
    return is_missing(value) or (isinstance(value, numbers.Real) and value == UNLABELLED)


def check_weights(sample_weight: Any, n_rows: int, ids: npt.NDArray[Any] | None = None) -> Matrix | None:
    """Return the weights of the rows, None if all are one; a Series with an index is aligned with the rows' `ids`."""
    if sample_weight is None:
        return None
    if hasattr(sample_weight, "iloc") or isinstance(sample_weight, Mapping):
        sample_weight = _align(as_column(sample_weight), ids, "sample_weight", "weight")
        if hasattr(sample_weight, "iloc") and sample_weight.ndim == 1:
            sample_weight = column_values(sample_weight, "sample_weight", "of weights")  # NA is NaN
    elif not isinstance(sample_weight, np.ndarray | list):
        sample_weight = as_column(sample_weight)
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked entries; give every row a weight (0 leaves a row out).")
    try:
        given = np.asarray(sample_weight)
        weights = given.astype(np.float64)
    except (TypeError, ValueError):
        given = None
    if given is None or given.dtype.kind not in "biufO":  # text of digits is text
        raise ValueError(f"sample_weight must be numbers, one per row; got {shorten(sample_weight)}.")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got an array of shape {weights.shape}.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative; row {bad[0]} has {weights[bad[0]]}"
            f"{f' ({len(bad)} such rows)' if len(bad) > 1 else ''}."
        )
    if weights.max(initial=0.0) > HEAVIEST:
        raise ValueError(f"sample_weight must be at most {HEAVIEST:g}; row {weights.argmax()} has {weights.max()}.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least some rows must count.")
    return None if np.all(weights == 1) else weights


def split_labels(class_ids: ClassIds, n_folds: int, rng: np.random.RandomState) -> list[Rows]:
    """Deal the labelled rows of each class out to folds; a class's only row is never in one.

    Fewer folds, or none, are returned where there are too few rows to hide.

    Examples
    --------
    >>> folds = split_labels(np.array([0, 0, 1, -1, 1, 2]), 2, np.random.RandomState(0))
    >>> sorted(int(row) for fold in folds for row in fold)
    [0, 1, 2, 4]
    """
    n_folds = min(n_folds, max(len(class_ids), 1))  # more would stay empty
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    turn = 0
    for number in range(int(class_ids.max(initial=-1)) + 1):
        rows = rng.permutation(np.flatnonzero(class_ids == number))
        if len(rows) < 2:
            continue
        # Never a whole class at once: what is left of it must be able to speak for it.
        for place, row in enumerate(rows):
            folds[(turn + place) % n_folds].append(int(row))
        turn += len(rows)
    return [np.sort(np.array(fold, dtype=np.intp)) for fold in folds if fold]
