"""Cross products E = Σ_v X_v U_vᵀ from the users' arrays: scaled and multiplied in blocks, never scaled as a whole."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..scaled_rows import ScaledRows
from ..scaling import BLOCK_ROWS, Presence, ViewsScaler
from ..views import Views

_FEW_ROWS = 16_384  # below this, smaller blocks keep all threads busy
CACHE_BYTES = 64 * 2**20  # E of small data is kept, so that later rounds do not compute it again


class ViewCrossProducts:
    """E by rows, for in-memory arrays and memory maps.

    Parameters
    ----------
    views : Views
        The users' arrays.
    scaler : ViewsScaler
        Fitted scaling.
    landmarks : ndarray of shape (m, d)
        Landmarks in the scaled feature space, views side by side.
    cache : bool
        Keep E in memory if it is small.
    presence : ndarray of bool of shape (n_rows, n_views), optional
        Which rows have which view. A row's products are then those of its own views times V / (views it has), so that
        the weights of the model keep their meaning (design 2.7).
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows, for `squared_norm` only.
    cache_bytes : int
        How much of E counts as small.
    for_prediction : bool
        Each row stands alone: small blocks, so that all threads end together, no cache and no `squared_norm`.
    """

    def __init__(
        self,
        views: Views,
        scaler: ViewsScaler,
        landmarks: npt.NDArray[np.floating],
        cache: bool = True,
        *,
        presence: Presence = None,
        weights: npt.NDArray[np.float64] | None = None,
        cache_bytes: int = CACHE_BYTES,
        for_prediction: bool = False,
    ) -> None:
        self.n_rows = len(views)
        self.presence, self._weights = presence, weights
        self._for_prediction = for_prediction
        self._block_rows = 512 if self.n_rows < _FEW_ROWS else 4096  # never by threads: sums must not depend on them
        if for_prediction:
            self._block_rows, cache = min(self._block_rows, 1024), False
        self.blocks = [
            slice(start, min(start + self._block_rows, self.n_rows))
            for start in range(0, self.n_rows, self._block_rows)
        ]
        self._views, self._scaler = views, scaler
        self._landmarks = np.ascontiguousarray(landmarks.T, dtype=scaler.dtype)
        self._squared_norms: dict[int, float] = {}
        size = self.n_rows * len(landmarks) * scaler.dtype.itemsize
        self._cache: npt.NDArray[np.floating] | None = None
        self._known: npt.NDArray[np.bool_] | None = None
        if cache and size <= cache_bytes:
            self._cache = np.empty((self.n_rows, len(landmarks)), dtype=scaler.dtype)
            self._known = np.zeros(len(self.blocks), dtype=bool)

    def rows(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return some rows of E."""
        if self._cache is not None and self._known is not None:
            number = index.start // self._block_rows if isinstance(index, slice) else -1
            if number >= 0 and self.blocks[number] == index and not self._known[number]:
                self._cache[index] = self._compute(index)
                self._known[number] = True
            if self._known.all() or (number >= 0 and self._known[number]):
                return self._cache[index]
        return self._compute(index)

    def _compute(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        start, stop = (index.start, index.stop) if isinstance(index, slice) else (0, len(index))
        out = np.empty((stop - start, self._landmarks.shape[1]), dtype=self._scaler.dtype)
        squared_norm = 0.0
        for first in range(start, stop, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, stop)
            part = slice(first, last) if isinstance(index, slice) else index[first:last]
            scaled = self._scaler.scale(self._views, part, self.presence)
            products = scaled.product(self._landmarks, out=out[first - start : last - start])
            share = self._shares(part)
            if share is not None:
                products *= share[:, None]
            if not self._for_prediction:
                squared_norm += self._sum_squares(scaled, part, share)
        if isinstance(index, slice):
            self._squared_norms[start] = squared_norm
        return out

    def present(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
        """Return which of some rows have which view; None if every row has every view."""
        return None if self.presence is None else self.presence[index]

    def _shares(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating] | None:
        """V / (views present) of each row."""
        if self.presence is None:
            return None
        count = np.maximum(self.presence[index].sum(axis=1), 1)
        shares: npt.NDArray[np.floating] = (self.presence.shape[1] / count).astype(self._scaler.dtype)
        return shares

    def _sum_squares(
        self, scaled: ScaledRows, index: slice | npt.NDArray[np.intp], share: npt.NDArray[np.floating] | None
    ) -> float:
        if share is None and self._weights is None:
            return scaled.squared_norm()
        squares = scaled.squared_norms().astype(np.float64)
        squares *= 1.0 if share is None else share
        squares *= 1.0 if self._weights is None else self._weights[index]
        return float(squares.sum())

    @property
    def squared_norm(self) -> float:
        """Σ_v ‖X_v‖² over the blocks computed so far: after one pass, over all rows."""
        return float(sum(self._squared_norms[start] for start in sorted(self._squared_norms)))
