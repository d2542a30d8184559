"""A child process that runs one job after another under a time and a memory limit, and is replaced when it dies.

Starting Python and loading compiled code takes seconds, more than many fits; so the child lives on as long as its jobs
end well. One that passes a limit is killed, and with it nothing but its job: running out of memory never takes the
machine down.

A job is a function named by ``"module:function"`` or ``"path/to/file.py:function"`` and keyword arguments that JSON
can hold; it returns something JSON can hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from ..core.files import replace_file
from ..core.folders import ScratchFolder
from .process import JobResult, load_target, reset_peak, resident_bytes

_POLL_SECONDS = 0.02


class Worker:
    """Runs jobs in a child process; to be used in a ``with`` statement.

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which a job is killed ("time").
    memory_limit : int, optional
        Resident bytes above which it is killed ("memory").
    environment : dict, optional
        Variables to set in the child, for example ``{"OMP_NUM_THREADS": "1"}``.

    Examples
    --------
    >>> with Worker() as worker:
    ...     worker.run("json:dumps", {"obj": [1, 2]}).value
    '[1, 2]'
    """

    def __init__(
        self,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.time_limit, self.memory_limit, self.environment = time_limit, memory_limit, environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._folder = ScratchFolder("anchorview-bench-")
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        self._folder.remove()

    def run(self, target: str, kwargs: dict[str, Any], *, fresh: bool = False) -> JobResult:
        """Run a job and return its value and what it cost.

        With ``fresh`` the child starts anew, so that its memory is that of the job alone.
        """
        if fresh:
            self._stop()
        process = self._process if self._process is not None and self._process.poll() is None else self._start()
        out = self._folder.path / "out.json"
        out.unlink(missing_ok=True)
        start = time.perf_counter()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died before it could read; `_wait` says why
            process.stdin.write(json.dumps({"target": target, "kwargs": kwargs, "out": str(out)}).encode() + b"\n")
            process.stdin.flush()
        return self._wait(process, out, start)

    def _wait(self, process: subprocess.Popen[bytes], out: Path, start: float) -> JobResult:
        peak = 0
        while not out.exists():
            seconds = time.perf_counter() - start
            if process.poll() is not None and not out.exists():
                self._process = None
                status = "memory" if process.returncode == -9 else "error"  # -9: the system's own killer
                text = (self._folder.path / "stderr.txt").read_text(errors="replace")[-2000:]
                return JobResult(status, None, seconds, peak, text or f"exit code {process.returncode}")
            peak = max(peak, resident_bytes(process.pid))
            over_memory = self.memory_limit is not None and peak > self.memory_limit
            if over_memory or (self.time_limit is not None and seconds > self.time_limit):
                self._stop()
                return JobResult("memory" if over_memory else "time", None, seconds, peak)
            time.sleep(_POLL_SECONDS)
        answer = json.loads(out.read_text())
        peak = max(peak, answer["peak"])
        if self.memory_limit is not None and peak > self.memory_limit:  # between two looks
            self._stop()
            return JobResult("memory", None, answer["seconds"], peak)
        return JobResult(answer["status"], answer["value"], answer["seconds"], peak, answer["message"])

    def _start(self) -> subprocess.Popen[bytes]:
        with (self._folder.path / "stderr.txt").open("w") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "anchorview.bench.worker", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                env={**os.environ, **self.environment},
            )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            self._process = None


def _end_with_parent(parent: int) -> None:
    """Leave when the parent is gone, also in the middle of a job."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _main(parent: int) -> None:
    # The parent says who it is: if it is killed while this one loads, os.getppid() is somebody else from the start.
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    for line in sys.stdin:
        job = json.loads(line)
        status, value, message = "ok", None, ""
        reset_peak()
        start = time.perf_counter()
        try:
            function = load_target(job["target"])
            start = time.perf_counter()  # loading is not the job's own time
            value = function(**job["kwargs"])
        except MemoryError:
            status = "memory"
        except Exception as error:
            status, message = "error", f"{type(error).__name__}: {error}"
        seconds, peak = time.perf_counter() - start, resident_bytes(peak=True)
        answer = {"status": status, "value": value, "message": message, "seconds": seconds, "peak": peak}
        replace_file(Path(job["out"]), json.dumps(answer))


if __name__ == "__main__":
    _main(int(sys.argv[1]))
