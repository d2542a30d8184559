"""The page of the bench: every table and figure, in one HTML file."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from .document import Cell, Section, Table
from .html_page import html_page


def make_page(sections: list[Section], figures: Path, environment: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : list of Section
        In the order to show them.
    figures : path
        Folder of the figures' .png files, which are put into the page.
    environment : dict
        Machine, libraries and commit.
    """
    parts = {section.name: (section.title, _section(section, figures)) for section in sections}
    about = (
        "The experiments of the FSSMSC paper, made anew. Best in bold, second underlined; mean ± standard deviation. "
        "Tinted columns are methods of this library."
    )
    parts["environment"] = ("Environment", _environment(environment))
    return html_page("Experiments of the paper", "bench", about, parts, styles=("page.css", "bench_page.css"))


def _section(section: Section, figures: Path) -> str:
    parts = [f"<p>{escape(text)}</p>" for text in section.text]
    parts += [_table(table) for table in section.tables]
    for figure in section.figures:
        path = figures / f"{figure.name}.png"
        if not path.is_file():  # an earlier call's, removed since
            parts.append(f"<p>{escape(figure.title)}: the picture {escape(path.name)} is gone.</p>")
            continue
        picture = base64.b64encode(path.read_bytes()).decode()
        parts.append(
            f'<figure><img alt="{escape(figure.title)}" src="data:image/png;base64,{picture}">'
            f"<figcaption>{escape(figure.title)}</figcaption></figure>"
        )
    return "\n".join(parts)


def _table(table: Table) -> str:
    ours = [text in table.ours for text in table.header]
    tag = '<span class="tag">ours</span>'
    head = "".join(
        f'<th class="ours">{escape(text)}{tag}</th>' if own else f"<th>{escape(text)}</th>"
        for text, own in zip(table.header, ours, strict=True)
    )
    rows = []
    for row in table.rows:
        if len(row) == 1:
            rows.append(f'<tr class="block"><td colspan="{len(table.header)}">{escape(row[0].text)}</td></tr>')
        else:
            starts = ['<td class="ours">' if own else "<td>" for own in ours]
            cells = "".join(f"{start}{_cell(cell)}</td>" for start, cell in zip(starts, row, strict=True))
            rows.append(f"<tr>{cells}</tr>")
    below = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    title = escape(table.title)
    return (
        f'<h3>{title}</h3><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table class="scores">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{below}"
    )


def _cell(cell: Cell) -> str:
    head, space, rest = cell.text.partition(" ")
    if cell.mark == "best":
        return f"<b>{escape(head)}</b>{space}{escape(rest)}"
    return f'<span class="second">{escape(head)}</span>{space}{escape(rest)}' if cell.mark else escape(cell.text)


def _environment(environment: dict[str, Any]) -> str:
    items = []
    for name, value in environment.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {item}" for key, item in value.items())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        items.append(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>")
    return f'<dl class="facts">{"".join(items)}</dl>'
