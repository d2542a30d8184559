"""Rows of one or several views in blocks on Dask, and work on them: results in the order of rows, sums along a tree.

The tree is made by the numbers of the blocks alone, so that the number of workers, and what becomes of them, does not
change a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from ...core.arrays import Rows, is_sparse
from ..blocks import fold_blocks, one_blas_thread
from .dask_tasks import TaskGroup, iter_results, keep, result_of, share, task_name, wait

_FAN_IN = 8  # results that a task of the tree puts together


@dataclass(frozen=True)
class BlockKind:
    """What the blocks of a view are like."""

    name: str
    n_features: int
    dtype: np.dtype[Any]
    is_sparse: bool

    def join(self, columns: list[Any], start: int, stop: int) -> Any:
        """Return the rows of a block of which the columns may be in several parts, or say what is wrong with them."""
        whole = columns[0]
        if is_sparse(whole) != self.is_sparse:
            kinds = ("sparse", "dense") if self.is_sparse else ("dense", "sparse")
            raise ValueError(
                f"{self.name} was announced as {kinds[0]}, but the block with rows {start} to {stop - 1} is "
                f"{kinds[1]}; give map_blocks or from_delayed a meta= of the right kind "
                "(scipy.sparse.csr_matrix((0, 0)), say)."
            )
        if len(columns) > 1:
            whole = sparse.hstack(columns, format="csr") if self.is_sparse else np.concatenate(columns, axis=1)
        if tuple(whole.shape) != (stop - start, self.n_features):
            raise ValueError(
                f"The block of {self.name} with rows {start} to {stop - 1} has shape {tuple(whole.shape)}, but "
                f"{(stop - start, self.n_features)} was announced; call compute_chunk_sizes() of the dask array, or "
                "give the right shapes."
            )
        if self.is_sparse:
            whole = sparse.csr_array(whole)
            if not whole.has_canonical_format:
                whole = whole.copy()
                whole.sum_duplicates()
            return whole.astype(self.dtype, copy=False)
        return np.asarray(whole, dtype=self.dtype)


def stack(parts: Sequence[Any], kind: BlockKind) -> Any:
    """Put rows under one another."""
    if len(parts) == 1:
        return parts[0]
    return sparse.csr_array(sparse.vstack(parts, format="csr")) if kind.is_sparse else np.concatenate(parts)


@dataclass(frozen=True)
class Blocks:
    """The rows of some views, block by block."""

    kinds: list[BlockKind]  # of each view
    columns: list[list[list[Any]]]  # for each block and view, tasks that give its columns, in one or several parts
    bounds: Rows  # first row of each block, and the number of rows

    def tasks(self, function: Callable[..., Any], along: Sequence[Any] = ()) -> list[Any]:
        """Return a task for each block: ``function(rows, block, *along)``, where rows is a list, one part a view."""
        group, shared = TaskGroup(function), share((function, self.kinds))
        edges = zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True)
        return [
            group.call(
                _work, shared, columns, start, stop, [None if array is None else array[start:stop] for array in along]
            )
            for columns, (start, stop) in zip(self.columns, edges, strict=True)
        ]

    def map(self, function: Callable[..., Any], along: Sequence[Any] = ()) -> Iterator[Any]:
        """Return what the function gives for each block, in order."""
        return iter_results(self.tasks(function, along), task_name(function))

    def reduce(
        self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], along: Sequence[Any] = ()
    ) -> Any:
        """Return what the function gives for the blocks, put together; only the last result comes here."""
        return result_of(_tree(combine, self.tasks(function, along)))

    def keep_and_reduce(
        self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], along: Sequence[Any] = ()
    ) -> tuple[list[Any], Any]:
        """Return the first results of a function that has two as tasks, which stay where they are; the second here.

        The second ones are put together.
        """
        both, group = self.tasks(function, along), TaskGroup(f"keep {task_name(function)}")
        first = [group.call(_item, pair, 0) for pair in both]
        started = keep([*first, _tree(combine, [group.call(_item, pair, 1) for pair in both])])
        wait(started, task_name(function))
        return started[:-1], result_of(started[-1])

    def aligned_to(self, bounds: Rows) -> Blocks:
        """Return the same rows in other blocks; what moves between workers is cut out first."""
        if np.array_equal(bounds, self.bounds):
            return self
        cut, merge = TaskGroup("cut rows"), TaskGroup("align rows")
        columns: list[list[list[Any]]] = []
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            first, last = np.searchsorted(self.bounds, [start, stop - 1], side="right") - 1
            of_block = []
            for view, kind in enumerate(self.kinds):
                parts = []
                for number in range(first, last + 1):
                    low, high = self.bounds[number : number + 2].tolist()
                    wanted = slice(max(start, low) - low, min(stop, high) - low)
                    parts.append(cut.call(cut_block, kind, self.columns[number][view], low, high, wanted))
                of_block.append([merge.call(stack, parts, kind)])
            columns.append(of_block)
        return Blocks(self.kinds, columns, bounds)


def join_views(views: Sequence[Blocks]) -> Blocks:
    """Return the blocks of several views with the same rows side by side, as those of the first are cut."""
    first = views[0]
    aligned = [first, *(view.aligned_to(first.bounds) for view in views[1:])]
    columns = [
        [part for of_view in parts for part in of_view] for parts in zip(*(v.columns for v in aligned), strict=True)
    ]
    return Blocks([kind for view in aligned for kind in view.kinds], columns, first.bounds)


@dataclass(frozen=True)
class OnOneView:
    """A function of the rows of one view, as one of a list of views."""

    function: Callable[..., Any]

    def __call__(self, rows: list[Any], block: slice, *along: Any) -> Any:
        """Work on a block."""
        return self.function(rows[0], block, *along)


@dataclass(frozen=True)
class FoldOneView:
    """Works on the rows of one view in pieces of a size, and puts the results together."""

    function: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    size: int

    def __call__(self, rows: list[Any], block: slice, *along: Any) -> Any:
        """Work on a block."""
        return fold_blocks(self.function, self.combine, self.size, rows[0], block, *along)


def _work(
    shared: tuple[Any, list[BlockKind]], columns: list[list[Any]], start: int, stop: int, along: list[Any]
) -> Any:
    function, kinds = shared
    rows = [kind.join(parts, start, stop) for kind, parts in zip(kinds, columns, strict=True)]
    with one_blas_thread():
        return function(rows, slice(start, stop), *along)


def cut_block(kind: BlockKind, columns: list[Any], start: int, stop: int, wanted: Any) -> Any:
    """Return some rows of a block, or with a pair of indices some columns."""
    return kind.join(columns, start, stop)[wanted]


def _item(pair: tuple[Any, Any], number: int) -> Any:
    return pair[number]


def _tree(combine: Callable[[Any, Any], Any], tasks: list[Any]) -> Any:
    """Put results together, neighbours first."""
    group = TaskGroup(f"combine {task_name(combine)}")
    while len(tasks) > 1:
        parts = [tasks[start : start + _FAN_IN] for start in range(0, len(tasks), _FAN_IN)]
        tasks = [part[0] if len(part) == 1 else group.call(_combine, combine, part) for part in parts]
    return tasks[0]


def _combine(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    """Put results together; into a copy, as Dask may use each of them again."""
    return reduce(combine, parts[1:], deepcopy(parts[0]))
