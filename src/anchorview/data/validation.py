"""Every input form turned into what the model works on, and the errors a user may meet on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ..core.arrays import Rows, is_sparse
from ..engine.sources.base import StoredRows
from ..engine.sources.opening import is_delayed, is_path, stored_form
from .annotated import paths_in, read_column
from .reading import ColumnGroups, groups_in, is_annotated
from .tables import has_levels, is_table
from .view_errors import raise_other_features, raise_other_sizes
from .views import Views


def as_views(X: Any, views: ColumnGroups | None) -> Views:
    """Turn any accepted input into Views with at least one row."""
    result = Views(X, views=views if _is_one_table(X) else None)
    if len(result) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result


def _refuse_unsupported(views: Views, accept_sparse: bool, accept_missing: bool) -> None:
    """Raise an error for views that `Views` can hold but an estimator cannot work on."""
    for name, is_text in zip(views.names, views.is_sparse_view, strict=True):
        if is_text and not accept_sparse:
            raise TypeError(
                f"View {name!r} is sparse, which this method does not support; pass .toarray() if it fits in memory."
            )
    if views.present is not None and not accept_missing:
        lacking = ~views.present.all(axis=0)
        name = views.names[int(np.argmax(lacking))]
        rows = np.flatnonzero(~views.present.all(axis=1))[:5]
        raise ValueError(
            f"Rows {rows.tolist()} lack a view ({name!r}), which this method does not support; remove such rows."
        )


def _is_one_table(X: Any) -> bool:
    return hasattr(X, "shape") and not isinstance(X, Views)  # AnnData and MuData objects too


def read_views(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    accept_sparse: bool = True,
    accept_missing: bool = False,
    accept_stored: bool = False,
) -> Views:
    """Turn input into Views, and record on the estimator (`reset`) or check what scikit-learn wants to know of it.

    What the estimator does not accept, sparse views or rows that lack views, is an error; rows of stores, which only
    some read in blocks, are read into memory.
    """
    groups = estimator.views
    if not (isinstance(X, Views) or is_sparse(X)):
        stored = stored_form(X, "X")
        X = X if stored is None else stored
    if not reset:
        X, groups = _leave_out_absent(X, groups, estimator.view_names_)
    is_one = _can_be_validated(X)
    cuts_table = is_one and is_table(X) and (groups is not None or has_levels(X))
    if is_one and not cuts_table:  # of a table that is cut, columns that no view takes are left alone
        by_name = hasattr(estimator, "feature_names_in_") and is_table(X)  # scikit-learn names the columns that differ
        shape: tuple[int, ...] = getattr(X, "shape", ())
        n_columns = estimator.n_features_in_ if not reset else 0
        n_columns = getattr(estimator, "_n_columns", n_columns) if groups is not None else n_columns
        if not reset and not by_name and len(shape) == 2 and shape[1] != n_columns:
            raise_other_features(shape[1], n_columns, estimator)
        options = {"accept_sparse": accept_sparse, "dtype": None, "ensure_all_finite": False}
        if not reset and n_columns != estimator.n_features_in_:  # columns that no view takes are left alone
            X = check_array(X, estimator=estimator, **options)
        else:
            X = validate_data(estimator, X, reset=reset, skip_check_array=is_table(X), **options)
    views = as_views(X, groups)
    if accept_stored:
        views.check_unchanged()
    if reset:
        vars(estimator).pop("_n_columns", None)
        if is_one and not cuts_table and groups is not None and estimator.n_features_in_ != sum(views.sizes):
            estimator._n_columns = estimator.n_features_in_  # of the array that is cut; views may leave some out
        estimator.n_features_in_ = sum(views.sizes)
        estimator.view_names_, estimator.view_sizes_ = list(views.names), list(views.sizes)
        estimator._view_features = list(views.features)
        estimator._sparse_views = views.is_sparse_view
        if cuts_table:
            _record_names(estimator, views)
    else:
        views = match_views(views, estimator)
        views = match_features(views, estimator._view_features)
        if views.sizes != estimator.view_sizes_:
            raise_other_sizes(views, estimator)
    _refuse_unsupported(views, accept_sparse, accept_missing)
    return views if accept_stored else views.in_memory()


def _leave_out_absent(X: Any, groups: ColumnGroups | None, names: list[str]) -> tuple[Any, ColumnGroups | None]:
    """Return the input without the views that it does not have, by name: None, or a group without any column."""
    if isinstance(X, list | tuple) and any(part is None for part in X):
        if len(X) != len(names):
            raise ValueError(
                f"X lists {len(X)} views, some of them None, but the fit had {len(names)}: {names}; give each of "
                "these, or None in its place."
            )
        X = dict(zip(names, X, strict=True))
    if isinstance(X, Mapping) and not is_sparse(X) and any(part is None for part in X.values()):
        X = {name: part for name, part in X.items() if part is not None}
    if groups is not None and not isinstance(X, np.ndarray | Views | Mapping | list | tuple) and not is_sparse(X):
        if is_annotated(X):
            groups = paths_in(X, groups)
        elif is_table(X):
            groups = groups_in(X, groups)
    if (isinstance(X, Mapping) and not is_sparse(X) and not X) or (isinstance(groups, Mapping) and not groups):
        raise ValueError(f"X has none of the views of the fit, which were {names}; at least one is needed.")
    return X, groups


def column_of(X: Any, values: Any, what: str) -> Any:
    """Return the column of ``obs`` that `values` names, if X is an AnnData or MuData object; else `values`."""
    if not isinstance(values, str):
        return values
    if is_annotated(X):
        return read_column(X, values, what)
    raise ValueError(
        f"{what} is the text {values!r}. The name of a column is looked up in obs of AnnData and MuData objects only; "
        f"X is a {type(X).__name__}, so give the values: one for each row."
    )


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
                f"The columns of view {name!r} are not those of the fit: it {differs}. Rename or select the columns "
                "(adata[:, names] of AnnData), or pass arrays if their order is right."
            )
        orders.append(np.array([place[feature] for feature in expected], dtype=np.intp))
    return views.reorder_columns(orders) if any(order is not None for order in orders) else views


def _can_be_validated(X: Any) -> bool:
    """Tell one 2-D table, which scikit-learn can validate, from several views."""
    if isinstance(X, list | tuple):
        if any(part is None or is_delayed(part) for part in X) or (len(X) > 0 and all(map(is_path, X))):
            return False
        return len(X) > 0 and np.ndim(X[0]) < 2 and not hasattr(X[0], "shape")
    return sparse.issparse(X) or not (isinstance(X, Views | Mapping) or is_annotated(X) or isinstance(X, StoredRows))


def match_views(views: Views, estimator: Any) -> Views:
    """Put named views in the order of the fit; those that the fit had besides are missing in every row.

    Views are matched by position where there are as many as in the fit and either side has the names that `Views`
    gives by default.
    """
    names: list[str] = estimator.view_names_
    default = [f"view{i}" for i in range(len(names))]
    if views.names == names or (len(views.names) == len(names) and default in (views.names, names)):
        return views
    if not views.named:
        raise_other_sizes(views, estimator)
    unknown = [name for name in views.names if name not in names]
    if unknown:
        raise ValueError(
            f"X has views that were not in the fit: {unknown}; the fit had {names}. Rename them, or leave them out "
            "(a view of the fit that is not given is missing)."
        )
    if len(views.names) == len(names):
        return views.select(names)
    return views.complete(names, estimator.view_sizes_, estimator._sparse_views)
