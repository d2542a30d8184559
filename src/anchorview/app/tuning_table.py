"""The search of the tuned model as rows of a table."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

from ..report.files import replace_file
from .csv_cells import mark_text
from .errors import DataError
from .fitting import fit, make_model, read
from .progress import Reporter
from .settings import RunSettings

_MEASURES = {
    "mean_test_score": "accuracy",
    "std_test_score": "spread",
    "mean_test_loss": "loss",
    "mean_fit_time": "seconds",
}


def search_table(settings: RunSettings, reporter: Reporter) -> list[dict[str, Any]]:
    """Make the search, and return a row for each setting, the most believable first."""
    settings = dataclasses.replace(settings, fast=False, clusters=None)
    with reporter.working():
        data = read(settings, reporter)
        if not data.labels.counts:
            raise DataError("The search needs labels to judge by: --label COLUMN or --labels FILE.")
        model = make_model(settings, data)
        reporter.step("searching")
        fit(model, data)
    found = model.cv_results_
    rows = []
    for number, parameters in enumerate(found["params"]):
        row = {name: value if isinstance(value, int | float) else str(value) for name, value in parameters.items()}
        rows.append(row | {name: float(found[key][number]) for key, name in _MEASURES.items()})
    return rows


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the rows as CSV, in one step."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: mark_text(value) for name, value in row.items()} for row in rows)
    replace_file(path, text.getvalue())
