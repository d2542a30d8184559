"""Rows of E that are watched while the solver reads them: what readers say of them, and their neighbours in a graph.

Both are kept: a later look would compute E again. Labels that come later bring new rows into the graph. Those that were
there stay, so the neighbours of a row are the nearest of the old ones and of the new ones, and cost only these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix, Rows, keep_array, squared_norms
from ..engine.blocks import map_blocks, row_blocks
from ..features.neighbours import nearest_points
from ..features.products import ViewCrossProducts
from .graph import N_NEIGHBORS, FittedRows
from .graph_members import GraphMembers
from .product_readers import ProductReaders

_BLOCK = 16_384
_ROUNDING = 1e-5  # of squared distances in single precision, in parts of the squares
Floats = npt.NDArray[np.float32]


class KeptNeighbours:
    """The nearest rows of a graph, and the distances to them, of each row of a fit; filled block by block."""

    def __init__(self, members: GraphMembers, coordinates: Floats, index: Any, distances: Floats) -> None:
        self.members = members
        self._coordinates, self._index, self._distances = coordinates, index, distances
        self._is_filled = np.zeros(len(index), dtype=bool)

    @classmethod
    def empty(cls, n_rows: int, members: GraphMembers, n_directions: int) -> KeptNeighbours | None:
        """Return room for the neighbours of so many rows; None if there is none."""
        width = min(N_NEIGHBORS, len(members.rows))
        kept = [keep_array((n_rows, n_directions), np.float32), keep_array((n_rows, width), np.int32)]
        kept.append(keep_array((n_rows, width), np.float32))
        if any(array is None for array in kept):
            return None
        return cls(members, *kept)  # type: ignore[arg-type]

    def has(self, block: slice) -> bool:
        """Whether a block of rows is filled in."""
        return bool(self._is_filled[block].all())

    @property
    def is_whole(self) -> bool:
        """Whether all rows are filled in."""
        return bool(self._is_filled.all())

    def fill(self, block: slice, rows: FittedRows, products: Matrix) -> None:
        """Compute the neighbours of a block of rows, from their rows of E."""
        places = np.nan_to_num(rows.space.coordinates(products))
        found = rows.nearest(places)
        self._coordinates[block], self._index[block], self._distances[block] = places, *found
        self._is_filled[block] = True

    def read(self, block: slice) -> tuple[Rows, Matrix]:
        """Return the neighbours of a block of rows, and the distances to them."""
        return np.asarray(self._index[block], dtype=np.intp), np.asarray(self._distances[block])

    def moved_to(self, members: GraphMembers, rows: FittedRows, n_threads: int) -> KeptNeighbours | None:
        """Return the neighbours in a graph with further rows; None if there is no room for them.

        Parameters
        ----------
        members : GraphMembers
            All of these, and further ones.
        rows : FittedRows
            Their coordinates.
        n_threads : int
            Threads.
        """
        if len(members.rows) == len(self.members.rows):
            return self
        moved = KeptNeighbours.empty(len(self._index), members, self._coordinates.shape[1])
        if moved is None:
            return None
        place = np.searchsorted(members.rows, self.members.rows)
        new = np.setdiff1d(np.arange(len(members.rows)), place)
        points, width = np.ascontiguousarray(rows.points[new]), moved._index.shape[1]

        squares = squared_norms(points)

        def move(block: slice) -> None:
            places, index = np.asarray(self._coordinates[block]), place[self._index[block]]
            distances = np.asarray(self._distances[block])
            if width == index.shape[1]:
                moved._index[block], moved._distances[block] = index, distances
                own = squared_norms(places)[:, None]
                squared = own + squares - 2 * (places @ points.T)
                # Rows that a new one may be nearer to than the last of theirs; squares are rounded.
                is_near = squared <= distances[:, -1:] ** 2 + _ROUNDING * (own + squares)
                rows = np.flatnonzero(is_near.any(axis=1))
            else:
                rows = np.arange(len(places))
            if len(rows):
                near, far = nearest_points(points, places[rows], N_NEIGHBORS)
                both, apart = np.hstack([index[rows], new[near]]), np.hstack([distances[rows], far])
                order = np.lexsort((both, apart), axis=1)[:, :width]  # nearest first, ties by number
                moved._index[block.start + rows] = np.take_along_axis(both, order, axis=1)
                moved._distances[block.start + rows] = np.take_along_axis(apart, order, axis=1)

        map_blocks(move, row_blocks(len(self._index), _BLOCK), n_threads)
        moved._coordinates, moved._is_filled = self._coordinates, self._is_filled
        return moved


def keep_neighbours(
    readers: ProductReaders, n_rows: int, before: KeptNeighbours | None, n_threads: int
) -> KeptNeighbours | None:
    """Return the rows' neighbours in the graph, or room for them; None if there is no graph, or none can be kept."""
    graph, members = readers.graph, readers.members
    if graph is None or members is None:
        return None
    if before is not None and before.is_whole and np.isin(before.members.rows, members.rows).all():
        return before.moved_to(members, graph, n_threads)
    return KeptNeighbours.empty(n_rows, members, graph.points.shape[1])


def votes_of_block(
    readers: ProductReaders, neighbours: KeptNeighbours | None, block: slice, products: Matrix
) -> Matrix:
    """Return the votes for a block of rows of the fit, whose neighbours in the graph are known, or kept."""
    if neighbours is None or readers.graph is None:
        return readers.votes(products)
    if not neighbours.has(block):
        neighbours.fill(block, readers.graph, products)
    return readers.votes_near(products, readers.graph.weigh(*neighbours.read(block)))


class WatchedProducts:
    """E by rows, as `ViewCrossProducts` has it.

    What `note` returns of a block and its rows of E, in the thread reading it, is kept.
    """

    def __init__(self, cross: ViewCrossProducts, note: Callable[[slice, Matrix], Any]) -> None:
        self._cross, self._note = cross, note
        self._noted: dict[int, Any] = {}  # by the first row of the block
        self.n_rows, self.blocks, self.dtype = cross.n_rows, cross.blocks, cross.dtype
        self.take, self.present_in, self.squared_norm = cross.take, cross.present_in, cross.squared_norm

    def read(self, block: slice) -> Matrix:
        """Return the rows of one of the `blocks` of E."""
        products = self._cross.read(block)
        if block.start not in self._noted:
            self._noted[block.start] = self._note(block, products)
        return products

    def noted(self, block: slice) -> Any:
        """Return what was noted of one of the `blocks`; it is read if it was not yet."""
        if block.start not in self._noted:
            self.read(block)
        return self._noted[block.start]


def watch_votes(
    cross: ViewCrossProducts, readers: ProductReaders, neighbours: KeptNeighbours | None = None
) -> WatchedProducts:
    """Let readers see the rows of E as the solver reads them."""
    return WatchedProducts(cross, partial(votes_of_block, readers, neighbours))
