"""The folder of results: records, sections, tables, figures and the page."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

from ..core.files import remove_parts, replace_file
from ..core.locks import InUseError, hold
from ..report.document import Section
from ..report.markup import markdown, section_markdown, to_latex, to_markdown
from ..report.page import make_page
from .environment import describe_environment
from .records import Records

RECORDS = "records.jsonl"
LOCK = "records.lock"
_PARTS = ("sections", "tables", "figures")
_IN_USE = (
    "{path} is in use by another anchorview bench ({holder}). Wait until it has ended; what it finishes is then not "
    "computed again. Or give another folder with --out."
)


class Output:
    """Where the results of one or several calls are kept; to be used in a ``with`` statement.

    Entering it makes the folder, locks it and reads its records: of two processes that work on one folder the second
    is refused (`InUseError`), so that nothing is computed twice.

    Parameters
    ----------
    folder : path
        New or empty, or one that an earlier call wrote; anything else is refused and left alone.
    order : sequence of str
        Names of all experiments in the order of the page.
    tell : callable, optional
        Called with a line about what could not be used.
    """

    def __init__(self, folder: Path, order: tuple[str, ...], tell: Callable[[str], None] = lambda text: None) -> None:
        self.folder, self.order, self.tell = folder, order, tell
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; give a folder for the results.")
        others = [path for path in folder.iterdir() if path.name != LOCK] if folder.is_dir() else []
        if others and not (folder / RECORDS).exists():
            raise ValueError(f"{folder} holds other files and no {RECORDS}; give a new folder for the results.")
        self._check_place()
        self._read_records()  # a file of others is refused before anything is written
        self.figures = folder / "figures"

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock: IO[bytes] = hold(self.folder / LOCK, self.folder, _IN_USE)
        except InUseError:  # it says what to do
            raise
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            self._open()
        except BaseException:
            self._lock.close()
            raise
        return self

    def _check_place(self) -> None:
        """Refuse what can be seen to be no place for results, before data is read and runs are made."""
        there = next(path for path in (self.folder, *self.folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise self._cannot_write(OSError(0, f"{there} is a file"))
        if not os.access(there, os.W_OK | os.X_OK):
            raise self._cannot_write(OSError(0, f"no permission to write to {there}"))
        for name in _PARTS:
            if (self.folder / name).exists() and not (self.folder / name).is_dir():
                raise self._cannot_write(OSError(0, f"{self.folder / name} is a file"))

    def _cannot_write(self, error: OSError) -> ValueError:
        reason = error.strerror or error
        return ValueError(f"{self.folder} cannot hold the results ({reason}); give another folder with --out.")

    def __exit__(self, *error: object) -> None:
        self._lock.close()

    def _open(self) -> None:
        """Read the records, and make every folder before the first run is made."""
        for line in self._read_records():
            self.tell(line)
        try:
            (self.folder / RECORDS).touch()
            for name in _PARTS:
                (self.folder / name).mkdir(exist_ok=True)
        except OSError as error:
            raise self._cannot_write(error) from None
        for folder in (self.folder, *(self.folder / name for name in _PARTS)):
            remove_parts(folder)

    def _read_records(self) -> list[str]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.records = Records(self.folder / RECORDS)
        return [str(line.message) for line in said]

    def write(self, section: Section) -> None:
        """Write an experiment's tables and put the pages together anew."""
        section.save(self.folder / "sections")
        for table in section.tables:
            replace_file(self.folder / "tables" / f"{table.name}.md", to_markdown(table) + "\n")
            replace_file(self.folder / "tables" / f"{table.name}.tex", to_latex(table))
        sections = self._sections()
        environment = describe_environment()
        replace_file(self.folder / "environment.json", json.dumps(environment, indent=1) + "\n")
        replace_file(self.folder / "report.md", _markdown_page(sections, environment))
        replace_file(self.folder / "report.html", make_page(sections, self.figures, environment))

    def _sections(self) -> list[Section]:
        """Return what this and earlier calls have to show; a file that is none of ours is named and passed over."""
        sections = []
        for name in self.order:
            path = self.folder / "sections" / f"{name}.json"
            if path.exists():
                try:
                    sections.append(Section.load(path))
                except ValueError as error:
                    self.tell(f"{error}; it is left out. 'anchorview bench {name}' makes it anew.")
        return sections


def _markdown_page(sections: list[Section], environment: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    line = f"{environment['cpu']}, {environment['cores']} cores; Python {environment['python']}; {versions}; "
    line += f"commit {environment['commit']}"
    return "\n\n".join(["# anchorview bench", markdown(line), *map(section_markdown, sections)]) + "\n"
