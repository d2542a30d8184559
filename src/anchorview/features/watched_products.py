"""E by rows, of which something is noted while the solver reads it: a later look would compute it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.arrays import Matrix, Presence, Rows
from .products import ViewCrossProducts


class WatchedProducts:
    """E by rows, as `ViewCrossProducts` has it.

    What `note` returns of a block and its rows of E, in the thread reading it, is kept.
    """

    def __init__(self, cross: ViewCrossProducts, note: Callable[[slice, Matrix], Any]) -> None:
        self._cross, self._note = cross, note
        self._noted: dict[int, Any] = {}  # by the first row of the block
        self.n_rows, self.blocks, self.dtype = cross.n_rows, cross.blocks, cross.dtype

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

    def take(self, rows: Rows) -> Matrix:
        """Return rows of E by their numbers."""
        return self._cross.take(rows)

    def present_in(self, index: slice | Rows) -> Presence:
        """Return which of some rows have which view; None, always, if every row has every view."""
        return self._cross.present_in(index)

    def squared_norm(self) -> float:
        """Return Σ_v ‖X_v‖² over all rows."""
        return self._cross.squared_norm()
