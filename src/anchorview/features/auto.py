"""Which scaling each view gets: what the user chose, and for "auto" what the features look like.

Sparse views, and dense ones that are text filled in with zeros, get "lsa"; the others "minmax", or "standard" if that
would leave rows nearly parallel. Scaled to 0 … 1, features that vary little beside their distance from the minimum
leave rows of unit length nearly parallel. A row is then like every landmark: codes become dense, slow to find, and tell
nothing (an example with figures is in docs/method.md). Centred features cure it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import PARALLEL, Mask, Presence, is_sparse
from ..data.views import Views

SCALINGS = ("auto", "minmax", "symmetric", "standard", "l2", "tfidf", "lsa", "none")
FOR_SPARSE = ("auto", "minmax", "l2", "tfidf", "lsa", "none")
_TEXT_ZEROS, _TEXT_FEATURES = 0.95, 100  # a dense view with as many zeros and features is text that was filled in
_SOME_TEXT_ROWS = 500
_SOME_ROWS = 1000

ScalingChoice = str | Sequence[str] | Mapping[str, str]


def resolve_scaling(views: Views, scaling: ScalingChoice) -> list[str]:
    """Return one scaling per view, or raise an error that names the choices."""
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
    for kind, name, array in zip(kinds, views.names, views.arrays, strict=True):
        if kind not in SCALINGS:
            raise ValueError(f"scaling={kind!r} (view {name!r}) is not known; choose one of {', '.join(SCALINGS)}.")
        if is_sparse(array) and kind not in FOR_SPARSE:
            raise ValueError(
                f"scaling={kind!r} would fill in the zeros of the sparse view {name!r}; "
                f"choose one of {', '.join(FOR_SPARSE)} for it."
            )
    free = [number for number, kind in enumerate(kinds) if kind == "auto"]
    is_text = [is_sparse(array) or zero_share(array) > _TEXT_ZEROS for array in views.arrays] if free else []
    dense = [number for number in free if not is_text[number]]
    present = None if views.present is None else views.present[:, dense]
    best = "standard" if are_parallel([views.arrays[number] for number in dense], present) else "minmax"
    for number in free:
        kinds[number] = "lsa" if is_text[number] else best
    return kinds


def zero_share(array: npt.NDArray[Any]) -> float:
    """Return the part of zeros in some rows of a dense view; 0 if it has negative or few features, or only zeros."""
    some = np.asarray(array[:: max(1, len(array) // _SOME_TEXT_ROWS)])
    some = some[np.isfinite(some).all(axis=1)]
    if array.shape[1] < _TEXT_FEATURES or not some.any() or (some < 0).any():
        return 0.0
    return float((some == 0).mean())


def mean_cosine(rows: npt.NDArray[Any]) -> float:
    """Return the mean cosine between pairs of rows of about the same length; 0 if all are zero.

    Examples
    --------
    >>> import numpy as np
    >>> mean_cosine(np.array([[1.0, 0.0], [1.0, 0.0]])), mean_cosine(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    (1.0, 0.0)
    """
    squares = float(np.einsum("ij,ij->i", rows, rows).mean()) if len(rows) else 0.0
    return float((rows.mean(axis=0, dtype=np.float64) ** 2).sum()) / squares if squares > 0 else 0.0


def are_parallel(arrays: Sequence[npt.NDArray[Any]], present: Presence) -> bool:
    """Tell whether some rows of dense views, scaled to 0 … 1 and to unit length, are nearly parallel on average.

    Parameters
    ----------
    arrays : sequence of ndarray
        The views.
    present : ndarray of bool of shape (n_rows, n_views), optional
        Which rows have which view.
    """
    cosines = [_scaled_cosine(array, None if present is None else present[:, i]) for i, array in enumerate(arrays)]
    return bool(cosines) and float(np.mean(cosines)) > PARALLEL


def _scaled_cosine(array: npt.NDArray[Any], has_view: Mask | None) -> float:
    step = max(1, len(array) // _SOME_ROWS)
    some = np.asarray(array[::step], dtype=np.float64)
    some = some[np.isfinite(some).all(axis=1) & (True if has_view is None else has_view[::step])]
    if len(some) < 2:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.ptp(some, axis=0)
        scaled = (some - some.min(axis=0))[:, width > 0] / width[width > 0]
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return mean_cosine(np.nan_to_num(scaled / np.where(lengths > 0, lengths, 1)))  # entries of 0 … 1 need no guard
