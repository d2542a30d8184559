"""Scaling of all views: which kind each view gets, fitted on the training rows, stored, applied block by block.

The paper does not scale; it matters more than any parameter of the model (docs/method.md). Every choice but "none"
ends with rows of unit length, so that each view has the same say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .dense_scaling import DenseScaler, column_extremes, fit_dense
from .parallel_rows import are_parallel
from .scaled_rows import ScaledRows
from .text_scaling import TextScaler, check_finite_sparse, fit_text
from .view_input import is_sparse
from .views import Views

SCALINGS = ("auto", "minmax", "symmetric", "standard", "l2", "tfidf", "lsa", "none")
FOR_SPARSE = ("auto", "minmax", "l2", "tfidf", "lsa", "none")
_TEXT_ZEROS, _TEXT_FEATURES = 0.95, 100  # a dense view with as many zeros and features is text that was filled in
BLOCK_ROWS = 256  # a block of a few thousand features then stays in a core's cache

ScalingChoice = str | Sequence[str] | Mapping[str, str]
Presence = npt.NDArray[np.bool_] | None


@dataclass(frozen=True)
class ViewsScaler:
    """Scalers of all views; turns rows of Views into one block of scaled features side by side."""

    scalers: tuple[DenseScaler | TextScaler, ...]
    dtype: np.dtype[np.floating]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scaled features of each view."""
        return tuple(scaler.n_out for scaler in self.scalers)

    def scale(self, views: Views, index: slice | npt.NDArray[np.intp], present: Presence = None) -> ScaledRows:
        """Return the scaled features of some rows; zero where `present` (of all rows) says that a view is missing."""
        parts = [array[index] for array in views.arrays]
        n_rows = parts[0].shape[0]
        has = None if present is None else present[index]
        if has is not None:
            parts = [_blank(part, ~has[:, number]) for number, part in enumerate(parts)]
        found = []
        for first, last, start, stop in self._runs():
            if self.scalers[first].is_sparse:
                found.append((slice(start, stop), self.scalers[first].rows(parts[first])))  # type: ignore[union-attr]
                continue
            out = np.empty((n_rows, stop - start), dtype=self.dtype)
            column = 0
            for number in range(first, last):
                scaler = self.scalers[number]
                scaler.write(parts[number], out, column)
                if has is not None:
                    out[~has[:, number], column : column + scaler.n_out] = 0
                column += scaler.n_out
            found.append((slice(start, stop), out))
        return ScaledRows(found, n_rows, sum(self.sizes), self.dtype)

    def rows(self, views: Views, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return the scaled features of some rows as one dense array."""
        return self.scale(views, index).dense()

    def _runs(self) -> list[tuple[int, int, int, int]]:
        """Neighbouring views with dense results, each sparse view alone: first view, last, first column, last."""
        runs: list[tuple[int, int, int, int]] = []
        column = 0
        for number, scaler in enumerate(self.scalers):
            stop = column + scaler.n_out
            if runs and not scaler.is_sparse and not self.scalers[runs[-1][0]].is_sparse:
                runs[-1] = (runs[-1][0], number + 1, runs[-1][2], stop)
            else:
                runs.append((number, number + 1, column, stop))
            column = stop
        return runs


def _blank(block: Any, lacks: npt.NDArray[np.bool_]) -> Any:
    """Return a block with zeros in the rows that lack the view, whatever stands there."""
    if not lacks.any():
        return block
    block = block.copy()
    if is_sparse(block):
        block.data[np.repeat(lacks, np.diff(block.indptr))] = 0
    else:
        block[lacks] = 0
    return block


def fit_scaling(
    views: Views,
    scaling: ScalingChoice,
    n_threads: int = 1,
    *,
    rng: np.random.RandomState | None = None,
    present: Presence = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> ViewsScaler:
    """Fit the scaling of every view in one pass, which also finds NaN and infinity.

    Parameters
    ----------
    rng : RandomState, optional
        For "lsa".
    present : ndarray of bool of shape (n_rows, n_views), optional
        Which rows have which view; the others are not looked at.
    weights : ndarray of shape (n_rows,), optional
        A row of weight 2 counts as two rows, one of weight 0 not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> X = Views([np.array([[0.0, 3.0], [4.0, 3.0], [4.0, 7.0]])])
    >>> fit_scaling(X, "minmax").rows(X, slice(0, 3)).round(2)
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.71, 0.71]])
    """
    kinds, dtype = resolve_scaling(views, scaling), working_dtype(views)
    rng = np.random.RandomState(0) if rng is None else rng
    scalers: list[DenseScaler | TextScaler] = []
    for number, ((name, array), kind) in enumerate(zip(views.items(), kinds, strict=True)):
        has = None if present is None else present[:, number]
        if is_sparse(array) or kind in ("tfidf", "lsa"):
            if is_sparse(array):
                check_finite_sparse(array, name, has)
            else:
                column_extremes(array, name, n_threads, has)  # finds NaN and infinity
            used = _used(has, weights)
            scalers.append(fit_text(array, kind, name, dtype, rng, used, weights))
        else:
            if weights is not None:
                column_extremes(array, name, n_threads, has)  # rows of weight 0 must be finite too
            scalers.append(fit_dense(array, kind, name, dtype, n_threads, _used(has, weights), weights))
    return ViewsScaler(tuple(scalers), dtype)


def _used(has: Presence, weights: npt.NDArray[np.float64] | None) -> Presence:
    """Rows that a scaling is fitted on."""
    if weights is None:
        return has
    return weights > 0 if has is None else has & (weights > 0)


def working_dtype(views: Views) -> np.dtype[np.floating]:
    """float32 when every view fits in it without loss, else float64."""
    narrow = all(np.can_cast(array.dtype, np.float32) for array in views.arrays)
    return np.dtype(np.float32 if narrow else np.float64)


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
    for kind, (name, array) in zip(kinds, views.items(), strict=True):
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
    some = np.asarray(array[:: max(1, len(array) // 500)])
    some = some[np.isfinite(some).all(axis=1)]
    if array.shape[1] < _TEXT_FEATURES or not some.any() or (some < 0).any():
        return 0.0
    return float((some == 0).mean())


def check_finite(views: Views, n_threads: int = 1, present: Presence = None) -> None:
    """Raise an error naming the view and the first rows that hold NaN or infinity."""
    for number, (name, array) in enumerate(views.items()):
        has = None if present is None else present[:, number]
        if is_sparse(array):
            check_finite_sparse(array, name, has)
        elif array.dtype.kind == "f":
            column_extremes(array, name, n_threads, has)
