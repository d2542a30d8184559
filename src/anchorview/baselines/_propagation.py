"""Harmonic labels on a graph: F minimises Tr(Fᵀ L F) with the labelled rows of F fixed."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ..core.arrays import Matrix, Rows
from ._conjugate import conjugate_gradients

_DENSE_ROWS = 500  # up to here a dense factorisation is the quickest
_LARGE_ROWS = 20_000  # from here on a tolerance of 1e-8 does


def harmonic(
    laplacian: sparse.csr_array,
    labelled: Rows,
    targets: Matrix,
    start: Matrix | None = None,
    *,
    dense_rows: int = _DENSE_ROWS,
) -> Matrix:
    """Return F with F_l given (`targets`, at least one row) and F_u = −L_uu⁻¹ L_ul F_l; `start` is a guess of F.

    The Laplacian is singular only along connected components, as D − W and I − D^{−1/2} W D^{−1/2} are. Rows of
    components without a labelled row, where F is not determined, hold the mean of `targets`: the share of each class
    among the labelled rows.

    Examples
    --------
    >>> path = sparse.csr_array([[1.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 1, 0], [0, 0, 0, 0]])
    >>> harmonic(path, np.array([0, 2]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ],
           [0.5, 0.5]])
    """
    n = laplacian.shape[0]
    result = np.empty((n, targets.shape[1]))
    result[:] = targets.mean(axis=0)
    result[labelled] = targets
    unknown = _reachable(laplacian, labelled)
    if len(unknown):
        rows = laplacian[unknown]
        right = -(rows[:, labelled] @ targets)
        guess = None if start is None else start[unknown]
        result[unknown] = solve_definite(sparse.csr_array(rows[:, unknown]), right, guess, dense_rows=dense_rows)
    return result


def _reachable(laplacian: sparse.csr_array, labelled: Rows) -> Rows:
    """Unlabelled rows in the components of labelled ones."""
    graph = laplacian.copy()
    graph.eliminate_zeros()
    component = connected_components(graph, directed=False)[1]
    has_label = np.zeros(component.max() + 1, dtype=bool)
    has_label[component[labelled]] = True
    reached = has_label[component]
    reached[labelled] = False
    return np.flatnonzero(reached)


def solve_definite(
    matrix: sparse.csr_array,
    right: Matrix,
    start: Matrix | None = None,
    *,
    dense_rows: int = _DENSE_ROWS,
    max_iter: int = 2000,
) -> Matrix:
    """Solve a sparse, positive definite system for several right-hand sides, from a first guess.

    Up to `dense_rows` rows a dense matrix is factorised; above, conjugate gradients make up to `max_iter` steps, after
    which the sparse matrix is factorised instead: slow, but sure.
    """
    n = matrix.shape[0]
    if n <= dense_rows:
        dense: Matrix = linalg.solve(matrix.toarray(), right, assume_a="pos")
        return dense
    tol = 1e-8 if n > _LARGE_ROWS else 1e-10
    solution = conjugate_gradients(
        lambda columns: matrix @ columns, right, matrix.diagonal(), start, tol=tol, max_iter=max_iter
    )
    if solution.converged:
        return solution.values
    factorised = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    exact: Matrix = factorised.solve(right)
    return exact
