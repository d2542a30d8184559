"""What every store of rows can do: blocks in order, rows by number, and telling whether it has changed.

A kind of store says how many rows it has, of what type, and reads consecutive ones (`_read`). All the rest is here. A
source can be pickled: what is open in one process is opened again in another when it is needed.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...core.arrays import Rows, is_sparse

_GAP_BYTES = 2**14  # rows so far apart are read one by one; nearer ones together with those between them


class SourceError(OSError):
    """A store that cannot be read, or that has changed since it was opened."""


class StoredRows(ABC):
    """Rows of one view in a store; `name` is what errors call it: the path, and the place in the file."""

    files: Sequence[str] = ()  # that the rows lie in, where these are known
    is_sparse: bool = False  # rows are read as CSR arrays
    columns: list[str] | None = None  # names of the features, where the store has them
    chunk_rows: int | None = None  # rows that the store keeps, and can only read, together
    ndim = 2

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
        if len(shape) != 2:
            raise ValueError(f"{name} has shape {tuple(shape)}; a view needs two dimensions, rows × features.")
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        if self.dtype.kind not in "fiub" or self.dtype.itemsize > 8:
            raise ValueError(f"{name} holds {self.dtype}; a view needs real numbers of at most 64 bits.")
        if self.shape[1] == 0:
            raise ValueError(f"{name} has 0 feature(s) (shape={self.shape}) while a minimum of 1 is required.")
        self._first_stamp: Any = None

    @abstractmethod
    def _read(self, start: int, stop: int) -> Any:
        """Return consecutive rows, at least one, dense or CSR."""

    def stamp(self) -> Any:
        """Return what changes when the store does: sizes and times of its files; None if nothing is known."""
        return [file_stamp(path) for path in self.files] or None

    def keep_stamp(self) -> None:
        """Remember the store as it is now, as what `check_unchanged` compares with."""
        self._first_stamp = self.stamp()

    def check_unchanged(self) -> None:
        """Raise an error if the store is not as it was when it was opened."""
        try:
            now = self.stamp()
        except OSError as error:
            raise SourceError(f"{self.name} cannot be read any more: {error}.") from error
        if now != self._first_stamp:
            raise SourceError(
                f"{self.name} has changed since it was opened, so that rows read before and after do not belong "
                "together. Let whatever writes to it finish, open it again, and start anew."
            )

    def read(self, start: int, stop: int) -> Any:
        """Return consecutive rows."""
        start, stop, _ = slice(start, stop).indices(self.shape[0])
        if stop <= start:
            return self._empty()
        try:
            rows = self._read(start, stop)
        except Exception as error:  # of whatever library reads this kind of store
            self._raise_unreadable(start, stop, error)
        if rows.shape != (stop - start, self.shape[1]):
            self.check_unchanged()
            raise SourceError(f"{self.name} gave {rows.shape} for rows {start} to {stop - 1} of {self.shape}.")
        return rows.astype(self.dtype, copy=False)

    def take(self, rows: Rows) -> Any:
        """Return rows in any order, also several times: each is read once."""
        rows = np.asarray(rows, dtype=np.intp)
        rows = np.where(rows < 0, rows + self.shape[0], rows)
        if len(rows) == 0:
            return self._empty()
        if rows.min() < 0 or rows.max() >= self.shape[0]:
            raise IndexError(f"{self.name} has {self.shape[0]} rows; row {int(rows.max())} was asked for.")
        wanted, back = np.unique(rows, return_inverse=True)
        found = self._take_sorted(wanted)
        return found if np.array_equal(wanted, rows) else found[back.ravel()]

    def _take_sorted(self, wanted: Rows) -> Any:
        """Return rows in ascending order, by reading runs of them."""
        runs = [(run, self.read(int(run[0]), int(run[-1]) + 1)) for run in self._runs(wanted)] if self.is_sparse else []
        if runs:
            return sparse.csr_array(sparse.vstack([part[run - run[0]] for run, part in runs], format="csr"))
        out, place = np.empty((len(wanted), self.shape[1]), dtype=self.dtype), 0
        for run in self._runs(wanted):
            out[place : place + len(run)] = self.read(int(run[0]), int(run[-1]) + 1)[run - run[0]]
            place += len(run)
        return out

    def _runs(self, wanted: Rows) -> list[Rows]:
        """Cut ascending rows into those that are best read at once."""
        gap = max(1, _GAP_BYTES // (self.shape[1] * self.dtype.itemsize))
        breaks = np.diff(wanted) > gap
        if self.chunk_rows is not None:
            breaks &= np.diff(wanted // self.chunk_rows) > 0
        return np.split(wanted, np.flatnonzero(breaks) + 1)

    def _empty(self) -> Any:
        shape = (0, self.shape[1])
        return sparse.csr_array(shape, dtype=self.dtype) if self.is_sparse else np.empty(shape, dtype=self.dtype)

    def _raise_unreadable(self, start: int, stop: int, error: Exception) -> NoReturn:
        if isinstance(error, ModuleNotFoundError | MemoryError):
            raise error
        self.check_unchanged()  # the likeliest reason
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise SourceError(
            f"Rows {start} to {stop - 1} of {self.name} cannot be read: {reason}. "
            "Check the file: it may be cut off, or damaged."
        ) from error

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Read rows into memory: a slice, their numbers, or a mask."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self.read(start, stop) if step == 1 else self.take(np.arange(start, stop, step))
        key = np.asarray(key)
        return self.take(np.flatnonzero(key) if key.dtype.kind == "b" else key)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @property
    def nnz(self) -> int:
        """Number of entries that are stored, or at most so many."""
        return self.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}: {self.shape[0]} × {self.shape[1]} {self.dtype})"


class GivenRows(StoredRows):
    """Rows of an object that has `shape`, `dtype`, `read` and `take`, and perhaps `is_sparse`."""

    def __init__(self, source: Any, name: str) -> None:
        super().__init__(getattr(source, "name", name), source.shape, source.dtype)
        self.source = source
        self.is_sparse = bool(getattr(source, "is_sparse", False))

    def _read(self, start: int, stop: int) -> Any:
        return self.source.read(start, stop)

    def _take_sorted(self, wanted: Rows) -> Any:
        return self.source.take(wanted)


def file_stamp(path: str | Path) -> tuple[int, int]:
    """Return size and time of last change of a file."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def holds_sparse(view: Any) -> bool:
    """Tell whether the rows of a view are sparse, in memory or in a store."""
    return is_sparse(view) or (isinstance(view, StoredRows) and view.is_sparse)


def as_stored(view: Any, name: str) -> Any:
    """Return what has the methods of a row source as `StoredRows`; anything else as it is."""
    if isinstance(view, StoredRows) or not all(hasattr(view, part) for part in ("shape", "dtype", "read", "take")):
        return view
    return GivenRows(view, name)


def native(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers in the byte order of this machine."""
    return rows.astype(rows.dtype.newbyteorder("="), copy=False)
