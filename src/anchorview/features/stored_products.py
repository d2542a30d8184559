"""E of rows whose features are not here: as a saved run keeps it."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..core.arrays import Matrix, Presence, Rows
from ..engine.blocks import block_rows, row_blocks


class StoredProducts:
    """E by rows, as `ViewCrossProducts` has it, from an array.

    Parameters
    ----------
    products : ndarray of shape (n_rows, n_landmarks)
        All rows of E.
    squared_norm : float
        Σ_v ‖X_v‖².
    present : ndarray of bool of shape (n_rows, n_views), or None
        Which rows have which view.
    """

    def __init__(self, products: Matrix, squared_norm: float, present: Presence = None) -> None:
        self._products, self._squared_norm, self._present = products, squared_norm, present
        self.n_rows, self.dtype = len(products), products.dtype
        self.is_double = products.dtype == np.float64
        self.blocks = row_blocks(self.n_rows, block_rows(self.n_rows))

    def read(self, block: slice) -> Matrix:
        """Return the rows of one of the `blocks` of E."""
        return self._products[block]

    def take(self, rows: Rows) -> Matrix:
        """Return rows of E by their numbers."""
        return self._products[rows]

    def present_in(self, index: slice | Rows) -> Presence:
        """Return which of some rows have which view; None, always, if every row has every view."""
        return None if self._present is None else self._present[index]

    def squared_norm(self) -> float:
        """Return Σ_v ‖X_v‖² over all rows."""
        return self._squared_norm

    def computed_anew(self) -> Self:
        """Return the same: there is nothing else to compute it from."""
        return self

    def as_new(self) -> Self:
        """Return the same."""
        return self

    def keep_blocks(self) -> None:
        """Keep nothing more."""
