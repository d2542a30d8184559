"""ADMM, the side of the landmarks: everything of size m, in float64, between two passes over the rows.

It sees the rows only through W = ZᵀZ and the codes Z_l of the labelled rows. Here are the A step, the
coupling ratio τ₁/τ₂ = (φ_s + λ_M φ_M) / (φ_C + ε) and the step for the degrees q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Matrix
from ..laplacian import Laplacian
from ..objective import CouplingTerms, evaluate_coupling, landmark_graph, trace_ratio_matrices
from ..problem import EPSILON, Problem
from ..trace_ratio import TraceRatio, solve_trace_ratio

DEGREE_TRUST = 0.1  # how far, relatively, the guarded q may be from the degrees of Z


@dataclass(frozen=True)
class LandmarkSummary:
    """What the landmarks know of the codes: W = ZᵀZ and Z_l."""

    gram: Matrix
    labelled: Matrix

    @property
    def degrees(self) -> Matrix:
        """W 1, what q stands for."""
        result: Matrix = self.gram.sum(axis=1)
        return result

    @property
    def positive_degrees(self) -> Matrix:
        """W 1, but no less than ε_q."""
        return np.maximum(self.degrees, EPSILON)


def embedding_step(problem: Problem, summary: LandmarkSummary, degrees: Matrix, start: Matrix | None) -> TraceRatio:
    """Solve the A step (eq. solve A2) for the degrees q, from the A of the previous iteration."""
    smooth = np.eye(len(degrees)) - landmark_graph(summary.gram, degrees) if problem.smoothness else None
    must = None if problem.must is None else _sandwich(problem.must, summary.labelled)
    cannot = None if problem.cannot is None else _sandwich(problem.cannot, summary.labelled)
    matrices = trace_ratio_matrices(smooth, must, cannot, problem)
    return solve_trace_ratio(*matrices, problem.n_components, start=start)


def coupling(problem: Problem, summary: LandmarkSummary, embedding: Matrix, degrees: Matrix) -> CouplingTerms:
    """Return τ₁ and τ₂ for the degrees q."""
    embedded = summary.labelled @ embedding.T
    must = None if problem.must is None else float(np.vdot(embedded, problem.must.apply(embedded)))
    cannot = None if problem.cannot is None else float(np.vdot(embedded, problem.cannot.apply(embedded)))
    return evaluate_coupling(problem, embedding, summary.gram, degrees, must, cannot)


def pair_gradient(problem: Problem, summary: LandmarkSummary, embedding: Matrix, now: CouplingTerms) -> Matrix | None:
    """Return β L_pc Z_l Aᵀ (n_l×k): times A, it is what the pairs add to the labelled rows' gradient."""
    if problem.must is None and problem.cannot is None:
        return None
    embedded: Matrix = summary.labelled @ embedding.T
    result = np.zeros_like(embedded)
    if problem.must is not None:
        result += 2 * problem.must_link_weight / now.denominator * problem.must.apply(embedded)
    if problem.cannot is not None:
        result -= 2 * now.numerator / now.denominator**2 * problem.cannot.apply(embedded)
    return problem.coupling * result


def degree_gradient(
    problem: Problem, summary: LandmarkSummary, embedding: Matrix, degrees: Matrix, tau_2: float
) -> Matrix:
    """Return the coupling's gradient in q: (β/τ₂) diag(W D_q^-½ AᵀA D_q^-3/2)."""
    if not problem.smoothness:
        return np.zeros_like(degrees)
    overlap = summary.gram * (embedding.T @ embedding)
    return problem.coupling / tau_2 * degrees**-1.5 * (overlap @ degrees**-0.5)


def update_degrees(
    summary: LandmarkSummary,
    degrees: Matrix,
    gradient: Matrix,
    *,
    step: float,
    penalty: float,
    upper: float,
    guard: bool,
) -> tuple[Matrix, bool]:
    """Return q⁺ = clip(q − η_q ∇Q(q), ε_q, C_q) (eq. update q), and whether the guard had to act.

    ∇Q is the coupling's gradient plus λ₀ (q − W1), so at λ₀ η_q = 1 the step lands at W1 less a small
    correction. Where q was near 0, the factor q^-3/2 makes that correction enormous, and q_j far below the
    degree it stands for makes φ_s arbitrarily negative: a minimum of Q that has nothing to do with the model.
    The guard gives such a q_j the value W1 that the penalty is there to enforce, even beyond C_q.
    """
    moved = np.clip(degrees - step * (gradient + penalty * (degrees - summary.degrees)), EPSILON, upper)
    if not guard:
        return moved, False
    exact = summary.positive_degrees
    far = np.abs(moved - exact) > DEGREE_TRUST * exact
    return np.where(far, exact, moved), bool(far.any())


def unit_columns(embedding: Matrix) -> Matrix:
    """Scale each landmark's embedding to length one, as the released code does after the A step."""
    length = np.linalg.norm(embedding, axis=0)
    return embedding / np.where(length > 0, length, 1.0)


def _sandwich(laplacian: Laplacian, codes: Matrix) -> Matrix:
    return codes.T @ laplacian.apply(codes)
