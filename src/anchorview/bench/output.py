"""The folder of results: records, sections, tables, figures and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..report.document import Section
from ..report.markup import section_markdown, to_latex, to_markdown
from ..report.page import make_page
from .environment import describe_environment
from .records import Records

RECORDS = "records.jsonl"


class Output:
    """Where the results of one or several calls are kept.

    Parameters
    ----------
    folder : path
        New or empty, or one that an earlier call wrote; anything else is refused and left alone.
    order : sequence of str
        Names of all experiments in the order of the page.
    """

    def __init__(self, folder: Path, order: tuple[str, ...]) -> None:
        self.folder, self.order = folder, order
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; give a folder for the results.")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / RECORDS).exists():
            raise ValueError(f"{folder} holds other files and no {RECORDS}; give a new folder for the results.")
        self.records = Records(folder / RECORDS)
        self.figures = folder / "figures"

    def prepare(self) -> None:
        """Make the folder."""
        self.figures.mkdir(parents=True, exist_ok=True)
        (self.folder / RECORDS).touch()

    def write(self, section: Section) -> None:
        """Write an experiment's tables and put the pages together anew."""
        section.save(self.folder / "sections")
        tables = self.folder / "tables"
        tables.mkdir(exist_ok=True)
        for table in section.tables:
            (tables / f"{table.name}.md").write_text(to_markdown(table) + "\n")
            (tables / f"{table.name}.tex").write_text(to_latex(table))
        sections = [Section.load(path) for name in self.order if (path := self._section(name)).exists()]
        environment = describe_environment()
        self._put("environment.json", json.dumps(environment, indent=1) + "\n")
        self._put("report.md", _markdown_page(sections, environment))
        self._put("report.html", make_page(sections, self.figures, environment))

    def _section(self, name: str) -> Path:
        return self.folder / "sections" / f"{name}.json"

    def _put(self, name: str, text: str) -> None:
        """Replace a file in one step, so that a reader never sees half of it."""
        part = self.folder / f"{name}.part"
        part.write_text(text)
        part.rename(self.folder / name)


def _markdown_page(sections: list[Section], environment: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    line = f"{environment['cpu']}, {environment['cores']} cores; Python {environment['python']}; {versions}; "
    line += f"commit {environment['commit']}"
    return "\n\n".join(["# anchorview bench", line, *map(section_markdown, sections)]) + "\n"
