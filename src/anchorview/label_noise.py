"""Labels that may be wrong: relabel rows whose label the other labels speak against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .crossfit import held_out_probabilities
from .solver.codes import code_gram
from .solver.problem import Problem
from .solver.result import SolverResult

_ROUNDS = 3  # a corrected label helps to judge the others


def correct_labels(
    problem: Problem,
    result: SolverResult,
    codes: npt.NDArray[np.intp],
    n_classes: int,
    threshold: float,
    rng: np.random.RandomState,
) -> npt.NDArray[np.intp]:
    """Return the class numbers of all rows, some of the labelled ones changed.

    Parameters
    ----------
    problem, result
        A fit with the labels as given.
    codes : ndarray of shape (n_rows,)
        Class numbers, −1 for unlabelled rows.
    threshold : float
        Probability that another class must reach, judged without the row's own label.
    """
    corrected = codes.copy()
    labelled = np.flatnonzero(codes >= 0)
    gram = code_gram(result.encoded, problem.weights)
    rows = sparse.csr_array(result.encoded[labelled])
    for _ in range(_ROUNDS):
        classes = corrected[labelled]
        found = held_out_probabilities(
            problem, gram, rows, classes, n_classes, rng, start=result.embedding, rule="knn", n_neighbors=7
        )
        best = np.nan_to_num(found).argmax(axis=1)
        sure = np.nan_to_num(found).max(axis=1) >= threshold
        changed = sure & (best != classes)
        left = np.bincount(classes[~changed], minlength=n_classes)
        changed &= left[classes] > 0  # no class loses all its rows
        if not changed.any():
            break
        corrected[labelled[changed]] = best[changed]
    return corrected
