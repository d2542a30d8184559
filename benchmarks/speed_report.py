"""The tables and the plot of benchmarks/speed.py, from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from anchorview.bench.scripts import SCORES, write_report
from anchorview.report.tables import markdown_table

Measured = dict[tuple[str, str, int], dict[str, Any]]  # by data, method and rows
ACCURACY = {"hw": 500, "caltech101_20_re": 500, "caltech101_7_re": 300}  # data and landmarks of the accuracy table
STAGES = ("choice", "scaling", "landmarks", "solver", "labels")
OTHERS = {
    "given": "anchorview FSSMSC, settings given",
    "admm": "paper's ADMM, blocked",
    "literal": "Algorithm 1, literal",
    "label_spreading": "LabelSpreading(knn)",
    "poisson": "Poisson learning (exact graph)",
    "logistic": "LogisticRegression (labelled rows)",
}
PANELS = {
    "fashion": "Fashion-MNIST, 5 views, 2,064 features",
    "synthetic": "Synthetic, 3 views, 200 features",
}


def write_tables(measured: Measured, out: Path) -> None:
    """Write speed.md and speed.png, and print the tables."""
    ours = {(data, n): value for (data, method, n), value in measured.items() if method == "fssmsc"}
    given = {(data, n): value for (data, method, n), value in measured.items() if method == "given"}
    exponents = [
        f"Exponent in n, {name}, n ≥ 10,000: {exponent(points):.2f}"
        for name in PANELS
        if len(points := [(n, v["seconds"]) for (data, n), v in ours.items() if data == name and n >= 10_000]) > 1
    ]
    parts = [
        "## A fit with all defaults, its stages, and the bare product E = X·Uᵀ (float32, all cores)",
        stage_table(ours),
        "## The same with every setting given (the former defaults: nothing to choose)",
        stage_table(given),
        "## Beside others: seconds (times our fit), and ACC in the same order",
        others_table(ours, measured),
        *accuracy_part(measured),
        "\n".join(exponents),
    ]
    print("\n" + write_report(out / "speed.md", "Speed and memory", parts))
    draw(measured, out / "speed.png")


def exponent(points: list[tuple[int, float]]) -> float:
    """Slope of log seconds over log n."""
    n, seconds = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.polyfit(n, seconds, 1)[0])


def stage_table(ours: dict[tuple[str, int], dict[str, Any]]) -> str:
    rows = []
    for (name, n), value in ours.items():
        rows.append([name, f"{n:,}", str(value["features"]), f"{value['seconds']:.2f}", f"{value['product']:.3f}"])
        rows[-1] += [f"{value['ratio']:.1f}", *(f"{value['stages'].get(stage, 0.0):.2f}" for stage in STAGES)]
        rows[-1] += [f"{value['bytes_per_row'] / 1e3:.1f}", f"{value['predict_rows_per_second']:,.0f}"]
        single = f"{value['single_row_ms']:.2f}" if "single_row_ms" in value else "–"
        rows[-1] += [single, f"{value.get('nonzeros', 0):.0f}", f"{value['acc']:.1f}"]
    header = ["data", "n", "d", "fit s", "product s", "fit/product", *STAGES, "KB/row", "predict rows/s"]
    header += ["one row ms", "non-zeros", "ACC"]
    return markdown_table(header, rows)


def others_table(ours: dict[tuple[str, int], dict[str, Any]], measured: Measured) -> str:
    rows = []
    for (name, n), value in ours.items():
        others = [measured.get((name, method, n)) for method in OTHERS]
        if any(others):
            cells = [f"{o['seconds']:.1f} ({o['seconds'] / value['seconds']:.1f}×)" if o else "–" for o in others]
            scores = " / ".join(f"{o['acc']:.1f}" if o else "–" for o in [value, *others])
            rows.append([name, f"{n:,}", f"{value['seconds']:.2f}", *cells, scores])
    return markdown_table(["data", "n", "fssmsc", *OTHERS, "ACC"], rows)


def accuracy_part(measured: Measured) -> list[str]:
    """Return the accuracy table."""
    rows = []
    for name in ACCURACY:
        if now := measured.get((name, "accuracy", 0)):
            rows.append([name, *(f"{now[score]:.1f}" for score in SCORES)])
    if not rows:
        return []
    title = "## Accuracy: 20 draws, 5 % labels, defaults"
    return [title, markdown_table(["data", *(score.upper() for score in SCORES)], rows)]


def draw(measured: Measured, path: Path) -> None:
    """Draw seconds against rows, a panel for each kind of data."""
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for ax, (data, title) in zip(panels, PANELS.items(), strict=True):
        for method, label in {"fssmsc": "anchorview FSSMSC", **OTHERS}.items():
            if points := _points(measured, data, method, "seconds"):
                width = 2.5 if method == "fssmsc" else 1.4
                ax.loglog(*zip(*points, strict=True), marker="o", label=label, lw=width)
        products = _points(measured, data, "fssmsc", "product")
        if products:
            ax.loglog(*zip(*products, strict=True), "k--", lw=1, label="the bare product E = X·Uᵀ")
            ax.legend(fontsize=9)
        ax.set(xlabel="rows", title=title)
        ax.set_xticks([n for n, _ in products])
        ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n / 1e6:g}M" if n >= 1e6 else f"{n / 1e3:g}k"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(True, which="both", alpha=0.25)
    panels[0].set_ylabel("seconds")
    figure.savefig(path, dpi=120)


def _points(measured: Measured, data: str, method: str, what: str) -> list[tuple[int, float]]:
    return sorted((n, value[what]) for (name, m, n), value in measured.items() if name == data and m == method)
