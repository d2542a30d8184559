"""Sparse rows written to a folder as they come, to be read again as `CsrFiles`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .base import SourceError


class CsrWriter:
    """Appends blocks of sparse rows to files in an empty folder; `close` writes what else a CSR folder has."""

    def __init__(self, folder: str | Path, n_columns: int, dtype: Any) -> None:
        self.folder, self._n_columns = Path(folder), n_columns
        self._lengths: list[npt.NDArray[Any]] = []
        self._n_stored = 0
        with self._naming_folder():
            self._data = _NpyColumn(self.folder / "data.npy", dtype)
            self._indices = _NpyColumn(self.folder / "indices.npy", np.int32)

    def add(self, block: sparse.csr_array) -> None:
        """Append the rows of a block."""
        with self._naming_folder():
            self._data.append(block.data)
            self._indices.append(block.indices)
        self._lengths.append(np.diff(block.indptr))

    def close(self) -> None:
        """Complete the folder."""
        lengths = np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths])
        with self._naming_folder():
            self._data.close()
            self._indices.close()
            np.save(self.folder / "indptr.npy", np.cumsum(lengths, dtype=np.int64))
            np.save(self.folder / "shape.npy", np.array([len(lengths) - 1, self._n_columns]))

    @contextmanager
    def _naming_folder(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SourceError(
                f"Codes cannot be written to {self.folder}: {error.strerror or error}. Free space there, set TMPDIR "
                "to a folder that has more, or raise memory_limit."
            ) from error


class _NpyColumn:
    """A one-dimensional `.npy` file that grows; its header, which has room for any length, is completed at the end."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self._file, self._dtype, self._length = path.open("wb", buffering=2**20), np.dtype(dtype), 0
        self._write_header(self._file)

    def append(self, values: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, dtype=self._dtype).view(np.uint8).data)
        self._length += len(values)

    def close(self) -> None:
        self._file.seek(0)
        self._write_header(self._file)
        self._file.close()

    def _write_header(self, file: BinaryIO) -> None:
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(file, header)
