"""What this machine and this installation can do: `examine` finds it out, `anchorview doctor` prints it."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..bench.environment import describe_environment
from ..cost.estimate import available_memory, memory_left
from ..engine.blocks import count_threads
from ..fssmsc import FSSMSC
from .extras import find_extras

_FEATURES = (100, 500, 2000)  # of the fits whose size is told
_LANDMARKS, _CLASSES, _LABELLED = 500, 10, 0.02
_MOST_ROWS = 10**10
_LITTLE = 2**30  # bytes of free memory below which a word is said
_NO_LIMIT = 2**60  # control groups of version 1 write a number where there is no limit
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def examine() -> dict[str, Any]:
    """Return versions, BLAS libraries and threads, memory, what size of fit it is enough for, extras and kernels.

    Returns
    -------
    dict
        Of plain values, for JSON: ``versions``, ``machine``, ``blas``, ``memory``, ``fits``, ``extras``, ``kernels``,
        and ``advice``, sentences on what could be better.

    Examples
    --------
    >>> from anchorview.app.doctor import examine
    >>> found = examine()
    >>> sorted(found)
    ['advice', 'blas', 'extras', 'fits', 'kernels', 'machine', 'memory', 'versions']
    >>> found["fits"][0]["rows"] > 1000
    True
    """
    about = describe_environment()
    threads = count_threads(None)
    found: dict[str, Any] = {
        "versions": {"python": about["python"], **about["versions"]},
        "machine": {
            "system": about["system"],
            "cpu": about["cpu"],
            "cores": about["cores"],
            "usable_cores": _usable_cores(),
            "threads": threads,
            "variables": {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ},
        },
        "blas": _blas(),
        "memory": {"free": available_memory(threads), "left_by": _limits(threads)},
        "extras": find_extras(),
        "kernels": _kernels(),
    }
    free = found["memory"]["free"]
    found["fits"] = [] if free is None else [_largest_fit(n_features, free, threads) for n_features in _FEATURES]
    found["advice"] = _advice(found)
    return found


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _limits(threads: int) -> dict[str, int]:
    return {name: left for name, left in memory_left(threads).items() if left < _NO_LIMIT}


def _blas() -> list[dict[str, Any]]:
    """Return the libraries that multiply matrices, and which package brought each."""
    import scipy.linalg  # noqa: F401  (loads its own)
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return [
        {
            "library": pool["internal_api"],
            "version": pool["version"],
            "kernel": pool.get("architecture"),
            "threads": pool["num_threads"],
            "file": pool["filepath"],
        }
        for pool in pools
    ]


def _largest_fit(n_features: int, free: int, threads: int) -> dict[str, Any]:
    """Return the most rows of single precision that fit into memory with all that `FSSMSC` makes of them."""
    low, high = 0, _MOST_ROWS
    while low < high - max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if _bytes_of(middle, n_features, threads) <= free else (low, middle)
    return {"features": n_features, "landmarks": _LANDMARKS, "classes": _CLASSES, "rows": low}


def _bytes_of(n_rows: int, n_features: int, threads: int) -> int:
    model = FSSMSC(n_landmarks=_LANDMARKS, n_jobs=threads)
    needed = model.estimate_memory(n_rows, n_features, _CLASSES, n_labelled=int(_LABELLED * n_rows)).total
    return 4 * n_rows * n_features + needed


def _kernels() -> dict[str, Any]:
    """Return where compiled functions are kept, and how many there are."""
    from ..core.compiled import cache_folder
    from ..features.kernels import scale_rows
    from ..solver.kernels import solve_rows

    folders = {folder for kernel in (scale_rows, solve_rows) if (folder := cache_folder(kernel)) is not None}
    kept = [path for folder in folders if folder.is_dir() for path in folder.glob("*.nbi")]
    return {
        "folders": sorted(map(str, folders)),
        "writable": bool(folders) and all(_is_writable(folder) for folder in folders),
        "compiled": len(kept),
    }


def _is_writable(folder: Any) -> bool:
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return there is not None and os.access(there, os.W_OK)


def _advice(found: dict[str, Any]) -> list[str]:
    machine, memory, kernels = found["machine"], found["memory"], found["kernels"]
    said = []
    if machine["threads"] > machine["usable_cores"]:
        said.append(
            f"BLAS may use {machine['threads']} threads on {machine['usable_cores']} cores, which slows all of them: "
            f"set OMP_NUM_THREADS={machine['usable_cores']}."
        )
    elif machine["threads"] < machine["usable_cores"]:
        said.append(
            f"Fits use {machine['threads']} of {machine['usable_cores']} cores: raise OMP_NUM_THREADS, or pass n_jobs "
            "(--jobs)."
        )
    if memory["free"] is not None and memory["free"] < _LITTLE:
        limit = min(memory["left_by"], key=memory["left_by"].get)
        said.append(f"Only {memory['free'] / 1e6:.0f} MB of memory are left ({limit}).")
    if not kernels["compiled"]:
        said.append("Nothing is compiled yet: the first fit compiles for 5-15 s.")
    if not kernels["writable"]:
        said.append(
            "Compiled functions cannot be kept: every process compiles for itself. Set NUMBA_CACHE_DIR to a folder."
        )
    said += [
        f"{one['package']} {one['installed']} is older than {one['least']}: {one['command']}"
        for one in found["extras"]
        if one["installed"] is not None and not one["recent"]
    ]
    if sys.maxsize < 2**32:
        said.append("This is a 32-bit Python, which can use 4 GB at most.")
    return said
