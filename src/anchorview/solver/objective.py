"""The objective J(A, Z), its parts, and the gradient of the coupling term with respect to the codes.

Everything here depends on the codes through m×m reductions, except the gradient of a row, which needs that row
only. Letters as in `problem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Rows
from .codes import Codes, map_codes
from .problem import EPSILON, Problem


@dataclass(frozen=True)
class CodeSums:
    """What J needs to know of all codes together; with weights, a row of weight w counts w times."""

    gram: Matrix  # W = ZᵀZ
    fit: float  # ⟨E, Z⟩
    total: float  # ‖Z‖₁
    must: Matrix | None  # Z_lᵀ L_M Z_l
    cannot: Matrix | None  # Z_lᵀ L_C Z_l
    quadratic: float | None = None  # Σ_i z_iᵀ G_p(i) z_i; None if all rows have all views: then it is ⟨G, W⟩

    @property
    def degrees(self) -> Matrix:
        """The degrees q = ZᵀZ 1, kept above ε_q so that a landmark without samples does no harm."""
        result: Matrix = np.maximum(self.gram.sum(axis=1), EPSILON)
        return result


def landmark_graph(gram: Matrix, degrees: Matrix) -> Matrix:
    """Return N = D^-½ W D^-½, the normalised graph of the landmarks; φ_s is the trace of I − N along A."""
    inverse_root = degrees**-0.5
    return inverse_root[:, None] * gram * inverse_root


def trace_ratio_matrices(
    smooth: Matrix | None, must: Matrix | None, cannot: Matrix | None, problem: Problem
) -> tuple[Matrix, Matrix]:
    """Return L_d and L_f of the trace-ratio problem (paper, eq. solve A2) from the quadratic forms of its terms.

    These are I − D^-½ W D^-½, Z_lᵀ L_M Z_l and Z_lᵀ L_C Z_l, in the space of the landmarks or of some directions in it;
    None for a term that the model leaves out.
    """
    m = next(len(term) for term in (smooth, must, cannot, problem.gram) if term is not None)
    between = np.eye(m) * (EPSILON / problem.n_components)
    if cannot is not None:
        between += cannot
    within = np.zeros((m, m))
    if must is not None:
        within += problem.must_link_weight * must
    if smooth is not None:
        within += smooth
    return between, within


def embedding_matrices(problem: Problem, sums: CodeSums) -> tuple[Matrix, Matrix]:
    """Return L_d and L_f for the codes behind `sums`."""
    smooth = np.eye(len(sums.gram)) - landmark_graph(sums.gram, sums.degrees) if problem.smoothness else None
    return trace_ratio_matrices(smooth, sums.must, sums.cannot, problem)


@dataclass(frozen=True)
class CouplingTerms:
    """Numerator τ₁ = φ_s + λ_M φ_M and denominator τ₂ = φ_C + ε of the coupling term; 1 without φ_C."""

    numerator: float
    denominator: float

    @property
    def ratio(self) -> float:
        """τ₁ / τ₂."""
        return self.numerator / self.denominator


def evaluate_coupling(
    problem: Problem, embedding: Matrix, gram: Matrix, degrees: Matrix, must: float | None, cannot: float | None
) -> CouplingTerms:
    """Evaluate τ₁ and τ₂, given φ_M and φ_C. Tr(AAᵀ) is k, and m where columns of A were scaled to unit length."""
    numerator = 0.0
    if must is not None:
        numerator += problem.must_link_weight * must
    if problem.smoothness:
        scaled = embedding * degrees**-0.5
        numerator += float(np.vdot(embedding, embedding)) - _trace(scaled, gram)
    return CouplingTerms(numerator, 1.0 if cannot is None else cannot + EPSILON)


def coupling_terms(problem: Problem, sums: CodeSums, embedding: Matrix) -> CouplingTerms:
    """Evaluate τ₁ and τ₂ for the codes behind `sums`."""
    must = None if sums.must is None else _trace(embedding, sums.must)
    cannot = None if sums.cannot is None else _trace(embedding, sums.cannot)
    return evaluate_coupling(problem, embedding, sums.gram, sums.degrees, must, cannot)


def objective(problem: Problem, sums: CodeSums, embedding: Matrix) -> float:
    """Evaluate J(A, Z)."""
    terms = coupling_terms(problem, sums, embedding)
    quadratic = float(np.vdot(problem.gram, sums.gram)) if sums.quadratic is None else sums.quadratic
    return (
        0.5 * problem.squared_norm
        - sums.fit
        + 0.5 * quadratic
        + problem.l1 * sums.total
        + 0.5 * problem.ridge * float(np.trace(sums.gram))
        + problem.coupling * terms.numerator / terms.denominator
    )


@dataclass(frozen=True)
class CouplingGradient:
    """∇g at some (A, Z), ready to be evaluated row by row.

    For a row z, with P = A D^-½:  ∇g = −(2β/τ₂) Pᵀ P z + (1ᵀz) γ + (γᵀz) 1 + Aᵀ c, where γ is the derivative of φ_s
    through the degrees and c = β (2 λ_M/τ₂ (L_M F) − 2 τ₁/τ₂² (L_C F)) is non-zero for labelled rows only. All this is
    per copy of a row: for a row of weight w, ∂g/∂z is w times as large, and c above is divided by w.
    """

    embedding: Matrix  # A
    smooth: Matrix  # sqrt(2β/τ₂) P
    degree: Matrix  # γ
    label_pull: Matrix  # c, one row per labelled row
    label_curvature: float  # largest curvature of the must-link term, which is convex in the labelled rows

    def of_unlabelled(self, codes: sparse.csr_array) -> Matrix:
        """Return the part that every row has, as a dense block."""
        projected = codes @ self.smooth.T
        result: Matrix = -projected @ self.smooth
        result += np.asarray(codes.sum(axis=1))[:, None] * self.degree
        result += (codes @ self.degree)[:, None]
        return result

    def bound(self, codes: sparse.csr_array) -> Matrix:
        """Return an upper bound of max |∇g| per row (unlabelled part), without forming the rows."""
        return _bound_gradient(codes, self.smooth, self.degree)

    def rows_above(self, tol: float, codes: Codes, blocks: Sequence[slice], n_threads: int = 1) -> Rows:
        """Return the rows whose bound is above `tol`, ascending.

        By blocks of rows: SciPy would else copy all codes in double precision.
        """
        work = partial(_find_above, smooth=self.smooth, degree=self.degree, tol=tol)
        return np.concatenate([np.empty(0, dtype=np.intp), *map_codes(work, codes, blocks, n_threads)])


def _bound_gradient(codes: sparse.csr_array, smooth: Matrix, degree: Matrix) -> Matrix:
    longest, largest = np.sqrt((smooth**2).sum(axis=0).max()), np.abs(degree).max()
    bound: Matrix = np.linalg.norm(codes @ smooth.T, axis=1) * longest
    bound += np.asarray(codes.sum(axis=1)) * largest
    bound += np.abs(codes @ degree)
    return bound


def _find_above(codes: sparse.csr_array, block: slice, smooth: Matrix, degree: Matrix, tol: float) -> Rows:
    above: Rows = np.flatnonzero(_bound_gradient(codes, smooth, degree) > tol) + block.start
    return above


def coupling_gradient(
    problem: Problem,
    sums: CodeSums,
    embedding: Matrix,
    labelled_codes: sparse.csr_array,
    must_curvature: float | None = None,
) -> CouplingGradient:
    """Prepare ∇g at the codes behind `sums`.

    `must_curvature` is the largest eigenvalue of L_M per copy of a row; needed with weights, else that of L_M itself.
    """
    terms = coupling_terms(problem, sums, embedding)
    beta, m = problem.coupling, len(problem.gram)
    pull = np.zeros((labelled_codes.shape[0], len(embedding)))
    embedded = labelled_codes @ embedding.T
    curvature = 0.0
    if problem.must is not None:
        largest = problem.must.largest_eigenvalue() if must_curvature is None else must_curvature
        curvature = 2 * beta * problem.must_link_weight / terms.denominator * largest
        pull += 2 * beta * problem.must_link_weight / terms.denominator * problem.must.apply(embedded)
    if problem.cannot is not None:
        pull -= 2 * beta * terms.numerator / terms.denominator**2 * problem.cannot.apply(embedded)
    if problem.weights is not None:
        weights = problem.weights[problem.labelled]
        pull /= np.where(weights > 0, weights, np.inf)[:, None]
    if not problem.smoothness:
        return CouplingGradient(embedding, np.zeros((1, m)), np.zeros(m), pull, curvature)
    degrees = sums.degrees
    scaled = embedding * degrees**-0.5
    # ∂φ_s/∂d_j = d_j^(-3/2) Σ_l (AᵀA)_jl W_jl d_l^(-1/2), and 0 where the degree sits on its floor ε_q.
    slope = ((embedding.T @ scaled) * sums.gram).sum(axis=1) * degrees**-1.5
    slope[sums.gram.sum(axis=1) <= EPSILON] = 0.0
    weight = beta / terms.denominator
    return CouplingGradient(embedding, np.sqrt(2 * weight) * scaled, weight * slope, pull, curvature)


def _trace(embedding: Matrix, matrix: Matrix) -> float:
    return float(np.vdot(embedding @ matrix, embedding))
