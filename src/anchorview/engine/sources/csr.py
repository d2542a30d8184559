"""Sparse rows in a store: data, indices and indptr in plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .base import StoredRows, native
from .files import open_npy, open_npz

PARTS = ("data", "indices", "indptr", "shape")


class CsrRows(StoredRows):
    """Sparse rows whose three arrays can be read in pieces; only `indptr` is held in memory."""

    is_sparse = True

    def __init__(self, name: str, data: Any, indices: Any, indptr: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
        dtype = np.dtype(np.float32) if data.dtype == np.float16 else data.dtype  # SciPy has no such sparse arrays
        super().__init__(name, shape, dtype)
        self._data, self._indices, self._indptr = data, indices, np.asarray(indptr, dtype=np.int64)
        is_sound = len(indptr) == self.shape[0] + 1 and indptr[0] == 0 and (np.diff(self._indptr) >= 0).all()
        if not is_sound or not self.nnz == data.shape[0] == indices.shape[0]:
            raise ValueError(
                f"{name} is a malformed sparse matrix: its indptr does not cut {data.shape[0]} entries into "
                f"{self.shape[0]} rows."
            )

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self._indptr[-1])

    def _pieces(self) -> tuple[Any, Any]:
        """Return what `data` and `indices` are read from."""
        return self._data, self._indices

    def _read(self, start: int, stop: int) -> sparse.csr_array:
        first, last = int(self._indptr[start]), int(self._indptr[stop])
        data, indices = (native(np.asarray(part[first:last])) for part in self._pieces())
        indptr = self._indptr[start : stop + 1] - first
        if len(indices) and (indices.min() < 0 or indices.max() >= self.shape[1]):
            raise ValueError("a column lies outside the matrix")
        narrow = self.shape[1] <= np.iinfo(np.int32).max and last - first <= np.iinfo(np.int32).max
        kind = np.int32 if narrow else np.int64
        parts = (data.astype(self.dtype, copy=False), indices.astype(kind), indptr.astype(kind))
        rows = sparse.csr_array(parts, shape=(stop - start, self.shape[1]))
        if not rows.has_canonical_format:
            rows.sum_duplicates()
        return rows


class CsrFiles(CsrRows):
    """Sparse rows of an uncompressed `.npz`, as SciPy writes it, or of a folder with the same arrays as `.npy`."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if self._path.is_dir():
            members = {part: open_npy(self._path / f"{part}.npy") for part in PARTS}
        else:
            members = open_npz(self._path)
        lacking = [part for part in PARTS if part not in members]
        if lacking:
            raise ValueError(
                f"{path} has no {', '.join(lacking)}, so it is no CSR matrix; it has {', '.join(sorted(members))}."
            )
        if "format" in members:
            kind = members["format"].read(0, 1)[0]
            text = kind.decode() if isinstance(kind, bytes) else str(kind)
            if text != "csr":
                raise ValueError(
                    f"{path} holds a {text} matrix, whose rows cannot be read one by one; save matrix.tocsr() instead."
                )
        self.files = sorted({file.path for file in members.values()})
        shape = tuple(int(size) for size in members["shape"].read(0, members["shape"].shape[0]))
        indptr = native(members["indptr"].read(0, members["indptr"].shape[0]))
        super().__init__(str(path), members["data"], members["indices"], indptr, shape)
        self.keep_stamp()
