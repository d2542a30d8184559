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


def select_columns(source: StoredRows, columns: slice | Rows) -> StoredRows:
    """Return some columns of a source, in any order; rows on a cluster stay there."""
    selected: StoredRows = (
        source.select_columns(columns) if hasattr(source, "select_columns") else SelectedColumns(source, columns)
    )
    return selected


def place_rows(source: StoredRows, place: Rows) -> StoredRows:
    """Return rows of a source at other places; see `PlacedRows`."""
    if hasattr(source, "reduce_rows"):
        raise ValueError(
            f"Rows of {source.name} would have to be put into another order, which is not done on a cluster; give "
            "views with the same rows in the same order, and a mask= for rows that lack some."
        )
    return PlacedRows(source, place)


class ReplacedRows(_Derived):
    """Rows of a source, those at some places (ascending) replaced by others that are in memory; all of them sparse."""

    def __init__(self, source: StoredRows, places: Rows, others: sparse.csr_array) -> None:
        super().__init__(source, source.shape)
        self._places, self._others = places, others

    @property
    def nnz(self) -> int:
        """Number of entries that are stored."""
        return self.source.nnz - int(self.source.take(self._places).nnz) + int(self._others.nnz)

    def _read(self, start: int, stop: int) -> Any:
        first, last = np.searchsorted(self._places, [start, stop])
        rows = self.source.read(start, stop)
        return exchange_rows(rows, self._places[first:last] - start, self._others[first:last])

    def _take_sorted(self, wanted: Rows) -> Any:
        rows, is_replaced = self.source.take(wanted), np.isin(wanted, self._places)
        others = self._others[np.searchsorted(self._places, wanted[is_replaced])]
        return exchange_rows(rows, np.flatnonzero(is_replaced), others)

    def __reduce__(self) -> Any:
        return sparse.csr_array, (self[:],)  # what it is made of ends with this process


def exchange_rows(rows: sparse.csr_array, places: Rows, others: sparse.csr_array) -> sparse.csr_array:
    """Return sparse rows with others at some places."""
    if len(places) == 0:
        return rows
    order = np.arange(rows.shape[0])
    order[places] = rows.shape[0] + np.arange(len(places))
    return sparse.csr_array(sparse.vstack([rows, others], format="csr")[order])


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
            to_place = sparse.csr_array(
                (np.ones(len(has), self.dtype), (has, np.arange(len(has)))), (len(wanted), len(has))
            )
            return sparse.csr_array(to_place @ found)
        out = np.zeros((len(wanted), self.shape[1]), dtype=self.dtype)
        out[has] = found
        return out
