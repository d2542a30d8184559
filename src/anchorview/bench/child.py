"""Run one job in a fresh process, with a time and a memory limit, and learn what it cost."""

from __future__ import annotations

from typing import Any

from .process import JobResult, load_target, reset_peak, resident_bytes
from .worker import Worker

__all__ = ["JobResult", "load_target", "reset_peak", "resident_bytes", "run_job"]


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
        Arguments, JSON-serialisable, as its value must be.
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
    with Worker(time_limit, memory_limit, environment) as worker:
        return worker.run(target, kwargs)
