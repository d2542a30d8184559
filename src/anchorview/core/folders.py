"""Folders that are whole or not there, and temporary ones; what killed processes left of either is removed."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from .files import check_output
from .locks import HAS_LOCKS, IN_USE, LOCK, hold, hold_folder, lock


class NewFolder:
    """A folder under construction, to be used in a ``with`` statement: `finish` gives it its name.

    Without `finish` nothing is left of it. Another process that builds the same folder is refused (`InUseError`), and
    what one that was killed has left is removed.

    Parameters
    ----------
    target : Path
        Where the folder will be; one that is there stays until the new one is whole.

    Attributes
    ----------
    path : Path
        Where its files are written, beside the target.

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

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.parent / f".{target.name}.part"
        self._old = target.parent / f".{target.name}.old"
        self._finished = False

    def check(self) -> None:
        """Raise an error if the folder cannot be written."""
        check_output(self.target, overwrite=True, folder=True)

    def __enter__(self) -> Self:
        self.check()
        self._lock: IO[bytes] = hold_folder(self.path, self.target, self.in_use)
        try:
            self._put_back()
            for left in self.path.iterdir():
                if left.name != LOCK:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            self.check()  # another process may have finished in between
        except BaseException:
            self.__exit__()
            raise
        return self

    def _put_back(self) -> None:
        """Put back a folder that was put aside, or remove it if the new one is in its place."""
        if self._old.exists() and not self.target.exists():
            self._old.rename(self.target)
        else:
            shutil.rmtree(self._old, ignore_errors=True)

    def finish(self) -> None:
        """Give the folder its name; an older one goes when the new one is in its place."""
        for path in self.path.rglob("*"):
            if path.is_file():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
        (self.path / LOCK).unlink()
        if self.target.exists():
            self.target.rename(self._old)
        self.path.rename(self.target)
        self._finished = True
        shutil.rmtree(self._old, ignore_errors=True)

    def __exit__(self, *error: object) -> None:
        try:
            if not self._finished:
                self._put_back()
                shutil.rmtree(self.path, ignore_errors=True)
        finally:
            self._lock.close()


class ScratchFolder:
    """A folder for temporary files, which goes with this object, or with the process.

    A process that is killed cannot remove it: the next one that makes such a folder does.

    Parameters
    ----------
    prefix : str
        How its name begins, as those of all folders of this kind.

    Attributes
    ----------
    path : Path
        The folder.

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
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self.remove = weakref.finalize(self, _remove, self.path, hold(self.path / LOCK))


def _remove(folder: Path, held: IO[bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    held.close()


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
