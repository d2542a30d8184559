"""What a fit needs of memory, by what it is for, what this process can still have, and an error if that is too little.

What there is: of the machine, of its control groups, and by the limits of the process. And how what was freed is given
back to it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Items = dict[str, float]  # bytes by what they are for
REMEDY = (
    "Lower n_landmarks, give the views in single precision (float32), fit a sample of the rows and predict the rest in "
    "blocks (predict needs a fixed amount of memory), or raise the limit."
)
SEARCH_REMEDY = (
    "Lower n_landmarks or n_sampled (of search_options), give the views in single precision (float32), fit a sample of "
    "the rows and predict the rest in blocks (predict needs a fixed amount of memory), use FSSMSC, which needs a "
    "fraction of it, or raise the limit."
)
_COMPILED = "anchorview.solver.kernels"
_LOADING = {"RLIMIT_AS": 300 * 2**20, "RLIMIT_DATA": 120 * 2**20}  # what numba and the kernels take when loaded
_THREAD = 72 * 2**20  # address space that a thread reserves: its stack, and 64 MB for what it allocates


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input at its peak, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> FSSMSC(n_jobs=1).estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10).parts
    {'codes': 388000000, 'rows': 72000000, 'blocks': 25102592, 'landmarks': 24800000}
    """

    n_rows: int
    parts: dict[str, int]
    stage: str = "solver"

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self.parts.values())

    def describe_total(self) -> str:
        """Return the total in words."""
        return _text(self.total)

    def __str__(self) -> str:
        largest_first = sorted(self.parts.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {_text(size)}" for name, size in largest_first if size >= 5e5) or "next to nothing"
        per_row = self.total / max(self.n_rows, 1) / 1e3
        return f"{_text(self.total)} beyond the input ({per_row:.1f} KB per row), in the stage {self.stage!r}: {listed}"


def largest_stage(n_rows: int, stages: list[tuple[str, Items]]) -> MemoryEstimate:
    """Return the stage that holds most."""
    name, items = max(stages, key=lambda stage: sum(stage[1].values()))
    return MemoryEstimate(n_rows, {what: int(size) for what, size in items.items() if size}, name)


def check_memory(estimate: MemoryEstimate, available: int | None, remedy: str = REMEDY) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        loading = "" if _COMPILED in sys.modules else " once the compiled code is loaded"
        left = f"{_text(max(available, 0))} are available{loading}"
        raise MemoryError(f"This fit needs about {estimate}; {left}. {remedy}")


def _text(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def available_memory(n_threads: int = 1, root: str | Path = "/") -> int | None:
    """Return the bytes that this process can still have, None where the system does not tell.

    The least of what the machine has free, what is left to the control groups of this process (containers), and what
    is left of its own limits (`ulimit -v` and `-d`), which also count address space that is never used, such as that of
    the threads that will be started. `root` is where `proc` and `sys` are.
    """
    return min(memory_left(n_threads, root).values(), default=None)


def memory_left(n_threads: int = 1, root: str | Path = "/") -> dict[str, int]:
    """Return the bytes that are left by each limit that the system tells; see `available_memory`."""
    root = Path(root)
    known = {
        "machine": [*_machine(root)],
        "control group": [*_control_groups(root)],
        "limit of the process": [*_own_limits(root, n_threads)],
    }
    return {name: min(left) for name, left in known.items() if left}


def give_back() -> None:
    """Give memory that was freed back to the system, where the C library can (glibc).

    It keeps what lies below something that is still in use. After a stage that worked with a hundred MB, the next one
    would come on top of them.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _machine(root: Path) -> Iterator[int]:
    fields = _fields(root / "proc/meminfo")
    if "MemAvailable" in fields:
        yield fields["MemAvailable"]
        return
    with suppress(AttributeError, ValueError, OSError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _control_groups(root: Path) -> Iterator[int]:
    """Limits of the control groups, version 1 and 2, that the process is in: of its own and of all above it."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, controllers, name = line.split(":", 2)
        if number == "0" and not controllers:
            mounts, files = ["", "unified"], ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mounts, files = ["memory"], ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        for mount in (root / "sys/fs/cgroup" / mount for mount in mounts):
            group = mount / name.lstrip("/")  # not there if a container sees its own group as the top
            for folder in (group, *(parent for parent in group.parents if parent.is_relative_to(mount))):
                limit, used = _read(folder / files[0]).strip(), _read(folder / files[1]).strip()
                if limit.isdigit() and used.isdigit():  # not "max"
                    cached = _fields(folder / "memory.stat", 1).get(files[2], 0)  # of files: given back when needed
                    yield int(limit) - int(used) + min(cached, int(used))


def _own_limits(root: Path, n_threads: int) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    used = _fields(root / "proc/self/status")
    for name, field in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY and field in used:
            loading = 0 if _COMPILED in sys.modules else _LOADING[name]
            yield limit - used[field] - loading - (n_threads * _THREAD if name == "RLIMIT_AS" else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _fields(path: Path, unit: int = 1024) -> dict[str, int]:
    """Read lines such as "MemAvailable: 1234 kB", in bytes."""
    lines = (line.replace(":", " ").split() for line in _read(path).splitlines())
    return {words[0]: int(words[1]) * unit for words in lines if len(words) > 1 and words[1].isdigit()}
