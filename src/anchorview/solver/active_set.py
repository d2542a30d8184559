"""The default solver: exact codes row by row, alternating with the trace-ratio step.

Given A, the coupling term g is smooth in Z. Linearised at the current codes Z_t with a proximal term (L/2)‖Z −
Z_t‖², the problem falls apart into one small quadratic problem per row, solved exactly. The new codes are accepted
if J did not rise; otherwise L grows. A new A is taken only if J did not rise either. So J never rises by more than its
own rounding, whatever the parameters.

Two facts keep the rounds cheap. Codes start at the optimum without coupling, so a row whose coupling gradient is below
the tolerance satisfies the optimality conditions as it stands and is left alone: at the usual β only labelled rows
move. And the features are needed only in E, which a round asks for only at the rows that move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Presence, Rows, Weights, is_sparse
from ..core.progress import Iteration, Outcome, ProgressCallback
from ..engine.blocks import iter_blocks
from .codes import Codes, CodeStack, Reduction, reduce_codes, replace_rows
from .elastic_net import ElasticNetEncoder
from .grams import PatternGrams, row_grams
from .laplacian import quadratic_forms
from .objective import CodeSums, coupling_gradient, embedding_matrices, objective
from .problem import CrossProducts, Problem
from .result import SolverResult
from .row_work import RowWork, active_rows
from .spectrum import largest_curvature
from .trace_ratio import solve_trace_ratio


@dataclass
class _State:
    """Codes and their sums: the coupling-free codes of all rows, and those of the rows that have moved."""

    encoded: Codes
    moved: Rows
    moved_codes: sparse.csr_array
    reduction: Reduction
    has_missing: bool  # some rows lack views, and have Gram matrices of their own

    def codes_of(self, rows: Rows) -> sparse.csr_array:
        """Return the current codes of some rows (ascending); not to be changed, as they may be the state's own."""
        if np.array_equal(rows, self.moved):  # as from the second round on, mostly
            return self.moved_codes
        if len(self.moved) == 0:
            is_all = len(rows) == self.encoded.shape[0] and is_sparse(self.encoded)
            return self.encoded if is_all else sparse.csr_array(self.encoded[rows])
        place = np.searchsorted(self.moved, rows)
        is_moved = np.isin(rows, self.moved)
        codes = sparse.csr_array(self.encoded[rows])
        return replace_rows(codes, np.flatnonzero(is_moved), sparse.csr_array(self.moved_codes[place[is_moved]]))

    def sums(self, problem: Problem) -> CodeSums:
        """Return the reductions that J needs."""
        part = self.reduction
        quadratic = part.quadratic if self.has_missing else None
        forms = quadratic_forms(problem.must, problem.cannot, self.codes_of(problem.labelled))
        return CodeSums(part.gram, part.fit, part.total, *forms, quadratic)


def solve_active_set(
    problem: Problem,
    cross: CrossProducts,
    *,
    max_iter: int = 30,
    tol: float = 1e-4,
    n_threads: int = 1,
    callback: ProgressCallback | None = None,
    code_stack: Callable[[int], Any] = CodeStack,
    encoded: tuple[Codes, Reduction] | None = None,
) -> SolverResult:
    """Minimise J(A, Z) by alternating exact codes and the trace-ratio step.

    Rounds end when the optimality residual max |z − clip(z − ∇J/s, 0, 1)| is at most `tol`; s is the largest squared
    norm of a landmark. `code_stack` makes what keeps the codes, given m: `CodeStack` in memory, `DiskCodeStack` in
    files. `encoded` are the codes without coupling and their sums, where they are known from a fit of the same rows
    with other labels.
    """
    scale = max(float(np.diagonal(problem.gram).max(initial=0.0)), 1e-30)
    encoder = ElasticNetEncoder(problem.gram, problem.ridge, problem.l1, problem.grams)
    if encoded is None:
        encoded = _encode_all(problem, encoder, cross, n_threads, code_stack)
    has_missing = cross.present_in(slice(0, 1)) is not None
    state = _State(encoded[0], np.empty(0, dtype=np.intp), encoded[0][:0], encoded[1], has_missing)
    constant = 0.5 * cross.squared_norm()  # of the data term, which the steps do not need
    curvature = None
    if problem.weights is not None and problem.must is not None and problem.coupling > 0:
        own_weights = problem.weights[problem.labelled]
        curvature = largest_curvature(problem.must.apply, own_weights, problem.must.largest_eigenvalue)
    embedding: Matrix | None = None
    history: list[float] = []
    residuals: list[float] = []
    outcomes: set[Outcome] = set()
    proximal = 0.0
    for number in range(1, max_iter + 1):
        sums = state.sums(problem)
        # A last change of 1e-3 leaves an error of about 1e-7 of the ratio, on which alone J depends.
        matrices = embedding_matrices(problem, sums)
        step = solve_trace_ratio(*matrices, problem.n_components, start=embedding, tol=1e-3)
        if step.guarded:
            outcomes.add(Outcome.DENOMINATOR_GUARDED)
        value = objective(problem, sums, step.embedding)
        if embedding is None or value <= history[-1]:
            embedding = step.embedding
        else:  # by rounding, where λ_M or β is so large that the ratio is known to few digits
            value = history[-1]
        gradient = coupling_gradient(problem, sums, embedding, state.codes_of(problem.labelled), curvature)
        above = gradient.rows_above(tol * scale, state.encoded, cross.blocks, n_threads)
        active = active_rows(problem, above, state.moved)
        work = RowWork(problem, cross, gradient, active, state.codes_of(active), n_threads)
        residual = work.residual(scale)
        residuals.append(residual)
        if residual > tol:
            state, value, proximal, shortened = _move(problem, state, work, embedding, value, proximal)
            if shortened:
                outcomes.add(Outcome.STEP_SHORTENED)
        history.append(value)
        if callback is not None and callback(Iteration(number, value + constant, residual)):
            outcomes.add(Outcome.STOPPED_BY_CALLBACK)
            break
        if residual <= tol:
            outcomes.add(Outcome.CONVERGED)
            break
    else:
        outcomes.add(Outcome.MAX_ITER)
    assert embedding is not None
    return SolverResult(
        embedding=embedding,
        codes=replace_rows(state.encoded, state.moved, state.moved_codes),
        encoded=state.encoded,
        encoder=encoder,
        objective_history=np.array(history) + constant,
        residual_history=np.array(residuals),
        n_iter=len(history),
        outcomes=tuple(sorted(outcomes, key=attrgetter("name"))),
        sums=encoded[1],
    )


@dataclass(frozen=True)
class RowEncoding:
    """Codes of some rows without coupling, and their sums: all that the rows are needed for; small enough to travel."""

    encoder: ElasticNetEncoder
    gram: Matrix
    grams: PatternGrams | None

    def __call__(
        self, products: Matrix, present: Presence = None, weights: Weights = None
    ) -> tuple[sparse.csr_array, Reduction]:
        """Encode rows of E, with the views that they have and their weights."""
        codes = self.encoder.encode(products, present)
        grams = [] if present is None else row_grams(self.gram, self.grams, present)
        return codes, reduce_codes(codes, products, weights, grams)


def _encode_all(
    problem: Problem,
    encoder: ElasticNetEncoder,
    cross: CrossProducts,
    n_threads: int,
    code_stack: Callable[[int], Any],
) -> tuple[Codes, Reduction]:
    """Codes of all rows without coupling, and their sums; where the rows are, if `cross` can do that."""
    encode = RowEncoding(encoder, problem.gram, problem.grams)

    def of_block(block: slice) -> tuple[sparse.csr_array, Reduction]:
        weights = None if problem.weights is None else problem.weights[block]
        return encode(cross.read(block), cross.present_in(block), weights)

    m = len(problem.gram)
    if hasattr(cross, "encode_all"):
        encoded, reduction = cross.encode_all(encode, problem.weights, problem.labelled)
    else:
        encoder.prepare(np.dtype(cross.dtype))  # before the threads start, or they would wait for the first
        stack, reduction = code_stack(m), Reduction(np.zeros((m, m)), 0.0, 0.0)
        for codes, part in iter_blocks(of_block, cross.blocks, n_threads, "encoding"):  # sums of one block at a time
            reduction = reduction + part
            stack.add(codes)
        encoded = stack.codes()
    return encoded, reduction


def _move(
    problem: Problem,
    state: _State,
    work: RowWork,
    embedding: Matrix,
    value: float,
    proximal: float,
) -> tuple[_State, float, float, bool]:
    """Take new codes with the smallest L tried for which J does not rise; keep the old ones if none does."""
    scale = max(float(np.diagonal(problem.gram).max()), 1e-30)
    # The rounding of J itself, summed in float64.
    slack = 1e-14 * (abs(value) + abs(state.reduction.fit) + problem.squared_norm)
    shortened = False
    while 1e-8 * proximal <= scale:  # not 1e8 * scale, which may overflow: no step would be too short
        codes, old, new = work.solve(proximal)
        trial = replace(state, moved=work.rows, moved_codes=codes, reduction=state.reduction + (new - old))
        trial_value = objective(problem, trial.sums(problem), embedding)
        if trial_value <= value + slack:
            return trial, trial_value, proximal / 4, shortened
        del codes, trial  # not held while others are computed
        proximal = max(4 * proximal, 1e-2 * scale)
        shortened = True
    return state, value, proximal, True
