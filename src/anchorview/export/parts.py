"""Parts of a long work in a folder: each appears when it is whole, and work goes on with those that are not there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .columns import Columns, naming_path

_MANIFEST = "manifest.json"


class PartFolder:
    """The parts of a work that are done, beside what the work was.

    Parameters
    ----------
    folder : Path
        Where they are; made if it is not there.
    manifest : dict
        What the work is: the parts of another work are never taken for its own.
    resume : bool
        Go on with the parts that are there; if not, start anew.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        with naming_path(folder, "Parts"):
            folder.mkdir(exist_ok=True)
            before = self._read_manifest()
            if before is not None and not resume:
                self.remove()
                folder.mkdir(exist_ok=True)
                before = None
            if before is None:
                self._replace(_MANIFEST, json.dumps(manifest, indent=1).encode())
        if before is not None and before != manifest:
            differs = [name for name in manifest if before.get(name) != manifest[name]]
            raise ValueError(
                f"{folder} holds parts of another work, with another {' and '.join(differs)}: they cannot be put "
                "together with new ones. Pass resume=False to start anew, or write to another path."
            )

    def _read_manifest(self) -> dict[str, Any] | None:
        path = self.folder / _MANIFEST
        if not path.exists():
            strange = [item.name for item in self.folder.iterdir() if not item.name.startswith(".")]
            if strange:
                raise FileExistsError(
                    f"{self.folder} is needed for parts, but holds other files: {', '.join(strange[:3])}; move them."
                )
            return None
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:07d}.npz"

    def has(self, number: int) -> bool:
        """Tell whether a part is done."""
        return self._path(number).exists()

    def write(self, number: int, columns: Columns) -> None:
        """Keep a part."""
        with naming_path(self.folder, f"Part {number}"):
            unfinished = self.folder / f".{os.getpid()}.part"
            try:
                arrays: dict[str, Any] = dict(columns)
                with unfinished.open("wb") as stream:
                    np.savez(stream, **arrays)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(unfinished, self._path(number))
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise

    def is_put_together(self, path: Path, n_parts: int) -> bool:
        """Tell whether a file or folder was made of all parts: only to remove them was left to do."""
        if not path.exists() or not all(map(self.has, range(n_parts))):
            return False
        latest = max((self._path(number).stat().st_mtime_ns for number in range(n_parts)), default=0)
        first = min((item.stat().st_mtime_ns for item in path.iterdir()), default=0) if path.is_dir() else None
        return (path.stat().st_mtime_ns if first is None else first) >= latest

    def read(self, number: int) -> Columns:
        """Return a part."""
        with np.load(self._path(number)) as stored:
            return {name: stored[name] for name in stored.files}

    def remove(self) -> None:
        """Remove all parts, and the folder; nothing else."""
        for pattern in ("part-*.npz", ".*.part", _MANIFEST):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)
        for left in self.folder.glob(".*"):  # of a process that was killed while it put parts together
            if left.is_dir():
                _remove_folder(left)
        self.folder.rmdir()

    def _replace(self, name: str, content: bytes) -> None:
        unfinished = self.folder / f".{os.getpid()}.part"
        unfinished.write_bytes(content)
        os.replace(unfinished, self.folder / name)


def _remove_folder(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
