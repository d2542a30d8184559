"""Harmonic labels and the systems behind them, against dense solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview.baselines._conjugate import conjugate_gradients
from anchorview.baselines._graphs import laplacian, normalized_laplacian, pkn_graph
from anchorview.baselines._propagation import harmonic, solve_definite
from support.slow_ways import made_rows


def slow_harmonic(matrix: Any, labelled: Any, targets: Any) -> Any:
    unknown = np.setdiff1d(np.arange(matrix.shape[0]), labelled)
    dense = matrix.toarray()
    result = np.zeros((len(dense), targets.shape[1]))
    result[labelled] = targets
    result[unknown] = -np.linalg.inv(dense[np.ix_(unknown, unknown)]) @ dense[np.ix_(unknown, labelled)] @ targets
    return result


@pytest.mark.parametrize("make", [laplacian, normalized_laplacian])
@pytest.mark.parametrize("dense_rows", [0, 500])
def test_harmonic_solution_equals_the_dense_one(make: Any, dense_rows: int) -> None:
    matrix = make(pkn_graph(np.random.RandomState(0).randn(300, 4), 6))
    labelled, targets = np.array([250, 3, 77, 9]), np.eye(3)[[0, 2, 1, 1]]
    found = harmonic(matrix, labelled, targets, dense_rows=dense_rows)
    np.testing.assert_allclose(found, slow_harmonic(matrix, labelled, targets), atol=1e-7)
    np.testing.assert_array_equal(found[labelled], targets)
    again = harmonic(matrix, labelled, targets, start=found, dense_rows=dense_rows)
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_components_without_labels_get_the_shares_of_the_classes() -> None:
    rows = np.concatenate([np.arange(20.0), 1e4 + np.arange(20.0), [1e7]])[:, None]
    graph = pkn_graph(rows, 3)
    row, column = graph.nonzero()
    graph.data[(row == 40) | (column == 40)] = 0.0  # a row without neighbours, with zeros still stored
    labelled, targets = np.array([0, 7, 19]), np.eye(2)[[1, 0, 1]]
    for matrix in (laplacian(graph), normalized_laplacian(graph)):
        found = harmonic(matrix, labelled, targets)
        np.testing.assert_allclose(found[20:], np.tile([1 / 3, 2 / 3], (21, 1)))
        inner = sparse.csr_array(matrix[:20][:, :20])
        np.testing.assert_allclose(found[:20], slow_harmonic(inner, labelled, targets), atol=1e-9)


def test_every_row_labelled_leaves_nothing_to_solve() -> None:
    matrix = laplacian(pkn_graph(made_rows(10), 3))
    targets = np.eye(2)[np.arange(10) % 2]
    np.testing.assert_array_equal(harmonic(matrix, np.arange(10), targets), targets)


def system(n_rows: int) -> Any:
    """A positive definite Laplacian, and right-hand sides of which one is zero."""
    matrix = laplacian(pkn_graph(np.random.RandomState(0).randn(n_rows, 3), 5))[5:][:, 5:].tocsr()
    right = np.random.RandomState(1).randn(n_rows - 5, 4)
    right[:, 2] = 0.0
    return matrix, right


def test_conjugate_gradients_reach_their_tolerance_or_say_that_they_did_not() -> None:
    matrix, right = system(800)
    options: dict[str, Any] = {"apply": lambda x: matrix @ x, "right": right, "diagonal": matrix.diagonal()}
    solution = conjugate_gradients(**options, tol=1e-10, max_iter=2000)
    assert solution.converged
    gaps = np.linalg.norm(matrix @ solution.values - right, axis=0)
    assert (gaps <= 1.1e-10 * np.linalg.norm(right, axis=0)).all()
    again = conjugate_gradients(**options, start=solution.values, tol=1e-9, max_iter=1)
    assert again.converged
    np.testing.assert_array_equal(again.values, solution.values)
    assert not conjugate_gradients(**options, tol=1e-10, max_iter=3).converged


def test_a_residual_that_the_caller_has_changes_nothing() -> None:
    matrix, right = system(60)
    start = np.random.RandomState(2).randn(*right.shape)
    options: dict[str, Any] = {"apply": lambda x: matrix @ x, "right": right, "diagonal": matrix.diagonal()}
    options |= {"start": start, "tol": 1e-10, "max_iter": 20}
    given = conjugate_gradients(**options, residual=right - matrix @ start)
    np.testing.assert_array_equal(given.values, conjugate_gradients(**options).values)


@pytest.mark.parametrize(("dense_rows", "max_iter"), [(1000, 2000), (0, 2000), (0, 2)], ids=["dense", "steps", "splu"])
def test_every_way_to_solve_a_system_has_the_same_result(dense_rows: int, max_iter: int) -> None:
    matrix, right = system(700)
    solution = solve_definite(matrix, right, dense_rows=dense_rows, max_iter=max_iter)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix.toarray(), right), rtol=1e-6, atol=1e-8)
