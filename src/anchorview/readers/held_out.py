"""Labelled rows judged by models that did not see their labels: the one loop, and the confidence that rests on it.

An embedding that has seen a row's label puts the row beside its class, so a temperature chosen there is far too sure.
Here the labels of a fold are hidden, the landmarks' embedding is learned again from the others, and the hidden rows
are judged by it. The codes do not depend on the labels (but for the weak coupling), so a fold costs one trace-ratio
problem, not a fit. For confidence even that is made cheap: the problem is solved in a small space that holds its
solution nearly whole. With N = D^-½ ZᵀZ D^-½ its solution is made of top eigenvectors a of
L_C' − ρ (λ_M L_M' + I − N), hence

    (ρ N − (ρ + λ) I) a = Z_lᵀ x    for some x,

since L_M' and L_C' act through the codes Z_l of the labelled rows: a is Z_lᵀ x smoothed by N, near the span of
(I + 2 N) Z_lᵀ. That space knows the rows, but no label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from scipy import sparse
from scipy.special import softmax

from ..core.arrays import ClassIds, Matrix, Rows, softmax_at, temper
from ..data.labels import split_labels
from ..solver.codes import code_gram
from ..solver.coverage import cover_landmarks
from ..solver.laplacian import Laplacian
from ..solver.objective import CodeSums, landmark_graph, trace_ratio_matrices
from ..solver.problem import EPSILON, Problem
from ..solver.result import SolverResult
from ..solver.trace_ratio import solve_trace_ratio
from ..supervision.known import Supervision, supervision_laplacians
from .base import HeldOutLabels
from .nearest import SAME, LabelledNeighbours, calibrate_on_seen, keep_labelled
from .temperature import Mistakes, average_temperature, choose_temperature, log_loss

_N_FOLDS = 3  # 5 and 8 were no better calibrated
_ENOUGH_JUDGED = 200  # rows; with more labels, not every fold is judged
_N_DOUBTS = 5
_GRAM_ROWS = 2000  # rows that the graph of the landmarks is taken from


@dataclass(frozen=True)
class Judged:
    """Scores of labelled rows, each by a model that did not see its label."""

    folds: Sequence[Rows]
    scores: list[Matrix]  # of the rows of each fold
    n_rows: int

    def mean(self) -> Matrix:
        """Return the mean score of each row over the folds that hid it; NaN where none did."""
        total, times = np.zeros((self.n_rows, self.scores[0].shape[1])), np.zeros(self.n_rows)
        for hidden, scores in zip(self.folds, self.scores, strict=True):
            total[hidden] += scores
            times[hidden] += 1
        with np.errstate(invalid="ignore"):
            result: Matrix = total / times[:, None]
        return result


def hold_out(folds: Sequence[Rows], n_rows: int, judge: Callable[[int, Rows, Rows], Matrix]) -> Judged:
    """Hide the rows of each fold in turn, and keep their scores by a model that did not see their labels.

    Parameters
    ----------
    folds : sequence of ndarray
        From `split_labels`, at least one.
    n_rows : int
        Number of rows that the folds are taken from.
    judge : callable
        Takes the number of the fold, its rows and the others, learns from the others, and returns scores of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> folds = [np.array([0]), np.array([1, 2])]
    >>> hold_out(folds, 4, lambda fold, hidden, shown: np.full((len(hidden), 1), float(len(shown)))).mean().ravel()
    array([ 3.,  2.,  2., nan])
    """
    everyone, scores = np.arange(n_rows), []
    for fold, hidden in enumerate(folds):
        scores.append(judge(fold, hidden, np.setdiff1d(everyone, hidden)))
    return Judged(folds, scores, n_rows)


def calibrate(
    rule: LabelledNeighbours,
    problem: Problem,
    result: SolverResult,
    known: Supervision,
    rows: Rows,
    class_balance: str | None = None,
) -> tuple[LabelledNeighbours, HeldOutLabels | None]:
    """Return the rule with temperature and doubt chosen on held-out rows, and these rows with their probabilities.

    If no label can be held out, the rule is calibrated on seen ones, and there are no such rows.

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
    logits, judged = held_out_logits(rule, problem, result, known, rows, class_balance)
    settled = set_confidence(rule, logits, known.class_ids[judged])
    return settled, held_out_labels(judged, known, held_out_shares(settled, logits))


def set_confidence(rule: LabelledNeighbours, logits: Matrix, class_ids: ClassIds) -> LabelledNeighbours:
    """Return the rule with temperature and doubt that suit rows whose labels it has not seen; see `held_out_logits`."""
    if not len(class_ids):
        return calibrate_on_seen(rule)
    if rule.rule == "knn":
        return calibrate_votes(rule, logits, class_ids)
    return replace(rule, temperature=choose_temperature(logits, class_ids, Mistakes()))


def held_out_shares(rule: LabelledNeighbours, logits: Matrix) -> Matrix:
    """Return the probabilities that a rule with its confidence set gives to the rows of `held_out_logits`."""
    return (
        rule.probabilities(logits) if rule.rule == "knn" else softmax_at(logits, rule.temperature)
    )  # votes: doubt is not in yet


def held_out_labels(judged: Rows, known: Supervision, probabilities: Matrix) -> HeldOutLabels | None:
    """Return judged rows, ascending, with their labels and probabilities; None if there are none."""
    if not len(judged):
        return None
    order = np.argsort(judged)
    return HeldOutLabels(judged[order], known.class_ids[judged[order]], probabilities[order])


def calibrate_votes(rule: LabelledNeighbours, logits: Matrix, class_ids: ClassIds) -> LabelledNeighbours:
    """Return a rule of votes with the temperature and the doubt at which the log loss of such rows is least.

    Parameters
    ----------
    rule : LabelledNeighbours
        Without doubt.
    logits : ndarray of shape (n_rows, n_classes)
        Logits of rows whose labels it has not seen.
    class_ids : ndarray of shape (n_rows,)
        Their classes.
    """
    tempered = []
    for doubt in _doubts(logits):
        choice = replace(rule, doubt=float(doubt))
        doubted = choice.logits(logits)
        temperature = choose_temperature(doubted, class_ids, Mistakes())
        loss = log_loss(softmax(doubted / temperature, axis=1), class_ids).mean()
        tempered.append((loss, replace(choice, temperature=temperature)))
    return min(tempered, key=itemgetter(0))[1]


def _doubts(evidence: Matrix) -> Matrix:
    """Return how many votes a class may have beforehand, of which the held-out rows choose.

    At least as if one more row were near, with the usual votes of a hidden row, its label spread over all classes; at
    most as if there were such a row for each class. Never none: hidden rows are all of known classes, so they cannot
    tell how little is known of rows that are farther away than they are.
    """
    votes = np.exp(evidence).sum(axis=1)
    apart = votes < 1 / SAME  # a row beside its double has more votes than any other
    usual = float(np.median(votes[apart] if apart.any() else votes))
    return np.geomspace(usual / evidence.shape[1], usual, _N_DOUBTS)


def held_out_logits(
    rule: LabelledNeighbours,
    problem: Problem,
    result: SolverResult,
    known: Supervision,
    rows: Rows,
    class_balance: str | None = None,
    *,
    enough: int = _ENOUGH_JUDGED,
    reduced: bool = True,
) -> tuple[Matrix, Rows]:
    """Return logits of labelled rows, each from a model that did not see its label, and which rows these are.

    Parameters as those of `calibrate`; with `enough` rows judged, the other folds are left out. A class's only labelled
    row is not judged, and pairs of a row are hidden with its label. Without `reduced`, the embedding is learned in the
    whole space.
    """
    class_ids = known.class_ids[rows]
    folds, asked = folds_to_judge(class_ids, enough)
    if not folds:
        return np.empty((0, len(known.classes))), np.empty(0, dtype=np.intp)
    space = _LabelledSpace(problem, result, reduced)

    def judge(fold: int, hidden: Rows, shown: Rows) -> Matrix:
        embedded = space.embed(_without(known, rows[hidden]), class_balance)
        place = np.searchsorted(problem.labelled, rows)
        judging = keep_labelled(embedded[place[shown]], class_ids[shown], rule.rule, rule.n_neighbors)
        return rule.logits(judging.evidence(embedded[place[asked[fold]]]))

    logits = hold_out(folds, len(rows), judge).scores
    return np.concatenate(logits), rows[np.concatenate(asked)]


def folds_to_judge(class_ids: ClassIds, enough: int = _ENOUGH_JUDGED) -> tuple[list[Rows], list[Rows]]:
    """Return folds of labelled rows to hide in turn, and the rows of each that are to be judged: always the same.

    None if no label can be hidden, or there is one class only. With `enough` rows judged, other folds are left out.
    """
    folds = split_labels(class_ids, _N_FOLDS, np.random.RandomState(0))
    if not folds or len(np.unique(class_ids)) < 2:
        return [], []
    asked = [fold[:: -(-len(fold) // enough)] for fold in folds]  # of a fold, no more rows than are enough
    counts = np.cumsum([len(part) for part in asked])
    n_folds = int(np.argmax(counts >= enough)) + 1 if counts[-1] >= enough else len(folds)
    return folds[:n_folds], asked[:n_folds]


def rows_to_judge(class_ids: ClassIds) -> Rows:
    """Return the rows of all these folds that are to be judged, in their order."""
    return np.concatenate([np.empty(0, dtype=np.intp), *folds_to_judge(class_ids)[1]])


def _without(known: Supervision, rows: Rows) -> Supervision:
    """Hide what is known of some rows: their labels, and their pairs, which could tell the labels."""
    hides = np.zeros(len(known.class_ids), dtype=bool)
    hides[rows] = True
    pairs = None if known.pairs is None else known.pairs.without(hides)
    return replace(known, class_ids=np.where(hides, -1, known.class_ids), pairs=pairs)


class _LabelledSpace:
    """The trace-ratio problem of a fit in the space of the labelled codes, for any subset of the labels.

    Parameters
    ----------
    problem, result
        The fit, with all labels.
    reduced : bool
        Use the small space where it is much smaller than the whole one, and no landmark is left out by the fit's
        embedding: which ones are cannot be seen in it.
    """

    def __init__(self, problem: Problem, result: SolverResult, reduced: bool) -> None:
        self.problem = problem
        step = -(-result.encoded.shape[0] // _GRAM_ROWS)
        gram = code_gram(result.encoded[::step], None if problem.weights is None else problem.weights[::step])
        graph = landmark_graph(gram, np.maximum(gram.sum(axis=1), EPSILON))
        smooth = np.eye(len(graph)) - graph
        self.codes: Matrix | sparse.csr_array = sparse.csr_array(result.encoded[problem.labelled])
        self.start = result.embedding[: problem.n_components]
        reduced = reduced and len(result.embedding) == problem.n_components
        basis = _basis(self.codes, graph, problem.n_components) if reduced else None
        self.gram = gram if basis is None else None
        if basis is not None:
            self.codes, smooth = self.codes @ basis, basis.T @ smooth @ basis
            self.start = np.linalg.qr((self.start @ basis).T)[0].T
        self.smooth = smooth if problem.smoothness else np.zeros_like(smooth)

    def embed(self, known: Supervision, class_balance: str | None) -> Matrix:
        """Return the embedding of the fit's labelled rows, learned from what is known."""
        problem = self.problem
        about_labels = known.class_ids, len(known.classes), known.pairs, problem.weights, class_balance
        rows, must, cannot = supervision_laplacians(*about_labels)
        codes = self.codes[np.searchsorted(problem.labelled, rows)]
        forms = (
            _quadratic(None if problem.must is None else must, codes),
            _quadratic(None if problem.cannot is None else cannot, codes),
        )
        matrices = trace_ratio_matrices(self.smooth, *forms, problem)
        # A ratio that is right to 1 % is near enough, and found in one or two steps from that of the fit.
        solved = solve_trace_ratio(*matrices, problem.n_components, start=self.start, tol=1e-2)
        embedding = solved.embedding
        if self.gram is not None and solved.is_partial:
            embedding = cover_landmarks(embedding, problem, CodeSums(self.gram, 0.0, 0.0, *forms)).embedding
        result: Matrix = self.codes @ embedding.T
        return result


def _quadratic(laplacian: Laplacian | None, codes: Matrix | sparse.csr_array) -> Matrix | None:
    """Return codesᵀ L codes."""
    if laplacian is None:
        return None
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


def average_readers(held_out: Sequence[Matrix], class_ids: ClassIds) -> tuple[float, Matrix]:
    """Choose how sure the mean of several readers may be, on held-out labels.

    Returns its temperature, and the probabilities that the rows of `folds_to_judge` get without their labels.

    Parameters
    ----------
    held_out : sequence of ndarray
        Probabilities of these rows by each of the readers, which have not seen them.
    class_ids : ndarray of int
        Of all labelled rows.
    """
    asked = folds_to_judge(class_ids)[1]
    mean: Matrix = np.mean(held_out, axis=0)
    if not asked or len(held_out) == 1:
        return 1.0, mean
    temperature = average_temperature(mean, class_ids[np.concatenate(asked)])
    return temperature, temper(mean, temperature)
