"""Whatever hangs ends, and says where it was: a process that a test has started, and a test."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.processes import run, started

ROOT = Path(__file__).parents[2]
# Starts a child that holds the same pipes, says its number and sleeps.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
TESTS = """
import threading
def test_that_hangs(): threading.Event().wait()
def test_that_does_not(): pass
"""


def is_running(pid: int) -> bool:
    """Whether a process is there and not a zombie that waits for somebody to look at its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("seconds", [2.0, 100.0])
def test_a_process_ends_with_its_children(seconds: float) -> None:
    """After its time or at the end of the block, whichever is first."""
    late = seconds == 2
    with (
        pytest.raises(pytest.fail.Exception if late else ZeroDivisionError, match="not done in 2 s" if late else None),
        started([sys.executable, "-c", PARENT], seconds=seconds, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert is_running(process.pid) and is_running(child)
        if not late:
            raise ZeroDivisionError  # as an assertion that fails
        assert process.stdout.read() == ""  # would wait for both of them
    end = time.monotonic() + 10
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert process.returncode < 0 and not is_running(child)


def test_a_command_that_hangs_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import time\ndef place_of_rest(): time.sleep(600)\nplace_of_rest()"
    with pytest.raises(pytest.fail.Exception, match="not done in 1 s"):
        run([sys.executable, "-c", code], seconds=1)
    assert "in place_of_rest" in capsys.readouterr().out
    with pytest.raises(pytest.fail.Exception, match="exit code 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"])
    assert run([sys.executable, "-c", "raise SystemExit(3)"], check=False).returncode == 3


def test_a_test_that_hangs_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    """By the settings in pyproject.toml, with another time."""
    (tmp_path / "test_some.py").write_text(TESTS)
    words = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    words += ["-n", "1", "-o", "faulthandler_timeout=1", str(tmp_path / "test_some.py")]
    done = run([sys.executable, "-m", "pytest", *words], seconds=60, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "crashed while running 'test_some.py::test_that_hangs'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "in test_that_hangs" in done.stderr
