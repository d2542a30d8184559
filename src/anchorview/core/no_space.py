"""A full disk, in words: which file could not be written, how much is free, and what to do."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REASONS = {
    errno.ENOSPC: "no space is left on the disk",
    getattr(errno, "EDQUOT", -1): "your quota of the disk is used up",
    errno.EFBIG: "files may not become so large here (a limit of the file system, or ulimit -f)",
}


class NoSpaceError(OSError):
    """A file that does not fit on the disk; the message says what to do."""

    def __str__(self) -> str:
        return str(self.strerror)


@contextmanager
def naming_file(path: Path, shown: Path | None = None) -> Iterator[None]:
    """Say of a disk that is full which file could not be written.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path, optional
        What it is called, if it is first written under another name.

    Examples
    --------
    >>> with naming_file(Path("/dev/shm/model.anchorview")):
    ...     raise OSError(errno.EFBIG, "File too large")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    anchorview.core.no_space.NoSpaceError: /dev/shm/model.anchorview cannot be written: files may not become so large...
    """
    try:
        yield
    except OSError as error:
        is_named = isinstance(error, NoSpaceError) and shown is None
        if error.errno not in _REASONS or is_named:
            raise
        raise NoSpaceError(
            error.errno,
            f"{shown or path} cannot be written: {_REASONS[error.errno]}{_free(path)}. Free some, or write to another "
            "disk; what was there before is unchanged.",
        ) from error


def _free(path: Path) -> str:
    try:
        return f" ({shutil.disk_usage(path.parent).free / 1e6:,.1f} MB are free)"
    except OSError:
        return ""
