"""Coordinates of rows by their codes, which know nothing of the labels: alike where rows use the same landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, unit_rows, unit_sparse_rows
from ..engine.blocks import one_blas_thread, row_blocks
from ..solver.codes import Codes, code_gram

_N_DIRECTIONS = 50
_MOST_ROWS = 20_000  # that the directions are learned from: their covariance is known to a per cent by then
_BLOCK = 16_384  # rows in double precision at a time


@dataclass(frozen=True, eq=False)
class CodeSpace:
    """The leading directions of unit codes.

    Attributes
    ----------
    directions : ndarray of shape (n_landmarks, p)
        In which rows have coordinates.
    """

    directions: Matrix

    def coordinates(self, codes: Codes) -> Matrix:
        """Return rows of unit length, for codes in memory or in a store; zero where a code is."""
        parts = [self._place(codes[block]) for block in row_blocks(codes.shape[0], _BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, self.directions.shape[1]))

    def _place(self, codes: sparse.csr_array) -> Matrix:
        return unit_rows(_unit(codes) @ self.directions)


def fit_code_space(codes: Codes) -> CodeSpace:
    """Return the space of codes, by rows spread evenly over all of them.

    Examples
    --------
    >>> codes = sparse.csr_array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> places = fit_code_space(codes).coordinates(codes)
    >>> (places @ places.T).round(6)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n_rows, m = codes.shape
    step = -(-n_rows // _MOST_ROWS)
    gram = np.zeros((m, m))
    for block in row_blocks(n_rows, _BLOCK * step):
        gram += code_gram(_unit(codes[block][::step]))
    with one_blas_thread():  # several round otherwise, and take seconds for so small a matrix on a busy machine
        return CodeSpace(np.linalg.eigh(gram)[1][:, -_N_DIRECTIONS:])


def code_coordinates(codes: Codes) -> Matrix:
    """Return the coordinates of the rows of a fit."""
    return fit_code_space(codes).coordinates(codes)


def _unit(codes: sparse.csr_array) -> sparse.csr_array:
    return unit_sparse_rows(sparse.csr_array(codes).astype(np.float64))
