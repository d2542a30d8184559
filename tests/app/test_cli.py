"""The command, as a user types it."""

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
from sklearn.utils import Bunch
from typer.main import get_command
from typer.testing import CliRunner

import anchorview
from anchorview.app.cli import app
from anchorview.plotting import plot_summary
from support import processes
from support.processes import started

COMMAND = [sys.executable, "-m", "anchorview"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with one thread: there may be another test on the other core."""
    return processes.run(COMMAND + list(words), check=False, cwd=cwd, env=ENVIRONMENT)


def test_demo_prints_scores_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("demo", "--repeats", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "paper" in done.stdout
    assert "97.1" in done.stdout
    picture = tmp_path / "anchorview-demo.png"
    content = picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 30_000
    assert "Traceback" not in done.stderr

    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["demo", "--repeats", "1"])
    assert again.exit_code == 2
    assert "exists" in again.output
    assert picture.read_bytes() == content


def test_heading_and_matrix_of_the_demo_are_of_the_same_draw(
    tmp_path: Path, digits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heading was the mean of all draws, the matrix that of the last."""
    made: list[Any] = []
    some = Bunch(views=digits.views[::4], target=digits.target[::4])
    monkeypatch.setattr("anchorview.datasets.load_handwritten", lambda: some)

    def keep(*arguments: Any, **options: Any) -> Any:
        made.append(plot_summary(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("anchorview.plotting.plot_summary", keep)
    done = CliRunner().invoke(app, ["demo", "--repeats", "2", "--output", str(tmp_path / "demo.svg")])
    assert done.exit_code == 0, done.output
    counts = made[0].axes[1].images[0].get_array()
    share = f"{100 * np.trace(counts) / counts.sum():.1f}"
    heading = made[0].get_suptitle()
    assert heading.startswith("Handwritten digits, draw 2 of 2. ")
    assert f": {share} % of the others right" in heading
    assert f"draw 2/2: ACC {share}" in done.output
    assert f"draw 1/2: ACC {share}" not in done.output  # else the test could not tell the draws apart


@pytest.mark.parametrize(
    "words",
    [
        ["demo", "--labels", "7"],
        ["demo", "--labels", "nan"],
        ["demo", "--labels", "many"],
        ["demo", "--repeats", "0"],
        ["demo", "--seed", "-3"],
        ["demo", "--seed", "99999999999999999999"],
        ["demo", "more"],
        ["demo", "--output", "nowhere/x.png"],
        ["demo", "--output", "x.jpg"],
        ["demo", "--output", ""],
        ["demo", "--output", ".", "--force"],
        ["demo", "--output", "/proc/x.png"],
        ["demo", "--output", "x" * 300 + ".png"],
        ["demo", "--colour"],
        ["--nonsense"],
        ["nonsense"],
        ["data", "nonsense"],
        ["bench", "nonsense"],
    ],
)
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


def test_folder_named_like_a_picture(tmp_path: Path) -> None:
    (tmp_path / "dir.png").mkdir()
    done = CliRunner().invoke(app, ["demo", "--force", "--output", str(tmp_path / "dir.png")])
    assert done.exit_code == 2
    assert "folder" in done.output


def command_names(group: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return every command, by the words that call it."""
    own = [before]
    for name, command in getattr(group, "commands", {}).items():
        own += command_names(command, (*before, name))
    return own


@pytest.mark.parametrize("words", command_names(get_command(app)), ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_everywhere(words: tuple[str, ...], option: str) -> None:
    done = CliRunner().invoke(app, [*words, option])
    assert done.exit_code == 0
    assert "Usage" in done.output


def test_mistake_as_typed_has_no_traceback(tmp_path: Path) -> None:
    done = run("bench", "comparison", "--out", "/proc/b", cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert "Error" in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_interrupt_is_one_line(tmp_path: Path) -> None:
    # A job of a shell without job control starts with SIGINT ignored, and then Python does not heed it.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from anchorview.__main__ import main; main()"
    words = [sys.executable, "-c", code, "demo", "--repeats", "500", "--output", "x.png"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(words, seconds=100, cwd=tmp_path, env=ENVIRONMENT, **pipes) as process:
        assert "Handwritten digits" in process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=110)
    assert process.returncode == 130
    assert errors.strip() == "Stopped."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started([*COMMAND, "data", "list"], seconds=60, cwd=tmp_path, env=ENVIRONMENT, **pipes) as process:
        process.stdout.close()  # as `head` does, only sooner
        errors = process.stderr.read()
        assert process.wait(timeout=60) == 1
    assert errors == ""


def test_missing_extra_is_named_before_the_work(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from anchorview.__main__ import main; main()"
    words = [sys.executable, "-c", code, "demo"]
    done = processes.run(words, seconds=60, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "The command needs matplotlib: pip install 'anchorview[cli]'\n"
    assert done.stdout == ""


def test_version() -> None:
    assert anchorview.__version__ in CliRunner().invoke(app, ["--version"]).output


@pytest.mark.parametrize("code", [0, 3])
def test_the_end_of_the_process_loses_neither_output_nor_exit_code_nor_cleaning_up(tmp_path: Path, code: int) -> None:
    """The process ends without Python's own end: all that was printed, registered or started must be there."""
    script = f"""
import atexit, sys, threading, time
from anchorview.app import cli
from anchorview.__main__ import command

def work():
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    atexit.register(print, "cleaned up")
    sys.stdout.write("printed" * 10_000 + "\\n")
    raise SystemExit({code})

cli.run = work
command()
"""
    done = processes.run([sys.executable, "-c", script], check=False, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == code, done.stderr
    assert done.stdout.split() == ["printed" * 10_000, "thread", "cleaned", "up"]
    assert not done.stderr
