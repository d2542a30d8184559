"""The command, as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import anchorview
from anchorview.app.cli import app


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with one thread: there may be another test on the other core."""
    command = [sys.executable, "-c", "from anchorview.app.cli import main; main()", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240, env=environment)


def test_demo_prints_scores_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("demo", "--repeats", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "paper" in done.stdout
    assert "97.1" in done.stdout
    picture = tmp_path / "anchorview-demo.png"
    content = picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 30_000

    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["demo", "--repeats", "1"])
    assert again.exit_code == 2
    assert "exists" in again.output
    assert picture.read_bytes() == content


@pytest.mark.parametrize("words", [["demo", "--labels", "7"], ["demo", "--output", "nowhere/x.png"], ["nonsense"]])
def test_bad_words_are_refused_before_any_work(
    tmp_path: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    start = time.perf_counter()
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)  # a message, not a traceback
    assert "Error" in done.output and "Traceback" not in done.output
    assert time.perf_counter() - start < 2
    assert list(tmp_path.iterdir()) == []


def test_version() -> None:
    assert anchorview.__version__ in CliRunner().invoke(app, ["--version"]).output
