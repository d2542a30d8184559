"""benchmarks/baselines.py from a folder of files to its tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from anchorview import datasets
from support.processes import run


@pytest.mark.slow
def test_the_benchmark_command_runs_and_remembers(tmp_path: Path) -> None:
    """What scripts share, from files to records and back, test_accuracy_script.py tries in one process."""
    data = datasets.make_multiview_subspaces(120, 3, (6, 5), noise=0.05, random_state=0)
    np.savez(tmp_path / "toy.npz", v0=data.data[0], v1=data.data[1], y=data.target, view_names=["a", "b"])
    script = Path(__file__).parents[2] / "benchmarks" / "baselines.py"
    command = [sys.executable, str(script), "--data", str(tmp_path), "--sets", "toy", "--out", str(tmp_path)]
    command += ["--methods", "MVAR", "ConcatKMeans", "--draws", "1"]
    first = run(command).stdout
    assert first.count("seed 0: ACC") == 2
    lines = (tmp_path / "baselines.jsonl").read_text().splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert [key["method"] for key in keys] == ["MVAR", "ConcatKMeans"]
    assert keys[0]["parameters"]["labelled_weight"] == 100.0
    again = run(command).stdout
    assert "seed 0" not in again and "| MVAR" in again
    assert "### toy" in (tmp_path / "baselines.md").read_text()
