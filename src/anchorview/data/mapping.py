"""One view through one transformer: fitted on the rows that have the view, which are the only ones it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.arrays import Mask, is_sparse
from ..engine.sources.base import StoredRows
from .matrices import as_matrix
from .rows import spread_rows
from .tables import column_names, is_table

UNCHANGED = (None, "passthrough")


def one_for_each(transformer: Any, names: list[str]) -> dict[str, Any]:
    """Return the transformer of each view; those that a mapping does not name get None."""
    if not isinstance(transformer, Mapping):
        return dict.fromkeys(names, transformer)
    unknown = [name for name in transformer if name not in names]
    if unknown:
        raise ValueError(f"The transformers name views that are not there: {unknown}; the views are {names}.")
    return {name: transformer.get(name) for name in names}


@dataclass(frozen=True)
class Mapped:
    """Views transformed, one entry a view: arrays, names of the new columns, and the transformers as fitted."""

    arrays: list[Any]
    features: list[list[Any] | None]
    transformers: list[Any]


def map_views(views: Any, chosen: Sequence[Any], present: Mask, sizes: Sequence[int] | None = None) -> Mapped:
    """Apply to each view a transformer, a function, or nothing (None or "passthrough").

    Rows of NaN are unset in `present`: they are zeros, and missing, in the result. With `sizes` transformers are used
    as they are fitted, and a view that no row has gets this many columns; without, clones of them are fitted.
    """
    result = Mapped([], [], [])
    for number, (name, array) in enumerate(views.items()):
        n_out = None if sizes is None else sizes[number]
        mapped, features, fitted = _map_view(chosen[number], array, present[:, number], name, n_out)
        result.arrays.append(mapped)
        result.features.append(views.features[number] if mapped is array else features)
        result.transformers.append(fitted)
    return result


def _map_view(
    transformer: Any, array: Any, has_view: Mask, name: str, n_out: int | None
) -> tuple[Any, list[Any] | None, Any]:
    """Return one view transformed, the names of its new columns, and the transformer as it is fitted."""
    if transformer is None or (isinstance(transformer, str) and transformer in UNCHANGED):
        return array, None, transformer
    array = array[:] if isinstance(array, StoredRows) else array  # transformers know arrays only
    if not is_sparse(array) and array.dtype.kind == "f":
        has_view &= ~np.isnan(array).all(axis=1)
    if not has_view.any():
        if n_out is None:
            raise ValueError(f"View {name!r} is missing in every row, so that nothing can be fitted on it.")
        return np.zeros((len(has_view), n_out)), None, transformer
    rows = array if has_view.all() else array[has_view]
    try:
        result, fitted = _apply(transformer, rows, fit=n_out is None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{transformer!r} cannot be applied to view {name!r}: {error}") from error
    columns = column_names(result) if is_table(result) else None
    result = as_matrix(result, name)
    if result.shape[0] != rows.shape[0]:
        raise ValueError(
            f"{transformer!r} made {result.shape[0]} rows of the {rows.shape[0]} rows of view {name!r}; what is "
            "applied to a view must keep its rows."
        )
    if not has_view.all():
        result = spread_rows(result, np.flatnonzero(has_view), len(has_view))
    return result, columns, fitted


def _apply(transformer: Any, rows: Any, *, fit: bool) -> tuple[Any, Any]:
    if not hasattr(transformer, "fit"):
        if not callable(transformer):
            raise TypeError(f"it is a {type(transformer).__name__}, neither a transformer nor a function.")
        return transformer(rows), transformer
    if not fit:
        return transformer.transform(rows), transformer
    fitted = clone(transformer)
    if not hasattr(fitted, "fit_transform"):
        return fitted.fit(rows).transform(rows), fitted
    return fitted.fit_transform(rows), fitted
