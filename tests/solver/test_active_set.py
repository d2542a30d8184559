"""The default solver: exact per row, right gradient, an objective that never rises."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import lsq_linear, nnls
from sklearn.linear_model import ElasticNet

from anchorview.core.progress import Outcome
from anchorview.solver import active_set, row_solver
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.elastic_net import ElasticNetEncoder, hessian_of, optimality_tol, solve_codes
from anchorview.solver.objective import coupling_gradient, objective
from anchorview.solver.trace_ratio import solve_trace_ratio
from support.oracle import Parameters, dense_laplacians
from support.oracle import objective as literal_objective
from support.problems import Case, case_from, random_case, sums_of


@pytest.fixture(scope="module")
def digits_case(digits: Any) -> Case:
    return case_from(digits.data, digits.target, m=120, n_labelled=100, seed=0)


def random_quadratic(seed: int, m: int, rank: int, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(m, rank)) + 1.0  # correlated, as landmarks are
    hessian = factor @ factor.T + ridge * np.eye(m)
    return hessian, rng.normal(size=(8, m)) * 5 + factor @ rng.normal(size=(rank,))


@given(
    seed=st.integers(0, 10_000), m=st.integers(1, 40), rank=st.integers(1, 50), ridge=st.sampled_from([0.01, 0.3, 1.0])
)
@settings(max_examples=60, deadline=None)
def test_codes_equal_nnls_where_the_upper_bound_is_idle(seed: int, m: int, rank: int, ridge: float) -> None:
    hessian, linear = random_quadratic(seed, m, rank, ridge)
    linear *= 0.5 / max(1.0, np.abs(linear).max() / np.diagonal(hessian).min())
    codes = solve_codes(hessian, linear, tol=1e-10).toarray()
    root = np.linalg.cholesky(hessian).T
    expected = np.array([nnls(root, np.linalg.solve(root.T, b))[0] for b in linear])
    inside = (expected < 1).all(axis=1)
    np.testing.assert_allclose(codes[inside], expected[inside], atol=1e-7)


@given(seed=st.integers(0, 10_000), m=st.integers(1, 25), scale=st.sampled_from([1.0, 30.0]))
@settings(max_examples=40, deadline=None)
def test_codes_are_optimal_within_the_box(seed: int, m: int, scale: float) -> None:
    hessian, linear = random_quadratic(seed, m, m, 1.0)
    linear *= scale  # large enough to push entries against the upper bound
    codes = solve_codes(hessian, linear, tol=1e-10).toarray()
    assert codes.min() >= 0
    assert codes.max() <= 1
    slope = codes @ hessian - linear
    np.testing.assert_allclose(codes, np.clip(codes - slope / np.abs(hessian).max(), 0, 1), atol=1e-8)


def test_starting_pattern_does_not_change_the_codes() -> None:
    hessian, linear = random_quadratic(3, 30, 20, 0.5)
    cold = solve_codes(hessian, linear, tol=1e-12)
    pattern = sparse.csr_array(np.random.default_rng(0).random((8, 30)) < 0.7).astype(float)
    warm = solve_codes(hessian, linear, tol=1e-12, start=pattern)
    np.testing.assert_allclose(cold.toarray(), warm.toarray(), atol=1e-10)


def test_codes_of_the_digits_equal_elastic_net_and_nnls(digits_case: Case) -> None:
    """At β = 0 each row is a non-negative elastic net, which scikit-learn and SciPy solve on their own."""
    problem = digits_case.problem(coupling=0.0)
    codes = ElasticNetEncoder(problem.gram, problem.ridge, problem.l1).encode(digits_case.cross).toarray()
    x, u = np.hstack(digits_case.views), np.hstack(digits_case.landmarks)
    root = np.linalg.cholesky(problem.gram + problem.ridge * np.eye(len(u))).T
    for row in range(0, len(x), 199):
        exact, _ = nnls(root, np.linalg.solve(root.T, digits_case.cross[row] - problem.l1))
        np.testing.assert_allclose(codes[row], exact, atol=1e-6)
    d = x.shape[1]  # scikit-learn divides the data term by its number of rows, here d features
    alpha, ratio = (problem.l1 + problem.ridge) / d, problem.l1 / (problem.l1 + problem.ridge)
    for row in (5, 700):
        net = ElasticNet(alpha=alpha, l1_ratio=ratio, positive=True, fit_intercept=False, tol=1e-10, max_iter=100_000)
        np.testing.assert_allclose(codes[row], net.fit(u.T, x[row]).coef_, atol=1e-6)


def test_single_precision_gives_nearly_the_same_codes(digits_case: Case) -> None:
    problem = digits_case.problem()
    encoder = ElasticNetEncoder(problem.gram, problem.ridge, problem.l1)
    wide, narrow = encoder.encode(digits_case.cross), encoder.encode(digits_case.cross.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow.toarray(), wide.toarray(), atol=2e-5)


def test_more_landmarks_than_features_without_ridge() -> None:
    rng = np.random.default_rng(0)
    u, x = rng.random((30, 4)), rng.random((20, 4))
    codes = ElasticNetEncoder(u @ u.T, 0.0, 0.0).encode(x @ u.T).toarray()
    assert np.isfinite(codes).all()
    for row in range(20):
        best = lsq_linear(u.T, x[row], bounds=(0, 1), tol=1e-12)
        assert ((x[row] - codes[row] @ u) ** 2).sum() <= 2 * best.cost + 1e-6


def literal_value(case: Case, problem, embedding: np.ndarray, codes: np.ndarray) -> float:
    must, cannot = dense_laplacians(case.classes)
    parameters = Parameters(
        lambda_Z=problem.l1, beta=problem.coupling, lambda_M=problem.must_link_weight, mu=problem.ridge
    )
    return literal_objective(
        embedding, codes.T, [x.T for x in case.views], [u.T for u in case.landmarks], must, cannot, parameters
    )


@pytest.mark.parametrize("coupling", [1e-4, 1.0])
def test_objective_equals_the_literal_one(coupling: float) -> None:
    case = random_case(1)
    problem = case.problem(coupling=coupling)
    codes = ElasticNetEncoder(problem.gram, 1.0, 0.2).encode(case.cross)
    embedding = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), problem.n_components)))[0].T
    value = objective(problem, sums_of(problem, codes, case.cross), embedding) + case.squared_norm / 2
    assert value == pytest.approx(literal_value(case, problem, embedding, codes.toarray()), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_coupling_gradient_equals_finite_differences(seed: int) -> None:
    """∇g of labelled and unlabelled rows, the derivative through the degrees included."""
    case = random_case(seed, n=30, m=12, k=3, n_labelled=9)
    problem = case.problem(coupling=0.5, l1=0.0, ridge=0.0)
    rng = np.random.default_rng(seed)
    dense = rng.random((30, 12))
    embedding = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    codes = sparse.csr_array(dense)
    sums = sums_of(problem, codes, case.cross)
    gradient = coupling_gradient(problem, sums, embedding, codes[:9])
    analytic = gradient.of_unlabelled(codes)
    analytic[:9] += gradient.label_pull @ embedding

    def coupling_value(z: np.ndarray) -> float:
        with_it = literal_value(case, problem, embedding, z)
        return with_it - literal_value(case, case.problem(coupling=0.0, l1=0.0, ridge=0.0), embedding, z)

    for row, column in [(0, 0), (4, 7), (8, 3), (9, 5), (29, 11)]:
        step = np.zeros_like(dense)
        step[row, column] = 1e-5
        numeric = (coupling_value(dense + step) - coupling_value(dense - step)) / 2e-5
        assert analytic[row, column] == pytest.approx(numeric, rel=1e-4, abs=1e-8)


def test_bound_holds() -> None:
    case = random_case(2)
    problem = case.problem(coupling=0.1)
    codes = ElasticNetEncoder(problem.gram, 1.0, 0.2).encode(case.cross)
    sums = sums_of(problem, codes, case.cross)
    embedding = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), problem.n_components)))[0].T
    gradient = coupling_gradient(problem, sums, embedding, codes[: len(case.classes)])
    largest = np.abs(gradient.of_unlabelled(codes)).max(axis=1)
    bound = gradient.bound(codes)
    assert (largest <= bound + 1e-15).all()
    middle = float(np.median(bound))
    above = gradient.rows_above(middle, codes, [slice(0, 5), slice(5, codes.shape[0])], 2)
    np.testing.assert_array_equal(above, np.flatnonzero(bound > middle))


GRID = [(beta, l1) for beta in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0) for l1 in (0.01, 0.1, 0.5)]


@pytest.mark.parametrize(("coupling", "l1"), GRID)
def test_objective_never_rises(coupling: float, l1: float) -> None:
    for seed in range(2):
        case = random_case(seed)
        problem = case.problem(coupling=coupling, l1=l1)
        result = solve_active_set(problem, case.cross_products(), max_iter=15)
        history = result.objective_history
        assert np.isfinite(history).all()
        assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()
        final = literal_value(case, problem, result.embedding, result.codes.toarray())
        assert final == pytest.approx(history[-1], rel=1e-10)


@pytest.mark.parametrize("coupling", [1.0, 7e3])
@pytest.mark.parametrize("must_link_weight", [1.5e6, 1e9])
def test_objective_never_rises_where_the_ratio_is_known_to_few_digits(coupling: float, must_link_weight: float) -> None:
    """The A step is watched too: of the same codes, an A that rounding made worse is not taken."""
    for seed in (9, 11):
        problem = (case := random_case(seed)).problem(coupling=coupling, must_link_weight=must_link_weight)
        history = solve_active_set(problem, case.cross_products(), max_iter=4).objective_history
        assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()


def test_an_embedding_that_is_worse_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """As rounding can make it; here it is turned at random after the first round."""
    from anchorview.solver import active_set

    rng, solved = np.random.default_rng(0), []

    def turned(*args: Any, **options: Any) -> Any:
        found = solve_trace_ratio(*args, **options)
        if solved:
            found = replace(found, embedding=np.linalg.qr(rng.normal(size=found.embedding.shape).T)[0].T)
        solved.append(found.embedding)
        return found

    monkeypatch.setattr(active_set, "solve_trace_ratio", turned)
    case = random_case(4, n=60, m=20)
    result = solve_active_set(case.problem(coupling=1e-2), case.cross_products(), max_iter=6, tol=0.0)
    assert len(solved) == 6
    np.testing.assert_array_equal(result.embedding, solved[0])
    assert (np.diff(result.objective_history) <= 1e-12 * result.objective_history[:-1]).all()


def test_the_tolerance_does_not_depend_on_the_units_of_the_features() -> None:
    """Features thirty times as large, weights to match: the same problem, the same rounds, the same residuals."""
    case = random_case(4)
    problem = case.problem(coupling=1e-2)
    unit = 30.0**2
    scaled = replace(
        problem,
        gram=unit * problem.gram,
        grams=None,
        l1=unit * problem.l1,
        ridge=unit * problem.ridge,
        coupling=unit * problem.coupling,
    )
    cross = case.cross_products()
    few = solve_active_set(replace(problem, grams=None), cross, max_iter=200, tol=1e-4)
    cross.values = unit * cross.values
    many = solve_active_set(scaled, cross, max_iter=200, tol=1e-4)
    assert few.n_iter > 2
    np.testing.assert_allclose(many.residual_history, few.residual_history, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("coupling", "l1"), [(1e-5, 0.5), (1e-3, 0.1), (1.0, 0.01)])
def test_objective_never_rises_on_the_digits(digits_case: Case, coupling: float, l1: float) -> None:
    result = solve_active_set(
        digits_case.problem(coupling=coupling, l1=l1), digits_case.cross_products(512), max_iter=8
    )
    history = result.objective_history
    assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()


def test_converged_means_stationary() -> None:
    """At the end neither the codes nor the embedding can be improved."""
    case = random_case(4)
    problem = case.problem(coupling=1e-3)
    result = solve_active_set(problem, case.cross_products(), max_iter=300, tol=1e-6)
    assert Outcome.CONVERGED in result.outcomes
    value = literal_value(case, problem, result.embedding, result.codes.toarray())
    assert value == pytest.approx(result.objective_history[-1], rel=1e-12)
    rng = np.random.default_rng(0)
    codes = result.codes.toarray()
    for _ in range(20):
        other = np.clip(codes + 1e-4 * rng.normal(size=codes.shape) * (rng.random(codes.shape) < 0.02), 0, 1)
        assert literal_value(case, problem, result.embedding, other) >= value - 1e-9
        turned = np.linalg.qr((result.embedding + 1e-2 * rng.normal(size=result.embedding.shape)).T)[0].T
        assert literal_value(case, problem, turned, codes) >= value - 1e-9


def test_rows_below_the_tolerance_stay_at_their_own_optimum() -> None:
    """At small β only labelled rows move; the others are optimal as they are."""
    case = random_case(5)
    problem = case.problem(coupling=1e-5)
    result = solve_active_set(problem, case.cross_products(), tol=1e-3)
    labelled = len(case.classes)
    assert (result.codes[labelled:] != result.encoded[labelled:]).nnz == 0


def test_blocks_and_threads_do_not_change_the_result() -> None:
    case = random_case(6)
    problem = case.problem(coupling=1e-2)
    one = solve_active_set(problem, case.cross_products(64), n_threads=1, max_iter=5)
    two = solve_active_set(problem, case.cross_products(64), n_threads=2, max_iter=5)
    assert (one.codes != two.codes).nnz == 0
    np.testing.assert_array_equal(one.embedding, two.embedding)
    whole = solve_active_set(problem, case.cross_products(10_000), max_iter=5)
    np.testing.assert_allclose(one.codes.toarray(), whole.codes.toarray(), atol=1e-9)


def test_trace_ratio_is_optimal() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(2, 20, 20))
    between, within = factor[0] @ factor[0].T, factor[1] @ factor[1].T + np.eye(20)
    found = solve_trace_ratio(between, within, 4)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, np.eye(4), atol=1e-10)
    top = np.linalg.eigvalsh(between - found.ratio * within)[-4:].sum()
    assert abs(top) <= 1e-6 * found.ratio * np.trace(within)  # f(ρ) = 0 characterises the optimum
    warm = solve_trace_ratio(between, within, 4, start=found.embedding)
    assert warm.n_iter <= 2
    assert warm.ratio == pytest.approx(found.ratio, rel=1e-8)


def test_trace_ratio_is_guarded_against_an_indefinite_denominator() -> None:
    within = np.diag(np.linspace(-1.0, 2.0, 12))
    between = np.diag(np.linspace(1.0, 0.1, 12))
    found = solve_trace_ratio(between, within, 3)
    assert found.guarded
    assert np.isfinite(found.embedding).all()
    assert np.isfinite(found.ratio)


def test_trace_ratio_with_many_equal_eigenvalues() -> None:
    found = solve_trace_ratio(np.eye(50), np.eye(50), 3)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, np.eye(3), atol=1e-10)


def optimality_error(hessian: Any, linear: Any, codes: Any) -> float:
    """Largest |z − clip(z − ∇/s, 0, 1)|."""
    slope = (codes @ hessian - linear) / np.diagonal(hessian).max()
    return float(np.abs(codes - np.clip(codes - slope, 0, 1)).max())


@pytest.mark.parametrize("seed", [0, 3, 15, 18, 30, 45])
def test_codes_over_more_landmarks_than_features(seed: int) -> None:
    """Here moves of several indices often fail; they are undone, and single steps lead on."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(8, 80)), int(rng.integers(2, 12))
    landmarks = rng.normal(size=(m, d))
    gram = landmarks @ landmarks.T
    hessian = hessian_of(gram, 10.0 ** rng.integers(-6, 0), np.dtype(float))
    linear = rng.normal(size=(20, d)) @ landmarks.T - 0.01
    codes = solve_codes(hessian, linear, optimality_tol(gram, np.dtype(float))).toarray()
    assert optimality_error(hessian, linear, codes) < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_codes_over_duplicated_landmarks_stay_within_their_bounds(dtype: Any, ridge: float) -> None:
    """H is singular but for a floor of rounding size. What the active set leaves is checked, and put right."""
    rng = np.random.default_rng(0)
    landmarks = rng.normal(size=(30, 12))
    landmarks = np.vstack([landmarks, landmarks, landmarks + 1e-9 * rng.normal(size=landmarks.shape)])
    gram = landmarks @ landmarks.T
    hessian = hessian_of(gram, ridge, np.dtype(dtype))
    linear = (np.repeat(rng.normal(size=(20, 12)), 2, axis=0) @ landmarks.T - 0.1).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which says how many rows are optimal to less than rounding
        codes = solve_codes(hessian, linear, optimality_tol(gram, np.dtype(dtype))).toarray()
    assert codes.min() >= 0 and codes.max() <= 1
    assert optimality_error(hessian, linear, codes) < 1e-4


def test_codes_that_were_cut_short_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_solver, "_MAX_SWEEPS", 1)
    hessian = np.array([[1.0, 0.99], [0.99, 1.0]])
    linear = np.array([[3.0, 2.8], [0.5, 0.1], [3.0, 2.9]])  # the first and the last meet the upper bound
    with pytest.warns(UserWarning, match="2 of 3 rows .* larger ridge"):
        solve_codes(hessian, linear, 1e-9)


def test_the_floor_of_the_ridge_keeps_codes_of_few_features_apart() -> None:
    """With ridge=0 and more landmarks than features the codes are unique only through the floor."""
    gram = np.ones((4, 4))
    for dtype, floor in ((np.float64, 1e-9), (np.float32, 1e-5)):
        hessian = hessian_of(gram, 0.0, np.dtype(dtype))
        np.testing.assert_allclose(np.diagonal(hessian) - 1, floor, rtol=0.02)
        codes = solve_codes(hessian, np.full((1, 4), 0.8, dtype=dtype), 1e-7).toarray()
        np.testing.assert_allclose(codes.sum(), 0.8, rtol=1e-3)


def test_steps_are_shortened_so_many_times_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where 1e8 times the scale is infinite, as no objective is then small enough."""
    tried: list[float] = []

    def solve(proximal: float) -> Any:
        assert len(tried) < 100
        tried.append(proximal)
        return None, 0.0, 0.0

    class Sums(float):  # a reduction that can be added to
        fit = 0.0

    state: Any = SimpleNamespace(reduction=Sums())
    monkeypatch.setattr(active_set, "replace", lambda old, **parts: SimpleNamespace(sums=lambda problem: None))
    monkeypatch.setattr(active_set, "objective", lambda *parts: np.nan)
    for scale in (1.0, 1e302):
        tried.clear()
        problem: Any = SimpleNamespace(gram=scale * np.eye(2), squared_norm=0.0)
        work: Any = SimpleNamespace(solve=solve, rows=None)
        with np.errstate(over="ignore"):
            kept, _, _, shortened = active_set._move(problem, state, work, np.eye(2), 0.0, scale)
        assert kept is state and shortened and 10 < len(tried) < 20
