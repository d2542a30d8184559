"""Confidence from evidence that was held out: how sure the model may be is judged on rows whose labels it did not see.

An embedding that has seen a row's label puts the row beside its class, so a temperature chosen there is far too sure.
Here the labels of a fold are hidden, the landmarks' embedding is learned again from the others, and the hidden rows
are judged by it. To keep that cheap, the trace-ratio problem is solved in a small space that holds its solution
nearly whole. With N = D^-½ ZᵀZ D^-½ its solution is made of top eigenvectors a of L_C' − ρ (λ_M L_M' + I − N), hence

    (ρ N − (ρ + λ) I) a = Z_lᵀ x    for some x,

since L_M' and L_C' act through the codes Z_l of the labelled rows: a is Z_lᵀ x smoothed by N, near the span of
(I + 2 N) Z_lᵀ. That space knows the rows, but no label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .crossfit import split_labels
from .inference import LabelledNeighbours, choose_temperature, fit_neighbours
from .solver.codes import code_gram
from .solver.problem import EPSILON, Problem
from .solver.result import SolverResult
from .solver.trace_ratio import solve_trace_ratio
from .supervision import Laplacian
from .supervision_input import Supervision

_N_FOLDS = 3  # 5 and 8 were no better calibrated
_ENOUGH_JUDGED = 200  # rows; with more labels, not every fold is judged
_GRAM_ROWS = 2000  # rows that the graph of the landmarks is taken from

Matrix = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def calibrate(
    rule: LabelledNeighbours,
    problem: Problem,
    result: SolverResult,
    known: Supervision,
    rows: Rows,
    class_balance: str | None = None,
) -> LabelledNeighbours:
    """Return the rule with a temperature chosen on held-out rows; as it is if no label can be held out.

    Parameters
    ----------
    rule : LabelledNeighbours
        Made of `rows`.
    problem, result
        The fit.
    known : Supervision
        Its labels and pairs.
    rows : ndarray
        The labelled rows that the rule is made of, ascending.
    class_balance : {"balanced"}, optional
        As in the fit.
    """
    logits, classes = held_out_logits(rule, problem, result, known, rows, class_balance)
    return replace(rule, temperature=choose_temperature(logits, classes)) if len(classes) else rule


def held_out_logits(
    rule: LabelledNeighbours,
    problem: Problem,
    result: SolverResult,
    known: Supervision,
    rows: Rows,
    class_balance: str | None = None,
) -> tuple[Matrix, Rows]:
    """Return logits of labelled rows, each from a model that did not see its label, and their classes.

    Parameters as those of `calibrate`. A class's only labelled row is not judged.
    """
    folds = split_labels(known.codes[rows], _N_FOLDS, np.random.RandomState(0))
    if not folds or known.n_classes < 2:
        return np.empty((0, known.n_classes)), np.empty(0, dtype=np.intp)
    touched = problem.labelled
    space = _ReducedProblem(problem, result)
    found, judged = [], []
    for fold in folds:
        hidden = rows[fold]
        shown, asked = np.setdiff1d(rows, hidden), hidden[:: -(-len(hidden) // _ENOUGH_JUDGED)]
        part = replace(known, codes=np.where(np.isin(np.arange(len(known.codes)), hidden), -1, known.codes))
        embedded = space.embed(part, class_balance)
        judge = fit_neighbours(
            embedded[np.searchsorted(touched, shown)], known.codes[shown], rule.rule, rule.n_neighbors, calibrate=False
        )
        found.append(rule.logits(judge.evidence(embedded[np.searchsorted(touched, asked)])))
        judged.append(known.codes[asked])
        if sum(map(len, judged)) >= _ENOUGH_JUDGED:
            break
    return np.concatenate(found), np.concatenate(judged)


class _ReducedProblem:
    """The trace-ratio problem of a fit in the space of the labelled codes, for any subset of the labels.

    Parameters
    ----------
    problem, result
        The fit, with all labels.
    """

    def __init__(self, problem: Problem, result: SolverResult) -> None:
        self.problem = problem
        step = -(-result.encoded.shape[0] // _GRAM_ROWS)
        gram = code_gram(result.encoded[::step], None if problem.weights is None else problem.weights[::step])
        inverse_root = np.maximum(gram.sum(axis=1), EPSILON) ** -0.5
        graph = inverse_root[:, None] * gram * inverse_root  # N
        self.codes: Matrix | sparse.csr_array = sparse.csr_array(result.encoded[problem.labelled])
        self.start, self.smooth = result.embedding, np.eye(len(graph)) - graph
        basis = _basis(self.codes, graph, problem.n_components)
        if basis is not None:
            self.codes, self.smooth = self.codes @ basis, basis.T @ self.smooth @ basis
            self.start = np.linalg.qr((self.start @ basis).T)[0].T
        if not problem.smoothness:
            self.smooth = np.zeros_like(self.smooth)

    def embed(self, known: Supervision, class_balance: str | None) -> Matrix:
        """Return the embedding of the fit's labelled rows, learned from what is known."""
        rows, must, cannot = known.laplacians(self.problem.weights, class_balance)
        codes = self.codes[np.searchsorted(self.problem.labelled, rows)]
        within, between = self.smooth, np.eye(len(self.smooth)) * (EPSILON / self.problem.n_components)
        if must is not None and self.problem.must is not None:
            within = within + self.problem.must_link_weight * _quadratic(must, codes)
        if cannot is not None and self.problem.cannot is not None:
            between = between + _quadratic(cannot, codes)
        # A ratio that is right to 1 % is near enough, and found in one or two steps from that of the fit.
        solved = solve_trace_ratio(between, within, self.problem.n_components, start=self.start, tol=1e-2)
        result: Matrix = self.codes @ solved.embedding.T
        return result


def _quadratic(laplacian: Laplacian, codes: Matrix | sparse.csr_array) -> Matrix:
    """Return codesᵀ L codes."""
    if isinstance(codes, np.ndarray):
        return np.asarray(codes.T @ laplacian.apply(codes))
    return laplacian.quadratic(sparse.csr_array(codes))


def _basis(codes: sparse.csr_array, graph: Matrix, n_components: int) -> Matrix | None:
    """Orthonormal columns that span (I + 2 N) Z_lᵀ; None, for the whole space, if that is not much larger."""
    n_rows, m = codes.shape
    if n_rows > 0.7 * m or n_rows < n_components:
        return None
    dense = codes.toarray().T
    basis: Matrix = np.linalg.qr(dense + 2 * (graph @ dense))[0]
    return basis
