"""The paper's solver: Algorithm 1, an alternating direction method of multipliers (ADMM).

Each iteration updates A (a trace ratio), Z and q (one projected gradient step each), then B and the
multiplier Λ. What has the size of the landmarks is in `landmarks`, the rows are in `rows`; here is
the order of things, and the safeguard: at the paper's own λ = 100 its step η = 1/λ comes with no guarantee.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ...core.arrays import LONG, PARALLEL, Matrix
from ...core.progress import Iteration, Outcome, ProgressCallback
from ...engine.blocks import one_blas_thread
from ..codes import replace_rows
from ..problem import CrossProducts, Problem
from ..result import SolverResult
from ..trace_ratio import TraceRatio
from .landmarks import coupling, degree_gradient, embedding_step, pair_gradient, unit_columns, update_degrees
from .rows import Proposal, RowStates
from .step import Push, ReplayEncoder, RowModel

SUFFICIENT = 1e-4  # Armijo's constant: the share of the first-order decrease that a step must reach
MAX_HALVINGS = 40


def solve_admm(
    problem: Problem,
    cross: CrossProducts,
    *,
    max_iter: int = 30,
    tol: float = 1e-3,
    mode: Literal["paper", "released"] = "paper",
    fixed_step: bool = False,
    dtype: npt.DTypeLike | None = None,
    penalty: float = 100.0,
    degree_penalty: float = 100.0,
    upper: float = 1.0,
    n_threads: int = 1,
    callback: ProgressCallback | None = None,
) -> SolverResult:
    """Solve the paper's model by the paper's algorithm.

    The model is the paper's, with q in the place of the degrees of Z and ‖q − ZᵀZ1‖² as a penalty. A ridge μ,
    which the paper does not have, enters as the smooth term (μ/2)‖Z‖² of the Z step; μ = 0 is the paper. Without φ_s
    there is no q and no penalty on it. `objective_history` of the result holds the augmented Lagrangian.

    Parameters
    ----------
    tol : float
        Stop when no entry of B or Z changed by more, and none of B differs by more from Z.
    mode : {"paper", "released"}
        "released" does what the authors' code does and the paper does not say: each row of Z is divided by
        its sum after each clip, and each landmark's embedding is scaled to length one after the A step.
    fixed_step : bool
        True keeps the paper's steps 1/λ whatever happens. False keeps them where they descend, and else
        halves the Z step and resets q; see Notes. In mode "released" only q is guarded: dividing by row sums
        is no descent step at any length, and it bounds Z by itself.
    dtype : dtype, optional
        Of the row states, float32 or float64; by default float32 if that suffices for landmarks of their length. What
        has the size of the landmarks is float64.
    penalty, degree_penalty, upper : float
        λ, λ₀ and m_Z.

    Notes
    -----
    What must descend is the augmented Lagrangian with q at its constraint, q = ZᵀZ1. The paper's own block
    objectives cannot serve. P(Z) rises in nearly every good iteration: Z moves its degrees away from a q that
    has yet to follow, and λ₀ makes that dear. Q(q) has spurious minima: a q_j near ε_q under a landmark that
    is in use makes φ_s hugely negative. At q = ZᵀZ1, φ_s ≥ 0; and near there the q step leaves λ₀r equal to
    the derivative of the ratio by the degrees, so the paper's step is a gradient step for what is tested.
    """
    if mode not in ("paper", "released"):
        raise ValueError(f"mode must be 'paper' or 'released', got {mode!r}.")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter}.")
    if dtype is None:
        squares = np.diagonal(problem.gram)
        is_double = squares.max() > LONG or problem.gram.mean() > PARALLEL * squares.mean()
        dtype = np.float64 if is_double else np.float32
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        inverse = _inverse(problem.gram, penalty).astype(dtype)
        model = RowModel(inverse, problem.l1, problem.ridge, penalty, upper, normalise=mode == "released")
        rows = RowStates(model, cross, problem.labelled, n_threads)
        admm = Admm(problem, rows, degree_penalty, fixed_step)
        constant = 0.5 * cross.squared_norm()  # of the data term, which the steps do not need
        ending = admm.run(max_iter, tol, constant, callback)
    outcomes = admm.outcomes(ending)
    codes = rows.finish()
    encoder = ReplayEncoder(model, tuple(admm.pushes))
    # A labelled row's own pairs are no part of a replay: it is read like a new row, as `predict` will read it.
    labelled = encoder.encode(cross.take(problem.labelled))
    return SolverResult(
        embedding=admm.embedding,
        codes=codes,
        encoded=replace_rows(codes, problem.labelled, labelled),
        encoder=encoder,
        objective_history=np.array(admm.objectives) + constant,
        residual_history=np.array(admm.residuals),
        n_iter=len(admm.pushes),
        outcomes=outcomes,
    )


class Admm:
    """The iteration and its state: A and q here, Z, B and Y in `rows`."""

    def __init__(self, problem: Problem, rows: RowStates, degree_penalty: float, fixed_step: bool) -> None:
        self.problem = problem
        self.rows = rows
        self.degree_penalty = degree_penalty if problem.smoothness else 0.0  # λ₀
        self.fixed_step = fixed_step
        self.released = rows.model.normalise
        self.largest_degree = float(len(rows.codes))  # C_q
        # The paper's first q = ZᵀZ1 is 0 at an unused landmark, outside S_2; the released code clips it.
        self.degrees = rows.summary.positive_degrees
        if fixed_step:
            self.degrees = np.minimum(self.degrees, self.largest_degree)
        self.embedding: Matrix = np.zeros((problem.n_components, len(problem.gram)))
        self._orthonormal: Matrix | None = None  # A before its columns are scaled
        self.pushes: list[Push] = []
        self.objectives: list[float] = []
        self.residuals: list[float] = []
        self._gap = np.inf  # ‖B − Z‖∞
        self._notes: set[Outcome] = set()

    def run(self, max_iter: int, tol: float, constant: float, callback: ProgressCallback | None) -> Outcome:
        """Iterate until something ends it; return what did."""
        for number in range(1, max_iter + 1):
            if not (self.update_embedding() and self.update_rows()):
                return Outcome.DIVERGED
            last = Iteration(number, self.objectives[-1] + constant, self.residuals[-1])
            # B = Z as well: while λ_Z keeps all of Z at 0, nothing moves but Λ, which will lift Z in time.
            if max(last.residual, self._gap) <= tol:
                return Outcome.CONVERGED
            if callback is not None and callback(last):
                return Outcome.STOPPED_BY_CALLBACK
        return Outcome.MAX_ITER

    def update_embedding(self) -> bool:
        """Update A; return False, with A as it was, if q leaves no trace ratio to solve."""
        solution = self._embed()
        if not self.fixed_step and (solution is None or solution.guarded):
            # L_f is positive semi-definite for q = W1, not for a q below.
            self.degrees = self.rows.summary.positive_degrees
            self._notes.add(Outcome.STEP_SHORTENED)
            solution = self._embed()
        if solution is None:
            return False
        if solution.guarded:
            self._notes.add(Outcome.DENOMINATOR_GUARDED)
        self._orthonormal = solution.embedding
        self.embedding = unit_columns(solution.embedding) if self.released else solution.embedding
        return True

    def _embed(self) -> TraceRatio | None:
        try:
            solution = embedding_step(self.problem, self.rows.summary, self.degrees, self._orthonormal)
        except (ValueError, ArithmeticError, linalg.LinAlgError):
            if np.array_equal(self.degrees, self.rows.summary.positive_degrees):
                raise  # q is not to blame
            return None
        return solution if np.isfinite(solution.ratio) else None

    def update_rows(self) -> bool:
        """Update Z, q, B and Λ; return False, with Z as it was, if a number overflowed."""
        push, proposal = self._propose()
        summary = proposal.summary
        tau_2 = coupling(self.problem, summary, self.embedding, self.degrees).denominator
        degrees, guarded = update_degrees(
            summary,
            self.degrees,
            degree_gradient(self.problem, summary, self.embedding, self.degrees, tau_2),
            step=1 / self.rows.model.penalty,
            penalty=self.degree_penalty,
            upper=self.largest_degree,
            guard=not self.fixed_step,
        )
        self.rows.swap()
        value, moved, self._gap = self.rows.update_consensus()
        excess = summary.degrees - degrees
        value += self.problem.squared_norm / 2 + self.degree_penalty / 2 * float(excess @ excess)
        value += self.problem.coupling * coupling(self.problem, summary, self.embedding, degrees).ratio
        if not np.isfinite(value):
            self.rows.swap()
            return False
        if guarded or push.step < 1:
            self._notes.add(Outcome.STEP_SHORTENED)
        self.rows.summary, self.degrees = summary, degrees
        self.pushes.append(push)
        self.objectives.append(value)
        self.residuals.append(max(moved, proposal.largest))
        return True

    def _propose(self) -> tuple[Push, Proposal]:
        """Return the Z step: the paper's or, if that does not descend, the guarded one."""
        push, pairs = self._gradient(self.degree_penalty * (self.rows.summary.degrees - self.degrees))
        proposal = self.rows.propose(push, self.embedding, pairs)
        if self.fixed_step or self.released or self._descends(push.step, proposal):
            return push, proposal
        push, pairs = self._exact_gradient()
        for halvings in range(1, MAX_HALVINGS + 1):
            push = replace(push, step=0.5**halvings)
            proposal = self.rows.propose(push, self.embedding, pairs)
            if self._descends(push.step, proposal):
                return push, proposal
        push = replace(push, step=0.0)
        return push, self.rows.propose(push, self.embedding, pairs)

    def _exact_gradient(self) -> tuple[Push, Matrix | None]:
        """Set q = W1; with its derivative in the place of λ₀r, R(Z) is the gradient of what must descend."""
        problem, summary = self.problem, self.rows.summary
        self.degrees = summary.positive_degrees
        tau_2 = coupling(problem, summary, self.embedding, self.degrees).denominator
        price = degree_gradient(problem, summary, self.embedding, self.degrees, tau_2)
        return self._gradient(np.where(summary.degrees < self.degrees, 0.0, price))

    def _descends(self, step: float, proposal: Proposal) -> bool:
        """Tell whether the augmented Lagrangian with q = W1 falls from Z to Z⁺ by Armijo's rule."""
        ratios = [
            self.problem.coupling * coupling(self.problem, codes, self.embedding, codes.positive_degrees).ratio
            for codes in (self.rows.summary, proposal.summary)
        ]
        change = proposal.change + ratios[1] - ratios[0]
        rounding = 10 * float(np.finfo(self.rows.codes.dtype).eps) * (proposal.magnitude + sum(ratios))
        return change <= rounding - SUFFICIENT * self.rows.model.penalty / step * proposal.squared

    def _gradient(self, price: Matrix) -> tuple[Push, Matrix | None]:
        """Write R(Z) as (Z left) right, with λ₀r given; return also the labelled rows' own part of it."""
        now = coupling(self.problem, self.rows.summary, self.embedding, self.degrees)
        weight = 2 * self.problem.coupling / now.denominator if self.problem.smoothness else 0.0
        scaled = weight**0.5 * self.embedding * self.degrees**-0.5
        ones = np.ones_like(price)
        left, right = np.vstack([scaled, ones, price]).T, np.vstack([-scaled, price, ones])
        dtype = self.rows.codes.dtype
        push = Push(np.ascontiguousarray(left, dtype=dtype), right.astype(dtype), 1.0)
        return push, pair_gradient(self.problem, self.rows.summary, self.embedding, now)

    def outcomes(self, ending: Outcome) -> tuple[Outcome, ...]:
        """Return the ending and everything noted on the way."""
        largest = float(linalg.eigvalsh(self.problem.gram)[-1])  # L_h
        if self.rows.model.penalty <= largest + 2 + 2 * largest**2:
            self._notes.add(Outcome.THEOREM_NOT_MET)
        return (ending, *(outcome for outcome in Outcome if outcome in self._notes))


def _inverse(gram: Matrix, penalty: float) -> Matrix:
    """Return (G + λI)⁻¹ for a Gram matrix G.

    By its eigenvalues: of long or nearly parallel landmarks λ can be less than the rounding of G, which would make the
    sum singular. G has no negative eigenvalues but by rounding.
    """
    values, vectors = linalg.eigh(gram, driver="evd")
    result: Matrix = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
    return result
