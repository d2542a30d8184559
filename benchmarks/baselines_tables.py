"""The tables of benchmarks/baselines.py, from all that is recorded."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from anchorview.bench.paper import DATA, paper_scores
from anchorview.bench.protocol import average
from anchorview.bench.scripts import SCORES, score_columns, write_report
from anchorview.report.tables import markdown_table
from baselines_fits import GRID_DRAWS, LARGE, METHODS, Fit, RecordedFits, grid_of, large_settings

NOTE = """Labelled: a uniform sample of 5 % of the rows (1 % from 10,000 rows on); unlabelled rows are scored. Methods
without labels: all rows are scored, one run per seed. Mean ± population standard deviation. Our figures are those of
the default parameters; the paper's parameters were chosen by the evaluation labels. FPMVS in the paper is the best of
50 k-means runs. Sets named _re have the paper's images, but other features."""
OUR_COLUMNS = ("ACC", "NMI", "ARI", "s")


def write_tables(recorded: RecordedFits, path: Path) -> None:
    """Write the tables of every data set, of the grids and of the large data, and print them."""
    keys = [key for key, _ in recorded.records]
    names = {key["data"] for key in keys} - set(LARGE)
    ordered = [name for name in DATA if name in names] + sorted(names - set(DATA))
    fractions = [None, *sorted({key["labels"] for key in keys if "labels" in key})]
    parts = [NOTE]
    for name, labels in product(ordered, fractions):
        parts += accuracy_table(recorded, name, labels)
    parts += grid_table(recorded) + large_table(recorded)
    print("\n" + write_report(path, "Baselines", parts))


def accuracy_table(recorded: RecordedFits, data: str, labels: float | None) -> list[str]:
    rows = []
    for name, method in METHODS.items():
        results = recorded.results(Fit(data, name, {}, labels))
        if not results or (labels is not None and not method.uses_labels):
            continue
        cells = ["yes" if method.uses_labels else "–", str(len(results)), *scores_of(results)]
        rows.append([name, *cells, *paper_cells(data, name)])
    if not rows:
        return []
    title = data if labels is None else f"{data}, {labels:.0%} labelled"
    header = ["method", "labels", "runs", *OUR_COLUMNS, "paper ACC", "NMI", "ARI", "s"]
    return [f"### {title}", markdown_table(header, rows)]


def scores_of(results: list[dict[str, Any]]) -> list[str]:
    """Return mean scores and seconds as cells, or which limit was broken."""
    failed = next((result["status"] for result in results if result["status"] != "ok"), None)
    if failed is not None:
        return [f"out of {failed}", "", "", ""]
    mean = average([result["value"] for result in results])
    return [*score_columns(mean), f"{mean['seconds'][0]:.2f}"]


def paper_cells(data: str, method: str) -> list[str]:
    """Return the paper's scores and seconds as cells, empty where it has none."""
    scores = paper_scores(data, method)
    if scores is None:
        return ["", "", "", ""]
    cells = []
    for score in scores.values():
        spread = "" if score is None or score[1] is None else f" ± {score[1]}"
        cells.append("OM" if score is None else f"{score[0]}{spread}")
    return cells


def grid_table(recorded: RecordedFits) -> list[str]:
    rows = []
    for method in METHODS:
        tried = []
        for setting in grid_of(method):
            results = recorded.results(Fit("hw", method, setting), GRID_DRAWS)
            if len(results) == GRID_DRAWS and all(result["status"] == "ok" for result in results):
                tried.append((average([result["value"] for result in results])["acc"][0], setting, results))
        if tried:
            worst = min(accuracy for accuracy, _, _ in tried)
            _, setting, results = max(tried, key=lambda t: t[0])
            chosen = ", ".join(f"{name}={value}" for name, value in setting.items())
            rows.append([method, f"{len(tried)} of {len(grid_of(method))}", *scores_of(results), f"{worst:.1f}"])
            rows[-1] += [*paper_cells("hw", method)[:3], chosen]
    if not rows:
        return []
    header = ["method", "settings", *OUR_COLUMNS, "worst ACC", "paper ACC", "NMI", "ARI", "best setting"]
    note = f"Best mean ACC over {GRID_DRAWS} draws on HW, chosen by the evaluation labels as in the paper."
    return ["## Best of the grid", note, markdown_table(header, rows)]


def large_table(recorded: RecordedFits) -> list[str]:
    rows = []
    for data, method in product(LARGE, METHODS):
        for result in recorded.results(Fit(data, method, large_settings(data, method)), 1):
            cells = scores_of([result])
            if result["status"] == "ok":
                value = result["value"]
                cells = [*(f"{value[name]:.1f}" for name in SCORES), f"{value['seconds']:.1f}"]
            rows.append([data, method, *cells, f"{result['peak_bytes'] / 2**30:.2f}"])
    if not rows:
        return []
    note = "One fit with 1 % labels; GB is the peak of the whole process, data and libraries included. On ng20 all but"
    note += " FSSMSC have rows scaled to unit length."
    return ["## Large data", note, markdown_table(["data", "method", *OUR_COLUMNS, "GB"], rows)]
