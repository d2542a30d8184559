"""Run one job in a fresh process, with a time and a memory limit, and learn what it cost.

A job is a function named by ``"module:function"`` or ``"path/to/file.py:function"`` and keyword arguments that JSON
can hold; it returns something JSON can hold. Running out of memory kills the child, never the machine.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class JobResult:
    """What came of a job: ``status`` is "ok", "memory", "time" or "error"."""

    status: str
    value: Any
    seconds: float
    peak_bytes: int
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a record."""
        return asdict(self)


def run_job(
    target: str,
    kwargs: dict[str, Any],
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    environment: dict[str, str] | None = None,
) -> JobResult:
    """Run a job in a fresh Python process.

    Parameters
    ----------
    target : str
        ``"module:function"`` or ``"file.py:function"``.
    kwargs : dict
        Arguments, JSON-serialisable.
    time_limit : float, optional
        Seconds after which the child is killed ("time").
    memory_limit : int, optional
        Resident bytes above which the child is killed ("memory").
    environment : dict, optional
        Variables to set in the child, for example ``{"OMP_NUM_THREADS": "1"}``.

    Examples
    --------
    >>> run_job("math:sqrt", {"x": 4.0}).status  # math.sqrt takes no keywords
    'error'
    >>> run_job("json:dumps", {"obj": [1, 2]}).value
    '[1, 2]'
    """
    with tempfile.TemporaryDirectory() as folder:
        out, errors = Path(folder, "out.json"), Path(folder, "stderr.txt")
        job = json.dumps({"target": target, "kwargs": kwargs, "out": str(out)})
        start = time.perf_counter()
        with errors.open("w") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "anchorview.bench.child"],
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                env={**os.environ, **(environment or {})},
            )
            assert process.stdin is not None
            process.stdin.write(job.encode())
            process.stdin.close()
            try:
                killed, peak = _watch(process, start, time_limit, memory_limit)
            except BaseException:  # an interrupt must not leave the child behind
                process.kill()
                process.wait()
                raise
        seconds = time.perf_counter() - start
        if killed:
            return JobResult(killed, None, seconds, peak)
        if not out.exists():
            message = errors.read_text(errors="replace")[-2000:]
            status = "memory" if process.returncode == -9 else "error"
            return JobResult(status, None, seconds, peak, message or f"exit code {process.returncode}")
        answer = json.loads(out.read_text())
        return JobResult(
            answer["status"], answer["value"], answer["seconds"], max(peak, answer["peak"]), answer["message"]
        )


def _watch(
    process: subprocess.Popen[bytes], start: float, time_limit: float | None, memory_limit: int | None
) -> tuple[str, int]:
    """Wait for the child; kill it when it passes a limit. Return why it was killed and its largest size seen."""
    peak = 0
    while True:
        try:
            process.wait(_POLL_SECONDS)
            return "", peak
        except subprocess.TimeoutExpired:
            pass
        peak = max(peak, resident_bytes(process.pid))
        reason = ""
        if memory_limit is not None and peak > memory_limit:
            reason = "memory"
        elif time_limit is not None and time.perf_counter() - start > time_limit:
            reason = "time"
        if reason:
            process.kill()
            process.wait()
            return reason, peak


def resident_bytes(pid: int | str = "self", peak: bool = False) -> int:
    """Return the memory a process holds now (or held at most), 0 where the system does not tell."""
    field = "VmHWM:" if peak else "VmRSS:"
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 0


def reset_peak() -> int:
    """Forget this process's peak and return its memory now, so that a stage's own peak can be read afterwards."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return resident_bytes()


def load_target(target: str) -> Any:
    """Find the function that a target names."""
    place, _, name = target.rpartition(":")
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    path = Path(place).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def _main() -> None:
    job = json.loads(sys.stdin.read())
    start = time.perf_counter()
    status, value, message = "ok", None, ""
    try:
        function = load_target(job["target"])
        start = time.perf_counter()
        value = function(**job["kwargs"])
    except MemoryError:
        status = "memory"
    except Exception as error:
        status, message = "error", f"{type(error).__name__}: {error}"
    answer = {
        "status": status,
        "value": value,
        "message": message,
        "seconds": time.perf_counter() - start,
        "peak": resident_bytes(peak=True),
    }
    out = Path(job["out"])
    out.with_suffix(".part").write_text(json.dumps(answer))
    out.with_suffix(".part").rename(out)


if __name__ == "__main__":
    _main()
