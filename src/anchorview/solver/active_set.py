"""The default solver: exact codes row by row, alternating with the trace-ratio step (design 2.2).

Given A, the coupling term g is smooth in Z. Linearised at the current codes Z_t with a proximal term (L/2)‖Z −
Z_t‖², the problem falls apart into one small quadratic problem per row, solved exactly. The new codes are accepted
if J did not rise; otherwise L grows. So J never rises, whatever the parameters.

Two facts keep the rounds cheap. Codes start at the optimum without coupling, so a row whose coupling gradient is below
the tolerance satisfies the optimality conditions as it stands and is left alone: at the usual β only labelled rows
move. And the features are needed only in E, which a round asks for only at the rows that move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.parallel import map_blocks
from .codes import code_gram, replace_rows, stack_codes
from .elastic_net import UPPER, ElasticNetEncoder, hessian_of, optimality_tol, solve_codes
from .objective import CodeSums, CouplingGradient, coupling_gradient, embedding_matrices, objective, sum_codes
from .problem import CrossProducts, Problem
from .result import Iteration, Outcome, ProgressCallback, SolverResult
from .trace_ratio import solve_trace_ratio

_CHUNK = 1024  # rows of a dense working block


@dataclass
class _Reduction:
    """Sums over a block of codes that J needs."""

    gram: npt.NDArray[np.float64]
    fit: float
    total: float


def _reduce(codes: sparse.csr_array, cross: npt.NDArray[np.floating]) -> _Reduction:
    from .code_kernels import dot_codes

    fit = dot_codes(codes.indptr, codes.indices, codes.data, cross)
    return _Reduction(code_gram(codes), fit, float(codes.data.sum(dtype=np.float64)))


@dataclass
class _State:
    """Codes and their sums: the coupling-free codes of all rows, and those of the rows that have moved."""

    encoded: sparse.csr_array
    moved: npt.NDArray[np.intp]
    moved_codes: sparse.csr_array
    gram: npt.NDArray[np.float64]
    fit: float
    total: float

    def codes_of(self, rows: npt.NDArray[np.intp]) -> sparse.csr_array:
        """Return the current codes of some rows (ascending)."""
        place = np.searchsorted(self.moved, rows)
        is_moved = np.isin(rows, self.moved)
        codes = sparse.csr_array(self.encoded[rows])
        return replace_rows(codes, np.flatnonzero(is_moved), sparse.csr_array(self.moved_codes[place[is_moved]]))

    def sums(self, problem: Problem) -> CodeSums:
        """Return the reductions that J needs."""
        return sum_codes(problem, self.gram, self.fit, self.total, self.codes_of(problem.labelled))


def solve_active_set(
    problem: Problem,
    cross: CrossProducts,
    *,
    max_iter: int = 30,
    tol: float = 1e-4,
    n_threads: int = 1,
    callback: ProgressCallback | None = None,
) -> SolverResult:
    """Minimise J(A, Z) by alternating exact codes and the trace-ratio step.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    cross : CrossProducts
        E, by rows.
    max_iter : int
        Upper bound on rounds.
    tol : float
        Stop when the optimality residual max |z − clip(z − ∇J, 0, 1)|, relative to the largest squared norm of a
        landmark, is at or below this.
    n_threads : int
        Blocks worked on at the same time.
    callback : callable, optional
        Called after each round; returns True to stop.
    """
    scale = max(float(np.diagonal(problem.gram).max(initial=0.0)), 1e-30)
    encoder = ElasticNetEncoder(problem.gram, problem.ridge, problem.l1)
    state = _encode_all(encoder, cross, n_threads)
    embedding: npt.NDArray[np.float64] | None = None
    history: list[float] = []
    residuals: list[float] = []
    outcomes: set[Outcome] = set()
    proximal = 0.0
    for number in range(1, max_iter + 1):
        sums = state.sums(problem)
        # J depends on an error of A to second order, so a tolerance of 1e-6 on the ratio costs it nothing.
        matrices = embedding_matrices(problem, sums)
        step = solve_trace_ratio(*matrices, problem.n_components, start=embedding, tol=1e-6)
        embedding = step.embedding
        if step.guarded:
            outcomes.add(Outcome.DENOMINATOR_GUARDED)
        value = objective(problem, sums, embedding)
        gradient = coupling_gradient(problem, sums, embedding, state.codes_of(problem.labelled))
        active = _active_rows(problem, state, gradient, tol * scale)
        work = _RowWork(problem, cross, gradient, active, state.codes_of(active), n_threads)
        residual = work.residual() / scale
        residuals.append(residual)
        if residual > tol:
            state, value, proximal, shortened = _move(problem, state, work, embedding, value, proximal)
            if shortened:
                outcomes.add(Outcome.STEP_SHORTENED)
        history.append(value)
        if callback is not None and callback(Iteration(number, value, residual)):
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
        objective_history=np.array(history),
        residual_history=np.array(residuals),
        n_iter=len(history),
        outcomes=tuple(sorted(outcomes, key=lambda outcome: outcome.name)),
    )


def _encode_all(encoder: ElasticNetEncoder, cross: CrossProducts, n_threads: int) -> _State:
    """Codes of all rows without coupling, and their sums."""

    def encode(block: slice) -> tuple[sparse.csr_array, _Reduction]:
        rows = cross.rows(block)
        codes = encoder.encode(rows)
        return codes, _reduce(codes, rows)

    m = len(encoder.gram)
    if cross.blocks:  # before the threads start, or each of them would do it
        encoder.prepare(cross.rows(slice(0, 1)).dtype)
    blocks, gram, fit, total = [], np.zeros((m, m)), 0.0, 0.0
    for codes, part in map_blocks(encode, cross.blocks, n_threads):
        blocks.append(codes)
        gram += part.gram
        fit += part.fit
        total += part.total
    encoded = stack_codes(blocks, m)
    return _State(encoded, np.empty(0, dtype=np.intp), encoded[:0], gram, fit, total)


def _active_rows(problem: Problem, state: _State, gradient: CouplingGradient, tol: float) -> npt.NDArray[np.intp]:
    """Rows that may violate the optimality conditions: labelled, moved before, or with a gradient above tol."""
    if problem.coupling == 0:
        return np.empty(0, dtype=np.intp)
    is_active = gradient.bound(state.encoded) > tol
    is_active[state.moved] = True
    is_active[problem.labelled] = True
    return np.flatnonzero(is_active)


@dataclass
class _RowWork:
    """The rows that may move in one round, in chunks: their residual, and their new codes for a given L."""

    problem: Problem
    cross: CrossProducts
    gradient: CouplingGradient
    rows: npt.NDArray[np.intp]
    codes: sparse.csr_array
    n_threads: int

    def __post_init__(self) -> None:
        is_labelled = np.isin(self.rows, self.problem.labelled)
        self.chunks = [
            positions[start : start + _CHUNK]
            for positions in (np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled))
            for start in range(0, len(positions), _CHUNK)
        ]
        self.n_labelled_chunks = -(-int(is_labelled.sum()) // _CHUNK)

    def _coupling(self, chunk: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """∇g of the rows of a chunk."""
        rows = self.rows[chunk]
        result = self.gradient.of_unlabelled(self.codes[chunk])
        place = np.searchsorted(self.problem.labelled, rows)
        labelled = np.flatnonzero(np.isin(rows, self.problem.labelled))
        result[labelled] += self.gradient.label_pull[place[labelled]] @ self.gradient.embedding
        return result

    def residual(self) -> float:
        """Return the largest |z − clip(z − ∇J, 0, 1)| over the rows."""

        def of_chunk(chunk: npt.NDArray[np.intp]) -> float:
            codes = self.codes[chunk]
            slope = codes @ self.problem.gram - self.cross.rows(self.rows[chunk]) + self.problem.l1
            slope += self._coupling(chunk)
            dense = codes.toarray().astype(np.float64)
            slope += self.problem.ridge * dense
            return float(np.abs(dense - np.clip(dense - slope, 0.0, UPPER)).max(initial=0.0))

        return max(map_blocks(of_chunk, self.chunks, self.n_threads), default=0.0)

    def solve(self, proximal: float) -> tuple[sparse.csr_array, _Reduction, _Reduction]:
        """Return the new codes of the rows and the reductions of old and new codes.

        In the labelled rows the must-link term is convex along the rows of A, with curvatures between 0 and c:
        linearised alone, steps overshoot and swing once c exceeds the curvature of the row problem. A proximal term
        (c/4) ‖A (z − z_t)‖² for those rows contracts for every curvature in between.
        """
        dtype = self.codes.dtype
        pull = 0.5 * self.gradient.label_curvature * (self.gradient.embedding.T @ self.gradient.embedding)
        grams = (self.problem.gram + pull, self.problem.gram)
        hessians = [hessian_of(gram, self.problem.ridge + proximal, dtype) for gram in grams]
        tol = optimality_tol(self.problem.gram, dtype)

        def of_chunk(number: int) -> tuple[sparse.csr_array, _Reduction, _Reduction]:
            is_labelled = number < self.n_labelled_chunks
            chunk = self.chunks[number]
            old, cross = self.codes[chunk], self.cross.rows(self.rows[chunk])
            linear = cross - self.problem.l1 - self._coupling(chunk) + proximal * old.toarray()
            if is_labelled:
                linear += old @ pull
            new = solve_codes(hessians[0 if is_labelled else 1], linear.astype(dtype), tol, start=old)
            return new, _reduce(old, cross), _reduce(new, cross)

        results = map_blocks(of_chunk, range(len(self.chunks)), self.n_threads)
        stacked = stack_codes([codes for codes, _, _ in results], self.problem.n_landmarks)
        back = np.argsort(np.concatenate(self.chunks))
        new = sparse.csr_array(stacked[back])
        return new, _total([old for _, old, _ in results]), _total([part for _, _, part in results])


def _total(parts: list[_Reduction]) -> _Reduction:
    gram = parts[0].gram.copy()
    for part in parts[1:]:
        gram += part.gram
    return _Reduction(gram, sum(part.fit for part in parts), sum(part.total for part in parts))


def _move(
    problem: Problem,
    state: _State,
    work: _RowWork,
    embedding: npt.NDArray[np.float64],
    value: float,
    proximal: float,
) -> tuple[_State, float, float, bool]:
    """Take new codes with the smallest L tried for which J does not rise; keep the old ones if none does."""
    scale = max(float(np.diagonal(problem.gram).max()), 1e-30)
    slack = 1e-14 * (abs(value) + abs(state.fit) + problem.squared_norm)  # rounding of J itself, summed in float64
    shortened = False
    while proximal <= 1e8 * scale:
        codes, old, new = work.solve(proximal)
        trial = _State(
            state.encoded,
            work.rows,
            codes,
            state.gram + (new.gram - old.gram),
            state.fit + (new.fit - old.fit),
            state.total + (new.total - old.total),
        )
        trial_value = objective(problem, trial.sums(problem), embedding)
        if trial_value <= value + slack:
            return trial, trial_value, proximal / 4, shortened
        proximal = max(4 * proximal, 1e-2 * scale)
        shortened = True
    return state, value, proximal, True
