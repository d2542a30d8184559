"""Real processes, really ended: nothing is left by SIGTERM and SIGHUP, and what SIGKILL leaves goes next time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview import save
from support.command import invoke, quick, reviews, write_csv
from support.models import fitted
from support.processes import started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder / "tmp")}


def end_at(words: list[Any], stage: str, number: int, folder: Path) -> tuple[int, str]:
    """Run the command, and send it a signal when a line of standard error holds some text."""
    command = [sys.executable, "-m", "anchorview", *map(str, words)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with started(command, env=environment(folder), **streams) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if stage in line:
                break
        process.send_signal(number)
        rest = process.stderr.read()
        return process.wait(), rest


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != "tmp")


@pytest.mark.parametrize(
    ("number", "code", "stage"),
    [
        (signal.SIGTERM, 143, "fitting"),
        (signal.SIGHUP, 129, "report"),
        pytest.param(signal.SIGTERM, 143, "report", marks=pytest.mark.thorough),
        pytest.param(signal.SIGHUP, 129, "fitting", marks=pytest.mark.thorough),
    ],
)
def test_a_fit_that_is_ended_leaves_nothing(number: int, code: int, stage: str, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "reviews.csv", reviews())
    words = ["fit", table, "--label", "topic", "-o", tmp_path / "run", "--config", quick(tmp_path)]
    found, rest = end_at(words, stage, number, tmp_path)
    assert (found, rest.splitlines()[-1:]) == (code, ["Stopped."]), rest
    assert left_in(tmp_path) == ["quick.toml", "reviews.csv"]


def test_codes_on_disk_go_too(tmp_path: Path) -> None:
    """Codes that do not fit into memory are files in TMPDIR while a fit goes on."""
    n_rows = 60_000
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((n_rows, 30), dtype=np.float32))
    np.save(tmp_path / "y.npy", np.where(np.arange(n_rows) < 200, np.arange(n_rows) % 4, -1))
    config = quick(tmp_path)
    config.write_text(f"{config.read_text()}solver__memory_limit = 0.06\nsolver__max_iter = 30\nsolver__tol = 1e-12\n")
    words = ["fit", "--view", f"x={tmp_path}/x.npy", "--labels", tmp_path / "y.npy", "-o", tmp_path / "run"]
    command = [sys.executable, "-m", "anchorview", *map(str, words), "--config", str(config)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with started(command, env=environment(tmp_path), **streams) as process:
        while not list((tmp_path / "tmp").glob("anchorview-codes-*")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        rest = process.stderr.read()
        assert process.wait() == 143, rest
    assert left_in(tmp_path) == ["quick.toml", "x.npy", "y.npy"]


def test_a_prediction_and_a_search_that_are_ended(raw_run: Path, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "reviews.csv", reviews())
    large = write_csv(tmp_path / "large.csv", reviews(30_000))
    words = ["predict", raw_run / "model.anchorview", large, "-o", tmp_path / "new.csv", "--block-rows", 100]
    before = left_in(tmp_path)
    code, rest = end_at(words, "labelling about", signal.SIGTERM, tmp_path)
    assert code == 143, rest
    left = set(left_in(tmp_path)) - set(before)
    assert all(name.startswith(".new.csv.parts") and not name.endswith(".part") for name in left)  # to go on from
    code, rest = end_at(
        ["tune", table, "--label", "topic", "-o", tmp_path / "s.csv"], "searching", signal.SIGHUP, tmp_path
    )
    assert code == 129, rest
    assert set(left_in(tmp_path)) - set(before) == left


def test_a_bench_that_is_ended_goes_on(tmp_path: Path) -> None:
    words = ["bench", "comparison", "--quick", "--out", tmp_path / "out", "--repeats", 20]
    command = [sys.executable, "-m", "anchorview", *map(str, words)]
    with started(command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not list((tmp_path / "out").glob("records.jsonl")) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.wait() == 143, said
    assert "the same command goes on from there" in " ".join(said.split())
    assert list((tmp_path / "tmp").iterdir()) == []


def test_nohup_is_heeded(tmp_path: Path) -> None:
    code = (
        "import os, signal; from anchorview.app.stopping import heed_signals\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "with heed_signals(): os.kill(os.getpid(), signal.SIGHUP); print('still here')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "still here\n")


# What SIGKILL leaves


def test_leftovers_of_a_model_that_was_not_written(tmp_path: Path) -> None:
    (tmp_path / f".{os.getppid()}.m.anchorview.part").write_bytes(b"the number belongs to somebody else by now")
    save(fitted("plain")[0], tmp_path / "m.anchorview")
    assert [item.name for item in tmp_path.iterdir()] == ["m.anchorview"]


def test_a_run_that_was_killed_is_cleared_by_the_next(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "reviews.csv", reviews())
    words = ["fit", table, "--label", "topic", "-o", tmp_path / "run", "--config", quick(tmp_path)]
    code, _ = end_at(words, "report", signal.SIGKILL, tmp_path)
    assert code == -signal.SIGKILL
    assert (tmp_path / ".run.part").is_dir()
    assert invoke(*words).exit_code == 0
    assert sorted(item.name for item in tmp_path.iterdir()) == ["quick.toml", "reviews.csv", "run", "tmp"]


# A full disk

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["anchorview", *sys.argv[2:]]
from anchorview.__main__ import main
main()
"""


def limited(size: int, *words: Any, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(size), *map(str, words)]
    return subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)


def test_a_file_that_cannot_be_written_whole_is_named(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "reviews.csv", reviews())
    words = ["fit", table, "--label", "topic", "-o", tmp_path / "run", "--config", quick(tmp_path)]
    done = limited(20_000, *words, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"Error: {tmp_path}/run/"), last
    assert "cannot be written: files may not become so large here" in last
    assert "Raise the limit, or write to another disk" in last
    assert left_in(tmp_path) == ["quick.toml", "reviews.csv"]


def test_labels_that_do_not_fit_are_named(raw_run: Path, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "reviews.csv", reviews())
    done = limited(3000, "predict", raw_run / "model.anchorview", table, "-o", tmp_path / "new.csv", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "cannot be written: files may not become so large here" in done.stderr
    assert not (tmp_path / "new.csv").exists()
    done = limited(3000, "export", raw_run, "-o", tmp_path / "tasks.json", folder=tmp_path)
    assert done.stderr.startswith(f"Error: {tmp_path}/tasks.json cannot be written: "), done.stderr
    assert not list(tmp_path.glob("*tasks*"))
