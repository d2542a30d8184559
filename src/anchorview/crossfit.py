"""What the model says of labelled rows when it has not seen their labels.

The codes do not depend on the labels (but for the weak coupling), so hiding some labels costs one trace-ratio problem,
not a fit: the embedding of the landmarks is learned again from the other labels, and the hidden rows are judged by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .inference import fit_neighbours
from .solver.objective import embedding_matrices, sum_codes
from .solver.problem import Problem
from .solver.trace_ratio import solve_trace_ratio
from .supervision import label_laplacians

Codes = npt.NDArray[np.intp]


def split_labels(classes: Codes, n_folds: int, rng: np.random.RandomState) -> list[npt.NDArray[np.intp]]:
    """Deal the labelled rows of each class out to folds; a class's only row is never in one.

    Examples
    --------
    >>> import numpy as np
    >>> folds = split_labels(np.array([0, 0, 1, 1, 2]), 2, np.random.RandomState(0))
    >>> sorted(int(row) for fold in folds for row in fold)
    [0, 1, 2, 3]
    """
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    turn = 0
    for number in range(int(classes.max(initial=-1)) + 1):
        rows = rng.permutation(np.flatnonzero(classes == number))
        if len(rows) < 2:
            continue
        # Never a whole class at once: what is left of it must be able to speak for it.
        for place, row in enumerate(rows):
            folds[(turn + place) % n_folds].append(int(row))
        turn += len(rows)
    return [np.sort(np.array(fold, dtype=np.intp)) for fold in folds if fold]


def held_out_probabilities(
    problem: Problem,
    gram: npt.NDArray[np.float64],
    codes: sparse.csr_array,
    classes: Codes,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    start: npt.NDArray[np.float64] | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    rule: str = "nearest",
    n_neighbors: int = 5,
) -> npt.NDArray[np.float64]:
    """Return class probabilities of the labelled rows, each judged by a model that did not see its label.

    Parameters
    ----------
    problem : Problem
        The fit's problem; its supervision is not used.
    gram : ndarray of shape (m, m)
        ZᵀZ over all rows.
    codes : csr_array of shape (n_labelled, m)
        Codes of the labelled rows.
    classes : ndarray of shape (n_labelled,)
        Their class numbers.
    start : ndarray of shape (k, m), optional
        Embedding to start from: that of the fit.

    Returns
    -------
    ndarray of shape (n_labelled, n_classes)
        NaN for a class's only row, which cannot be judged without itself.
    """
    total = np.zeros((len(classes), n_classes))
    times = np.zeros(len(classes))
    for _ in range(n_repeats):
        for hidden in split_labels(classes, n_folds, rng):
            shown = np.setdiff1d(np.arange(len(classes)), hidden)
            must, cannot = label_laplacians(classes[shown], n_classes)
            part = replace(
                problem,
                labelled=shown,
                must=must if problem.must is not None else None,
                cannot=cannot if problem.cannot is not None else None,
                weights=None,
            )
            sums = sum_codes(part, gram, 0.0, 0.0, sparse.csr_array(codes[shown]))
            matrices = embedding_matrices(part, sums)
            embedding = solve_trace_ratio(*matrices, problem.n_components, start=start, tol=1e-4).embedding
            rows = codes @ embedding.T
            judge = fit_neighbours(rows[shown], classes[shown], rule, n_neighbors)
            found = judge.probabilities(judge.evidence(rows[hidden]))
            total[hidden] += found
            times[hidden] += 1
    with np.errstate(invalid="ignore"):
        result: npt.NDArray[np.float64] = total / times[:, None]
    return result
