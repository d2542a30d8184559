"""Sample weights: weight 2 is a row given twice, weight 0 a row that is only looked at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from anchorview.core.progress import Outcome
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.objective import coupling_gradient, objective
from anchorview.solver.result import SolverResult
from anchorview.solver.spectrum import largest_curvature
from anchorview.supervision.constraints import Constraints
from anchorview.supervision.known import supervision_laplacians
from support.problems import Case, drop_views, random_case, sums_of


def whole_weights(case: Case, seed: int) -> np.ndarray:
    """Weights 0 to 3, of which each labelled class keeps some."""
    weights = np.random.default_rng(seed).integers(0, 4, size=len(case.views[0])).astype(float)
    _, first = np.unique(case.classes, return_index=True)
    weights[first] = 2.0
    return weights


def assert_same(weighted: SolverResult, repeated: SolverResult, counts: np.ndarray) -> None:
    assert weighted.n_iter == repeated.n_iter
    assert weighted.outcomes == repeated.outcomes
    np.testing.assert_allclose(weighted.objective_history, repeated.objective_history, rtol=1e-9)
    np.testing.assert_allclose(weighted.residual_history, repeated.residual_history, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(
        weighted.embedding.T @ weighted.embedding, repeated.embedding.T @ repeated.embedding, atol=1e-6
    )
    rows = np.repeat(np.arange(len(counts)), counts)
    np.testing.assert_allclose(weighted.codes.toarray()[rows], repeated.codes.toarray(), atol=1e-6)


@pytest.mark.parametrize("coupling", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("missing", [False, True])
def test_whole_weights_are_repeated_rows(coupling: float, missing: bool) -> None:
    case = random_case(0)
    case = drop_views(case, 0) if missing else case
    weights = whole_weights(case, 1)
    counts = weights.astype(int)
    repeated = case.take(np.repeat(np.arange(len(counts)), counts))
    weighted = replace(case, weights=weights)
    results = [
        solve_active_set(some.problem(coupling=coupling), some.cross_products(), max_iter=8)
        for some in (weighted, repeated)
    ]
    assert_same(*results, counts)
    nothing = np.flatnonzero(counts == 0)
    assert (nothing < len(case.classes)).any()  # labelled rows among them
    assert (results[0].codes[nothing] != results[0].encoded[nothing]).nnz == 0


def test_whole_weights_are_repeated_rows_in_single_precision() -> None:
    case = random_case(8)
    weights = whole_weights(case, 2)
    repeated = case.take(np.repeat(np.arange(len(weights)), weights.astype(int)))
    results = []
    for some in (replace(case, weights=weights), repeated):
        cross = some.cross_products()
        cross.values = cross.values.astype(np.float32)
        results.append(solve_active_set(some.problem(coupling=1e-3), cross, max_iter=8))
    np.testing.assert_allclose(results[0].objective_history, results[1].objective_history, rtol=1e-5)


def test_weights_of_one_change_nothing() -> None:
    case = random_case(2)
    plain = solve_active_set(case.problem(coupling=1e-2), case.cross_products(), max_iter=6)
    ones = replace(case, weights=np.ones(len(case.views[0])))
    weighted = solve_active_set(ones.problem(coupling=1e-2), ones.cross_products(), max_iter=6)
    assert_same(weighted, plain, np.ones(len(case.views[0]), dtype=int))


def test_rows_of_weight_zero_change_nothing() -> None:
    """Whatever they hold, even rows that are far from all others."""
    case = random_case(3)
    weights = np.random.default_rng(0).random(len(case.views[0])) + 0.1
    weights[[2, 40, 99]] = 0.0
    results = []
    for factor in (1.0, -30.0):
        views = [x.copy() for x in case.views]
        for x in views:
            x[weights == 0] *= factor
        some = replace(case, views=views, weights=weights)
        problem = some.problem(coupling=1e-2)
        results.append(solve_active_set(problem, some.cross_products(), max_iter=6))
        assert some.squared_norm == pytest.approx(replace(case, weights=weights).squared_norm, rel=1e-12)
    one, other = results
    np.testing.assert_allclose(one.objective_history, other.objective_history, rtol=1e-12)
    np.testing.assert_allclose(one.embedding, other.embedding, atol=1e-9)
    kept = np.flatnonzero(weights)
    np.testing.assert_allclose(one.codes.toarray()[kept], other.codes.toarray()[kept], atol=1e-9)
    assert one.codes[[2, 40, 99]].nnz > 0
    assert (one.codes[[2, 40, 99]] != one.encoder.encode(case.cross[[2, 40, 99]])).nnz == 0


def fractional(seed: int, **sizes: int) -> Case:
    case = drop_views(random_case(seed, **sizes), seed)
    return replace(case, weights=np.random.default_rng(seed).gamma(1.0, size=len(case.views[0])) + 1e-3)


def test_objective_with_fractional_weights_equals_the_literal_one() -> None:
    case = fractional(1)
    problem = case.problem(coupling=0.3)
    rng = np.random.default_rng(0)
    codes = sparse.csr_array(rng.random(case.cross.shape) * (rng.random(case.cross.shape) < 0.3))
    embedding = np.linalg.qr(rng.normal(size=(len(problem.gram), problem.n_components)))[0].T
    value = objective(problem, sums_of(problem, codes, case.cross_products()), embedding) + case.squared_norm / 2
    assert value == pytest.approx(case.literal_objective(problem, embedding, codes.toarray()), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_with_fractional_weights_equals_finite_differences(seed: int) -> None:
    """∇g is per copy of a row: the derivative of g divided by the weight."""
    case = fractional(seed, n=30, m=12, k=3, n_labelled=9)
    problem = case.problem(coupling=0.5, l1=0.0, ridge=0.0)
    rng = np.random.default_rng(seed)
    dense, embedding = rng.random((30, 12)), np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    codes = sparse.csr_array(dense)
    sums = sums_of(problem, codes, case.cross_products())
    gradient = coupling_gradient(problem, sums, embedding, codes[:9])
    analytic = gradient.of_unlabelled(codes)
    analytic[:9] += gradient.label_pull @ embedding
    without = replace(problem, coupling=0.0)

    def coupling_value(z: np.ndarray) -> float:
        return case.literal_objective(problem, embedding, z) - case.literal_objective(without, embedding, z)

    for row, column in [(0, 0), (4, 7), (8, 3), (9, 5), (29, 11)]:
        step = np.zeros_like(dense)
        step[row, column] = 1e-5
        numeric = (coupling_value(dense + step) - coupling_value(dense - step)) / 2e-5
        assert analytic[row, column] * case.weights[row] == pytest.approx(numeric, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("coupling", [1e-5, 1e-3, 1e-1, 1.0])
def test_objective_never_rises(coupling: float) -> None:
    for seed in range(3):
        case = fractional(seed)
        problem = case.problem(coupling=coupling)
        result = solve_active_set(problem, case.cross_products(), max_iter=12)
        history = result.objective_history
        assert np.isfinite(history).all()
        assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()
        final = case.literal_objective(problem, result.embedding, result.codes.toarray())
        assert final == pytest.approx(history[-1], rel=1e-10)


def test_converged_means_stationary() -> None:
    case = fractional(4)
    problem = case.problem(coupling=1e-3)
    result = solve_active_set(problem, case.cross_products(), max_iter=300, tol=1e-6)
    assert Outcome.CONVERGED in result.outcomes
    codes = result.codes.toarray()
    value = case.literal_objective(problem, result.embedding, codes)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.clip(codes + 1e-4 * rng.normal(size=codes.shape) * (rng.random(codes.shape) < 0.02), 0, 1)
        assert case.literal_objective(problem, result.embedding, other) >= value - 1e-9


@pytest.mark.parametrize("n_rows", [8, 60])
def test_curvature_is_that_of_repeated_rows(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    classes, counts = rng.integers(3, size=n_rows), rng.integers(0, 4, size=n_rows)
    _, weighted, _ = supervision_laplacians(classes, 3, weights=counts.astype(float))
    _, repeated, _ = supervision_laplacians(np.repeat(classes, counts), 3)
    assert weighted is not None
    assert repeated is not None
    exact = np.linalg.eigvalsh(repeated.apply(np.eye(counts.sum())))[-1]
    found = largest_curvature(weighted.apply, counts.astype(float), weighted.largest_eigenvalue)
    assert found == pytest.approx(exact, rel=1e-9)
    assert largest_curvature(weighted.apply, np.zeros(n_rows), weighted.largest_eigenvalue) == 0


@pytest.mark.parametrize("max_iter", [1000, 1])
def test_curvature_of_pairs_is_exact_or_a_little_above(max_iter: int) -> None:
    """A long chain of pairs, whose largest eigenvalues lie close together: one step of Lanczos' method is too few."""
    n_rows = 150
    weights = np.random.default_rng(0).random(n_rows) + 0.05
    chain = Constraints.from_pairs(must=[(i, i + 1) for i in range(n_rows - 1)], n_rows=n_rows).resolve(n_rows)
    _, must, _ = supervision_laplacians(np.full(n_rows, -1), 0, chain, weights)
    assert must is not None
    root = weights**-0.5
    exact = np.linalg.eigvalsh(root[:, None] * must.apply(np.eye(n_rows)) * root)[-1]
    bounds: list[float] = []

    def bound() -> float:
        bounds.append(must.largest_eigenvalue())
        return bounds[-1]

    found = largest_curvature(must.apply, weights, bound, max_iter)
    assert exact * (1 - 1e-9) <= found <= 1.03 * exact
    assert bool(bounds) == (max_iter == 1)  # the bound is computed where it is needed only
