"""E, and scaled rows, of which what a row lacks is filled in from its code: for what compares rows with one another."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Presence, Rows, column_slices, is_sparse
from ..solver.completion import code_lengths, complete_products
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import row_grams
from .products import ViewCrossProducts
from .scaling import ScaledRows


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
