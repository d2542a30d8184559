"""Where the command may write, in its own words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..core.files import check_output
from .errors import UsageError


def check_output_path(path: Path, force: bool, kind: Literal["file", "folder"] = "file") -> None:
    """Refuse, before any work, a place where nothing can be written, or something is that may not be replaced."""
    parent = path.absolute().parent
    words = {
        FileExistsError: f"{path} exists; choose another {kind} (-o), or replace it: --force.",
        NotADirectoryError: f"{path} is not a folder; --force replaces the folder of a run only.",
        FileNotFoundError: f"The folder {parent} does not exist; create it first.",
        PermissionError: f"Nothing can be written in {parent}; choose another {kind}: -o.",
    }
    try:
        check_output(path.absolute(), overwrite=force, folder=kind == "folder")
    except OSError as error:
        raise UsageError(words.get(type(error), str(error))) from None
