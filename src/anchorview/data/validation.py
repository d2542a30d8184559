"""Every input form turned into what the model works on, and the errors a user may meet on the way.

Rows are checked before anything is computed: for views that they lack, and for numbers too large to compute with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ..core.arrays import Mask, Presence, Rows, is_sparse
from ..engine.blocks import reduce_rows
from ..engine.sources.base import StoredRows
from ..engine.sources.opening import is_delayed, is_path, stored_form
from .annotated import paths_in, read_column
from .reading import ColumnGroups, groups_in, is_annotated
from .tables import has_levels, is_table
from .view_errors import check_no_empty, raise_other_features, raise_other_sizes
from .views import Views

_BLOCK_CELLS = 2**22  # cells looked at together, so that memory stays small for wide views too
_BLOCK_ROWS = 4096  # rows looked at together


def as_views(X: Any, views: ColumnGroups | None) -> Views:
    """Turn any accepted input into Views with at least one row."""
    result = Views(X, views=views if _is_one_table(X) else None)
    if len(result) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result


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
    is_sparse_view = views.is_sparse_view
    if not accept_sparse and any(is_sparse_view):
        name = views.names[is_sparse_view.index(True)]
        raise TypeError(
            f"View {name!r} is sparse, which this method does not support; pass .toarray() if it fits in memory."
        )
    if accept_stored:
        views.check_unchanged()
    if reset:
        vars(estimator).pop("_n_columns", None)
        if is_one and not cuts_table and groups is not None and estimator.n_features_in_ != sum(views.sizes):
            estimator._n_columns = estimator.n_features_in_  # of the array that is cut; views may leave some out
        estimator.n_features_in_ = sum(views.sizes)
        estimator.view_names_, estimator.view_sizes_ = list(views.names), list(views.sizes)
        estimator._view_features = list(views.features)
        estimator._sparse_views = is_sparse_view
        if cuts_table:
            _record_names(estimator, views)
    else:
        if views.names != estimator.view_names_:
            views = match_views(views, estimator)
        if views.features != estimator._view_features:
            views = match_features(views, estimator._view_features)
        if views.sizes != estimator.view_sizes_:
            raise_other_sizes(views, estimator)
    if views.present is not None and not accept_missing:
        lacking = ~views.present.all(axis=0)
        name = views.names[int(np.argmax(lacking))]
        rows = np.flatnonzero(~views.present.all(axis=1))[:5]
        raise ValueError(
            f"Rows {rows.tolist()} lack a view ({name!r}), which this method does not support; remove such rows."
        )
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
    """Put views of other names, or in another order, in that of the fit; those that the fit had besides are missing.

    Views are matched by position where there are as many as in the fit and either side has the names that `Views`
    gives by default.
    """
    names: list[str] = estimator.view_names_
    default = [f"view{i}" for i in range(len(names))]
    if len(views.names) == len(names) and default in (views.names, names):
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


@dataclass(frozen=True)
class RowChecks:
    """What an estimator asks of rows."""

    drops_empty: bool  # rows without any view are no error
    scaling: Any  # as the user gave it: of features that are used as they are, fewer numbers are small enough

    def find_present(self, views: Views) -> tuple[Presence, Mask | None]:
        """Return which rows have which view, and which have none: an error that names them unless they are dropped."""
        present = find_present(views)
        if present is None or present.any(axis=1).all():
            return present, None
        if not self.drops_empty:
            check_no_empty(present, views.ids)
        empty: Mask = np.logical_not(present.any(axis=1))
        return present, empty

    def check(self, views: Views, first_row: int = 0) -> tuple[Presence, Mask | None]:
        """Do the same, and raise an error for numbers too large to compute with."""
        present, empty = self.find_present(views)
        check_magnitude(views, present, first_row, unscaled=is_unscaled(self.scaling))
        return present, empty


def find_present(views: Views) -> Mask | None:
    """Return which rows have which view: as the mask or ids of `views` have it, less rows of a view that are all NaN.

    None if no view is missing anywhere. A row that is NaN in part only is not missing.

    Examples
    --------
    >>> gap = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, 3.0]])
    >>> find_present(Views([gap, np.ones((3, 1))]))
    array([[ True,  True],
           [False,  True],
           [ True,  True]])
    """
    present = np.ones((len(views), len(views.names)), dtype=bool) if views.present is None else views.present.copy()
    for number, (array, is_text) in enumerate(zip(views.arrays, views.is_sparse_view, strict=True)):
        if not is_text and array.dtype.kind == "f":
            missing = _nan_rows_in_store(array) if isinstance(array, StoredRows) else _nan_rows(array)
            if len(missing):
                present[missing, number] = False
    return None if present.all() else present


def _nan_rows_in_store(array: Any) -> Rows:
    """Return the rows that are NaN throughout, in one pass over a store."""
    return np.concatenate([np.empty(0, dtype=np.intp), *reduce_rows(_find_nan_rows, iadd, [], array, _BLOCK_ROWS, 1)])


def _find_nan_rows(rows: npt.NDArray[Any], block: slice) -> list[Rows]:
    begin = np.flatnonzero(np.isnan(rows[:, 0]))
    missing: Rows = begin[np.isnan(rows[begin]).all(axis=1)] + block.start
    return [missing] if len(missing) else []


def _nan_rows(array: npt.NDArray[Any]) -> Rows:
    """Return the rows that are NaN throughout; only rows that begin with NaN are read as a whole."""
    step = max(1, _BLOCK_CELLS // array.shape[1])
    missing = []
    for start in range(0, len(array), step):
        begins = np.isnan(array[start : start + step, 0])
        if begins.any():
            rows = start + np.flatnonzero(begins)
            missing.append(rows[np.isnan(array[rows]).all(axis=1)])
    return np.concatenate(missing) if missing else np.empty(0, dtype=np.intp)


def largest_usable(dtype: np.dtype[Any], *, unscaled: bool = False) -> float:
    """Return the largest number that can be computed with.

    Scalings divide before they square, but sums of a million numbers must not overflow. Features that are not scaled
    are squared, and squares added up.

    Examples
    --------
    >>> [f"{largest_usable(np.dtype(name)):.1e}" for name in ("float16", "float32", "float64")]
    ['3.4e+32', '3.4e+32', '1.8e+302']
    >>> f"{largest_usable(np.dtype(np.float64), unscaled=True):.1e}"
    '1.3e+151'
    """
    most = float(np.finfo(dtype if dtype.itemsize > 4 else np.float32).max)
    return 1e-3 * most**0.5 if unscaled else 1e-6 * most


def is_unscaled(scaling: Any) -> bool:
    """Tell whether some view is, or may be, used without scaling.

    Examples
    --------
    >>> is_unscaled("none"), is_unscaled({"a": "l2", "b": "none"}), is_unscaled(["auto", ["l2", "minmax"]])
    (True, True, False)
    """
    if isinstance(scaling, str) or not isinstance(scaling, Iterable):
        return bool(isinstance(scaling, str) and scaling == "none")
    return any(map(is_unscaled, scaling.values() if isinstance(scaling, Mapping) else scaling))


def check_magnitude(views: Views, present: Presence = None, first_row: int = 0, *, unscaled: bool = False) -> None:
    """Raise an error that names the view and the first row that hold a number too large to compute with.

    What `present` says is missing is not looked at. `first_row` is the number of the first row in the user's eyes, and
    `unscaled` tells whether features may be used as they are.
    """
    for number, (name, array) in enumerate(views.items()):
        counted = None if present is None else present[:, number]
        check_view(array, name, counted, views.ids, first_row, unscaled=unscaled)


def check_view(
    array: Any, name: str, counted: Mask | None = None, ids: Any = None, first_row: int = 0, *, unscaled: bool = False
) -> None:
    """Do the same for one view; rows that do not count are not looked at."""
    if array.dtype.kind != "f":
        return
    find = partial(_find_too_large, most=largest_usable(array.dtype, unscaled=unscaled))
    found: list[tuple[int, float]]
    if array.shape[0] <= _BLOCK_ROWS and not isinstance(array, StoredRows):  # without the overhead of blocks
        found = find(array, slice(0, array.shape[0]), counted)
    else:
        found = reduce_rows(find, iadd, [], array, _BLOCK_ROWS, 1, (counted,))
    if found:
        row, value = found[0]
        known = "" if ids is None else f" (id {ids[[row]].tolist()[0]!r})"
        raise ValueError(
            f"View {name!r} holds {value:.2g} in row {first_row + row}{known}, too large to compute with in "
            f"{array.dtype}{' without scaling: choose one other than none' if unscaled else ''}. Correct it, leave "
            "the row out, or divide the view by a constant."
        )


def _find_too_large(rows: Any, block: slice, counted: Mask | None, *, most: float) -> list[tuple[int, float]]:
    """Return the first row with such a number, and the number."""
    values = rows.data if is_sparse(rows) else rows
    if values.size == 0 or max(float(np.fmax.reduce(values, None)), -float(np.fmin.reduce(values, None))) <= most:
        return []
    is_large = np.isfinite(values) & (np.abs(values) > most)  # infinity is reported as what it is
    places = np.argwhere(is_large)
    of_rows = np.searchsorted(rows.indptr, places[:, 0], side="right") - 1 if is_sparse(rows) else places[:, 0]
    kept = np.flatnonzero(np.ones(len(of_rows), dtype=bool) if counted is None else counted[of_rows])
    return [(block.start + int(of_rows[kept[0]]), float(values[tuple(places[kept[0]])]))] if len(kept) else []
