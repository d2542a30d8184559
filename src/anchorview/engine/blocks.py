"""Rows in blocks: how they are cut, read, worked on in parallel, and put together again.

This is the one seam between the model and where rows are kept. A block is a pure function of its rows and a small
shared state, so blocks may run in threads (here) or anywhere else, and results come back in the order of the blocks.

NumPy and SciPy each bring a BLAS pool; two pools spinning on two cores slow each other ten-fold. So blocks run in
parallel with a single BLAS thread each: a block's arithmetic is the same whatever the number of threads, and the same
seed gives the same result for any number of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import reduce
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from ..core.arrays import Rows
from ..core.progress import Ticker, watcher

T = TypeVar("T")
R = TypeVar("R")
_READ_BYTES = 2**22  # of a store at a time, if a pass needs less: many small reads take longer than one
_FEW_ROWS = 16_384  # below this, smaller blocks keep all threads busy
_SMALL_BLOCK, _LARGE_BLOCK = 512, 4096


def rows_of(source: Any, index: slice | Rows) -> Any:
    """Return some rows of a view: consecutive ones by a slice, or any by their numbers.

    Those of an array, a memory map or a CSR matrix may be the array itself, and are not to be changed. Row sources
    (`engine.sources`) have `read` and `take`; those whose rows are better worked on where they are, on a cluster, also
    `reduce_rows`, which does what the function of that name here does (`engine.sources.dask_rows`).
    """
    if not hasattr(source, "read"):
        is_all = isinstance(index, slice) and index.start == 0 and index.stop == source.shape[0]
        return source if is_all else source[index]  # a sparse matrix would be copied
    return source.read(index.start, index.stop) if isinstance(index, slice) else source.take(index)


def row_blocks(n_rows: int, size: int) -> list[slice]:
    """Cut rows into blocks of a size, the last one shorter.

    Examples
    --------
    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def block_rows(n_rows: int) -> int:
    """Return how many of so many rows are worked on together: products with the landmarks, codes."""
    return _SMALL_BLOCK if n_rows < _FEW_ROWS else _LARGE_BLOCK


def even_size(count: int, most: int, n_threads: int) -> int:
    """Return a size of blocks, at most so large, such that each thread gets as many; that of all in one if it may be.

    Examples
    --------
    >>> even_size(70, 64, 1), even_size(70, 30, 2), even_size(70, 100, 2)
    (35, 18, 70)
    """
    n_blocks = -(-count // most)
    if n_blocks > 1:
        n_blocks = -(-n_blocks // n_threads) * n_threads
    return max(1, -(-count // max(n_blocks, 1)))


def reduce_rows(
    function: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    start: Any,
    source: Any,
    size: int,
    n_threads: int,
    along: Sequence[Any] = (),
) -> Any:
    """Combine, in the order of the blocks, what ``function`` gives for the rows of each block of a view.

    It takes the rows of a block, of `size` rows, the block, and the part of each of `along` that belongs to it: arrays
    with an entry for each row, which rows count, say, or None. It may be sent to another machine: a function of a
    module, or a `partial` of one with little state. `start` is the result for no rows; `combine` puts two results
    together, and may change the first of them.
    """
    if hasattr(source, "reduce_rows"):
        return combine(start, source.reduce_rows(function, combine, size, along)) if source.shape[0] else start
    return reduce(combine, iter_rows(function, source, size, n_threads, along), start)


def fold_blocks(
    function: Callable[..., R], combine: Callable[[R, R], R], size: int, rows: Any, piece: slice, *along: Any
) -> R:
    """Combine what ``function`` gives for the blocks of some rows in memory, at least one, which are `piece` of all."""
    parts = row_blocks(piece.stop - piece.start, size)
    return reduce(combine, (function(*_part(rows, piece, part, along)) for part in parts))


def iter_rows(
    function: Callable[..., R], source: Any, size: int, n_threads: int, along: Sequence[Any] = ()
) -> Iterator[R]:
    """Apply ``function`` to the rows of every block of a view, to the block, and to what is `along` it, in order.

    Several blocks of a store are read at once; what they are cut into does not depend on it. What the caller does not
    keep of the results is freed.
    """
    row_bytes = max(1, source.shape[1] * source.dtype.itemsize)
    at_once = max(1, _READ_BYTES // (row_bytes * size)) if hasattr(source, "read") else 1

    def of_piece(piece: slice) -> list[R]:
        rows, beside = rows_of(source, piece), [None if array is None else array[piece] for array in along]
        if piece.stop - piece.start <= size:
            return [function(rows, piece, *beside)]
        parts = row_blocks(piece.stop - piece.start, size)
        return [function(*_part(rows, piece, part, beside)) for part in parts]

    for results in iter_blocks(of_piece, row_blocks(source.shape[0], size * at_once), n_threads):
        yield from results


def _part(rows: Any, piece: slice, part: slice, along: Sequence[Any]) -> tuple[Any, ...]:
    """Return a part of some rows, the block that it is of all rows, and what is along it."""
    block = slice(piece.start + part.start, piece.start + part.stop)
    return rows[part], block, *(None if array is None else array[part] for array in along)


def add_up(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add sums, each to its own; arrays of the total are changed.

    Examples
    --------
    >>> import numpy as np
    >>> add_up((np.zeros(2), 1.0), (np.ones(2), 0.5))
    (array([1., 1.]), 1.5)
    """
    sums = []
    for each, other in zip(total, part, strict=True):
        each += other
        sums.append(each)
    return tuple(sums)


def map_blocks(function: Callable[[T], R], items: Sequence[T], n_threads: int, name: str | None = None) -> list[R]:
    """Apply ``function`` to every item with ``n_threads`` threads; results in the order of the items."""
    return list(iter_blocks(function, items, n_threads, name))


def iter_blocks(function: Callable[[T], R], items: Sequence[T], n_threads: int, name: str | None = None) -> Iterator[R]:
    """Like :func:`map_blocks`, one result after the other: what the caller does not keep is freed.

    With a `name`, who watches (`core.progress`) is told now and then how many blocks are done.
    """
    work = _Work(name, len(items))
    with one_blas_thread():
        if n_threads == 1 or len(items) <= 1:
            for item in items:
                yield work.run(function, item)
            return
        with ThreadPoolExecutor(n_threads, initializer=_hold_this_thread) as pool:
            context = copy_context()  # of the caller, which a thread of the pool would not have: a Dask client, say
            try:
                yield from pool.map(lambda item: context.copy().run(work.run, function, item), items)
            except BaseException:  # an interrupt must wait neither for the blocks still queued nor for those begun
                work.stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class StoppedError(BaseException):
    """Ends a block whose result nobody waits for any more; no `Exception`, or it could be taken for a failure."""


class _Work:
    """Blocks that are worked on together: whether somebody still wants them, and how many are done."""

    def __init__(self, name: str | None, total: int) -> None:
        self.stopped = False
        self._outer: _Work | None = getattr(_here, "work", None)  # if it is part of a block itself
        is_watched = name is not None and getattr(watcher, "write", None) is not None
        self.ticker = Ticker(name, total) if is_watched else None

    def run(self, function: Callable[[T], R], item: T) -> R:
        """Work on one block, in any thread."""
        before, _here.work = getattr(_here, "work", None), self
        try:
            result = function(item)
        finally:
            _here.work = before
        if self.ticker is not None:
            self.ticker.done()
        return result

    def is_stopped(self) -> bool:
        """Tell whether this work, or the one it is part of, was given up."""
        return self.stopped or (self._outer is not None and self._outer.is_stopped())


_here = threading.local()  # `work` that this thread does


def checkpoint(share: float) -> None:
    """Call this every tenth of a second or so in long work on a block: a chance to stop, and to say how far it is.

    In the main thread Python itself raises a KeyboardInterrupt here. Other threads never get one: they are ended if the
    thread that waits for their blocks has.
    """
    work: _Work | None = getattr(_here, "work", None)
    if work is not None:
        if work.is_stopped():
            raise StoppedError
        if work.ticker is not None:
            work.ticker.tick(share)


class OneThread:
    """Who holds some BLAS pools to one thread, and the limits that come back when the last of them is done.

    The limit of OpenBLAS and MKL is one number for the whole process. If every caller read it, set it and put back
    what it had read, the second of two threads would read the one thread that the first had set, and put that back
    for good. So the first holder reads and sets, the last restores. Holders are kept by name and not as a number: an
    interrupt in the middle of entering or leaving cannot count one twice.
    """

    def __init__(self, pools: list[Any]) -> None:
        self.pools = pools
        self.lock = threading.RLock()  # a generator that is thrown away may leave in the midst of another's entering
        self.holders: dict[object, int] = {}  # the thread of each
        self.before: list[int] | None = None

    def hold(self, holder: object, holds: bool = True) -> None:
        """Hold the pools to one thread; or no longer, and restore what was before if nobody else holds them.

        Every holder sets the limit, not the first and the last alone: others may change it in between, and a holder
        that was never released must not keep it from being set.
        """
        if not self.pools:
            return
        with self.lock:
            if holds:
                self.holders[holder] = threading.get_ident()
            else:
                self.holders.pop(holder, None)
            self._set_limits()

    def forget_other_threads(self) -> None:
        """Drop the holders that a fork has left behind: only the thread that forked lives on in the child."""
        self.lock = threading.RLock()
        here = threading.get_ident()
        self.holders = {holder: thread for holder, thread in self.holders.items() if thread == here}
        self._set_limits()

    def _set_limits(self) -> None:
        """Bring the pools to what the holders want."""
        if self.holders:
            if self.before is None:
                self.before = [pool.num_threads for pool in self.pools]
            for pool in self.pools:
                _set_threads(pool, 1)
        elif self.before is not None:
            for pool, n_threads in zip(self.pools, self.before, strict=True):
                if pool.num_threads == 1:  # if not, somebody else has asked for more since, and shall have it
                    _set_threads(pool, n_threads)
            self.before = None


class OneThreadHere(OneThread, threading.local):
    """The same for pools that keep a limit for each thread: every thread counts its own holders."""


def _set_threads(pool: Any, n_threads: int) -> None:
    """Set the limit of a pool, whichever thread asks.

    threadpoolctl 3.8 lets only the thread that set a process-wide limit first change it, and ignores the others
    without a word; but the last holder to leave is not always the first that entered.
    """
    if pool.num_threads == n_threads:
        return
    release = getattr(pool, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    pool.set_num_threads(n_threads)
    if release is not None:
        release(force=True)


_found: dict[str, tuple[OneThread, OneThread]] = {}


def _blas_limits() -> tuple[OneThread, OneThread]:
    """Find the BLAS pools once, as looking them up costs milliseconds: those of the process, and those of a thread.

    Several threads may look at the same time; `setdefault` gives all of them what the first has found.
    """
    if not _found:
        import scipy.linalg  # noqa: F401  (loads SciPy's BLAS, so that the controller sees it)

        pools = [pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas"]
        own = [pool for pool in pools if _is_limited_by_thread(pool)]
        _found.setdefault("limits", (OneThread([pool for pool in pools if pool not in own]), OneThreadHere(own)))
    return _found["limits"]


def _is_limited_by_thread(pool: Any) -> bool:
    """Whether a limit holds for the thread that sets it: OpenBLAS on OpenMP, as threadpoolctl sets it since 3.8."""
    return getattr(pool, "threading_layer", "") == "openmp" and hasattr(pool, "clear_controlling_thread")


def _forget_other_threads() -> None:
    for limit in _found.get("limits", ()):
        limit.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def count_threads(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads: None means as many as BLAS may use here.

    BLAS's own limit follows ``OMP_NUM_THREADS`` and what joblib grants a worker process, so nested parallelism
    does not oversubscribe the machine. Negative numbers count from the end, as in joblib: -1 is all.
    """
    available = max((pool.num_threads for limit in _blas_limits() for pool in limit.pools), default=1)
    if n_jobs is None:
        return available
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for all cores or a positive number of threads.")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS pool to one thread within the block; any number of threads may be in it at once."""
    if getattr(_here, "work", None) is not None:  # in a block of `iter_blocks`, which holds them: a row takes dozens
        yield
        return
    holder = object()
    limits = _blas_limits()
    try:
        for limit in limits:
            limit.hold(holder)
        yield
    finally:
        try:
            for limit in limits:
                limit.hold(holder, False)
        except BaseException:  # an interrupt in the midst of leaving
            for limit in limits:
                limit.hold(holder, False)
            raise


def _hold_this_thread() -> None:
    """Hold the pools that keep a limit for each thread, in a thread that ends with its blocks."""
    _blas_limits()[1].hold(object())
