"""Beyond the paper: time and memory of FSSMSC up to a million rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...report.document import Figure, Section, Table
from ...report.figures import draw_scaling
from ..methods import METHODS
from ..runner import Run, Runner
from ..settings import JOBS, Settings
from .common import Summary, error_lines, mark_lines, summarise

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SIZES = (2_000, 5_000, 10_000)


def run_scaling(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Fit synthetic views of growing size and return table, curve and exponent."""
    sizes = settings.sizes or (QUICK_SIZES if settings.quick else SIZES)
    parameters = METHODS["FSSMSC"].all_parameters({})
    table = Table(
        "scaling",
        "FSSMSC on synthetic data: three views, 200 features, 10 classes, 1 % labelled",
        ["n", "seconds", "µs per row", "peak MB", "KB per row", "ACC (%)", "rounds"],
    )
    points, marked = [], dict[str, Summary]()
    for n in sizes:
        key = {"task": "scaling", "data": f"synthetic {n}", "method": "FSSMSC", "parameters": parameters}
        one = Run(
            f"{JOBS}:scale",
            {**key, "seed": settings.seed},
            {"n_rows": n, "parameters": {}, "seed": settings.seed},
            fresh=True,
        )
        runner.run([one], f"scaling, {n:,} rows")
        value, summary = runner.value(one), summarise(runner, [one])
        marked[f"{n:,} rows"] = summary
        if value is None:
            table.add(f"{n:,}", *[summary.failure or "–"] * 6)
            continue
        seconds, peak = value["seconds"], value["fit_bytes"]
        points.append((n, seconds, peak))
        cells = [f"{seconds:.2f}", f"{1e6 * seconds / n:.1f}", f"{peak / 1e6:.0f}", f"{peak / n / 1e3:.2f}"]
        table.add(f"{n:,}", *cells, f"{value['acc']:.1f}{summary.mark}", str(value["n_iter"]))
    section = Section("scaling", "Scaling beyond the paper")
    section.text = ["One fit in a fresh process; peak beyond the input. Default parameters.", *error_lines(runner)]
    section.text += mark_lines(marked)
    if len(points) > 1:
        n, seconds, _ = np.log(np.array(points, dtype=float) + 1e-9).T
        section.text.append(f"Slope of log seconds over log n: {np.polyfit(n, seconds, 1)[0]:.2f} (1 is linear).")
        draw_scaling(points, figures / "scaling")
        section.figures = [Figure("scaling", "Seconds and peak memory of a fit against the number of rows")]
    section.tables = [table]
    return section
