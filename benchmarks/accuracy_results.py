"""What benchmarks/accuracy.py has recorded, by data set and method; comparisons, ranks and curves of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from accuracy_pictures import Points
from anchorview.bench.protocol import average, label_fraction
from anchorview.bench.records import Records
from anchorview.bench.scripts import SCORES
from anchorview.plotting.ranks import mean_ranks
from rivals import DEFAULTS, RIVALS

PLAIN, TUNED, CONSTANT = "FSSMSC", "AnchorViewClassifier", "FSSMSC-constants"
OURS = (PLAIN, TUNED, CONSTANT, "FSSMSC-paper")
CURVE_SETS = ("hw", "caltech101_20_re", "hdigit", "ng20")
CURVE_LABELS = (0.005, 0.01, 0.02, 0.05, 0.1)


@dataclass
class Cell:
    """Results of one method on one data set, by seed."""

    values: dict[int, dict[str, float]]
    failed: str = ""  # "time" or "memory"

    def mean(self, score: str) -> tuple[float, float] | None:
        """Mean and spread over the draws; None if there is no such score."""
        values = [value for value in self.values.values() if score in value]
        return average(values)[score] if values else None


Grid = dict[str, dict[str, Cell]]  # data set, method


def gather(records: Records, today: dict[str, Any], fractions: Iterable[float] | None) -> Grid:
    """Return the recorded results of today's parameters at some shares of labels, by default the protocol's."""
    grid: Grid = {}
    checks: dict[str, str] = {}
    for key, result in sorted(records, key=lambda run: (run[0]["data"], run[0]["seed"])):
        wanted = [label_fraction(result["n_rows"])] if fractions is None else fractions
        if today.get(key["method"]) != key["parameters"] or key["fraction"] not in wanted:
            continue
        name = key["data"]
        if checks.setdefault(name, key["check"]) != key["check"]:  # another file of the same name
            name = f"{name} ({key['check']})"
        cell = grid.setdefault(name, {}).setdefault(key["method"], Cell({}))
        if result["status"] == "ok":
            cell.values[key["seed"]] = result["value"]
        else:
            cell.failed = result["status"]
    return grid


def methods_of(grid: Grid) -> list[str]:
    """Return the methods that were tried, in the order of the tables."""
    every = [*OURS, *RIVALS, *DEFAULTS]
    return [method for method in every if any(method in cells for cells in grid.values())]


def was_tried(cells: dict[str, Cell], method: str, beside: str | None = None) -> bool:
    """Whether a method has enough draws to be compared: half of the most, or of those of the one it stands `beside`.

    One that broke a limit was tried.
    """
    most = max(len(cell.values) for name, cell in cells.items() if beside in (None, name))
    return method in cells and (bool(cells[method].failed) or 2 * len(cells[method].values) >= most)


def compare(grid: Grid, method: str = TUNED, rivals: Iterable[str] = RIVALS) -> list[dict[str, Any]]:
    """Return, for each data set, one of ours minus the best of the rivals (by mean ACC), over the draws of both."""
    differences = []
    for name, cells in grid.items():
        if method not in cells:
            continue
        tried = [rival for rival in rivals if was_tried(cells, rival, method)]
        means = {rival: mean[0] for rival in tried if (mean := cells[rival].mean("acc")) is not None}
        if not means:
            continue
        best = max(means, key=lambda method: means[method])
        ours, theirs = cells[method].values, cells[best].values
        gaps = np.array([ours[seed]["acc"] - theirs[seed]["acc"] for seed in sorted(ours.keys() & theirs.keys())])
        if len(gaps):
            error = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else None
            about = {"data": name, "rival": best, "draws": len(gaps)}
            differences.append({**about, "gap": float(gaps.mean()), "error": error})
    return differences


def rank(grid: Grid) -> tuple[dict[str, float], list[str]]:
    """Return mean ranks by ACC over the data sets where every method was tried; one that broke a limit is last.

    Methods tried on less than half of the data sets, or with less than half of the draws, are left out.
    """
    tried = {method: sum(was_tried(cells, method) for cells in grid.values()) for method in methods_of(grid)}
    methods = [method for method in tried if 2 * tried[method] > len(grid)]
    names = [name for name, cells in grid.items() if all(was_tried(cells, method) for method in methods)]
    if not names or len(methods) < 2:
        return {}, []
    means = [[grid[name][method].mean("acc") for method in methods] for name in names]
    scores = [[-np.inf if mean is None else mean[0] for mean in row] for row in means]
    return dict(zip(methods, mean_ranks(scores).tolist(), strict=True)), names


def curves_of(records: Records, today: dict[str, Any]) -> dict[float, Grid]:
    """Return the results at each share of labels, of the data sets that have curves."""
    grids = {fraction: gather(records, today, [fraction]) for fraction in CURVE_LABELS}
    return {share: {name: grid[name] for name in CURVE_SETS if name in grid} for share, grid in grids.items()}


def curve_points(curves: dict[float, Grid]) -> dict[str, dict[str, Points]]:
    """Return the points of each data set that has several shares of labels, by method."""
    curves_by_set: dict[str, dict[str, Points]] = {}
    for name in (n for n in CURVE_SETS if sum(n in grid for grid in curves.values()) > 1):
        curves_by_set[name] = {}
        for method in (PLAIN, TUNED, *RIVALS):
            means = {
                share: grid[name][method].mean("acc") for share, grid in curves.items() if method in grid.get(name, {})
            }
            points = [(100 * share, *mean) for share, mean in means.items() if mean is not None]
            if len(points) > 1:
                curves_by_set[name][method] = points
    return curves_by_set


def summarise(grid: Grid) -> dict[str, Any]:
    """Return draws, failures, means and spreads as plain data."""
    scores = (*SCORES, "seconds", "ece")
    return {
        name: {
            method: {"draws": len(cell.values), "failed": cell.failed, **{score: cell.mean(score) for score in scores}}
            for method, cell in cells.items()
        }
        for name, cells in grid.items()
    }
