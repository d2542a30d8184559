"""Values named by their content: every byte counts, so that what was computed from other data is never taken for it."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import is_sparse

_BLOCK_BYTES = 2**24  # of an array that does not lie in one piece: only so much of it is copied at a time


def content_key(value: Any) -> str:
    """Name a value by its content: arrays, sparse ones, and lists, dicts and dataclasses of them and of plain values.

    Examples
    --------
    >>> rows = np.zeros((1000, 3))
    >>> before = content_key([rows, {"k": 5}])
    >>> rows[500, 1] = 1e-300
    >>> content_key([rows, {"k": 5}]) == before
    False
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _key_of_array(value)
    if all(hasattr(value, part) for part in ("shape", "dtype", "read", "take")):  # rows in a store
        return _key_of_store(value)
    if is_sparse(value):
        parts: list[Any] = [value.shape, value.indptr, value.indices, value.data]
    elif isinstance(value, np.ndarray):
        parts = value.tolist()
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value) if field.init]  # the others follow from these
    elif isinstance(value, dict):
        parts = [item for pair in sorted(value.items(), key=repr) for item in pair]
    elif isinstance(value, list | tuple):
        parts = list(value)
    else:
        return repr(value)
    digest = hashlib.blake2b(digest_size=16)
    for part in [type(value).__name__, *parts]:
        digest.update(content_key(part).encode() + b"\0")
    return digest.hexdigest()


def _key_of_store(source: Any) -> str:
    digest = hashlib.blake2b(f"{source.dtype} {source.shape}".encode(), digest_size=16)
    n_rows, width = source.shape
    step = max(1, _BLOCK_BYTES // max(1, width * source.dtype.itemsize))
    for start in range(0, n_rows, step):
        digest.update(content_key(source.read(start, min(start + step, n_rows))).encode())
    return digest.hexdigest()


def _key_of_array(array: npt.NDArray[Any]) -> str:
    digest = hashlib.blake2b(f"{array.dtype} {array.shape}".encode(), digest_size=16)
    if array.size:
        array = np.atleast_1d(array)
        whole = array.flags.c_contiguous
        step = len(array) if whole else max(1, _BLOCK_BYTES * len(array) // max(array.nbytes, 1))
        for start in range(0, len(array), step):
            digest.update(np.ascontiguousarray(array[start : start + step]).view(np.uint8).data)
    return digest.hexdigest()
