"""Zip files from anywhere: what they say they hold is looked at before any of it is expanded."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import BinaryIO
from zipfile import ZipInfo

LARGE = 2**30  # bytes from which it matters
MOST_PACKED = 200  # times smaller than its content; real measurements pack less well

_END, _END_SIZE, _END_MARK = "<4s4H2LH", 22, b"PK\5\6"
_WIDE_END, _WIDE_END_SIZE, _WIDE_END_MARK = "<4sQ2H2L4Q", 56, b"PK\6\6"
_LOCATOR, _LOCATOR_SIZE, _LOCATOR_MARK = "<4sLQL", 20, b"PK\6\7"


def unpacked_size(entries: Sequence[ZipInfo]) -> int:
    """Return the bytes that entries say they unpack to; `zipfile` never unpacks more than an entry says."""
    return sum(entry.file_size for entry in entries)


def packed_size(entries: Sequence[ZipInfo], file_size: int) -> int:
    """Return the bytes that entries take in a file of this size, at most all of it: entries may overlap in a bomb."""
    return min(sum(entry.compress_size for entry in entries), file_size)


def is_bomb(unpacked: int, packed: int, large: int = LARGE) -> bool:
    """Tell whether so many bytes, from so few, can only be meant to fill the memory.

    Examples
    --------
    >>> is_bomb(10**11, 10**6), is_bomb(10**11, 10**10)
    (True, False)
    """
    return unpacked > max(large, MOST_PACKED * packed)


def directory_size(stream: BinaryIO, file_size: int) -> int:
    """Return the size of the table of contents of a zip file, which `zipfile` reads as a whole.

    A file that does not end as a zip file without a comment does is an error: it was cut, or something was added to it.
    """
    stream.seek(max(0, file_size - _END_SIZE))
    tail = stream.read(_END_SIZE)
    if len(tail) < _END_SIZE or tail[:4] != _END_MARK or tail[-2:] != b"\0\0":
        raise ValueError("the end of the file is missing or changed")
    size = int(struct.unpack(_END, tail)[5])
    place = file_size - _END_SIZE - _LOCATOR_SIZE
    if place < 0:
        return size
    stream.seek(place)
    locator = struct.unpack(_LOCATOR, stream.read(_LOCATOR_SIZE))
    if locator[0] != _LOCATOR_MARK:
        return size
    stream.seek(max(0, place - _WIDE_END_SIZE))  # of a file beyond 4 GB; `zipfile` looks for it in this place too
    wide = stream.read(_WIDE_END_SIZE)
    if len(wide) < _WIDE_END_SIZE or wide[:4] != _WIDE_END_MARK:
        raise ValueError("the end of the file is missing or changed")
    return max(size, int(struct.unpack(_WIDE_END, wide)[8]))
