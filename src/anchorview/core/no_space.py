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
    """Say of a disk that is full which file could not be written: `shown`, if it is first written under another name.

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
        number, is_named = error.errno, isinstance(error, NoSpaceError) and shown is None
        if number is None or number not in _REASONS or is_named:
            raise
        raise NoSpaceError(
            number,
            f"{shown or path} cannot be written: {_REASONS[number]}{_advice(number, path)}, or write to "
            "another disk; what was there before is unchanged.",
        ) from error


def _advice(number: int, path: Path) -> str:
    if number == errno.EFBIG:
        return ". Raise the limit"
    try:
        return f" ({shutil.disk_usage(path.parent).free / 1e6:,.1f} MB are free). Free some"
    except OSError:
        return ". Free some"
