"""The outside of a model file: a zip with the members it should have, of the sizes and checksums it names."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy.typing as npt

from ..core.archives import directory_size, is_bomb, packed_size, unpacked_size
from .model_arrays import parse_array

MANIFEST = "manifest.json"
_ARRAY = re.compile(r"arrays/\d{1,6}\.npy")
_LARGE = 2**26  # bytes from which a file can be a zip bomb
_MOST_DIRECTORY = 2**24  # bytes of the table of contents: 100,000 members
_MOST_MANIFEST = 2**26  # bytes; parsed JSON takes some twenty times as much
_JSON_COST = 20
_ENCRYPTED = 1


class ModelFileError(ValueError):
    """A file that cannot be loaded as a model; the message says why.

    Examples
    --------
    >>> import tempfile
    >>> import anchorview
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         anchorview.load(file.name)
    ...     except anchorview.ModelFileError:
    ...         print("not a model")
    not a model
    """


def array_name(number: int) -> str:
    """Return the name of the member that holds an array."""
    return f"arrays/{number}.npy"


def open_model(stream: BinaryIO, limit: int | None) -> ZipFile:
    """Open a model file, once its table of contents says that it holds what it should and fits into `limit` bytes."""
    file_size = os.fstat(stream.fileno()).st_size
    _check_beginning(stream.read(8), file_size)
    try:
        if directory_size(stream, file_size) > _MOST_DIRECTORY:
            raise ModelFileError("has more parts than any model; it was not read.")
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"is damaged or was cut short: {error}.") from None
    stream.seek(0)
    archive = ZipFile(stream)
    entries = archive.infolist()
    _check_names([entry.filename for entry in entries])
    _check_sizes(entries, file_size, limit)
    return archive


def _check_beginning(start: bytes, file_size: int) -> None:
    if file_size == 0:
        raise ModelFileError("is empty.")
    if start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        raise ModelFileError(
            "is a pickle, not a model file of anchorview. Pickles can run any code; if you trust whoever wrote it, "
            "load it with pickle or joblib, and keep the model with anchorview.save."
        )
    if start[:4] != b"PK\3\4":
        raise ModelFileError("is not a model file of anchorview.")


def _check_names(names: list[str]) -> None:
    if MANIFEST not in names:
        hint = ""
        if "schema.json" in names:
            hint = " It looks like a file of skops: load it with skops.io.load."
        elif names and all(name.endswith(".npy") for name in names):
            hint = " It looks like an npz file of arrays."
        raise ModelFileError(f"is a zip file, but not a model of anchorview: it has no {MANIFEST}.{hint}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelFileError(f"holds {twice!r:.100} twice; it was not written by anchorview.save.")
    strange = next((name for name in names if name != MANIFEST and not _ARRAY.fullmatch(name)), None)
    if strange is not None:
        where = PurePosixPath(strange)
        kind = " (a path out of the file)" if where.is_absolute() or ".." in where.parts else ""
        raise ModelFileError(f"holds {strange!r:.100}{kind}, which is no part of a model; it was not read.")


def _check_sizes(entries: list[ZipInfo], file_size: int, limit: int | None) -> None:
    for entry in entries:
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or entry.flag_bits & _ENCRYPTED:
            raise ModelFileError(f"holds {entry.filename!r} in a form that anchorview.save does not write.")
        if entry.compress_type == ZIP_STORED and entry.compress_size != entry.file_size:
            raise ModelFileError(f"is damaged: the sizes of {entry.filename!r} contradict each other.")
    total, packed = unpacked_size(entries), packed_size(entries, file_size)
    if is_bomb(total, packed, _LARGE):
        raise ModelFileError(
            f"unpacks from {packed / 1e6:.1f} MB to {total / 1e9:.1f} GB, which looks like a zip bomb; it was not read."
        )
    manifest = next(entry.file_size for entry in entries if entry.filename == MANIFEST)
    if manifest > _MOST_MANIFEST:
        raise ModelFileError(f"has a manifest of {manifest / 1e6:.0f} MB, larger than any model's; it was not read.")
    total += _JSON_COST * manifest
    if limit is not None and total > limit:
        raise ModelFileError(
            f"takes {total / 1e6:,.0f} MB of memory, more than the {limit / 1e6:,.0f} MB that it may (max_bytes; by "
            "default the memory that is free); it was not read."
        )


def read_manifest(archive: ZipFile) -> dict[str, Any]:
    """Return the manifest."""
    manifest = json.loads(archive.read(MANIFEST).decode("utf-8"))
    if not isinstance(manifest, dict):
        raise ModelFileError("is not a model file of anchorview: its manifest is of another format.")
    return manifest


def read_arrays(archive: ZipFile, manifest: dict[str, Any]) -> list[npt.NDArray[Any]]:
    """Return the arrays, once all of them are there with the sizes, and each with the checksum, of the manifest."""
    members = manifest["members"]
    there = {entry.filename: entry for entry in archive.infolist() if entry.filename != MANIFEST}
    _compare_names(set(there), set(members))
    for name, about in members.items():
        if there[name].file_size != about["size"]:
            raise ModelFileError(
                f"was changed: {name!r} has {there[name].file_size} bytes, the manifest says {about['size']!r:.40}."
            )
    arrays = []
    for number in range(len(members)):
        name = array_name(number)
        data = archive.read(name)
        if hashlib.sha256(data).hexdigest() != members[name]["sha256"]:
            raise ModelFileError(f"was changed or damaged: the checksum of {name!r} is not that of the manifest.")
        try:
            arrays.append(parse_array(data))
        except ValueError as error:
            raise ModelFileError(f"is damaged: {name!r} cannot be read ({error}).") from None
    return arrays


def _compare_names(there: set[str], named: set[str]) -> None:
    if there == named:
        return
    missing, extra = sorted(named - there), sorted(there - named)
    what = f"has no {missing[0]!r:.100}" if missing else f"holds {extra[0]!r:.100}, which its manifest does not name"
    raise ModelFileError(f"was changed: it {what}.")
