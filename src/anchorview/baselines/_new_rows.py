"""Scale rows that were not in the fit as those of the fit were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, Matrix, as_dense, is_sparse
from ..data.views import Views
from ._matrix import inverse, scale_each_column
from ._scaling import check_scaling, scale_views

_BY_COLUMN = ("standard", "minmax")  # the others look at one row at a time


@dataclass(frozen=True)
class _ColumnMap:
    """What became of each feature of a view: (x − low) · factor + base, without a shift where the view was sparse."""

    factor: Matrix
    low: Matrix
    base: Matrix

    @classmethod
    def read_off(cls, given: Any, scaled: AnyMatrix) -> _ColumnMap:
        """Find the map from the smallest and the largest value of each feature before and after."""
        if is_sparse(given):
            nothing = np.zeros(given.shape[1])
            return cls(_largest(scaled) * inverse(_largest(given)), nothing, nothing)
        low, high = (np.asarray(end, dtype=np.float64) for end in (given.min(axis=0), given.max(axis=0)))
        base = scaled.min(axis=0)
        half = high / 2 - low / 2  # halves: the difference itself could overflow
        return cls((scaled.max(axis=0) / 2 - base / 2) * inverse(half), low, base)

    def apply(self, rows: Any) -> AnyMatrix:
        if is_sparse(rows) and not (self.low.any() or self.base.any()):
            return scale_each_column(sparse.csr_array(rows, dtype=np.float64), self.factor)
        return (np.asarray(as_dense(rows), dtype=np.float64) - self.low) * self.factor + self.base


def _largest(rows: AnyMatrix) -> Matrix:
    return as_dense(abs(rows).max(axis=0)).ravel().astype(np.float64)


class NewRowScaling:
    """The scaling of a fit, read off its rows and what `scale_views` made of them, to be applied to other rows.

    Examples
    --------
    >>> fitted = Views([np.array([[0.0], [4.0]])])
    >>> NewRowScaling(fitted, scale_views(fitted, "minmax"), "minmax").apply(Views([np.array([[2.0], [6.0]])]))
    [array([[0.5],
           [1.5]])]
    """

    def __init__(self, views: Views, scaled: list[AnyMatrix], scaling: Any) -> None:
        self._kinds = check_scaling(views, scaling)
        self._maps = [
            _ColumnMap.read_off(given, after) if kind in _BY_COLUMN else None
            for given, after, kind in zip(views.arrays, scaled, self._kinds, strict=True)
        ]

    def apply(self, views: Views) -> list[AnyMatrix]:
        """Return the views of other rows, scaled."""
        return [
            scale_views(Views({name: rows}), kind)[0] if column_map is None else column_map.apply(rows)
            for (name, rows), kind, column_map in zip(views.items(), self._kinds, self._maps, strict=True)
        ]
