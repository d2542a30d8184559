"""E and codes of rows on a cluster: computed where the rows are, in one pass; codes stay there, sums come here."""

from __future__ import annotations

from dataclasses import dataclass
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, Rows, Weights
from ..data.views import Views
from ..engine.sources.dask_blocks import BlockKind
from ..engine.sources.dask_rows import DaskRows, join_sources
from ..solver.codes import stack_codes
from .products import CACHE_BYTES, ViewCrossProducts
from .scaled import ViewsScaler


@dataclass
class _Sums:
    """What comes back of the codes of some rows: sums, and E of the rows that rounds will ask for."""

    reduction: Any
    squares: float
    n_stored: int
    products: list[Matrix]

    def __iadd__(self, other: _Sums) -> _Sums:
        self.reduction = self.reduction + other.reduction
        self.squares += other.squares
        self.n_stored += other.n_stored
        self.products += other.products
        return self


@dataclass(frozen=True)
class EncodeRows:
    """Scales the rows of a block, and gives their codes and sums; small enough to travel."""

    scaler: ViewsScaler
    landmarks: Matrix
    encode: Any  # `RowEncoding` of the solver

    def __call__(
        self, arrays: list[Any], block: slice, present: Presence, weights: Weights, is_asked_for: Mask
    ) -> tuple[sparse.csr_array, _Sums]:
        """Encode the rows of a block."""
        cross = ViewCrossProducts(
            Views(arrays), self.scaler, self.landmarks, present=present, weights=weights, cache_bytes=0
        )
        codes, reduction, products = [], None, []
        for part in cross.blocks:
            read = cross.read(part)
            found, sums = self.encode(read, cross.present_in(part), None if weights is None else weights[part])
            codes.append(found)
            reduction = sums if reduction is None else reduction + sums
            products.append(read[is_asked_for[part]])
        stacked = stack_codes(codes, len(self.landmarks))
        return stacked, _Sums(reduction, cross.squared_norm(), stacked.nnz, [np.concatenate(products)])


class ClusterCrossProducts(ViewCrossProducts):
    """E of rows on Dask. All codes are computed there (`encode_all`); rows by number come here."""

    def encode_all(self, encode: Any, weights: Weights, asked_for: Rows) -> tuple[DaskRows, Any]:
        """Return the codes of all rows, which stay on the workers, and the sum of their reductions.

        `encode` gives codes and their `Reduction` from rows of E, the views they have, and their weights. `asked_for`
        are the rows (ascending) that `take` will be asked for: their E comes back too, as far as it may be held here.
        """
        m = self._landmarks.shape[1]
        is_asked_for = np.zeros(self.n_rows, dtype=bool)
        is_asked_for[asked_for[: CACHE_BYTES // (m * self.dtype.itemsize)]] = True
        rows = join_sources(self._views.names, self._views.arrays)
        work = EncodeRows(self._scaler, np.ascontiguousarray(self._landmarks.T), encode)
        kept, sums = rows.keep_and_reduce(work, iadd, (self._present, weights, is_asked_for))
        self._total_squares: float = sums.squares
        self._taken_rows, self._taken = np.flatnonzero(is_asked_for), np.concatenate(sums.products)
        kind = BlockKind("codes on Dask", m, self.dtype, True)
        return DaskRows([[task] for task in kept], rows.bounds, kind, sums.n_stored), sums.reduction

    def keep_blocks(self) -> None:
        """Keep nothing here: rows stay on the cluster."""

    def squared_norm(self) -> float:
        """Return Σ_v ‖X_v‖² over all rows, as `encode_all` has found it."""
        return self._total_squares

    def _compute_rows(self, rows: Rows) -> Matrix:
        """Fetch the rows at once, as a store on a cluster answers slowly, and compute here."""
        fetched = self._views[rows]
        present = None if self._present is None else self._present[rows]
        landmarks = np.ascontiguousarray(self._landmarks.T)
        here = ViewCrossProducts(fetched, self._scaler, landmarks, present=present, for_prediction=True)
        return here.take(np.arange(len(rows)))
