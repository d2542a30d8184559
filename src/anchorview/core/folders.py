"""Folders that are whole or not there, and temporary ones; what killed processes left of either is removed."""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from .files import check_output
from .locks import HAS_LOCKS, IN_USE, LOCK, hold, lock


class NewFolder:
    """A folder under construction, to be used in a ``with`` statement: `finish` gives it its name.

    Without `finish` nothing is left of it. Another process that builds the same folder is refused (`InUseError`), and
    what one that was killed has left is removed. Files are written to `path`, beside the target; a folder that is
    there, and may be replaced, stays until the new one is whole.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with NewFolder(Path(place, "results")) as folder:
    ...         _ = (folder.path / "label.npy").write_bytes(b"...")
    ...         folder.finish()
    ...     [str(path.relative_to(place)) for path in Path(place).rglob("*.npy")]
    ['results/label.npy']
    """

    in_use = IN_USE  # what another process that builds it is told

    def __init__(self, target: Path, overwrite: bool = False) -> None:
        self.target, self._overwrite = target, overwrite
        self.path = target.parent / f".{target.name}.part"
        self._old = target.parent / f".{target.name}.old"

    def check(self) -> None:
        """Raise an error if the folder cannot be written."""
        check_output(self.target, overwrite=self._overwrite, folder=True)

    def __enter__(self) -> Self:
        self.check()
        self._lock_file = self.target.parent / f".{self.target.name}.lock"
        self._lock: IO[bytes] = hold(self._lock_file, self.target, self.in_use)
        try:
            self._clear()
            self.check()  # another process may have finished in between
            self.path.mkdir()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _clear(self) -> None:
        """Remove what is not whole; a folder that was put aside comes back, unless the new one is in its place."""
        if self._old.exists() and not self.target.exists():
            self._old.rename(self.target)
        for left in (self._old, self.path):
            shutil.rmtree(left, ignore_errors=True)

    def finish(self) -> None:
        """Give the folder its name; an older one goes when the new one is in its place."""
        for path in self.path.rglob("*"):
            if path.is_file():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
        if self.target.exists():
            self.target.rename(self._old)
        self.path.rename(self.target)

    def __exit__(self, *error: object) -> None:
        try:
            self._clear()
        finally:
            self._lock_file.unlink(missing_ok=True)
            self._lock.close()


class ScratchFolder:
    """A folder for temporary files, which goes with this object, or with the process.

    A process that is killed cannot remove it: the next one that makes a folder with this prefix does.

    Examples
    --------
    >>> folder = ScratchFolder("anchorview-some-")
    >>> path = folder.path
    >>> del folder
    >>> path.exists()
    False
    """

    def __init__(self, prefix: str) -> None:
        _remove_left(prefix)
        self.path = Path(tempfile.gettempdir(), f"{prefix}{secrets.token_hex(8)}")
        held: list[IO[bytes]] = []
        # Before the folder is made: a signal may come at any moment after.
        self.remove = weakref.finalize(self, _remove, self.path, held)
        self.path.mkdir(mode=0o700)
        held.append(hold(self.path / LOCK))


def _remove(folder: Path, held: list[IO[bytes]]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for stream in held:
        stream.close()


def _remove_left(prefix: str) -> None:
    """Remove temporary folders of this user whose process has ended.

    Locks of other machines are not seen through every network file system, so only folders made on this one are.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*/{LOCK}") if HAS_LOCKS else ():
        with suppress(OSError, ValueError, LookupError, TypeError):
            if path.parent.lstat().st_uid == os.geteuid():
                with path.open("rb") as stream:
                    about = json.load(stream)  # nothing is in it before it is locked
                    if about["host"] == platform.node() and lock(stream, wait=False):
                        shutil.rmtree(path.parent, ignore_errors=True)
