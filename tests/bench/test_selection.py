"""How parameters are chosen: by the evaluation labels, from records; nothing is fitted here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from anchorview.bench.methods import METHODS
from anchorview.bench.records import Records
from anchorview.bench.runner import Runner
from anchorview.bench.selection import best_by_evaluation, chosen_runs
from anchorview.bench.settings import Settings
from anchorview.bench.sources import Description, Source

ABOUT = Description("made", 200, (4, 3), 3, "0", False)
SOURCE = Source("made", "nowhere.npz")
SETTINGS = Settings([SOURCE], repeats=3)
METHOD = METHODS["MLAN"]


@pytest.fixture
def runner(tmp_path: Path) -> Any:
    return Runner(Records(tmp_path / "runs.jsonl"), 60.0, 10**9, Console(quiet=True))


def record(runner: Runner, setting: dict[str, Any], seed: int, result: dict[str, Any]) -> None:
    runner.records.add(SETTINGS.fit(SOURCE, ABOUT, METHOD, setting, seed).key, {"seconds": 1.0, **result})


def scored(acc: float) -> dict[str, Any]:
    return {"status": "ok", "value": {"acc": acc}}


def test_the_evaluation_labels_choose_the_best_setting(runner: Runner) -> None:
    grid = METHOD.settings(ABOUT.n_rows, ABOUT.n_classes)
    assert [setting["coupling"] for setting in grid] == [1.0, 10.0, 30.0]
    for setting, acc in zip(grid, (71.0, 93.0, 55.0), strict=True):
        record(runner, setting, 0, scored(acc))
        record(runner, setting, 1, scored(100.0 - acc))  # other draws have no say
    assert best_by_evaluation(grid, SETTINGS, runner, SOURCE, ABOUT, METHOD) == {"coupling": 10.0}
    assert runner.n_made == 0
    runs = chosen_runs("oracle", SETTINGS, runner, SOURCE, ABOUT, METHOD)
    assert [(run.key["seed"], run.key["parameters"]["coupling"]) for run in runs] == [(0, 10.0), (1, 10.0), (2, 10.0)]
    assert [run.arguments["parameters"] for run in chosen_runs("default", SETTINGS, runner, SOURCE, ABOUT, METHOD)] == [
        {}
    ] * 3


def test_a_setting_without_a_score_is_not_chosen(tmp_path: Path) -> None:
    limit = {"status": "time", "value": None, "time_limit": 60.0, "memory_limit": 10**9}
    grid = METHOD.settings(ABOUT.n_rows, ABOUT.n_classes)
    first = Runner(Records(tmp_path / "runs.jsonl"), 60.0, 10**9, Console(quiet=True))
    for setting, result in zip(grid, (limit, scored(3.0), scored(2.0)), strict=True):
        record(first, setting, 0, result)
    runner = Runner(Records(tmp_path / "runs.jsonl"), 60.0, 10**9, Console(quiet=True))
    assert best_by_evaluation(grid, SETTINGS, runner, SOURCE, ABOUT, METHOD) == {"coupling": 10.0}
