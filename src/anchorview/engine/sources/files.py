"""Numbers in plain files, read at their place: `.npy`, and the members of an uncompressed `.npz`.

Read and not mapped: mapped pages count as memory of the process, and pickle would copy a map.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .base import SourceError, file_stamp


@dataclass(frozen=True)
class FlatFile:
    """An array in a file, from an offset on."""

    path: str
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool = False

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return consecutive numbers, as they lie in the file."""
        found: npt.NDArray[Any] = np.fromfile(
            self.path, self.dtype, count=stop - start, offset=self.offset + start * self.dtype.itemsize
        )
        if len(found) < stop - start:
            raise SourceError(f"{self.path} ends too early")
        return found

    def __getitem__(self, key: slice) -> npt.NDArray[Any]:
        return self.read(key.start, key.stop)


def folder_stamp(folder: str | Path) -> tuple[int, int, int]:
    """Return number, total size and last change of the files in a folder."""
    count = size = latest = 0
    for place, _, names in os.walk(folder):
        for name in names:
            n_bytes, changed = file_stamp(os.path.join(place, name))
            count, size, latest = count + 1, size + n_bytes, max(latest, changed)
    return count, size, latest


def open_npy(path: str | Path) -> FlatFile:
    """Read the header of a `.npy` file, and check that the file is as long as it says."""
    with open(path, "rb") as stream:
        return _flat_file(stream, str(path), str(path), os.path.getsize(path))


def open_npz(path: str | Path) -> dict[str, FlatFile]:
    """Return the members of an uncompressed `.npz` by name."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is no complete .npz file: {error}.") from error
    members = {}
    with archive, open(path, "rb") as stream:
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(
                    f"{path} is compressed, so that rows cannot be read at their place; write it with "
                    "scipy.sparse.save_npz(path, matrix, compressed=False)."
                )
            stream.seek(info.header_offset + 26)  # lengths of name and extra field, which the data follow
            lengths = np.frombuffer(stream.read(4), "<u2")
            start = info.header_offset + 30 + int(lengths.sum())
            stream.seek(start)
            name = info.filename.removesuffix(".npy")
            members[name] = _flat_file(stream, str(path), f"{path} ({name})", start + info.file_size)
    return members


def _flat_file(stream: BinaryIO, path: str, name: str, end: int) -> FlatFile:
    """Read the header at the place of a stream; the array must end by `end`."""
    try:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, by_columns, dtype = readers[version](stream)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{name} is no .npy file that can be read: {error}.") from error
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects; a view needs numbers.")
    offset = stream.tell()
    n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if offset + n_bytes > end:
        raise ValueError(f"{name} is cut off: its header tells of {n_bytes} bytes, and it has {end - offset}.")
    return FlatFile(path, offset, dtype, shape, by_columns)
