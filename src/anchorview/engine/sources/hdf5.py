"""Rows of HDF5 datasets, and of the dense and sparse matrices of `.h5ad` and `.h5mu` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import StoredRows, file_stamp
from .csr import CsrRows
from .optional import load_optional

SUFFIXES = (".h5", ".hdf5", ".h5ad", ".h5mu", ".mat")


class _Opened:
    """A place in an HDF5 file, opened when it is first read in a process."""

    def __init__(self, path: str, key: str, item: Any = None) -> None:
        self.path, self.key, self._item = path, key, item

    def item(self) -> Any:
        if self._item is None:
            self._item = load_optional("h5py", "hdf5", self.path).File(self.path, "r")[self.key]
        return self._item

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_item": None}

    @property
    def name(self) -> str:
        return f"{self.path} ({self.key})"


class Hdf5Rows(StoredRows):
    """Rows of a dataset."""

    def __init__(self, opened: _Opened) -> None:
        self._opened = opened
        dataset = opened.item()
        super().__init__(opened.name, dataset.shape, dataset.dtype)
        self.chunk_rows = None if dataset.chunks is None else max(int(dataset.chunks[0]), 1)
        self.keep_stamp()

    def stamp(self) -> Any:
        """Return size and time of the file; for a file in memory the shape."""
        return _stamp_of(self._opened)

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        return np.asarray(self._opened.item()[start:stop])


class Hdf5Csr(CsrRows):
    """Sparse rows of a group with data, indices and indptr, as AnnData writes it."""

    def __init__(self, opened: _Opened) -> None:
        self._opened = opened
        group = opened.item()
        shape = tuple(int(size) for size in group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
        super().__init__(opened.name, group["data"], group["indices"], group["indptr"][()], shape)
        self._data = self._indices = None  # read from the group, which can be opened again
        self.keep_stamp()

    def stamp(self) -> Any:
        """Return size and time of the file."""
        return _stamp_of(self._opened)

    def _pieces(self) -> tuple[Any, Any]:
        group = self._opened.item()
        return group["data"], group["indices"]


def _stamp_of(opened: _Opened) -> Any:
    return file_stamp(opened.path) if Path(opened.path).exists() else opened.path


def open_hdf5(path: str | Path, key: str | None) -> StoredRows:
    """Open a dataset, or a group that holds a CSR matrix, of a file."""
    h5py = load_optional("h5py", "hdf5", str(path))
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise ValueError(f"{path} is no complete HDF5 file: {error}.") from error
    if key is None and "X" in file and Path(path).suffix == ".h5ad":
        key = "X"
    if key is None or key not in file:
        asked = "key= says which dataset to read" if key is None else f"{path} has no {key!r}"
        raise ValueError(f"{asked}; {path} has {', '.join(_datasets(h5py, file)) or 'none'}.")
    return from_item(file[key])


def from_item(item: Any) -> StoredRows:
    """Return the rows of an h5py dataset, or of a group that holds a CSR matrix."""
    opened = _Opened(str(item.file.filename), item.name, item)
    if not hasattr(item, "keys"):
        return Hdf5Rows(opened)
    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind not in ("csr_matrix", "csr"):
        what = f"holds a {kind}, whose rows cannot be read one by one" if "csc" in kind else "is no CSR matrix"
        raise ValueError(f"{opened.name} {what}; write it as a CSR matrix or a dense one.")
    return Hdf5Csr(opened)


def _datasets(h5py: Any, file: Any) -> list[str]:
    """Return what can be a view: 2-D datasets, and sparse groups."""
    found: list[str] = []

    def look(name: str, item: Any) -> None:
        if (isinstance(item, h5py.Dataset) and len(item.shape) == 2) or (
            isinstance(item, h5py.Group) and {"data", "indices", "indptr"} <= set(item)
        ):
            found.append(name)

    file.visititems(look)
    return found
