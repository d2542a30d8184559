"""The command, as a user types it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import anchorview


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from anchorview.app.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240)


def test_demo_prints_scores_and_draws(tmp_path: Path) -> None:
    done = run("demo", "--repeats", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "paper" in done.stdout
    assert "97.1" in done.stdout
    picture = tmp_path / "anchorview-demo.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 30_000

    again = run("demo", "--repeats", "1", cwd=tmp_path)
    assert again.returncode != 0
    assert "exists" in again.stderr + again.stdout


@pytest.mark.parametrize("words", [["demo", "--labels", "7"], ["demo", "--output", "nowhere/x.png"], ["nonsense"]])
def test_bad_words_are_refused_before_any_work(tmp_path: Path, words: list[str]) -> None:
    start = time.perf_counter()
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert time.perf_counter() - start < 15
    assert list(tmp_path.iterdir()) == []


def test_version(tmp_path: Path) -> None:
    assert anchorview.__version__ in run("--version", cwd=tmp_path).stdout


def test_import_is_light() -> None:
    """Compiling and plotting are loaded when they are needed."""
    code = "import sys, anchorview; anchorview.FSSMSC; print('numba' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
