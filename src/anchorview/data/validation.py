"""Every input form turned into what the model works on, and the errors a user may meet on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..core.arrays import Mask, Presence, Rows, Weights, is_sparse
from .reading import ColumnGroups, is_mudata
from .views import Views

_BLOCK_CELLS = 2**22  # cells looked at together, so that memory stays small for wide views too


def as_views(X: Any, views: ColumnGroups | None, *, accept_sparse: bool = True, accept_missing: bool = True) -> Views:
    """Turn any accepted input into Views with at least one row."""
    result = Views(X, views=views if _is_one_table(X) else None)
    _refuse_unsupported(result, accept_sparse, accept_missing)
    if len(result) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result


def _refuse_unsupported(views: Views, accept_sparse: bool, accept_missing: bool) -> None:
    """Raise an error for views that `Views` can hold but an estimator cannot work on."""
    for name, array in zip(views.names, views.arrays, strict=True):
        if sparse.issparse(array) and not accept_sparse:
            raise TypeError(
                f"View {name!r} is sparse, which this method does not support; pass .toarray() if it fits in memory."
            )
    if views.present is not None and not accept_missing:
        rows = np.flatnonzero(~views.present.all(axis=1))[:5]
        raise ValueError(f"Rows {rows.tolist()} lack a view, which this method does not support; remove such rows.")


def _is_one_table(X: Any) -> bool:
    return hasattr(X, "shape") and not isinstance(X, Views)


def read_views(
    estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = True, accept_missing: bool = False
) -> Views:
    """Turn input into Views, and record on the estimator (or check) what scikit-learn wants to know of its features.

    Parameters
    ----------
    estimator : estimator
        With a parameter `views`.
    X : object
        What the user gave.
    reset : bool
        Record, or check against what was recorded.
    accept_sparse, accept_missing : bool
        Whether the estimator works on sparse views, and on rows that lack views.
    """
    cuts_frame = hasattr(X, "iloc") and estimator.views is not None  # columns that no view takes are left alone
    if _can_be_validated(X) and not cuts_frame:
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
        estimator._view_features = list(views.features)
        if cuts_frame:
            _record_names(estimator, views)
    else:
        views = match_views(views, estimator.view_names_)
        check_same_features(views, estimator.view_sizes_, estimator.view_names_, type(estimator).__name__)
        views = match_features(views, estimator._view_features)
    return views


def _record_names(estimator: Any, views: Views) -> None:
    """Set `feature_names_in_` to the columns that views take, as scikit-learn does where all names are text."""
    names = [name for part in views.features for name in part or [None]]
    if all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def match_features(views: Views, fitted: list[list[Any] | None]) -> Views:
    """Bring the columns of each view to the order of the fit; an error names columns that the fit did not have.

    Views without names, there or here, go by position.
    """
    orders: list[Rows | None] = []
    for name, features, expected in zip(views.names, views.features, fitted, strict=True):
        if features is None or expected is None or features == expected:
            orders.append(None)
            continue
        place = {feature: column for column, feature in enumerate(features)}
        lacking = [feature for feature in expected if feature not in place]
        strange = [feature for feature in features if feature not in set(expected)]
        if lacking or strange or len(place) != len(features):
            differs = "repeats names"
            if lacking or strange:
                differs = f"lacks {lacking[:5]}" if lacking else f"has {strange[:5]}"
            raise ValueError(
                f"The columns of view {name!r} are not those of the fit: it {differs}. Rename or select the columns, "
                "or pass arrays if their order is right."
            )
        orders.append(np.array([place[feature] for feature in expected], dtype=np.intp))
    return views.reorder_columns(orders) if any(order is not None for order in orders) else views


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


def find_present(views: Views) -> Mask | None:
    """Return which rows have which view: as the mask or ids of `views` have it, less rows of a view that are all NaN.

    Parameters
    ----------
    views : Views
        The views. Memory maps are read block by block.

    Returns
    -------
    ndarray of bool of shape (n_rows, n_views), or None
        None if no view is missing anywhere. A row that is NaN in part only is not missing.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> from anchorview.data.validation import find_present
    >>> gap = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, 3.0]])
    >>> find_present(Views([gap, np.ones((3, 1))]))
    array([[ True,  True],
           [False,  True],
           [ True,  True]])
    """
    present = np.ones((len(views), len(views.names)), dtype=bool) if views.present is None else views.present.copy()
    for number, array in enumerate(views.arrays):
        if not is_sparse(array) and array.dtype.kind == "f":
            present[_nan_rows(array), number] = False
    return None if present.all() else present


def _nan_rows(array: npt.NDArray[Any]) -> Rows:
    """Return the rows that are NaN throughout; only rows that begin with NaN are read as a whole."""
    step = max(1, _BLOCK_CELLS // array.shape[1])
    missing = [np.empty(0, dtype=np.intp)]
    for start in range(0, len(array), step):
        rows = start + np.flatnonzero(np.isnan(array[start : start + step, 0]))
        if len(rows):
            missing.append(rows[np.isnan(array[rows]).all(axis=1)])
    return np.concatenate(missing)


def check_no_empty(present: Presence, ids: npt.NDArray[Any] | None = None) -> None:
    """Raise an error naming the first rows that have no view at all.

    Parameters
    ----------
    present : ndarray of bool of shape (n_rows, n_views), or None
        Which rows have which view; None if all have all.
    ids : ndarray of shape (n_rows,), optional
        Ids to name the rows by, beside their numbers.
    """
    if present is None:
        return
    empty = np.flatnonzero(~present.any(axis=1))
    if len(empty) == 0:
        return
    more = ", …" if len(empty) > 5 else ""
    shown = ", ".join(map(str, empty[:5].tolist())) + more
    known = "" if ids is None else f" (ids {', '.join(map(repr, ids[empty[:5]].tolist()))}{more})"
    raise ValueError(
        f"{len(empty)} row{'s have' if len(empty) > 1 else ' has'} no view at all: {shown}{known}; "
        'remove such rows, or pass on_empty="drop".'
    )


def check_no_empty_view(present: Mask, names: list[str], weights: Weights = None) -> None:
    """Raise an error naming the views that are missing in every row.

    Parameters
    ----------
    present : ndarray of bool of shape (n_rows, n_views)
        Which rows have which view.
    names : list of str
        Names of the views.
    weights : ndarray of shape (n_rows,), optional
        Rows of weight 0 do not count.
    """
    counted = present if weights is None else present[weights > 0]
    for name, column in zip(names, counted.T, strict=True):
        if not column.any():
            where = "every row" if weights is None else "every row of positive weight"
            raise ValueError(f"View {name!r} is missing in {where}; leave it out, or check its mask, ids or values.")
