"""The A step: the trace-ratio problem, by Newton's method on the ratio (paper, eq. solve A2).

Maximise Tr(A L_d Aᵀ) / Tr(A L_f Aᵀ) over the k×m matrices with orthonormal rows. At a given ratio ρ the
best A holds the top-k eigenvectors of L_d - ρ L_f; setting ρ to the ratio that A reaches is a Newton step
on f(ρ) = max Tr(A (L_d - ρ L_f) Aᵀ), whose root is the optimum (Ngo, Bellalij and Saad 2012, Alg. 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TraceRatio:
    """Solution of one trace-ratio problem."""

    embedding: Matrix  # A, k×m with orthonormal rows
    ratio: float
    n_iter: int
    guarded: bool  # the denominator was not positive and had to be shifted


def solve_trace_ratio(
    between: Matrix,
    within: Matrix,
    n_components: int,
    *,
    start: Matrix | None = None,
    tol: float = 1e-8,
    max_iter: int = 50,
) -> TraceRatio:
    """Maximise ``Tr(A between Aᵀ) / Tr(A within Aᵀ)`` over A with orthonormal rows.

    Parameters
    ----------
    between, within : ndarray of shape (m, m)
        L_d and L_f: symmetric, the first positive semi-definite.
    n_components : int
        Number k of rows of A.
    start : ndarray of shape (k, m), optional
        A of the previous round; its ratio is where Newton's method starts.
    tol : float
        Stop when the ratio changes by no more than this, relatively.
    max_iter : int
        Upper bound on eigen-decompositions.
    """
    # L_f is positive definite when its degrees are those of Z; with ADMM's own q it need not be, and a
    # denominator at or below zero would turn the maximum into a pole. A shift keeps every A admissible.
    lowest = float(linalg.eigvalsh(within, subset_by_index=[0, 0])[0])
    floor = 1e-10 * max(float(np.abs(np.diagonal(within)).max()), np.finfo(np.float64).tiny)
    guarded = lowest < -floor
    if lowest < floor:
        within = within + (floor - lowest) * np.eye(len(within))

    embedding = _top_eigenvectors(between, n_components) if start is None else start
    ratio = _trace(embedding, between) / _trace(embedding, within)
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        embedding = _top_eigenvectors(between - ratio * within, n_components)
        previous, ratio = ratio, _trace(embedding, between) / _trace(embedding, within)
        if abs(ratio - previous) <= tol * max(abs(ratio), np.finfo(np.float64).tiny):
            break
    return TraceRatio(_fix_signs(embedding), ratio, n_iter, guarded)


def _trace(embedding: Matrix, matrix: Matrix) -> float:
    return float(np.vdot(embedding @ matrix, embedding))


def _top_eigenvectors(matrix: Matrix, n_components: int) -> Matrix:
    m = len(matrix)
    _, vectors = linalg.eigh(matrix, subset_by_index=[m - n_components, m - 1])
    return np.ascontiguousarray(vectors.T[::-1])


def _fix_signs(embedding: Matrix) -> Matrix:
    """Make each row's largest entry positive, so that equal problems give equal embeddings."""
    largest = embedding[np.arange(len(embedding)), np.abs(embedding).argmax(axis=1)]
    return np.ascontiguousarray(embedding * np.where(largest < 0, -1.0, 1.0)[:, None])
