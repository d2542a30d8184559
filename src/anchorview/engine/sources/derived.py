"""Rows of another source in other places, or some of their columns: nothing is read before it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...core.arrays import Rows
from .base import StoredRows


class _Derived(StoredRows):
    def __init__(self, source: StoredRows, shape: tuple[int, int]) -> None:
        super().__init__(source.name, shape, source.dtype)
        self.source, self.is_sparse, self.chunk_rows = source, source.is_sparse, source.chunk_rows

    def stamp(self) -> Any:
        return self.source.stamp()

    def check_unchanged(self) -> None:
        self.source.check_unchanged()

    @property
    def nnz(self) -> int:
        return self.source.nnz


class SelectedColumns(_Derived):
    """Some columns of a source, in any order."""

    def __init__(self, source: StoredRows, columns: slice | Rows) -> None:
        self._columns: Any = columns if isinstance(columns, slice) else np.asarray(columns)
        super().__init__(source, (source.shape[0], len(np.arange(source.shape[1])[columns])))
        if source.columns is not None:
            self.columns = np.array(source.columns, dtype=object)[columns].tolist()

    def _read(self, start: int, stop: int) -> Any:
        return self.source.read(start, stop)[:, self._columns]

    def _take_sorted(self, wanted: Rows) -> Any:
        return self.source.take(wanted)[:, self._columns]


class PlacedRows(_Derived):
    """Rows of a source at other places: row i is row ``place[i]`` of the source, or zeros where that is -1."""

    def __init__(self, source: StoredRows, place: Rows) -> None:
        super().__init__(source, (len(place), source.shape[1]))
        self._place, self.columns, self.chunk_rows = place, source.columns, None

    def _read(self, start: int, stop: int) -> Any:
        return self._take_sorted(np.arange(start, stop))

    def _take_sorted(self, wanted: Rows) -> Any:
        place = self._place[wanted]
        has = np.flatnonzero(place >= 0)
        found = self.source.take(place[has])
        if self.is_sparse:
            to_place = sparse.csr_array((np.ones(len(has), self.dtype), (has, np.arange(len(has)))), (len(wanted), len(has)))
            return sparse.csr_array(to_place @ found)
        out = np.zeros((len(wanted), self.shape[1]), dtype=self.dtype)
        out[has] = found
        return out
