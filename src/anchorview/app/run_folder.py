"""The folder of a run: built beside its place, under a lock, and put there whole or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ..core.locks import InUseError, hold, is_same
from ..core.no_space import naming_file
from .errors import CommandError, UsageError

_LOCK = ".lock"
MARK = "run.json"  # what tells the folder of a run from any other


class RunFolder:
    """A folder under construction: `path` is where files are written; `finish` gives the folder its name.

    Without `finish` nothing is left of it. Another process that builds the same folder is refused.

    Parameters
    ----------
    target : Path
        Where the folder will be.
    force : bool
        Replace a run that is there; it stays until the new one is whole.
    """

    def __init__(self, target: Path, force: bool) -> None:
        self.target = target.expanduser().absolute()
        self.path = self.target.with_name(f".{self.target.name}.part")
        self._old = self.target.with_name(f".{self.target.name}.old")
        self._force, self._finished = force, False
        self._stream: IO[bytes] | None = None

    def check(self) -> None:
        """Refuse a place where nothing may be written, or something else is."""
        if self.target.parent == self.target:
            raise UsageError(f"{self.target} cannot be the folder of a run.")
        if not self.target.parent.is_dir():
            raise UsageError(f"The folder {self.target.parent} does not exist; create it first.")
        if not os.access(self.target.parent, os.W_OK | os.X_OK):
            raise UsageError(f"Nothing can be written in {self.target.parent}; choose another folder: -o.")
        if not self.target.exists() and not self.target.is_symlink():
            return
        if not self._force:
            raise UsageError(f"{self.target} exists; choose another folder (-o), or replace it: --force.")
        if self.target.is_symlink() or not self.target.is_dir():
            raise UsageError(f"{self.target} is not a folder; --force replaces the folder of a run only.")
        if any(self.target.iterdir()) and not (self.target / MARK).is_file():
            raise UsageError(
                f"{self.target} is not the folder of a run (it has no {MARK}); --force does not replace it."
            )

    def __enter__(self) -> Self:
        self.check()
        while self._stream is None:
            self.path.mkdir(exist_ok=True)
            try:
                stream = hold(self.path / _LOCK)
            except InUseError as error:
                raise CommandError(
                    f"Another run is writing to {self.target} ({error}); wait, or choose another -o."
                ) from None
            except FileNotFoundError:  # the other one has just finished
                continue
            if is_same(stream, self.path / _LOCK):
                self._stream = stream
            else:
                stream.close()
        try:
            self._clear()
            self.check()  # the other run may have finished in between
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _clear(self) -> None:
        """Remove what a run that was killed has left, and put back what it had put aside."""
        self._settle_old()
        for left in self.path.iterdir():
            if left.name != _LOCK:
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _settle_old(self) -> None:
        """Put back a run that was put aside, or remove it if the new one is in its place."""
        if self._old.exists() and not self.target.exists():
            self._old.rename(self.target)
        else:
            shutil.rmtree(self._old, ignore_errors=True)

    def writing(self, name: str) -> AbstractContextManager[None]:
        """Say of a disk that is full which file of the run could not be written."""
        return naming_file(self.path / name, self.target / name)

    def finish(self) -> None:
        """Give the folder its name; an older run goes when the new one is in its place."""
        for path in self.path.rglob("*"):
            if path.is_file():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
        (self.path / _LOCK).unlink()
        if self.target.exists():
            self.target.rename(self._old)
        self.path.rename(self.target)
        self._finished = True
        shutil.rmtree(self._old, ignore_errors=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._finished:
                self._settle_old()
                shutil.rmtree(self.path, ignore_errors=True)
        finally:
            if self._stream is not None:
                self._stream.close()
