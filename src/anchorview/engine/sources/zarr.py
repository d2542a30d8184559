"""Rows of zarr arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import StoredRows
from .files import folder_stamp
from .optional import load_optional

MARKS = ("zarr.json", ".zarray", ".zgroup")  # files of which a zarr folder has at least one


class ZarrRows(StoredRows):
    """Rows of a zarr array; chunks that a block needs are read with it."""

    def __init__(self, array: Any, name: str | None = None) -> None:
        self._array = array
        place = getattr(array.store, "root", getattr(array.store, "path", None))
        self._folder = None if place is None else Path(str(place), str(array.path or ""))
        super().__init__(name or str(self._folder or getattr(array, "store_path", array)), array.shape, array.dtype)
        self.chunk_rows = max(int(array.chunks[0]), 1)
        self.keep_stamp()

    def stamp(self) -> Any:
        """Return number, size and time of the files; of a store that is no folder the shape."""
        if self._folder is None or not self._folder.is_dir():
            return self._array.shape
        return folder_stamp(self._folder)

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        return np.asarray(self._array[start:stop])


def open_zarr(path: str | Path, key: str | None) -> ZarrRows:
    """Open an array, or the array of a group that `key` names."""
    zarr = load_optional("zarr", "zarr", str(path))
    found = zarr.open(str(path), mode="r")
    if key is not None:
        if key not in found:
            raise ValueError(f"{path} has no array {key!r}; it has {', '.join(sorted(found.keys()))}.")
        found = found[key]
    if not hasattr(found, "chunks"):
        raise ValueError(f"key= says which array to read; {path} has {', '.join(sorted(found.keys())) or 'none'}.")
    return ZarrRows(found, str(path) if key is None else f"{path} ({key})")
