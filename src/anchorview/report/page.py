"""One HTML page with every table and figure in it, that needs no other file."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from .document import Cell, Section, Table

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; color: #1c2430; margin: 0; background: #f5f6f8; }
header { background: #16324f; color: white; padding: 1.6rem 2rem; }
header h1 { margin: 0; font-size: 1.5rem; }
header p { margin: .3rem 0 0; opacity: .85; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: .7rem 2rem;
  background: white; border-bottom: 1px solid #d9dee5; position: sticky; top: 0; z-index: 2; }
nav a { color: #1d5c99; text-decoration: none; white-space: nowrap; }
main { max-width: 1320px; margin: 0 auto; padding: 0 1.5rem 3rem; overflow-wrap: anywhere; }
section { background: white; border: 1px solid #dfe3e8; border-radius: 8px; padding: .6rem 1.6rem 1.4rem;
  margin-top: 1.6rem; scroll-margin-top: 3.4rem; }
h2 { font-size: 1.25rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
.scroll { overflow-x: auto; max-width: 100%; overflow-wrap: normal; }
.scroll:focus-visible { outline: 2px solid #1d5c99; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .28rem .65rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; max-width: 22rem; overflow: hidden; text-overflow: ellipsis; }
tr:not(.block) > :first-child { position: sticky; left: 0; background: white; box-shadow: 1px 0 #d9dee5; }
thead th { border-top: 2px solid #333; border-bottom: 1px solid #333; }
tbody tr:last-child td { border-bottom: 2px solid #333; }
tbody tr:not(.block):hover > td { background: #f0f5fb; }
th.ours, td.ours { background: #fff3e0; }
th.ours { border-top-color: #d9480f; color: #a33b0b; }
.tag { font-size: .68rem; font-weight: 600; color: white; background: #d9480f; border-radius: 3px;
  padding: .05rem .3rem; margin-left: .35rem; vertical-align: .1rem; }
tr.block td { text-align: left; font-weight: 600; border-top: 1px solid #999; border-bottom: 1px solid #999;
  background: #fafbfc; }
.second { text-decoration: underline; text-underline-offset: 3px; }
.note { color: #5a6675; font-size: .85rem; }
figure { margin: 1.2rem 0 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #5a6675; font-size: .85rem; }
dl { display: grid; grid-template-columns: max-content auto; gap: .2rem 1.2rem; }
dt { font-weight: 600; } dd { margin: 0; }
"""


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
    links = "".join(f'<a href="#{escape(s.name)}">{escape(s.title)}</a>' for s in sections)
    body = "\n".join(_section(section, figures) for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>anchorview bench</title>
<style>{_STYLE}</style>
</head>
<body>
<header><h1>anchorview bench</h1>
<p>The experiments of the FSSMSC paper, made anew. Best in bold, second underlined; mean ± standard deviation.
Tinted columns are methods of this library.</p>
</header>
<nav>{links}<a href="#environment">Environment</a></nav>
<main>
{body}
{_environment(environment)}
</main>
</body>
</html>
"""


def _section(section: Section, figures: Path) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", *(f"<p>{escape(text)}</p>" for text in section.text)]
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
    return f'<section id="{escape(section.name)}">' + "\n".join(parts) + "</section>"


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
        f'<h3>{title}</h3><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
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
    return f'<section id="environment"><h2>Environment</h2><dl>{"".join(items)}</dl></section>'
