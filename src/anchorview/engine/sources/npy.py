"""Rows of a `.npy` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import StoredRows, native
from .files import open_npy


class NpyRows(StoredRows):
    """Rows of a `.npy` file, read where they lie."""

    def __init__(self, path: str | Path) -> None:
        self._file = open_npy(path)
        super().__init__(str(path), self._file.shape, self._file.dtype)
        self.files = [self._file.path]
        self.keep_stamp()

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        n_rows, width = self.shape
        if not self._file.by_columns:
            return native(self._file.read(start * width, stop * width)).reshape(stop - start, width)
        columns = [self._file.read(place * n_rows + start, place * n_rows + stop) for place in range(width)]
        return native(np.column_stack(columns))
