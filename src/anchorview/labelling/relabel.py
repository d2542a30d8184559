"""Labels that may be wrong: relabel rows whose label the other labels speak against."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows
from ..data.labels import split_labels
from ..solver.codes import code_gram
from ..solver.problem import Problem
from ..solver.result import SolverResult
from .held_out import embed_from_labels, hold_out
from .rule import calibrate_on_seen, keep_labelled

_ROUNDS = 3  # a corrected label helps to judge the others
_N_FOLDS, _N_REPEATS = 5, 2
_N_NEIGHBORS = 7  # that judge a row; a single one may itself have a wrong label


def correct_labels(
    problem: Problem,
    result: SolverResult,
    class_ids: ClassIds,
    n_classes: int,
    threshold: float,
    rng: np.random.RandomState,
) -> ClassIds:
    """Return the class numbers of all rows, some of the labelled ones changed.

    Parameters
    ----------
    problem, result
        A fit with the labels as given.
    class_ids : ndarray of shape (n_rows,)
        Class numbers, −1 for unlabelled rows.
    threshold : float
        Probability that another class must reach, judged without the row's own label.
    """
    corrected = class_ids.copy()
    labelled = np.flatnonzero(class_ids >= 0)
    gram = code_gram(result.encoded, problem.weights)
    codes = sparse.csr_array(result.encoded[labelled])
    for _ in range(_ROUNDS):
        classes = corrected[labelled]
        probabilities = np.nan_to_num(
            held_out_probabilities(problem, gram, codes, classes, n_classes, rng, start=result.embedding)
        )
        best = probabilities.argmax(axis=1)
        changed = (probabilities.max(axis=1) >= threshold) & (best != classes)
        left = np.bincount(classes[~changed], minlength=n_classes)
        changed &= left[classes] > 0  # no class loses all its rows
        if not changed.any():
            break
        corrected[labelled[changed]] = best[changed]
    return corrected


def held_out_probabilities(
    problem: Problem,
    gram: Matrix,
    codes: sparse.csr_array,
    class_ids: ClassIds,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    start: Matrix | None = None,
    n_folds: int = _N_FOLDS,
    n_repeats: int = _N_REPEATS,
    rule: str = "knn",
    n_neighbors: int = _N_NEIGHBORS,
) -> Matrix:
    """Return class probabilities of the labelled rows, each judged by a model that did not see its label.

    Parameters
    ----------
    problem : Problem
        The fit's problem; its supervision is not used.
    gram : ndarray of shape (m, m)
        ZᵀZ over all rows.
    codes : csr_array of shape (n_labelled, m)
        Codes of the labelled rows.
    class_ids : ndarray of shape (n_labelled,)
        Their class numbers.
    start : ndarray of shape (k, m), optional
        Embedding to start from: that of the fit.

    Returns
    -------
    ndarray of shape (n_labelled, n_classes)
        NaN for a class's only row, which cannot be judged without itself.
    """

    def judge(fold: int, hidden: Rows, shown: Rows) -> Matrix:
        embedding = embed_from_labels(
            gram,
            sparse.csr_array(codes[shown]),
            class_ids[shown],
            problem,
            use_must=problem.must is not None,
            use_cannot=problem.cannot is not None,
            start=start,
            tol=1e-4,
        )
        rows = codes @ embedding.T
        judging = calibrate_on_seen(keep_labelled(rows[shown], class_ids[shown], rule, n_neighbors))
        return judging.probabilities(judging.evidence(rows[hidden]))

    folds = [fold for _ in range(n_repeats) for fold in split_labels(class_ids, n_folds, rng)]
    if not folds:
        return np.full((len(class_ids), n_classes), np.nan)
    return hold_out(folds, len(class_ids), judge).mean()
