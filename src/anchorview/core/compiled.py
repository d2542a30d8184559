"""Compiled functions, kept on disk where that is possible.

numba keeps what it compiled beside the source, or in the home folder. In a container both may be read-only, and then
numba refuses to define the function at all; a disk that fills up later stops the fit that compiles. Kernels compile in
seconds, so neither is a reason to fail: the temporary folder serves, or else each process compiles for itself.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function without the GIL, with options of `numba.njit`; what is compiled is kept for other processes.

    It is compiled again for every combination of argument types, and 0 written into a call is a type of its own: give
    ``np.int64(0)``, and arrays of the same dtype and layout, wherever one compiled function calls another.

    Examples
    --------
    >>> @compiled(fastmath=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """

    def compile_function(function: Function) -> Function:
        kernel: Any = numba.njit(nogil=True, **options)(function)
        if hasattr(kernel, "_cache"):  # not so if NUMBA_DISABLE_JIT is set
            cache = _find_cache(function)
            if cache is not None:
                kernel._cache = cache
        result: Function = kernel
        return result

    return compile_function


def inlined(function: Function) -> Function:
    """Compile a function as a part of every compiled function that calls it, with the options of that one.

    For helpers that are called at one place: numba would compile and optimise them for themselves, and again with
    their caller. A helper with many lines takes longer to put in place than to compile.

    Examples
    --------
    >>> @inlined
    ... def double(x):
    ...     return 2 * x
    >>> @compiled()
    ... def double_twice(x):
    ...     return double(double(x))
    >>> double_twice(3)
    12
    """
    return compiled(inline="always")(function)


class _KernelCache(FunctionCache):
    """numba's cache of one function; a file that cannot be read or written is as if it were not there."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever a damaged file may hold: pickle raises anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a folder that has gone, a damaged index
            self.disable()


def _find_cache(function: Callable[..., Any]) -> _KernelCache | None:
    """Return a cache where numba keeps its files, else in the temporary folder, else none."""
    try:
        return _KernelCache(function)
    except (RuntimeError, OSError):
        pass
    config: Any = numba.config
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = _temporary_folder()
        return _KernelCache(function)
    except (RuntimeError, OSError):
        return None
    finally:
        config.CACHE_DIR = before


def cache_folder(kernel: Any) -> Path | None:
    """Return the folder in which a compiled function is kept; None if it is not kept."""
    cache = getattr(kernel, "_cache", None)
    return Path(cache.cache_path) if isinstance(cache, FunctionCache) else None


def _temporary_folder() -> str:
    """Return a folder that nobody else can write to: what is read from it is run."""
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows the temporary folder is the user's own
    folder = Path(tempfile.gettempdir()) / ("anchorview" if user is None else f"anchorview-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if user is not None and (found.st_uid != user or found.st_mode & 0o022 or folder.is_symlink()):
        raise PermissionError(f"{folder} belongs to somebody else.")
    return str(folder)
