"""A bench that is killed again and again: nothing finished is lost, and the end is that of a run nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview.datasets import make_multiview_subspaces
from support.processes import run, started

JOB = """
import random, time
def work(seed):
    time.sleep(0.02)
    return {"acc": random.Random(seed).random(), "more": list(range(200))}
"""
# What `anchorview bench` does, with jobs of 20 ms in place of fits: runs, records, tables and pages.
BENCH = """
import sys
from pathlib import Path
from rich.console import Console
from anchorview.bench.output import Output
from anchorview.bench.records import Records
from anchorview.bench.runner import Run, Runner
from anchorview.report.document import Section, Table

folder, job = Path(sys.argv[1]), sys.argv[2]
with Output(folder, ("a", "b", "c")) as output, Runner(output.records, 60.0, 10**10, Console(quiet=True)) as runner:
    for number, name in enumerate("abc"):
        keys = [{"task": name, "data": "d", "method": "m", "parameters": {}, "seed": seed} for seed in range(16)]
        runs = [Run(job + ":work", key, {"seed": 100 * number + key["seed"]}) for key in keys]
        runner.run(runs, name)
        table = Table(name, name, ["seed", "ACC"])
        for run in runs:
            table.add(str(run.key["seed"]), f"{runner.value(run)['acc']:.9f}")
        output.write(Section(name, name, tables=[table]))
"""


def entries(folder: Path) -> dict[str, Any]:
    """Return the scores in the records by their keys; every line but a last one without its end must be whole."""
    path = folder / "records.jsonl"
    found: dict[str, Any] = {}
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        if line.endswith(b"\n"):
            entry = json.loads(line)
            key = json.dumps(entry["key"], sort_keys=True)
            assert key not in found, "computed twice"
            found[key] = {name: entry["result"].get("value", {}).get(name) for name in ("acc", "nmi", "ari", "more")}
    return found


def scores(folder: Path) -> dict[str, Any]:
    return {key: value for key, value in entries(folder).items() if '"task"' in key}


def check_pages(folder: Path) -> None:
    """Whatever page is there is a whole one."""
    if (folder / "report.html").exists():
        assert (folder / "report.html").read_text().endswith("</html>\n")
    for path in (folder / "sections").glob("*.json"):
        json.loads(path.read_text())


def kill_again_and_again(command: list[str], folder: Path, kills: int, seed: int) -> None:
    """Kill the command at random moments after it has added a record, and check what it leaves."""
    chance = random.Random(seed)
    kept: dict[str, Any] = {}
    for _ in range(kills):
        with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while process.poll() is None and len(entries(folder)) <= len(kept):
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            error = process.communicate(timeout=60)[1]
        assert process.returncode in (0, -signal.SIGKILL), error
        now = entries(folder)
        assert kept.items() <= now.items()  # no finished record is lost or changed
        check_pages(folder)
        kept = now


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_six_kills(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-c", BENCH, str(tmp_path / "killed"), str(tmp_path / "job.py")]
    kill_again_and_again(command, tmp_path / "killed", 6, seed=0)
    for folder in ("killed", "whole"):
        command[3] = str(tmp_path / folder)
        run(command)
    assert len(scores(tmp_path / "whole")) == 48
    assert scores(tmp_path / "killed") == scores(tmp_path / "whole")
    for name in ("report.md", "report.html", "tables/b.tex", "sections/c.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not list((tmp_path / "killed").rglob("*.part"))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_eighteen_kills_of_the_real_command(tmp_path: Path) -> None:
    made = make_multiview_subspaces(240, 3, noise=0.1, random_state=0)
    np.savez(tmp_path / "tiny.npz", y=made.target, **{f"v{i}": view for i, view in enumerate(made.data)})
    words = ["bench", "label-ratio", "--data", str(tmp_path / "tiny.npz"), "--method", "MVAR", "--method", "AMGL"]
    command = [sys.executable, "-m", "anchorview", *words, "--repeats", "20", "--out"]
    kill_again_and_again([*command, str(tmp_path / "killed")], tmp_path / "killed", 18, seed=1)
    for folder in ("killed", "whole"):
        run([*command, str(tmp_path / folder)], seconds=900)
    assert len(scores(tmp_path / "whole")) == 20 * 2 * 4
    assert scores(tmp_path / "killed") == scores(tmp_path / "whole")
    tables = (tmp_path / folder / "tables" / "label-ratio-tiny.md" for folder in ("killed", "whole"))
    assert next(tables).read_text() == next(tables).read_text()
