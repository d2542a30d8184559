"""Arrays that are kept for later: small ones in memory, large ones in a file that has no name and goes with them."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

_IN_MEMORY = 64 * 2**20
_MOST = 8 * 2**30  # beyond that it is not kept: to compute it again beats a disk that fills up


def keep_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
    """Return an array to write to; None if it would be too large, or no file can be made for it.

    Examples
    --------
    >>> keep_array((2, 3), np.float32).shape
    (2, 3)
    """
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes <= _IN_MEMORY:
        return np.empty(shape, dtype)
    if n_bytes > _MOST or not hasattr(os, "posix_fallocate"):
        return None
    try:
        with tempfile.TemporaryFile(prefix="anchorview-kept-") as file:
            # Reserved, or a disk that is full would end the process when a page is written.
            os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    except OSError:
        return None
