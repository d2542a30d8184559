"""Look at what an npz file says it holds before any of it is expanded."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ..core.archives import LARGE, is_bomb, packed_size, unpacked_size
from ..cost.estimate import available_memory

_LARGE = LARGE


def check_sizes(path: Path, wanted: Container[str] | None = None) -> None:
    """Raise an error if the entries of an npz file would not fit into memory, or unpack to absurd sizes.

    `wanted` are the names of the entries that are going to be read, without ".npy"; all by default.
    """
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except (BadZipFile, NotImplementedError, EOFError) as error:
        raise ValueError(f"{path} is not an npz file, or a damaged one ({error}).") from None
    entries = [entry for entry in entries if wanted is None or entry.filename.removesuffix(".npy") in wanted]
    total, packed = unpacked_size(entries), packed_size(entries, path.stat().st_size)
    if is_bomb(total, packed, _LARGE):
        largest = max(entries, key=lambda entry: entry.file_size).filename
        raise ValueError(
            f"{path}: {packed / 1e6:.1f} MB unpack to {total / 1e9:.1f} GB (most of it {largest!r}), which looks like "
            "a zip bomb; it was not read. If nearly all of it is zeros, store it as a sparse view "
            "(scipy.sparse.save_npz); otherwise store it unpacked (np.savez)."
        )
    free = available_memory()
    if free is not None and total > free:
        raise ValueError(
            f"{path} unpacks to {total / 1e9:.1f} GB, more than the {free / 1e9:.1f} GB of memory that are free; it "
            "was not read. Store the views as float32 or sparse, or use a machine with more memory."
        )
