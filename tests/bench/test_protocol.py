"""The harness: children that cannot take the machine down, records that survive a crash."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anchorview import FSSMSC, datasets
from anchorview.bench.child import run_job
from anchorview.bench.protocol import average, label_fraction, repeat
from anchorview.bench.records import Records

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
    result = run_job(f"{jobs}:add", {"a": 2, "b": 3})
    assert (result.status, result.value) == ("ok", 5)
    assert result.peak_bytes > 1_000_000
    json.dumps(result.as_dict())


def test_a_failing_job_says_why(jobs: str) -> None:
    result = run_job(f"{jobs}:fail", {})
    assert result.status == "error"
    assert "no such thing" in result.message
    assert run_job(f"{jobs}:die", {}).status == "error"


def test_limits_kill_the_child_only(jobs: str) -> None:
    late = run_job(f"{jobs}:sleep", {}, time_limit=0.5)
    assert late.status == "time"
    assert late.seconds < 10
    hungry = run_job(f"{jobs}:eat", {}, memory_limit=300_000_000, time_limit=60)
    assert hungry.status == "memory"
    assert hungry.peak_bytes < 2_000_000_000


def test_records_are_found_again_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.jsonl"
    records = Records(path)
    assert records.get({"seed": 0}) is None
    records.add({"seed": 0, "data": "hw"}, {"acc": 1.5})
    records.add({"seed": 1, "data": "hw"}, {"acc": 2.5})
    again = Records(path)
    assert len(again) == 2
    assert again.get({"data": "hw", "seed": 1}) == {"acc": 2.5}
    assert [key["seed"] for key, _ in again] == [0, 1]


def test_a_line_cut_off_by_a_crash_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Records(path).add({"seed": 0}, {"acc": 1.0})
    with path.open("a") as stream:
        stream.write('{"version": 1, "key": {"se')
    records = Records(path)
    assert len(records) == 1
    records.add({"seed": 1}, {"acc": 2.0})
    assert len(Records(path)) == 2


@pytest.mark.parametrize("content", ["a,b\n1,2\n", '{"version": 99, "key": {}, "result": {}}\n'])
def test_foreign_files_are_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match="left as it is"):
        Records(path)
    assert path.read_text() == content


def test_protocol_scores_unlabelled_rows() -> None:
    assert label_fraction(2_000) == 0.05
    assert label_fraction(10_000) == 0.01
    data = datasets.make_multiview_subspaces(300, 3, noise=0.05, random_state=0)
    runs = repeat(lambda seed: FSSMSC(n_landmarks=40, random_state=seed), data.views, data.target, [0, 1], 0.1)
    mean = average(runs)
    assert 90 < mean["acc"][0] <= 100
    assert mean["acc"][1] == pytest.approx(np.std([run["acc"] for run in runs]))
    assert {"nmi", "ari", "seconds", "ece"} <= set(mean)
