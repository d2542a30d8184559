"""The report of a fit: one HTML file to look at and pass on, that needs no other file and asks no network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.files import replace_file
from .html_page import html_page, page_asset
from .run_map import RowMap, bokeh_scripts, load_bokeh, make_map
from .run_sections import (
    classes_part,
    hidden_part,
    made_part,
    map_part,
    next_part,
    result_part,
    rounds_part,
    suspects_part,
    views_part,
)
from .run_summary import RunSummary
from .run_tables import text


def write_run_page(summary: RunSummary, path: str | Path) -> None:
    """Write the report of a fit as one HTML file.

    The page makes no request: styles, scripts (Bokeh's, from its Python package) and data are in the file. An existing
    file is replaced in one step.

    Parameters
    ----------
    summary : RunSummary
        From :func:`anchorview.report.run_summary.summarise_run`.
    path : path
        Where to write; the folder must be there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.report.run_summary import summarise_run
    >>> made = datasets.make_multiview_subspaces(60, 3, (8, 6), random_state=0)
    >>> model = FSSMSC(n_clusters=3, n_landmarks=20, scaling="l2", random_state=0).fit(made.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run_page(summarise_run(model), Path(folder, "report.html"))
    ...     Path(folder, "report.html").stat().st_size < 2_000_000
    True
    """
    load_bokeh()
    replace_file(Path(path), make_run_page(summary))


def make_run_page(summary: RunSummary) -> str:
    """Return the report of a fit as HTML; see `write_run_page`."""
    row_map = make_map(summary, "map")
    sections = {
        "result": ("Result", result_part(summary)),
        "map": ("Map", map_part(summary, row_map)),
        "classes": ("Classes" if summary.has_labels else "Clusters", classes_part(summary)),
        "check": ("Hidden labels", hidden_part(summary)),
        "suspects": ("Suspect labels", suspects_part(summary)),
        "next": ("Label next", next_part(summary)),
        "rounds": ("Rounds of labelling", rounds_part(summary)),
        "views": ("Views", views_part(summary)),
        "made": ("How it was made", made_part(summary)),
    }
    scripts = [*bokeh_scripts(), page_asset("run_page.js")] if row_map is not None else []
    about, styles = f"{summary.method} · {summary.made}", ("page.css", "run_page.css")
    frame: dict[str, Any] = {"styles": styles, "scripts": scripts, "data": _data(row_map)}
    return html_page(summary.title, "report", about, sections, heading=text(summary.title), **frame)


def _data(row_map: RowMap | None) -> str:
    if row_map is None:
        return ""
    parts = {"map-about": row_map.about, "map-item": row_map.item}
    return "".join(
        f'<script type="application/json" id="{name}">{to_json(part)}</script>' for name, part in parts.items()
    )


def to_json(value: Mapping[str, Any]) -> str:
    r"""Return JSON that is safe within a script element: no text can end it.

    Examples
    --------
    >>> to_json({"label": "</script>"})
    '{"label":"\\u003c/script>"}'
    """
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
