"""How much memory this process can still have: of the machine, of its control groups, and by its own limits.

And how what was freed is given back to it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_COMPILED = "anchorview.solver.kernels"
_LOADING = {"RLIMIT_AS": 300 * 2**20, "RLIMIT_DATA": 120 * 2**20}  # what numba and the kernels take when loaded
_THREAD = 72 * 2**20  # address space that a thread reserves: its stack, and 64 MB for what it allocates


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
