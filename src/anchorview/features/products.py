"""What a solver works on: rows of E = Σ_v X_v U_vᵀ, from the users' arrays and the landmarks.

Rows are scaled and multiplied in blocks; the scaled features are never held as a whole.

E by rows, of which something is noted while the solver reads it: a later look would compute it again.

E, and scaled rows, of which what a row lacks is filled in from its code: for what compares rows with one another.
"""

from __future__ import annotations

import threading
import weakref
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from scipy import sparse

from ..core.arrays import (
    LONG,
    PARALLEL,
    Mask,
    Matrix,
    Presence,
    Rows,
    Weights,
    column_slices,
    is_sparse,
    keep_array,
    squared_norms,
    weight_present,
)
from ..data.views import Views
from ..engine.blocks import block_rows, one_blas_thread, row_blocks, rows_of
from ..solver.elastic_net import ElasticNetEncoder, code_lengths, complete_products
from ..solver.grams import row_grams
from .scaled import BLOCK_ROWS, ScaledRows, ViewsScaler

_PREDICTION_BLOCK = 1024
CACHE_BYTES = 64 * 2**20  # E of small data is kept, so that later rounds do not compute it again
_KEPT_BYTES = 32 * 2**20  # of prepared landmarks that are kept for the next prediction


@dataclass(frozen=True)
class _Prepared:
    """What all products with the same landmarks share."""

    columns: Matrix  # landmarks as columns, in the precision of the products
    is_double: bool  # whether they are too long, or too parallel, for single precision


_recent: dict[tuple[int, str], tuple[weakref.ref[Matrix], _Prepared]] = {}  # by identity of the landmarks


def _prepare(landmarks: Matrix, dtype: np.dtype[np.floating]) -> _Prepared:
    """Prepare landmarks for products, once for each array of them while it lives: a single row takes less time."""
    key = id(landmarks), dtype.name
    of, prepared = _recent.get(key, (None, None))
    if prepared is not None and of is not None and of() is landmarks:
        return prepared
    squares, mean = squared_norms(landmarks), landmarks.mean(axis=0, dtype=np.float64)
    is_double = bool(squares.max() > LONG or (mean**2).sum() > PARALLEL * squares.mean())
    columns = np.ascontiguousarray(landmarks.T, dtype=np.float64 if is_double else dtype)
    prepared = _Prepared(columns, is_double)
    if columns.nbytes <= _KEPT_BYTES:
        _recent[key] = (
            weakref.ref(landmarks, partial(_recent.pop, key)),
            prepared,
        )  # called with the reference, as default
    return prepared


def landmark_gram(landmarks: Matrix) -> Matrix:
    """Return G = U Uᵀ over all views, in double precision; with one thread, so that its rounding is always the same."""
    wide = landmarks.astype(np.float64)
    with one_blas_thread():
        result: Matrix = wide @ wide.T
    return result


class ViewCrossProducts:
    """E by rows, from arrays in memory and from stores.

    Where rows lack views, by `present`, a row's products are those of its own views times V / (views it has), each view
    counted by its weight, so that the weights of the model keep their meaning (docs/method.md, "Missing views").
    `weights` of the rows are for `squared_norm` only. E is kept in memory if it is no larger than `cache_bytes`. With
    `for_prediction` each row stands alone: small blocks, so that all threads end together, no cache and no sums of
    squares.
    """

    def __init__(
        self,
        views: Views,
        scaler: ViewsScaler,
        landmarks: Matrix,
        *,
        present: Presence = None,
        weights: Weights = None,
        cache_bytes: int = CACHE_BYTES,
        for_prediction: bool = False,
    ) -> None:
        prepared = _prepare(landmarks, scaler.dtype)
        self.is_double, self._landmarks = prepared.is_double, prepared.columns
        self.n_rows, self.dtype = len(views), prepared.columns.dtype
        self._present, self._weights, self._for_prediction = present, weights, for_prediction
        # Never by threads: sums must not depend on them.
        self._block_rows = block_rows(self.n_rows)
        if for_prediction:
            self._block_rows = min(self._block_rows, _PREDICTION_BLOCK)
        self.blocks = row_blocks(self.n_rows, self._block_rows)
        self._views, self._scaler = views, scaler
        self._squares: dict[int, float] = {}  # of blocks that were computed, by their first row
        size = self.n_rows * len(landmarks) * self.dtype.itemsize
        self._cache: Matrix | None = None
        if size <= cache_bytes and not for_prediction:
            self._cache = np.empty((self.n_rows, len(landmarks)), dtype=self.dtype)
        self._known = np.zeros(len(self.blocks), dtype=bool)  # blocks that the cache holds
        self._taken_rows = np.empty(0, dtype=np.intp)  # rows of a store that were asked for by number, and their E
        self._taken = np.empty((0, len(landmarks)), dtype=self.dtype)
        self._lock = threading.Lock()

    def keep_blocks(self) -> None:
        """Keep E of larger data too, in a file: for other labels of the same rows. No error if there is no room."""
        if self._cache is None and not self._for_prediction:
            self._cache = keep_array((self.n_rows, self._landmarks.shape[1]), self.dtype)

    def computed_anew(self) -> Self:
        """Return the same rows, of which nothing is kept: a product of few rows rounds otherwise than one of many."""
        other = copy(self)
        other._cache, other._taken_rows, other._taken = None, self._taken_rows[:0], self._taken[:0]
        return other

    def as_new(self) -> Self:
        """Return the same rows as before any of them was read, with room to keep them if there was."""
        other = self.computed_anew()
        other._known, other._squares = np.zeros_like(self._known), {}
        if self._cache is not None:
            other._cache = keep_array(self._cache.shape, self.dtype)
        return other

    def read(self, block: slice) -> Matrix:
        """Return the rows of one of the `blocks` of E."""
        if self._cache is None:
            return self._compute_block(block)
        number = block.start // self._block_rows
        if not self._known[number]:
            self._cache[block] = self._compute_block(block)
            self._known[number] = True
        return self._cache[block]

    def take(self, rows: Rows) -> Matrix:
        """Return rows of E by their numbers."""
        if self._cache is not None and self._known.all():
            return self._cache[rows]
        return self._take_stored(rows) if self._views.is_stored else self._compute_rows(rows)

    def _take_stored(self, rows: Rows) -> Matrix:
        """Return rows of E; a store is asked for each of them once: rounds want the same ones, the labelled rows."""
        with self._lock:
            new = np.setdiff1d(rows, self._taken_rows)
            size = (len(self._taken_rows) + len(new)) * self._taken.shape[1] * self.dtype.itemsize
            if size > CACHE_BYTES:
                return self._compute_rows(rows)
            if len(new):
                known, products = np.append(self._taken_rows, new), np.vstack([self._taken, self._compute_rows(new)])
                order = np.argsort(known)
                self._taken_rows, self._taken = known[order], products[order]
            return self._taken[np.searchsorted(self._taken_rows, rows)]

    def _compute_rows(self, rows: Rows) -> Matrix:
        out = np.empty((len(rows), self._landmarks.shape[1]), dtype=self.dtype)
        with one_blas_thread():  # several round otherwise
            for part in row_blocks(len(rows), BLOCK_ROWS):
                self._scaler.take(self._views, rows[part], self._present).product(self._landmarks, out=out[part])
        if self._present is not None:
            out *= self._shares(self._present[rows])[:, None]
        return out

    def _compute_block(self, block: slice) -> Matrix:
        out = np.empty((block.stop - block.start, self._landmarks.shape[1]), dtype=self.dtype)
        squares = 0.0
        arrays = [rows_of(array, block) for array in self._views.arrays]  # a store is read once for the whole block
        for part in row_blocks(len(out), BLOCK_ROWS):
            rows = slice(block.start + part.start, block.start + part.stop)
            has_view = None if self._present is None else self._present[rows]
            scaled = self._scaler.scale([rows_of(array, part) for array in arrays], has_view)
            scaled.product(self._landmarks, out=out[part])
            if not self._for_prediction:
                plain = self._present is None and self._weights is None
                squares += _squared_norm(scaled) if plain else self._sum_squares(scaled, rows)
        if self._present is not None:
            out *= self._shares(self._present[block])[:, None]
        self._squares[block.start] = squares
        return out

    def _shares(self, present: Mask) -> Matrix:
        """Return V / (views present) of each row, views counted by their weights."""
        own, total = weight_present(present, self._scaler.view_weights)
        shares: Matrix = (total / np.where(own > 0, own, 1)).astype(self.dtype)
        return shares

    def _sum_squares(self, scaled: ScaledRows, rows: slice) -> float:
        """Return the squares of some rows, times their shares and weights."""
        lengths = np.zeros(scaled.n_rows, dtype=scaled.dtype)
        for _, values in scaled.parts:
            lengths += squared_norms(values)
        squares = lengths.astype(np.float64)
        squares *= 1.0 if self._present is None else self._shares(self._present[rows])
        squares *= 1.0 if self._weights is None else self._weights[rows]
        return float(squares.sum())

    def features(self, index: slice | Rows) -> ScaledRows:
        """Return the scaled features of some rows."""
        read = self._scaler.read if isinstance(index, slice) else self._scaler.take
        return read(self._views, index, self._present)  # type: ignore[arg-type]

    def present_in(self, index: slice | Rows) -> Presence:
        """Return which of some rows have which view; None, always, if every row has every view."""
        return None if self._present is None else self._present[index]

    def squared_norm(self) -> float:
        """Return Σ_v ‖X_v‖² over all rows (not for prediction); blocks that were not read yet are read for it."""
        for block in self.blocks:
            if block.start not in self._squares:
                with one_blas_thread():
                    self._compute_block(block)
        return float(sum(self._squares[block.start] for block in self.blocks))


def _squared_norm(rows: ScaledRows) -> float:
    """Sum the squares of all entries."""
    parts = [values.data if is_sparse(values) else values for _, values in rows.parts]
    with np.errstate(invalid="ignore", over="ignore"):
        return float(sum(np.vdot(part, part) for part in parts))


class CompletedProducts:
    """E by rows, those that lack views completed by their codes."""

    def __init__(self, cross: ViewCrossProducts, encoder: ElasticNetEncoder) -> None:
        self._cross, self._encoder = cross, encoder
        self.n_rows, self.blocks, self.dtype = cross.n_rows, cross.blocks, cross.dtype

    def read(self, block: slice) -> Matrix:
        """Return the rows of one of the `blocks` of E."""
        return complete_products(self._cross.read(block), self._cross.present_in(block), self._encoder)

    def take(self, rows: Rows) -> Matrix:
        """Return rows of E by their numbers."""
        return complete_products(self._cross.take(rows), self._cross.present_in(rows), self._encoder)


def complete_features(
    rows: ScaledRows, cross: Matrix, present: Presence, encoder: ElasticNetEncoder, landmarks: Matrix
) -> ScaledRows:
    """Return scaled rows, zero where they lack a view, with such dense views filled in from their codes.

    Sparse views stay empty: filled in, they would not be sparse. `cross` are the rows of E.
    """
    if present is None or present.all():
        return rows
    assert encoder.grams is not None
    codes = encoder.encode(cross, present)
    lengths = np.zeros(len(cross))
    for gram, places in row_grams(encoder.gram, encoder.grams, present):
        part = sparse.csr_array(codes[places])
        lengths[places] = code_lengths(cross[places], part, part @ gram)
    parts = []
    for covered, values in rows.parts:
        if not is_sparse(values):
            values = values.copy()
            for number, columns in enumerate(column_slices(encoder.grams.sizes)):
                lacking = np.flatnonzero(~present[:, number])
                if covered.start <= columns.start and columns.stop <= covered.stop and len(lacking):
                    filled = lengths[lacking, None] * (codes[lacking] @ landmarks[:, columns])
                    values[lacking, columns.start - covered.start : columns.stop - covered.start] = filled
        parts.append((covered, values))
    return ScaledRows(parts, rows.n_rows, rows.n_features, rows.dtype)
