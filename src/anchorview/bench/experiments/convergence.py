"""Convergence curves: stop criterion and objective of each round, for both solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...report.document import Figure, Section, Table
from ...report.figures import draw_convergence
from ..methods import BOTH_SOLVERS, METHODS
from ..notices import DIVERGED, trouble
from ..runner import Runner
from ..settings import Settings
from .common import data_line, error_lines

_ROUNDS = 30
_NAMES = {"FSSMSC": "active_set", "FSSMSC-ADMM": "admm"}


def run_convergence(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make one run of each solver on each data set, all 30 rounds, and draw the curves."""
    methods = settings.choose(BOTH_SOLVERS) or [METHODS[name] for name in BOTH_SOLVERS]
    rounds = 10 if settings.quick else _ROUNDS
    curves: dict[str, dict[str, dict[str, Any]]] = {}
    table = Table(
        "convergence",
        f"Stop criterion after 1, 5 and {rounds} rounds, rounds until it is below 1e-4, and the objective",
        ["Dataset, solver", "1", "5", str(rounds), "rounds", "objective, first", "last"],
    )
    for source, about in settings.data:
        for method in methods:
            parameters = {"solver__tol": 0.0, "solver__max_iter": rounds}
            one = settings.fit(source, about, method, parameters, settings.seed, histories=True)
            runner.run([one], f"convergence of {method.name}, {about.name}")
            value = runner.value(one)
            if value is None:
                table.add(f"{about.name}, {_NAMES[method.name]}", *[runner.broken(one) or "–"] * 6)
                continue
            curves.setdefault(about.name, {})[_NAMES[method.name]] = value
            mark = f" {DIVERGED}" if trouble(value) == DIVERGED else ""  # that all rounds were made is meant here
            table.add(f"{about.name}, {_NAMES[method.name]}{mark}", *_cells(value))
    if any(row[0].text.endswith(DIVERGED) for row in table.rows):
        table.note = f"{DIVERGED}: the fit diverged."
    draw_convergence(curves, figures / "convergence")
    section = Section("convergence", "Convergence")
    section.text = [
        data_line(settings),
        "Stop criterion: for admm the paper's max(‖ΔB‖∞, ‖ΔZ‖∞), for active_set the optimality residual; the tolerance "
        "is set to 0 so that all rounds are made (active_set ends by itself once nothing changes). One draw of labels.",
        *error_lines(runner),
    ]
    section.tables = [table]
    section.figures = [
        Figure(
            "convergence",
            "Stop criterion (top) and objective (bottom) of each round, as its distance from the lowest reached",
        )
    ]
    return section


def _cells(value: dict[str, Any]) -> list[str]:
    residual, objective = value["residual"], value["objective"]
    picked = [residual[min(number, len(residual)) - 1] for number in (1, 5, len(residual))]
    below = next((str(number) for number, size in enumerate(residual, 1) if size < 1e-4), f"> {len(residual)}")
    return [*(f"{size:.1e}" for size in picked), below, f"{objective[0]:.6g}", f"{objective[-1]:.6g}"]
