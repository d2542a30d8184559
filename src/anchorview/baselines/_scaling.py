"""Scaling of the views as the published methods do it: each view once, in memory, in float64.

Sparse views are never shifted, so their zeros stay zeros: "standard" and "row_standard" divide without centring, and
"minmax" divides by the largest absolute value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, as_dense, is_sparse, squared_norms
from ..data.views import Views
from ._matrix import inverse, scale_each_column, scale_each_row

SCALINGS = ("none", "l2", "sum", "standard", "minmax", "row_standard")
_LARGEST = 1e150  # its square is still a float64


def scale_views(views: Views, scaling: Any) -> list[AnyMatrix]:
    """Return every view as float64 array or csr_array, scaled as `SharedParameters` says; constant features become 0.

    Examples
    --------
    >>> scale_views(Views([np.array([[0.0, 3.0], [4.0, 3.0], [1.0, 3.0]])]), "minmax")
    [array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.25, 0.  ]])]
    """
    return [
        _scale(array, kind, name)
        for (name, array), kind in zip(views.items(), check_scaling(views, scaling), strict=True)
    ]


def check_scaling(views: Views, scaling: Any) -> list[str]:
    """Return one scaling per view, or raise an error that names the choices."""
    many = not isinstance(scaling, str) and isinstance(scaling, Iterable)
    kinds = list(scaling) if many else [scaling] * len(views.names)
    if len(kinds) != len(views.names):
        raise ValueError(f"scaling lists {len(kinds)} choices for {len(views.names)} views.")
    for kind, name in zip(kinds, views.names, strict=True):
        if kind not in SCALINGS:
            raise ValueError(f"scaling={kind!r} (view {name!r}) is not known; choose one of {', '.join(SCALINGS)}.")
    return kinds


def check_nonnegative(views: list[AnyMatrix], names: list[str], method: str) -> None:
    """Raise an error naming the view and the first rows with negative features, which factorisations cannot take."""
    for rows, name in zip(views, names, strict=True):
        if rows.shape[0] and rows.min() < 0:
            bad = np.unique((rows < 0).nonzero()[0])[:5]
            raise ValueError(
                f"Negative values in data passed to {method}: view {name!r}, row{'s' if len(bad) > 1 else ''} "
                f"{', '.join(map(str, bad))}{', …' if len(bad) == 5 else ''}; use scaling='minmax' on a dense view, "
                "or shift the features to be at least 0."
            )


def _scale(array: Any, kind: str, name: str) -> AnyMatrix:
    rows = _as_float64(array)
    if kind == "none":
        largest = float(abs(rows).max())
        if largest > _LARGEST:
            raise ValueError(
                f"View {name!r} holds values up to {largest:.2g}, whose squares overflow; "
                "choose a scaling other than 'none' for it."
            )
        return rows
    if kind in ("l2", "sum"):
        # First by the largest entry: then no square overflows or vanishes. (`unit_rows` would round otherwise, which is
        # enough for k-means on sparse text to end elsewhere than in the published results.)
        rows = scale_each_row(rows, inverse(as_dense(abs(rows).max(axis=1)).ravel()))
        lengths = np.sqrt(squared_norms(rows)) if kind == "l2" else np.asarray(abs(rows).sum(axis=1)).ravel()
        return scale_each_row(rows, inverse(lengths))
    if kind == "row_standard":
        return sparse.csr_array(_standard(rows.T.tocsr()).T) if is_sparse(rows) else _standard(rows.T).T.copy()
    return _standard(rows) if kind == "standard" else _minmax(rows)


def _as_float64(array: Any) -> AnyMatrix:
    if is_sparse(array):
        return sparse.csr_array(array, dtype=np.float64)
    return np.ascontiguousarray(array, dtype=np.float64)


def _minmax(rows: AnyMatrix) -> AnyMatrix:
    if is_sparse(rows):
        return scale_each_column(rows, inverse(as_dense(abs(rows).max(axis=0)).ravel()))
    low = rows.min(axis=0)
    half = rows.max(axis=0) / 2 - low / 2  # halves: the difference itself could overflow
    return (rows / 2 - low / 2) * inverse(half)


def _standard(rows: AnyMatrix) -> AnyMatrix:
    """Columns with mean 0 (dense ones) and standard deviation 1 (with n − 1, as the released codes have it)."""
    largest = as_dense(abs(rows).max(axis=0)).ravel()
    rows = scale_each_column(rows, inverse(largest))  # squares can then not overflow
    mean = np.asarray(rows.mean(axis=0)).ravel()
    if is_sparse(rows):
        total = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
        squares = total - rows.shape[0] * mean**2
        squares[squares < 1e-13 * total] = 0.0  # a constant column: only rounding is left
    else:
        rows = rows - mean
        squares = np.einsum("ij,ij->j", rows, rows)
        squares[squares < 1e-24 * rows.shape[0]] = 0.0
    return scale_each_column(rows, inverse(np.sqrt(squares / max(rows.shape[0] - 1, 1))))
