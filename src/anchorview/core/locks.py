"""Locks between processes, by flock; they end with the process that holds them, however it ends.

Where there is no flock (Windows, some network file systems) nothing is locked, and everything else works as it does.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

HAS_LOCKS = sys.platform != "win32"  # where an open file cannot be removed or get another name either
LOCK = ".lock"  # the file by which a folder is held
IN_USE = "Another process is writing {path} ({holder}); wait for it."


def lock(stream: IO[bytes], *, shared: bool = False, wait: bool = True) -> bool:
    """Lock an open file until it is closed, and return whether that was possible.

    While another process holds it, wait, or raise BlockingIOError; a shared lock can be held by several.
    """
    if sys.platform == "win32":
        return False
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(stream.fileno(), how if wait else how | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


class InUseError(OSError):
    """Another process works on the same results."""


def hold(path: Path, shown: Path | None = None, in_use: str = IN_USE) -> IO[bytes]:
    """Lock a file, made if it does not exist, for as long as what is returned stays open; write into it who holds it.

    If another process does, the `InUseError` says so: `in_use`, with that process and what the file stands for. Who
    holds the file may remove it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, hold(Path(folder, "lock")):
    ...     hold(Path(folder, "lock"), Path("labels.csv"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    anchorview.core.locks.InUseError: Another process is writing labels.csv (process ... since ...); wait for it.
    """
    while True:
        stream = path.open("ab+", buffering=0)  # kept by the file system as it is, until the lock is ours
        try:
            lock(stream, wait=False)
        except BlockingIOError:
            stream.seek(0)
            holder = _holder(stream.read())
            stream.close()
            raise InUseError(in_use.format(path=shown or path, holder=holder)) from None
        if is_same(stream, path):
            break
        stream.close()  # who held it has just removed it
    about = {"pid": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with suppress(OSError):  # a full disk: what is to be written next says so better
        stream.truncate(0)
        stream.write(json.dumps(about).encode())
    if not HAS_LOCKS:
        stream.close()
    return stream


def hold_folder(folder: Path, shown: Path) -> IO[bytes]:
    """Hold a folder, made if it does not exist, by a file in it; whoever holds it may remove both."""
    while True:
        try:
            folder.mkdir()  # not exist_ok=True: another process may remove it while that looks
        except FileExistsError:
            if folder.is_symlink() and not folder.is_dir():  # to nowhere, or to a file
                raise
        with suppress(FileNotFoundError):  # who held it has just removed it
            return hold(folder / LOCK, shown)


def _holder(text: bytes) -> str:
    try:
        about = json.loads(text)
        return f"process {about['pid']} on {about['host']}, since {about['since']}"
    except (ValueError, KeyError, TypeError):  # it has only just locked the file
        return "another process"


def is_same(stream: IO[bytes], path: Path) -> bool:
    """Tell whether a locked file is still the one that others will find."""
    if not HAS_LOCKS:
        return True
    with suppress(OSError):
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    return False
