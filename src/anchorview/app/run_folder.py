"""The folder of a run: built beside its place, under a lock, and put there whole or not at all."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from ..core.folders import NewFolder
from ..core.no_space import naming_file
from .errors import UsageError
from .output_path import check_output_path

MARK = "run.json"  # what tells the folder of a run from any other
CODES = "codes.npy"  # what rows to label next are chosen by


class RunFolder(NewFolder):
    """The folder of a run under construction.

    Parameters
    ----------
    target : Path
        Where the folder will be.
    force : bool
        Replace a run that is there; it stays until the new one is whole.
    """

    in_use = "Another run is writing to {path} ({holder}); wait, or choose another -o."

    def __init__(self, target: Path, force: bool) -> None:
        super().__init__(target.expanduser().absolute(), force)

    def check(self) -> None:
        """Refuse a place where nothing may be written, or something else is."""
        if self.target.parent == self.target:
            raise UsageError(f"{self.target} cannot be the folder of a run.")
        check_output_path(self.target, self._overwrite, "folder")
        if self.target.exists() and any(self.target.iterdir()) and not (self.target / MARK).is_file():
            raise UsageError(
                f"{self.target} is not the folder of a run (it has no {MARK}); --force does not replace it."
            )

    def writing(self, name: str) -> AbstractContextManager[None]:
        """Say of a disk that is full which file of the run could not be written."""
        return naming_file(self.path / name, self.target / name)
