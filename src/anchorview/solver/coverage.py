"""Landmarks that the trace ratio leaves out, and how they get an embedding that is not rounding noise.

Where the landmark graph ZᵀZ falls into more parts than there are classes, the best A sits on the few landmarks of k
parts that the labels tell apart without any distance within; on all others its columns are what rounding leaves,
1e-13 of the largest, and so are the embeddings F = Z Aᵀ of the rows there. Their directions mean nothing.

The landmarks left out pose a trace-ratio problem of their own, the same one restricted to them, and its solution is
added as further rows of A: dimensions in which the first rows are zero. So it goes on while labelled rows use what is
left. Landmarks that no labelled row is linked to have nothing to learn from the graph: they take the embedding of their
own code over the landmarks that have one, and one dimension more, shared by them, which keeps them from looking sure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..core.arrays import Mask, Matrix, Rows
from ..core.progress import Outcome
from .codes import code_gram
from .elastic_net import hessian_of, optimality_tol, solve_codes
from .laplacian import quadratic_forms
from .objective import CodeSums, embedding_matrices
from .problem import EPSILON, Problem
from .result import SolverResult
from .trace_ratio import not_embedded, solve_trace_ratio


@dataclass(frozen=True)
class Coverage:
    """An embedding of all landmarks, and what had to be done for it."""

    embedding: Matrix  # k rows or more, of m columns
    outcomes: tuple[Outcome, ...]


def cover_result(problem: Problem, result: SolverResult) -> SolverResult:
    """Return a solver's result, which leaves landmarks out, with an embedding of all of them."""
    forms = quadratic_forms(problem.must, problem.cannot, sparse.csr_array(result.codes[problem.labelled]))
    sums = CodeSums(code_gram(result.codes, problem.weights), 0.0, 0.0, *forms)
    coverage = cover_landmarks(result.embedding, problem, sums)
    return replace(result, embedding=coverage.embedding, outcomes=(*result.outcomes, *coverage.outcomes))


def cover_landmarks(embedding: Matrix, problem: Problem, sums: CodeSums) -> Coverage:
    """Return the embedding A with further rows for the landmarks that it leaves out; as it is if there are none.

    Of `sums`, what the trace-ratio problem was made of, only the m×m ones are used.
    """
    if not not_embedded(embedding).any():
        return Coverage(embedding, ())
    linked = _linked(sums)
    used = sums.gram.sum(axis=1) > EPSILON
    between, within = embedding_matrices(problem, sums)
    # A part of the graph without labels is as good as any other: which of them A takes in, rounding decides.
    covered = embedding.copy() if linked[used].all() else np.empty((0, len(linked)))
    left = np.flatnonzero(linked)
    if len(covered):
        covered[:, not_embedded(embedding)] = 0.0
        left = left[not_embedded(embedding)[left]]
    outcomes: list[Outcome] = []
    while len(left):
        square = np.ix_(left, left)
        part = solve_trace_ratio(between[square], within[square], min(problem.n_components, len(left)), tol=1e-3)
        rest = not_embedded(part.embedding)
        further = np.zeros((len(part.embedding), len(linked)))
        further[:, left[~rest]] = part.embedding[:, ~rest]
        covered = np.vstack([covered, further])
        left = left[rest]
        if len(covered) > problem.n_components:
            outcomes = [Outcome.GRAPH_IN_PARTS]
    left = np.flatnonzero(not_embedded(covered))
    if len(left):
        covered = _fill_in(covered, left, problem)
        if used[left].any():
            apart = np.zeros((1, covered.shape[1]))
            apart[0, left] = np.linalg.norm(covered[:, left], axis=0)
            covered = np.vstack([covered, apart])
            outcomes.append(Outcome.ROWS_NOT_LINKED)
    return Coverage(covered, tuple(outcomes))


def _linked(sums: CodeSums) -> Mask:
    """Tell which landmarks lie in a part of the graph that rows with labels or pairs use; without any, all in use."""
    parts = connected_components(sparse.csr_array(sums.gram > 0), directed=False)[1]
    known = np.zeros(len(parts), dtype=bool)
    for form in (sums.must, sums.cannot):
        if form is not None:
            known |= np.diagonal(form) > 0
    if not known.any():
        known = sums.gram.sum(axis=1) > EPSILON
    return np.isin(parts, parts[known])


def _fill_in(embedding: Matrix, left: Rows, problem: Problem) -> Matrix:
    """Give landmarks the embedding of their codes over the others; zero where they resemble none of them."""
    others = np.setdiff1d(np.arange(embedding.shape[1]), left)
    gram = problem.gram[np.ix_(others, others)]
    dtype = np.dtype(np.float64)
    codes = solve_codes(
        hessian_of(gram, problem.ridge, dtype), problem.gram[np.ix_(left, others)], optimality_tol(gram, dtype)
    )
    filled = embedding.copy()
    filled[:, left] = (codes @ embedding[:, others].T).T
    return filled
