"""Every input form turned into what the model works on, and the errors a user may meet on the way."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from .view_input import is_mudata
from .views import ColumnGroups, Views

UNLABELLED = -1


def as_views(X: Any, views: ColumnGroups | None, *, accept_sparse: bool = True, accept_missing: bool = True) -> Views:
    """Turn any accepted input into Views with at least one row."""
    result = Views(X, views=views if _is_one_table(X) else None)
    _refuse_unsupported(result, accept_sparse, accept_missing)
    if len(result) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result


def _refuse_unsupported(views: Views, accept_sparse: bool, accept_missing: bool) -> None:
    """Raise an error for views that `Views` can hold but an estimator cannot work on."""
    for name, array in views.items():
        if sparse.issparse(array) and not accept_sparse:
            raise TypeError(
                f"View {name!r} is sparse, which this method does not support; pass .toarray() if it fits in memory."
            )
    if views.present is not None and not accept_missing:
        rows = np.flatnonzero(~views.present.all(axis=1))[:5]
        raise ValueError(f"Rows {rows.tolist()} lack a view, which this method does not support; remove such rows.")


def _is_one_table(X: Any) -> bool:
    return hasattr(X, "shape") and not isinstance(X, Views)


def read_views(estimator: Any, X: Any, *, reset: bool) -> Views:
    """Turn input into Views, and record on the estimator (or check) what scikit-learn wants to know of its features.

    Sparse views are accepted if the estimator's tags say that it takes sparse input, missing views if it has a true
    attribute ``_accepts_missing``.
    """
    accept_sparse = bool(get_tags(estimator).input_tags.sparse)
    accept_missing = bool(getattr(estimator, "_accepts_missing", False))
    if _can_be_validated(X):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=accept_sparse,
            dtype=None,
            ensure_all_finite=False,
            skip_check_array=_keeps_type(X),
        )
    views = as_views(X, estimator.views, accept_sparse=accept_sparse, accept_missing=accept_missing)
    if reset:
        estimator.n_features_in_ = sum(views.sizes)
        estimator.view_names_, estimator.view_sizes_ = list(views.names), list(views.sizes)
    else:
        views = match_views(views, estimator.view_names_)
        check_same_features(views, estimator.view_sizes_, estimator.view_names_, type(estimator).__name__)
    return views


def _can_be_validated(X: Any) -> bool:
    """Tell one 2-D table, which scikit-learn can validate, from several views."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and np.ndim(X[0]) < 2 and not hasattr(X[0], "shape")
    return sparse.issparse(X) or not (isinstance(X, Views | dict) or is_mudata(X))


def _keeps_type(X: Any) -> bool:
    """DataFrames keep their columns, which `views` may name; only their feature names are checked."""
    return hasattr(X, "iloc")


def match_views(views: Views, names: list[str]) -> Views:
    """Put named views in the order of the fit, whose views have these names.

    Views are matched by position where either side has the names that `Views` gives by default.
    """
    default = [f"view{i}" for i in range(len(views.names))]
    if views.names == names or len(views.names) != len(names) or default in (views.names, names):
        return views
    unknown = sorted(set(views.names) - set(names))
    if unknown:
        raise ValueError(f"X has views that were not in the fit: {unknown}; the fit had {names}.")
    return views.select(names)


def check_same_features(views: Views, sizes: list[int], names: list[str], estimator: str) -> None:
    """Raise an error if rows to predict do not have the features of the fit."""
    if views.sizes == sizes:
        return
    if len(views.sizes) != len(sizes):
        if sum(views.sizes) == sum(sizes):
            raise ValueError(f"X has {len(views.sizes)} views, but {estimator} was fitted with {len(sizes)}: {names}.")
        raise ValueError(
            f"X has {sum(views.sizes)} features, but {estimator} is expecting {sum(sizes)} features as input "
            f"({len(sizes)} views: {dict(zip(names, sizes, strict=True))})."
        )
    for name, got, expected in zip(names, views.sizes, sizes, strict=True):
        if got != expected:
            raise ValueError(
                f"X has {sum(views.sizes)} features, but {estimator} is expecting {sum(sizes)} features as input: "
                f"view {name!r} has {got} and was fitted with {expected}."
            )


def encode_labels(
    y: Any, n_rows: int, fitted: npt.NDArray[Any] | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return the classes and each row's class number, −1 for unlabelled rows.

    Unlabelled are −1, and also None, NaN and "" in string or object arrays. The one exception is a `y` of −1 and 1
    only, the usual way to write two classes: both are classes then, and a warning says so. Where the classes of a
    fit are `fitted` already, −1 is a class if it is one of them.

    Examples
    --------
    >>> encode_labels(["b", None, "a", ""], 4)
    (array(['a', 'b'], dtype='<U1'), array([ 1, -1,  0, -1]))
    >>> encode_labels([7.0, -1.0, 3.0], 3)
    (array([3, 7]), array([ 1, -1,  0]))
    """
    if y is None:
        return np.empty(0, dtype=int), np.full(n_rows, UNLABELLED, dtype=np.intp)
    values = _series_values(y) if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray) else np.asarray(y)
    if isinstance(y, list | tuple) and values.dtype.kind in "US" and any(not isinstance(v, str | bytes) for v in y):
        values = np.array(y, dtype=object)  # asarray would turn None and -1 into text
    values = column_or_1d(values, warn=True)
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} labels but X has {n_rows} rows; give -1 to rows without a label.")
    if values.dtype.kind == "O":
        is_labelled = np.array([not _is_blank(value) for value in values], dtype=bool)
        known = np.array(values[is_labelled].tolist()) if is_labelled.any() else np.empty(0, dtype=int)
        if known.ndim != 1:
            raise ValueError("y holds labels that are sequences themselves; labels are integers or text.")
        if known.dtype.kind in "US" and any(not isinstance(v, str | bytes) for v in values[is_labelled]):
            raise ValueError(
                "y mixes text and numbers; use one kind of label (and -1, None or '' for unlabelled rows)."
            )
    elif values.dtype.kind in "US":
        is_labelled = values != ""
        known = values[is_labelled]
    else:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("Input y contains NaN or infinity; give -1 to rows without a label.")
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
    codes = np.full(n_rows, UNLABELLED, dtype=np.intp)
    codes[is_labelled] = inverse
    return classes, codes


def _series_values(y: Any) -> npt.NDArray[Any]:
    """Return the labels of a Series; NaN, which pandas puts for a missing label, makes them objects."""
    values = np.asarray(y.to_numpy())
    return values.astype(object) if values.dtype.kind == "f" and np.isnan(values).any() else values


def _is_blank(value: Any) -> bool:
    """Tell whether an entry of an object array means "no label"."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    if isinstance(value, str | bytes):
        return len(value) == 0
    return isinstance(value, numbers.Real) and (value == UNLABELLED or value != value)


def check_number(name: str, value: Any, low: float, *, integer: bool = False, strict: bool = False) -> None:
    """Raise an error unless a parameter is a number at or above (strictly: above) ``low``."""
    kind = numbers.Integral if integer else numbers.Real
    good = not isinstance(value, bool) and isinstance(value, kind) and np.isfinite(float(value))
    if not good or value < low or (strict and value == low):
        what = "an integer" if integer else "a number"
        raise ValueError(f"{name} must be {what} {'above' if strict else 'of at least'} {low}; got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise an error unless a parameter is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}.")
