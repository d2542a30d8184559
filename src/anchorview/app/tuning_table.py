"""The search of the tuned model as rows of a table."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

from ..core.files import replace_file
from ..files.csv_cells import mark_text
from .errors import DataError
from .fitting import fit_to_data, make_model, read
from .progress import Reporter
from .settings import RunSettings

_MEASURES = {
    "mean_test_score": "accuracy",
    "std_test_score": "spread",
    "mean_test_loss": "loss",
    "mean_fit_time": "seconds",
}


def search_table(settings: RunSettings, reporter: Reporter) -> list[dict[str, Any]]:
    """Make the search, and return a row for each setting, the best first."""
    settings = dataclasses.replace(settings, fast=False, clusters=None)
    with reporter.working():
        data = read(settings, reporter)
        if not data.labels.counts:
            raise DataError("The search needs labels to judge by: --label COLUMN or --labels FILE.")
        model = make_model(settings, data)
        reporter.step("searching")
        fit_to_data(model, data)
    found = model.cv_results_
    rows = []
    for number, parameters in enumerate(found["params"]):
        row = {name: _cell(value) for name, value in parameters.items()}
        rows.append(row | {name: float(found[key][number]) for key, name in _MEASURES.items()})
    return rows


def _cell(value: Any) -> Any:
    if isinstance(value, tuple | list):  # one for each view
        return " ".join(map(str, value))
    return value if isinstance(value, int | float) else str(value)


def narrow_table(rows: list[dict[str, Any]], n_rows: int) -> tuple[list[list[str]], list[str]]:
    """Return what fits on a terminal: the settings that differ, accuracy first, and in words what is the same in all.

    Parameters
    ----------
    rows : list of dict
        As `search_table` returns them.
    n_rows : int
        How many to show.

    Returns
    -------
    list of list of str, list of str
        Cells, the first row of them names; and what is the same in all rows.
    """
    names = [name for name in rows[0] if name not in _MEASURES.values()]
    same = [f"{name} {rows[0][name]}" for name in names if all(row[name] == rows[0][name] for row in rows)]
    differing = [name for name in names if any(row[name] != rows[0][name] for row in rows)]
    cells = [["accuracy %", "loss", *(name.replace("must_link_weight", "must-link") for name in differing)]]
    of_views: list[int] = []
    if "scaling" in differing:
        scalings = [str(row["scaling"]).split() for row in rows]
        if len({len(one) for one in scalings}) == 1:
            fixed = [place for place in range(len(scalings[0])) if len({one[place] for one in scalings}) == 1]
            same += [f"scaling of view {place + 1} {scalings[0][place]}" for place in fixed]
            of_views = [place for place in range(len(scalings[0])) if place not in fixed]
    for row in rows[:n_rows]:
        line = [f"{100 * row['accuracy']:.1f} ± {100 * row['spread']:.1f}", f"{row['loss']:.3f}"]
        for name in differing:
            value = row[name]
            if name == "scaling" and of_views:
                value = " ".join(str(value).split()[place] for place in of_views)
            line.append(f"{value:g}" if isinstance(value, float) else str(value))
        cells.append(line)
    return cells, same


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the rows as CSV, in one step."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: mark_text(value) for name, value in row.items()} for row in rows)
    replace_file(path, text.getvalue())
