"""Sensitivity of FSSMSC to λ_M × β (heat map) and to λ_Z (curves)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...report.document import Figure, Section, Table
from ...report.figures import draw_curves, draw_heat_maps
from ..methods import BOTH_SOLVERS, METHODS
from ..runner import Run, Runner
from ..settings import Settings
from .common import Summary, data_line, error_lines, mark_lines, repetitions, summarise


def run_sensitivity(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make the runs and return heat maps, curves and the range of ACC."""
    grid = METHODS["FSSMSC"].grid
    weights, couplings, sparsities = (_thin(grid[name], settings) for name in ("must_link_weight", "coupling", "l1"))
    table = Table("sensitivity", "ACC (%) over the grid: lowest, median, highest", ["Dataset"])
    section = Section("sensitivity", "Sensitivity to the parameters")
    marked: dict[str, Summary] = {}
    rows: dict[str, list[str]] = {about.name: [about.name] for _, about in settings.data}
    for method in settings.choose(BOTH_SOLVERS) or [METHODS["FSSMSC"]]:
        maps, curves = {}, {}
        for source, about in settings.data:
            plane = {
                (w, b): [
                    settings.fit(source, about, method, {"must_link_weight": w, "coupling": b}, s)
                    for s in settings.seeds
                ]
                for w in weights
                for b in couplings
            }
            line = {z: [settings.fit(source, about, method, {"l1": z}, s) for s in settings.seeds] for z in sparsities}
            everything = [*plane.values(), *line.values()]
            runner.run([run for runs in everything for run in runs], f"sensitivity of {method.name}, {about.name}")
            found = summarise(runner, [run for runs in everything for run in runs])
            marked[f"{method.name}, {about.name}"] = found
            means = {at: _mean(runner, runs) for at, runs in plane.items()}
            maps[about.name] = np.array([[means[w, b] for b in couplings] for w in weights])
            curves[about.name] = {
                measure: [_mean(runner, line[z], measure) for z in sparsities] for measure in ("acc",)
            }
            reached = np.array([*means.values(), *curves[about.name]["acc"]])
            reached = reached[np.isfinite(reached)]
            range_of = [reached.min(), np.median(reached), reached.max()] if len(reached) else []
            rows[about.name] += [f"{value:.1f}{found.mark}" for value in range_of] or ["–"] * 3
        table.header += [f"{method.name} {what}" for what in ("lowest", "median", "highest")]
        name = method.name.lower()
        draw_heat_maps(maps, weights, couplings, figures / f"sensitivity-plane-{name}")
        draw_curves(
            {data: {data: values["acc"]} for data, values in curves.items()},
            sparsities,
            figures / f"sensitivity-l1-{name}",
            xlabel="λ_Z (l1)",
            ylabel="ACC (%)",
            titles=False,
        )
        section.figures += [
            Figure(f"sensitivity-plane-{name}", f"ACC of {method.name} over λ_M and β; λ_Z as by default"),
            Figure(f"sensitivity-l1-{name}", f"ACC of {method.name} over λ_Z; λ_M and β as by default"),
        ]
    for row in rows.values():
        table.add(*row)
    section.text = [data_line(settings), f"{repetitions(settings.repeats)} of each setting.", *error_lines(runner)]
    section.text += mark_lines(marked)
    section.tables = [table]
    return section


def _thin(values: tuple[float, ...], settings: Settings) -> list[float]:
    return list(values[::2]) if settings.quick else list(values)


def _mean(runner: Runner, runs: list[Run], measure: str = "acc") -> float:
    mean = summarise(runner, runs).mean(measure)
    return float("nan") if mean is None else mean
