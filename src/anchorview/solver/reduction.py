"""Sums over the codes of some rows, as far as J needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .codes import code_gram

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reduction:
    """Weighted sums over rows. Those of blocks add up; those of moved rows are exchanged by a difference."""

    gram: Matrix  # Σ w z zᵀ
    fit: float  # Σ w eᵀz
    total: float  # Σ w 1ᵀz
    quadratic: float = 0.0  # Σ w zᵀ G_p z with missing views; else ⟨G, Σ w z zᵀ⟩ says the same and this stays 0

    @classmethod
    def zero(cls, n_landmarks: int) -> Reduction:
        """Return the sums over no rows."""
        return cls(np.zeros((n_landmarks, n_landmarks)), 0.0, 0.0)

    def __add__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram + other.gram,
            self.fit + other.fit,
            self.total + other.total,
            self.quadratic + other.quadratic,
        )

    def __sub__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram - other.gram,
            self.fit - other.fit,
            self.total - other.total,
            self.quadratic - other.quadratic,
        )


def reduce_codes(
    codes: sparse.csr_array,
    cross: npt.NDArray[np.floating],
    weights: Matrix | None = None,
    groups: Sequence[tuple[Matrix, npt.NDArray[np.intp]]] = (),
) -> Reduction:
    """Sum over the rows of a block.

    Parameters
    ----------
    codes : csr_array of shape (rows, m)
        z of each row, with sorted indices.
    cross : ndarray of shape (rows, m)
        e of each row.
    weights : ndarray of shape (rows,), optional
        w of each row, one by default.
    groups : sequence of (ndarray of shape (m, m), ndarray of int)
        With missing views: each Gram matrix G_p with the rows it belongs to.
    """
    from .code_kernels import dot_codes, quadratic_codes

    arrays = codes.indptr, codes.indices, codes.data
    each = np.ones(codes.shape[0]) if weights is None else weights
    if weights is None:
        total = float(codes.data.sum(dtype=np.float64))
    else:
        total = float(np.repeat(weights, np.diff(codes.indptr)) @ codes.data)
    quadratic = sum(float(quadratic_codes(*arrays, each, gram, rows)) for gram, rows in groups)
    return Reduction(code_gram(codes, each), dot_codes(*arrays, each, cross), total, quadratic)
