"""Compiled sums over sparse codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dot_codes(indptr: Any, indices: Any, data: Any, cross: Any) -> float:
    """Return ⟨E, Z⟩ in double precision, for CSR codes."""
    total = 0.0
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[a]) * cross[row, indices[a]]
    return total


@njit(cache=True, nogil=True)
def add_code_gram(indptr: Any, indices: Any, data: Any, weights: Any, out: Any) -> None:
    """Add Zᵀ diag(weights) Z to the upper triangle of `out`, for CSR codes with sorted indices."""
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            value = weights[row] * data[a]
            target = out[indices[a]]
            for t in range(a, indptr[row + 1]):
                target[indices[t]] += value * data[t]
