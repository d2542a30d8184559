"""Arrays of a model file: each one an npy member of the zip, written and read without pickle."""

from __future__ import annotations

import hashlib
import io
import math
import zlib
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

KINDS = "biufcSUmM"  # of numbers, text and times; never Python objects
_LONGEST_DTYPE = 64
_TRIED = 2**14  # numbers of an array that are packed to see whether it pays
_TIME = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same model gives the same bytes


class _Digest(io.RawIOBase):
    """Takes what is written, counts it and hashes it."""

    def __init__(self) -> None:
        self.size, self.hash = 0, hashlib.sha256()

    def write(self, data: Any) -> int:
        """Take some bytes."""
        self.hash.update(data)
        self.size += len(data)
        return len(data)


def describe_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the size and the checksum that an array will have in the file."""
    digest = _Digest()
    _write(digest, array)
    return {"size": digest.size, "sha256": digest.hash.hexdigest()}


def write_array(archive: ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    """Add an array to a zip file, packed if that saves something: most floating-point numbers hardly pack."""
    member = new_member(name, packed=array.dtype.kind not in "fc" or _packs(array))
    member.file_size = array.nbytes + 1024  # tells zipfile when sizes need 64 bits
    with archive.open(member, "w") as stream:
        _write(stream, array)


def _packs(array: npt.NDArray[Any]) -> bool:
    """Tell whether packing saves a twentieth or more, by the first numbers of an array."""
    some = np.ascontiguousarray(array).reshape(-1)[:_TRIED].tobytes()
    return len(zlib.compress(some, 1)) <= 0.95 * len(some)


def new_member(name: str, *, packed: bool = True) -> ZipInfo:
    """Return a member whose header depends on nothing but its name."""
    member = ZipInfo(name, _TIME)
    member.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
    member.create_system, member.external_attr = 3, 0o644 << 16  # whatever the system
    return member


def _write(stream: IO[bytes] | io.RawIOBase, array: npt.NDArray[Any]) -> None:
    np.lib.format.write_array(stream, array, allow_pickle=False)


def parse_array(data: bytes) -> npt.NDArray[Any]:
    """Return the array of an npy file, in the memory order that it had.

    Raises
    ------
    ValueError
        If the data are no npy file, hold Python objects, or are not as long as their header says: NumPy's own reader
        would first ask for the memory.
    """
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(
        version
    )
    if read_header is None:
        raise ValueError(f"it is of npy version {version}")
    try:
        shape, is_fortran, dtype = read_header(stream)
    except (MemoryError, RecursionError, SyntaxError, TokenError):  # the header is text for Python's parser
        raise ValueError("its header is no description of an array") from None
    check_dtype(dtype)
    count, start = math.prod(shape), stream.tell()
    if any(size < 0 for size in shape) or len(shape) > 32 or count * dtype.itemsize != len(data) - start:
        raise ValueError(f"it has {len(data) - start} bytes, which are no {dtype} array of shape {shape!s:.80}")
    flat = np.frombuffer(data, dtype, count, start).copy()
    return flat.reshape(shape[::-1]).T if is_fortran else flat.reshape(shape)


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise an error for Python objects, records and whatever else is not a plain type."""
    if dtype.kind not in KINDS or (dtype.itemsize == 0 and dtype.kind not in "SU"):
        raise ValueError(f"arrays of {dtype!r} cannot be in a model file")


def parse_dtype(text: Any) -> np.dtype[Any]:
    """Return the plain dtype that a text names."""
    if not isinstance(text, str) or len(text) > _LONGEST_DTYPE:
        raise ValueError(f"{text!r:.80} names no dtype")
    try:
        dtype = np.dtype(text)
    except TypeError:
        raise ValueError(f"{text!r} names no dtype") from None
    check_dtype(dtype)
    return dtype
