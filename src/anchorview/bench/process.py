"""What both ends of a job need: its result, the function it names, and the memory of a process."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


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


def load_target(target: str) -> Any:
    """Return the function that ``"module:function"`` or ``"path/to/file.py:function"`` names.

    Examples
    --------
    >>> load_target("math:sqrt")(9.0)
    3.0
    """
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


def resident_bytes(pid: int | str = "self", peak: bool = False) -> int:
    """Return the memory a process holds now (or held at most), 0 where the system does not report it."""
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
