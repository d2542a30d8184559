"""Rows in blocks: how they are cut, read, worked on in parallel, and put together again.

This is the one seam between the model and where rows are kept. A block is a pure function of its rows and a small
shared state, so blocks may run in threads (here) or anywhere else, and results come back in the order of the blocks.

NumPy and SciPy each bring a BLAS pool; two pools spinning on two cores slow each other ten-fold. So blocks run in
parallel with a single BLAS thread each: a block's arithmetic is the same whatever the number of threads, and the same
seed gives the same result for any number of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

from ..core.arrays import Rows

T = TypeVar("T")
R = TypeVar("R")


class RowSource(Protocol):
    """Where the rows of one view are kept; an array in memory, a memory map and a CSR matrix are read as they are."""

    shape: tuple[int, int]
    dtype: Any

    def read(self, start: int, stop: int) -> Any:
        """Return consecutive rows, dense or CSR."""
        ...

    def take(self, rows: Rows) -> Any:
        """Return rows in any order."""
        ...


def rows_of(source: Any, index: slice | Rows) -> Any:
    """Return some rows of a view: consecutive ones by a slice (`read`), or any by their numbers (`take`)."""
    if not hasattr(source, "read"):
        return source[index]
    return source.read(index.start, index.stop) if isinstance(index, slice) else source.take(index)


def row_blocks(n_rows: int, size: int) -> list[slice]:
    """Cut rows into blocks of a size, the last one shorter.

    Examples
    --------
    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def map_rows(function: Callable[[Any, slice], R], source: Any, size: int, n_threads: int) -> list[R]:
    """Apply ``function`` to the rows of every block of a view, and to the block; results in the order of the blocks."""

    def of_block(block: slice) -> R:
        return function(rows_of(source, block), block)

    return map_blocks(of_block, row_blocks(source.shape[0], size), n_threads)


def map_blocks(function: Callable[[T], R], items: Sequence[T], n_threads: int) -> list[R]:
    """Apply ``function`` to every item with ``n_threads`` threads; results in the order of the items."""
    return list(iter_blocks(function, items, n_threads))


def iter_blocks(function: Callable[[T], R], items: Sequence[T], n_threads: int) -> Iterator[R]:
    """Like :func:`map_blocks`, one result after the other: what the caller does not keep is freed."""
    with one_blas_thread():
        if n_threads == 1 or len(items) <= 1:
            for item in items:
                yield function(item)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                yield from pool.map(function, items)
            except BaseException:  # an interrupt must not wait for the blocks still queued
                pool.shutdown(wait=False, cancel_futures=True)
                raise


@functools.cache
def _controller() -> ThreadpoolController:
    """Find the BLAS pools once: looking them up costs milliseconds."""
    import scipy.linalg  # noqa: F401  (loads SciPy's BLAS, so that the controller sees it)

    return ThreadpoolController()


def count_threads(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads: None means as many as BLAS may use here.

    BLAS's own limit follows ``OMP_NUM_THREADS`` and what joblib grants a worker process, so nested parallelism
    does not oversubscribe the machine. Negative numbers count from the end, as in joblib: -1 is all.
    """
    pools = [pool["num_threads"] for pool in _controller().info() if pool["user_api"] == "blas"]
    available = max(pools, default=1)
    if n_jobs is None:
        return available
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for all cores or a positive number of threads.")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS pool to one thread within the block."""
    limits: Any = _controller().limit(limits=1, user_api="blas")
    with limits:
        yield
