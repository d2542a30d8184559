"""Compiled sums over sparse codes."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def dot_codes(indptr: Any, indices: Any, data: Any, weights: Any, cross: Any) -> float:
    """Return ⟨diag(weights) E, Z⟩ in double precision, for CSR codes."""
    total = 0.0
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            total += weights[row] * data[a] * cross[row, indices[a]]
    return total


@njit(cache=True, nogil=True)
def quadratic_codes(indptr: Any, indices: Any, data: Any, weights: Any, gram: Any, rows: Any) -> float:
    """Return Σ w zᵀ G z over some rows of CSR codes."""
    total = 0.0
    for row in rows:
        value = 0.0
        for a in range(indptr[row], indptr[row + 1]):
            line = gram[indices[a]]
            product = 0.0
            for t in range(indptr[row], indptr[row + 1]):
                product += data[t] * line[indices[t]]
            value += data[a] * product
        total += weights[row] * value
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


@njit(cache=True, nogil=True)
def mirror_upper(matrix: Any) -> None:
    """Copy the upper triangle to the lower one, in squares that fit in the cache."""
    m = len(matrix)
    for first in range(0, m, 32):
        for start in range(0, first + 1, 32):
            for i in range(first, min(first + 32, m)):
                for j in range(start, min(start + 32, i)):
                    matrix[i, j] = matrix[j, i]
