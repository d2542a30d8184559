"""Runs in a process of their own, with limits; what is recorded is not made again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from anchorview.bench.records import Records
from anchorview.bench.runner import Run, Runner
from anchorview.bench.worker import Worker
from support.processes import started

JOBS = """
import time
def add(a, b): return a + b
def fail(): raise ValueError("no such thing")
def sleep(seconds): time.sleep(seconds)
def eat():
    blocks = []
    while True:
        blocks.append(bytearray(20_000_000)); time.sleep(0.01)
def process():
    import os
    return os.getpid()
"""


@pytest.fixture
def jobs(tmp_path: Path) -> str:
    (tmp_path / "jobs.py").write_text(JOBS)
    return str(tmp_path / "jobs.py")


def test_a_worker_lives_on_and_is_replaced_when_it_must(jobs: str) -> None:
    with Worker(time_limit=20, memory_limit=400_000_000) as worker:
        first = worker.run(f"{jobs}:process", {}).value
        assert worker.run(f"{jobs}:add", {"a": 2, "b": 3}).value == 5
        failed = worker.run(f"{jobs}:fail", {})
        assert (failed.status, failed.message) == ("error", "ValueError: no such thing")
        assert worker.run(f"{jobs}:process", {}).value == first
        assert worker.run(f"{jobs}:process", {}, fresh=True).value != first
        hungry = worker.run(f"{jobs}:eat", {})
        assert hungry.status == "memory"
        assert hungry.peak_bytes < 2_000_000_000
        worker.time_limit = 1.0
        late = worker.run(f"{jobs}:sleep", {"seconds": 60})
        assert (late.status, late.value) == ("time", None)
        worker.time_limit = 20
        assert worker.run(f"{jobs}:add", {"a": 1, "b": 1}).value == 2


def test_a_child_ends_if_its_parent_died_while_it_was_loading() -> None:
    words = [sys.executable, "-m", "anchorview.bench.worker", str(os.getppid())]  # not the process that starts it
    with started(words, seconds=60, stdin=subprocess.PIPE) as child:  # whose end would be that of a loop over its jobs
        assert child.wait(70) == 1


def test_limits_become_cells_and_stop_the_other_seeds(jobs: str, tmp_path: Path) -> None:
    def run(seed: int) -> Run:
        key = {"task": "t", "data": "d", "method": "slow", "parameters": {}, "seed": seed}
        return Run(f"{jobs}:sleep", key, {"seconds": 2.5})

    path = tmp_path / "r.jsonl"
    with Runner(Records(path), 1.2, 10**9, Console(quiet=True)) as runner:
        runner.run([run(0), run(1), run(2)], "slow")
        assert [runner.broken(run(seed)) for seed in (0, 1)] == ["OT", "OT"]
        assert runner.n_made == 1
    with Runner(Records(path), 1.2, 10**9, Console(quiet=True)) as again:
        again.run([run(0), run(1)], "slow")
        assert again.n_made == 0
        assert again.broken(run(1)) == "OT"
    with Runner(Records(path), 30.0, 10**9, Console(quiet=True)) as longer:  # a higher limit is worth another try
        longer.run([run(1)], "slow")
        assert longer.broken(run(1)) is None
        assert longer.n_made == 1


def test_errors_are_shown_and_tried_again(jobs: str, tmp_path: Path) -> None:
    key = {"task": "t", "data": "d", "method": "m", "parameters": {}, "seed": 0}
    path = tmp_path / "r.jsonl"
    for _ in range(2):
        with Runner(Records(path), 20.0, 10**9, Console(quiet=True)) as runner:
            runner.run([Run(f"{jobs}:fail", key, {})], "fails")
            assert runner.n_made == 1
            assert runner.broken(Run("", key, {})) == "error"
            assert list(runner.errors.values()) == ["ValueError: no such thing"]
