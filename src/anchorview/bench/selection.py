"""How parameters are chosen: by the evaluation labels (the paper's way), by hidden labels, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .methods import Method, for_data
from .runner import Run, Runner
from .settings import JOBS, Settings
from .sources import Description, Source

TITLES = {
    "oracle": "tuned on the evaluation labels, the paper's way",
    "cv": "tuned on the given labels",
    "default": "default parameters",
}
_GRID_SEEDS = 1  # draws with which the whole grid is tried
_CV_SETTINGS = 24  # at most; a larger grid is sampled
_QUICK_SETTINGS = 4


def chosen_runs(
    how: str, settings: Settings, runner: Runner, source: Source, about: Description, method: Method
) -> list[Run]:
    """Choose parameters, making the runs this takes, and return the runs to report, one per seed."""
    grid = shortened(method.settings(about.n_rows, about.n_classes), settings.quick)
    if how == "default" or len(grid) < 2 or (how == "cv" and not method.uses_labels):
        # A method without labels has nothing to choose by.
        return [settings.fit(source, about, method, {}, seed) for seed in settings.seeds]
    if how == "oracle":
        best = best_by_evaluation(grid, settings, runner, source, about, method)
        return [settings.fit(source, about, method, best, seed) for seed in settings.seeds]
    return _by_hidden_labels(grid, settings, runner, source, about, method)


def best_by_evaluation(
    grid: list[dict[str, Any]], settings: Settings, runner: Runner, source: Source, about: Description, method: Method
) -> dict[str, Any]:
    """Try the grid on the first draw and return the setting with the best ACC of the rows that are evaluated."""
    seeds = settings.seeds[:_GRID_SEEDS]
    tried = [[settings.fit(source, about, method, setting, seed) for seed in seeds] for setting in grid]
    runner.run([run for runs in tried for run in runs], f"grid of {method.name}, {about.name}")
    scores = []
    for runs in tried:
        values = [value["acc"] for run in runs if (value := runner.value(run)) is not None]
        scores.append(np.mean(values) if len(values) == len(runs) else -np.inf)
    return grid[int(np.argmax(scores))]


def _by_hidden_labels(
    grid: list[dict[str, Any]], settings: Settings, runner: Runner, source: Source, about: Description, method: Method
) -> list[Run]:
    """Let every draw choose its own parameters by hiding a third of its labels in turn."""
    fixed = for_data(method, about.is_sparse)
    candidates = [fixed, *(fixed | setting for setting in sampled(grid, _CV_SETTINGS))]
    choices = []
    for seed in settings.seeds:
        common = {"method": method.name, "seed": seed, "fraction": settings.labelled(about.n_rows)}
        key = {"task": "choose", "data": about.name, "fingerprint": about.fingerprint, "parameters": candidates}
        arguments = {"place": source.place, "settings": candidates, **common}
        choices.append(Run(f"{JOBS}:choose_setting", {**key, **common}, arguments))
    runner.run(choices, f"choosing for {method.name}, {about.name}")
    if any(runner.broken(run) for run in choices):
        return choices  # their cells show why there is no score
    values = [(run.key["seed"], runner.value(run)) for run in choices]
    return [settings.fit(source, about, method, value["parameters"], seed) for seed, value in values if value]


def sampled(grid: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the grid, or a random part of it that is always the same.

    Examples
    --------
    >>> len(sampled([{"a": i} for i in range(100)], 5))
    5
    """
    if len(grid) <= count:
        return grid
    chosen = np.random.default_rng(0).choice(len(grid), count, replace=False)
    return [grid[number] for number in np.sort(chosen)]


def shortened(grid: list[dict[str, Any]], quick: bool) -> list[dict[str, Any]]:
    """Return a few settings of the grid for a quick look."""
    return sampled(grid, _QUICK_SETTINGS) if quick else grid
