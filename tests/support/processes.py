"""Processes that tests start: each has so many seconds, and ends with all its children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

SECONDS = 200.0  # less than pytest's own limit, so that a child that hangs is ended here and leaves nothing behind


def end(process: subprocess.Popen[Any], how: int = getattr(signal, "SIGKILL", signal.SIGTERM)) -> None:
    """Kill a process that `started` has made, and its children: one that holds a pipe would keep its reader waiting."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how) if hasattr(os, "killpg") else process.kill()


@contextlib.contextmanager
def started(
    command: Sequence[str], *, seconds: float = SECONDS, env: Mapping[str, str] | None = None, **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """Start a process that is killed at the end of the block, or after so many seconds: the test then fails.

    Before it is killed it says on stderr where it was, if it runs Python. `options` are those of Popen; by default
    nothing can be read from stdin.
    """
    environment = {**(os.environ if env is None else env), "PYTHONFAULTHANDLER": "1"}
    options = {"stdin": subprocess.DEVNULL, "text": True, "start_new_session": True, **options}
    process: subprocess.Popen[str] = subprocess.Popen(command, env=environment, **options)
    late = threading.Event()

    def stop() -> None:
        late.set()
        end(process, signal.SIGABRT)
        done.wait(2)
        end(process)

    done, timer = threading.Event(), threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        done.set()
        end(process)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        if late.is_set():
            pytest.fail(f"not done in {seconds:g} s: {' '.join(map(str, command))[:500]}")


def run(
    command: Sequence[str],
    *,
    seconds: float = SECONDS,
    check: bool = True,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it wrote; with `check` it must succeed."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(command, seconds=seconds, cwd=cwd, env=env, **pipes) as process:
        output, errors = process.communicate(timeout=seconds + 10)  # a child in another group may hold the pipe
        if process.returncode == -signal.SIGABRT:
            print(errors)  # where it was, for the report of the failure
    if check and process.returncode != 0:
        pytest.fail(f"exit code {process.returncode}: {errors[-2000:]}")
    return subprocess.CompletedProcess(list(command), process.returncode, output, errors)
