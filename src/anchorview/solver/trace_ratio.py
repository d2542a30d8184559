"""The A step: the trace-ratio problem, by Newton's method on the ratio (paper, eq. solve A2).

Maximise Tr(A L_d Aᵀ) / Tr(A L_f Aᵀ) over the k×m matrices with orthonormal rows. At a given ratio ρ the
best A holds the top-k eigenvectors of L_d - ρ L_f; setting ρ to the ratio that A reaches is a Newton step
on f(ρ) = max Tr(A (L_d - ρ L_f) Aᵀ), whose root is the optimum (Ngo, Bellalij and Saad 2012, Alg. 4.1).

Where L_f is zero in k directions or more (the landmark graph falls into parts), the ratio has a pole: Newton's method
climbs to whatever rounding makes of zero, and A is what rounding likes. The limit of ever smaller shifts of L_f has an
answer instead: the directions without distance in which L_d is largest, and of equal ones the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..core.arrays import Mask, Matrix

_NEGLIGIBLE = 1e-6  # part of the largest column; eigenvectors of well separated eigenvalues are right to 1e-10
_SHIFT = 1e-14  # of the largest diagonal entry: the rounding of L_f, below which a denominator means nothing
_ZERO = 10 * _SHIFT  # eigenvalues of the shifted L_f below are zero but for rounding
_EQUAL = 1e-10  # of the largest eigenvalue of L_d: those that differ by less are the same


@dataclass(frozen=True)
class TraceRatio:
    """Solution of one trace-ratio problem."""

    embedding: Matrix  # A, k×m with orthonormal rows
    ratio: float
    n_iter: int
    guarded: bool  # the denominator was not positive and L_f had to be shifted
    is_partial: bool  # some landmarks have no embedding but rounding noise: see `coverage`


def solve_trace_ratio(
    between: Matrix,
    within: Matrix,
    n_components: int,
    *,
    start: Matrix | None = None,
    tol: float = 1e-8,
    max_iter: int = 50,
) -> TraceRatio:
    """Maximise ``Tr(A between Aᵀ) / Tr(A within Aᵀ)`` over A with k orthonormal rows.

    L_d and L_f are symmetric, the first is positive semi-definite. Newton's method starts at the ratio of `start`, A of
    the previous round, and stops when the ratio changes by no more than `tol`, relatively: the error left is about the
    square of the last change, as always with it. `max_iter` bounds the eigen-decompositions.
    """
    # A denominator of exactly zero (k separate components that agree with the labels) would be a pole.
    scale = float(np.abs(np.diagonal(within)).max())
    scale = scale if scale > np.finfo(np.float64).tiny else 1.0  # no distance to make small: any A has the same
    within = within + _SHIFT * scale * np.eye(len(within))
    embedding = _top_eigenvectors(between, n_components) if start is None else start
    guarded, at_pole, n_iter = False, False, 0
    ratio = _ratio(embedding, between, within)
    while n_iter < max_iter:
        if not np.isfinite(ratio):
            # With ADMM's own q, L_f need not be positive semi-definite; a shift keeps every A admissible.
            lowest = float(linalg.eigvalsh(within, driver="evd")[0])
            within = within + (_SHIFT * scale - lowest) * np.eye(len(within))
            guarded = True
            ratio = _ratio(embedding, between, within, floor=_SHIFT * scale)
        n_iter += 1
        embedding = _top_eigenvectors(between - ratio * within, n_components)
        previous, ratio = ratio, _ratio(embedding, between, within, floor=_SHIFT * scale if guarded else 0.0)
        if not (guarded or at_pole) and _distance(embedding, within) <= n_components * _ZERO * scale:
            at_pole = True
            without = _directions_without(within, _ZERO * scale)
            if without is not None and len(without) >= n_components:
                embedding = _largest_within(without, between, n_components)
                ratio = _ratio(embedding, between, within, floor=_SHIFT * scale)
                break
        if np.isfinite(ratio) and abs(ratio - previous) <= tol * max(abs(ratio), np.finfo(np.float64).tiny):
            break
    return TraceRatio(_fix_signs(embedding), ratio, n_iter, guarded, bool(not_embedded(embedding).any()))


def not_embedded(embedding: Matrix) -> Mask:
    """Tell which landmarks have no embedding but rounding noise."""
    length = np.linalg.norm(embedding, axis=0)
    result: Mask = length <= _NEGLIGIBLE * length.max(initial=0.0)
    return result


def _ratio(embedding: Matrix, between: Matrix, within: Matrix, floor: float = 0.0) -> float:
    """Return the trace ratio, infinity where its denominator is not positive."""
    denominator = max(_distance(embedding, within), floor)
    return float(np.vdot(embedding @ between, embedding)) / denominator if denominator > 0 else float("inf")


def _distance(embedding: Matrix, within: Matrix) -> float:
    """Return Tr(A L_f Aᵀ)."""
    return float(np.vdot(embedding @ within, embedding))


def _directions_without(within: Matrix, zero: float) -> Matrix | None:
    """Return an orthonormal basis, in rows, of the directions in which L_f is zero; None if it is negative in some."""
    values, vectors = linalg.eigh(within, driver="evd")
    return None if values[0] < -zero else vectors[:, values <= zero].T


def _largest_within(directions: Matrix, between: Matrix, n_components: int) -> Matrix:
    """Return the k directions, among those spanned, in which L_d is largest; of equal ones those of the first columns.

    Parts of the graph without labels are all equal for L_d. Left to the eigen-solver, A would be any mixture of them, a
    different one with every kernel of BLAS.
    """
    values, turn = linalg.eigh(directions @ between @ directions.T, driver="evd")
    vectors = turn.T @ directions
    last = values[-n_components]
    slack = _EQUAL * max(float(values[-1]), np.finfo(np.float64).tiny)
    above, equal = vectors[values > last + slack], vectors[np.abs(values - last) <= slack]
    n_free = n_components - len(above)
    if n_free < len(equal):
        order = (equal / np.arange(1, equal.shape[1] + 1)) @ equal.T
        equal = _top_eigenvectors((order + order.T) / 2, n_free) @ equal
    return np.ascontiguousarray(np.vstack([above[::-1], equal[::-1]]))


def _top_eigenvectors(matrix: Matrix, n_components: int) -> Matrix:
    m = len(matrix)
    try:
        _, vectors = linalg.eigh(matrix, subset_by_index=[m - n_components, m - 1])
    except linalg.LinAlgError:  # the fast driver can fail on many equal eigenvalues; the whole decomposition does not
        vectors = linalg.eigh(matrix, driver="evd")[1][:, m - n_components :]
    return np.ascontiguousarray(vectors.T[::-1])


def _fix_signs(embedding: Matrix) -> Matrix:
    """Make each row's largest entry positive, so that equal problems give equal embeddings."""
    largest = embedding[np.arange(len(embedding)), np.abs(embedding).argmax(axis=1)]
    return np.ascontiguousarray(embedding * np.where(largest < 0, -1.0, 1.0)[:, None])
