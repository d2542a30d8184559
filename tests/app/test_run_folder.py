"""The folder of a run: whole or not there, one run at a time, whatever happens."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchorview.app.errors import UsageError
from anchorview.app.run_folder import RunFolder
from anchorview.core.locks import InUseError
from support.command import invoke, quick, refused, reviews, write_csv
from support.processes import started


def write_run(folder: Path, text: str = "{}") -> None:
    folder.mkdir()
    (folder / "run.json").write_text(text)


def test_two_runs_to_one_folder(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", False) as first:
        (first.path / "run.json").write_text("first")
        with pytest.raises(InUseError, match=f"Another run is writing to .*process {os.getpid()}"):
            RunFolder(tmp_path / "run", True).__enter__()
        first.finish()
    assert (tmp_path / "run" / "run.json").read_text() == "first"
    with pytest.raises(UsageError, match="exists"):
        RunFolder(tmp_path / "run", False).__enter__()


def test_only_runs_are_replaced(tmp_path: Path) -> None:
    write_run(tmp_path / "run", "old")
    with RunFolder(tmp_path / "run", True) as folder:
        (folder.path / "run.json").write_text("new")
        folder.finish()
    assert (tmp_path / "run" / "run.json").read_text() == "new"
    (tmp_path / "run" / "run.json").unlink()
    (tmp_path / "run" / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="is not the folder of a run"):
        RunFolder(tmp_path / "run", True).check()


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for target, message in (
        ("no/run", "does not exist"),
        ("file", "not a folder"),
        ("link", "not a folder"),
        ("/", "cannot be the folder of a run"),
    ):
        with pytest.raises(UsageError, match=message):
            RunFolder(tmp_path / target, True).check()


class Interrupt(logging.Handler):
    """Sends Ctrl-C to this process at the first line of a fit that holds some text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text, self.sent = text, False

    def emit(self, record: logging.LogRecord) -> None:
        if self._text in record.getMessage() and not self.sent:
            self.sent = True
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interrupt() -> Iterator[object]:
    handlers: list[Interrupt] = []

    def at(text: str) -> Interrupt:
        handlers.append(Interrupt(text))
        logging.getLogger("anchorview").addHandler(handlers[-1])
        return handlers[-1]

    yield at
    for handler in handlers:
        logging.getLogger("anchorview").removeHandler(handler)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process")
@pytest.mark.parametrize(("how", "stage"), [("fast", "landmarks"), ("fast", "round 1"), ("tuned", "accuracy")])
def test_ctrl_c_within_a_fit(tmp_path: Path, interrupt: object, how: str, stage: str) -> None:
    path = write_csv(tmp_path / "reviews.csv", reviews())
    config = quick(tmp_path)
    if how == "tuned":
        config.write_text("[parameters]\nn_landmarks = 12\nn_splits = 2\n")
    handler = interrupt(stage)  # type: ignore[operator]
    done = invoke("fit", path, "--label", "topic", "-o", tmp_path / "run", "--config", config)
    assert handler.sent, done.output
    assert done.exit_code == 130, done.output
    assert done.stderr.rstrip().endswith("Stopped.")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["quick.toml", "reviews.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process")
@pytest.mark.parametrize(
    "stage", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("reading", "fitting", "results")), "report"]
)
def test_ctrl_c_in_a_process(tmp_path: Path, stage: str) -> None:
    """All is there, or nothing is: the run may be done before the signal arrives."""
    path = write_csv(tmp_path / "reviews.csv", reviews())
    words = ["fit", str(path), "--label", "topic", "-o", str(tmp_path / "run"), "--config", str(quick(tmp_path))]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "anchorview", *words]
    with started(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rstrip().endswith(stage):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        code = process.wait()
    assert "Traceback" not in rest
    left = sorted(entry.name for entry in tmp_path.iterdir())
    if code == 0:
        assert stage == "report"
        assert left == ["quick.toml", "reviews.csv", "run"]
        assert len(list((tmp_path / "run").iterdir())) == 8
    else:
        assert code == 130, rest
        assert left == ["quick.toml", "reviews.csv"]


def test_no_space_on_disk(tmp_path: Path) -> None:
    mounted = tmp_path / "small"
    mounted.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(mounted)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("mounting is not permitted here")
    try:
        path = write_csv(tmp_path / "reviews.csv", reviews())
        words = "fit", path, "--label", "topic", "-o", mounted / "run", "--config", quick(tmp_path)
        line = refused(*words, code=1)
        assert line.startswith(f"{mounted / 'run'}{os.sep}")
        assert re.search(r"cannot be written: no space is left on the disk \(0\.\d MB are free\)\. Free some", line)
        assert list(mounted.iterdir()) == []
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
