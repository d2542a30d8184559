"""Jobs in processes of their own, which cannot take the machine down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anchorview.bench.child import run_job

JOBS = """
import time
def add(a, b): return a + b
def fail(): raise ValueError("no such thing")
def sleep(): time.sleep(60)
def eat():
    blocks = []
    while True:
        blocks.append(bytearray(20_000_000))
        time.sleep(0.01)
def variable(name):
    import os
    return os.environ.get(name)
def die():
    import os
    os._exit(3)
"""


@pytest.fixture
def jobs(tmp_path: Path) -> str:
    path = tmp_path / "jobs.py"
    path.write_text(JOBS)
    return str(path)


def test_a_job_returns_its_value_and_cost(jobs: str) -> None:
    result = run_job(f"{jobs}:add", {"a": 2, "b": 3}, time_limit=100)
    assert (result.status, result.value) == ("ok", 5)
    assert result.peak_bytes > 1_000_000
    json.dumps(result.as_dict())


def test_a_job_that_fails_returns_its_message(jobs: str) -> None:
    result = run_job(f"{jobs}:fail", {}, time_limit=100)
    assert result.status == "error"
    assert "no such thing" in result.message
    assert run_job(f"{jobs}:die", {}, time_limit=100).status == "error"


def test_limits_kill_the_child_only(jobs: str) -> None:
    late = run_job(f"{jobs}:sleep", {}, time_limit=0.5)
    assert late.status == "time"
    assert late.seconds < 10
    hungry = run_job(f"{jobs}:eat", {}, memory_limit=300_000_000, time_limit=60)
    assert hungry.status == "memory"
    assert hungry.peak_bytes < 2_000_000_000


def test_variables_are_set_in_the_child(jobs: str) -> None:
    asked, variables = {"name": "OMP_NUM_THREADS"}, {"OMP_NUM_THREADS": "3"}
    result = run_job(f"{jobs}:variable", asked, time_limit=100, environment=variables)
    assert result.value == "3"
