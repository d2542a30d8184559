"""Rows of a dask array, of a list of delayed blocks, or of results that are kept on a cluster, as a row source."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...core.arrays import Rows, is_sparse
from .base import StoredRows, holds_sparse
from .dask_blocks import BlockKind, Blocks, FoldOneView, OnOneView, cut_block, join_views, stack
from .dask_tasks import Box, TaskGroup, iter_results, open_box
from .derived import exchange_rows
from .optional import load_optional

_LOGGER = logging.getLogger("anchorview")
_LARGE = 100 * 2**20  # bytes of an array in memory that are worth a warning when they are sent
_HELD = 64 * 2**20  # bytes of the rows fetched last, which are often asked for again


class DaskRows(StoredRows):
    """Rows in blocks on Dask. Reading and indexing fetch rows; `map_rows` and `reduce_rows` work where they are.

    For each block, `columns` are tasks that give its columns in one or several parts; `bounds` are the first row of
    each block, and the number of rows.
    """

    def __init__(self, columns: list[list[Any]], bounds: Rows, kind: BlockKind, nnz: int | None = None) -> None:
        super().__init__(kind.name, (int(bounds[-1]), kind.n_features), kind.dtype)
        self.is_sparse, self._nnz = kind.is_sparse, nnz
        self.kind = kind
        self._last: tuple[Rows, Any] | None = None
        lengths = np.diff(bounds)
        kept = [of_block for of_block, length in zip(columns, lengths, strict=True) if length]
        self.blocks = Blocks([kind], [[of_block] for of_block in kept], _bounds_of(lengths[lengths > 0]))

    @property
    def nnz(self) -> int:
        """Number of entries that are stored, or at most so many."""
        return self.size if self._nnz is None else self._nnz

    def map_rows(self, function: Callable[..., Any], along: Sequence[Any] = ()) -> Iterator[Any]:
        """Return ``function(rows, block, *along)`` of each block, in order, computed where the rows are."""
        return self.blocks.map(OnOneView(function), along)

    def reduce_rows(
        self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], size: int, along: Sequence[Any] = ()
    ) -> Any:
        """Put together what a function gives for the rows, worked on in pieces of a size where they are."""
        return self.blocks.reduce(FoldOneView(function, combine, size), combine, along)

    def derive(self, function: Callable[..., Any], n_features: int, dtype: npt.DTypeLike) -> DaskRows:
        """Return dense rows that a function makes of these, block by block, each time they are asked for."""
        tasks = self.blocks.tasks(OnOneView(function))
        kind = BlockKind(self.name, n_features, np.dtype(dtype), False)
        return DaskRows([[task] for task in tasks], self.blocks.bounds, kind)

    def with_rows(self, places: Rows, others: sparse.csr_array) -> DaskRows:
        """Return sparse rows, some of them (ascending) replaced by others."""
        group, columns = TaskGroup("replace rows"), []
        bounds = self.blocks.bounds
        n_stored = self.nnz - int(self.take(places).nnz) + int(others.nnz)
        for number, ((old,),) in enumerate(self.blocks.columns):
            start, stop = bounds[number : number + 2].tolist()
            first, last = np.searchsorted(places, [start, stop])
            own = places[first:last] - start, others[first:last]
            columns.append([group.call(exchange_rows, old, *own) if last > first else old])
        return DaskRows(columns, bounds, self.kind, n_stored)

    def select_columns(self, columns: slice | Rows) -> DaskRows:
        """Return some columns, in any order."""
        width = len(np.arange(self.shape[1])[columns])
        kind = BlockKind(self.name, width, self.dtype, self.is_sparse)
        group, bounds, old = TaskGroup("select columns"), self.blocks.bounds, self.kind
        parts = zip(self.blocks.columns, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        wanted = slice(None), columns
        tasks = [group.call(cut_block, old, of_block, start, stop, wanted) for (of_block,), start, stop in parts]
        return DaskRows([[task] for task in tasks], bounds, kind)

    def to_dask(self) -> Any:
        """Return dense rows as a dask array; its blocks are computed when it is."""
        da = load_optional("dask.array", "dask", "Work on Dask")
        sizes = np.diff(self.blocks.bounds).tolist()
        parts = [
            da.from_delayed(of_block[0][0], (size, self.shape[1]), dtype=self.dtype)
            for of_block, size in zip(self.blocks.columns, sizes, strict=True)
        ]
        return da.concatenate(parts)

    def _read(self, start: int, stop: int) -> Any:
        return self._take_sorted(np.arange(start, stop))

    def _take_sorted(self, wanted: Rows) -> Any:
        if self._last is None or not np.array_equal(self._last[0], wanted):
            found = self._fetch(wanted)
            size = found.nnz * 16 if self.is_sparse else found.nbytes
            self._last = (wanted, found) if size <= _HELD else None
            if self._last is None:
                return found
        return self._last[1].copy()

    def _fetch(self, wanted: Rows) -> Any:
        group, bounds, tasks = TaskGroup("take rows"), self.blocks.bounds, []
        block_of = np.searchsorted(bounds, wanted, side="right") - 1
        for rows in np.split(wanted, np.flatnonzero(np.diff(block_of)) + 1):
            number = int(np.searchsorted(bounds, rows[0], side="right")) - 1
            start, stop = bounds[number : number + 2].tolist()
            local: Any = rows - start
            if local[-1] - local[0] + 1 == len(local):
                local = slice(int(local[0]), int(local[-1]) + 1)
            tasks.append(group.call(cut_block, self.kind, self.blocks.columns[number][0], start, stop, local))
        found = iter_results(tasks, "fetching rows")
        if self.is_sparse:
            return stack(list(found), self.kind)
        out, place = np.empty((len(wanted), self.shape[1]), dtype=self.dtype), 0
        for part in found:
            out[place : place + len(part)] = part
            place += len(part)
        return out

    def _raise_unreadable(self, start: int, stop: int, error: Exception) -> NoReturn:
        raise error

    def __reduce__(self) -> Any:
        if self.is_sparse and self._nnz is not None:  # codes, which end with the cluster
            return sparse.csr_array, (self[:],)
        return DaskRows, ([of_block[0] for of_block in self.blocks.columns], self.blocks.bounds, self.kind, self._nnz)


def _bounds_of(lengths: Sequence[int] | Rows) -> Rows:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.intp)])


def from_array(array: Any, name: str) -> DaskRows:
    """Return the rows of a dask array, of NumPy arrays or of SciPy's CSR matrices, cut as the array is."""
    if array.ndim != 2:
        raise ValueError(f"View {name!r} is a dask array of shape {array.shape}; a view needs two dimensions.")
    if np.isnan(np.array([size for sizes in array.chunks for size in sizes], dtype=float)).any():
        raise ValueError(
            f"View {name!r} is a dask array with chunks of unknown size (nan); call its compute_chunk_sizes() first, "
            "or give lengths=True to DataFrame.to_dask_array."
        )
    kind = BlockKind(f"dask array {name!r}", int(array.shape[1]), np.dtype(array.dtype), is_sparse(array._meta))
    return DaskRows([list(row) for row in array.to_delayed()], _bounds_of(array.chunks[0]), kind)


def from_delayed(blocks: Sequence[Any], name: str) -> DaskRows:
    """Return the rows of delayed blocks, one under the other; a first pass asks the blocks for their shapes."""
    group = TaskGroup("describe block")
    found = list(iter_results([group.call(_describe, block) for block in blocks], "asking for shapes"))
    wrong = [number for number, (shape, _, _) in enumerate(found) if len(shape) != 2]
    if wrong:
        raise ValueError(
            f"Block {wrong[0]} of view {name!r} has shape {found[wrong[0]][0]}; rows × features are needed."
        )
    shapes, dtypes, sparsity = zip(*found, strict=True)
    widths = [shape[1] for shape in shapes]
    if len(set(widths)) > 1 or len(set(sparsity)) > 1:
        number = next(n for n, part in enumerate(found) if (part[0][1], part[2]) != (widths[0], sparsity[0]))
        what = f"{widths[number]} features" if widths[number] != widths[0] else f"sparse={sparsity[number]}"
        first = f"{widths[0]} features" if widths[number] != widths[0] else f"sparse={sparsity[0]}"
        raise ValueError(f"Blocks of view {name!r} disagree: block 0 has {first}, block {number} has {what}.")
    kind = BlockKind(f"dask array {name!r}", widths[0], np.result_type(*dtypes), sparsity[0])
    return DaskRows([[block] for block in blocks], _bounds_of([shape[0] for shape in shapes]), kind)


def _describe(block: Any) -> tuple[tuple[int, ...], Any, bool]:
    block = block if is_sparse(block) else np.asarray(block)
    return tuple(block.shape), block.dtype, is_sparse(block)


def blank_rows(like: DaskRows, n_features: int, is_sparse: bool) -> DaskRows:
    """Return rows of zeros in the blocks of another view."""
    group, bounds = TaskGroup("blank rows"), like.blocks.bounds
    tasks = [group.call(_zeros, int(size), n_features, is_sparse) for size in np.diff(bounds)]
    return DaskRows([[task] for task in tasks], bounds, BlockKind("zeros", n_features, np.dtype(np.float32), is_sparse))


def _zeros(n_rows: int, n_features: int, is_sparse: bool) -> Any:
    shape = (n_rows, n_features)
    return sparse.csr_array(shape, dtype=np.float32) if is_sparse else np.zeros(shape, dtype=np.float32)


def send_rows(source: Any, name: str, like: DaskRows) -> DaskRows:
    """Return rows in the blocks of another view: arrays in memory travel with each pass, stores are read by workers."""
    if isinstance(source, DaskRows):
        return source
    group, bounds = TaskGroup("send rows"), like.blocks.bounds
    columns = []
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if isinstance(source, StoredRows):
            columns.append([group.call(_read_store, Box(source), start, stop)])
        else:
            columns.append([group.call(open_box, Box(source[start:stop]))])
    if not isinstance(source, StoredRows) and source.shape[0] * source.shape[1] * source.dtype.itemsize > _LARGE:
        _LOGGER.warning("view %r is in memory, and is sent to the workers in each pass: give it as a dask array", name)
    kind = BlockKind(
        getattr(source, "name", f"view {name!r}"), int(source.shape[1]), source.dtype, holds_sparse(source)
    )
    return DaskRows(columns, bounds, kind)


def _read_store(box: Box, start: int, stop: int) -> Any:
    return box.value.read(start, stop)


def join_sources(names: Sequence[str], sources: Sequence[DaskRows]) -> Blocks:
    """Return the blocks of several views side by side, as the first is cut."""
    first = sources[0].blocks.bounds
    moved = [name for name, s in zip(names, sources, strict=True) if not np.array_equal(s.blocks.bounds, first)]
    if moved:
        _LOGGER.info(
            "views %s are cut into other blocks of rows than %s, and are brought to its blocks; the same chunks for "
            "all save that",
            ", ".join(map(repr, moved)),
            repr(names[0]),
        )
    return join_views([source.blocks for source in sources])
