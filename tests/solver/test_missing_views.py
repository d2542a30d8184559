"""Rows that lack views: their own Gram matrices, exact codes, the objective as it is written."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

from anchorview.core.progress import Outcome
from anchorview.engine.blocks import map_blocks
from anchorview.features.representation import landmark_gram
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.admm.step import ReplayEncoder, RowModel
from anchorview.solver.elastic_net import ElasticNetEncoder
from anchorview.solver.grams import PatternGrams, pattern_groups, row_grams
from anchorview.solver.objective import coupling_gradient, objective
from anchorview.solver.problem import Problem
from anchorview.solver.row_work import RowWork
from support.problems import Case, drop_views, random_case, sums_of


def encoder_of(problem: Problem) -> ElasticNetEncoder:
    return ElasticNetEncoder(problem.gram, problem.ridge, problem.l1, problem.grams)


def stacked(case: Case, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Landmarks (features×m) and features of one row: its present views only, each times sqrt(V/|p|)."""
    roots = np.sqrt(case.factors[row])
    used = np.flatnonzero(roots)
    features = np.concatenate([roots[v] * case.views[v][row] for v in used])
    return np.vstack([roots[v] * case.landmarks[v].T for v in used]), features


def test_gram_matrix_of_a_pattern() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(7, d)).astype(np.float32) for d in (3, 1, 5)]
    grams = PatternGrams(np.hstack(parts), [3, 1, 5], landmark_gram(np.hstack(parts)))
    wide = np.hstack(parts).astype(np.float64)
    np.testing.assert_array_equal(grams.complete, wide @ wide.T)
    assert grams.of(np.ones(3, dtype=bool)) is grams.complete
    first, _, last = (part.astype(np.float64) for part in parts)
    expected = 1.5 * (first @ first.T + last @ last.T)
    pattern = np.array([True, False, True])
    np.testing.assert_allclose(grams.of(pattern), expected, rtol=1e-14)
    assert grams.of(pattern) is grams.of(pattern.copy())
    again = pickle.loads(pickle.dumps(grams))
    np.testing.assert_array_equal(again.of(pattern), grams.of(pattern))


def test_gram_matrices_are_pickled_without_what_can_be_computed_again() -> None:
    landmarks = np.random.default_rng(0).normal(size=(30, 8))
    grams = PatternGrams(landmarks, [2] * 4, landmark_gram(landmarks))
    before = len(pickle.dumps(grams))
    for number in range(1, 16):
        grams.of(np.array([number & bit > 0 for bit in (1, 2, 4, 8)]))
    assert len(pickle.dumps(grams)) == before


def test_gram_matrix_of_a_wrong_pattern_says_so() -> None:
    grams = PatternGrams(np.ones((2, 3)), [1, 2], np.full((2, 2), 3.0))
    with pytest.raises(ValueError, match="there are 2"):
        grams.of(np.ones(3, dtype=bool))


@given(st.integers(0, 1000), st.integers(1, 10))
@settings(max_examples=30, deadline=None)
def test_groups_hold_each_row_once(seed: int, n_views: int) -> None:
    present = np.random.default_rng(seed).random((40, n_views)) < 0.6
    groups = pattern_groups(present)
    for pattern, rows in groups:
        assert (present[rows] == pattern).all()
    np.testing.assert_array_equal(np.sort(np.concatenate([rows for _, rows in groups])), np.arange(40))
    assert len(groups) == len(np.unique(present, axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_codes_equal_nnls_on_the_present_views(seed: int) -> None:
    case = drop_views(random_case(seed), seed)
    problem = case.problem()
    codes = encoder_of(problem).encode(case.cross, case.present).toarray()
    m = len(problem.gram)
    for row in range(0, len(codes), 7):
        design, features = stacked(case, row)
        # ½‖x − Uz‖² + λ 1ᵀz + (μ/2)‖z‖² as least squares: √μ z = −λ/√μ in m more equations
        design = np.vstack([design, np.sqrt(problem.ridge) * np.eye(m)])
        target = np.concatenate([features, np.full(m, -problem.l1 / np.sqrt(problem.ridge))])
        exact, _ = nnls(design, target)
        assert exact.max() < 1
        np.testing.assert_allclose(codes[row], exact, atol=1e-9)


def test_codes_equal_bounded_least_squares_where_the_upper_bound_holds() -> None:
    case = drop_views(random_case(3), 3)
    case = replace(case, views=[4 * x for x in case.views])  # far outside the landmarks
    problem = case.problem(l1=0.0, ridge=0.01)
    codes = encoder_of(problem).encode(case.cross, case.present).toarray()
    assert (codes.max(axis=1) == 1).sum() > 50
    for row in range(0, len(codes), 10):
        design, features = stacked(case, row)
        design = np.vstack([design, np.sqrt(problem.ridge) * np.eye(len(problem.gram))])
        target = np.concatenate([features, np.zeros(len(problem.gram))])
        exact = lsq_linear(design, target, bounds=(0, 1), method="bvls", tol=1e-14).x
        np.testing.assert_allclose(codes[row], exact, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_code_depends_on_its_row_only(dtype: type) -> None:
    """Bit for bit: whatever the other rows, their order, the threads, and what was encoded before."""
    case = drop_views(random_case(4), 4)
    cross, present = case.cross.astype(dtype), case.present
    encoder = encoder_of(case.problem())
    whole = encoder.encode(cross, present)
    assert whole.dtype == dtype
    assert whole.has_sorted_indices
    fresh = encoder_of(case.problem())
    order = np.random.default_rng(0).permutation(len(cross))
    for rows in (order, order[:11], np.array([7]), np.flatnonzero(present.all(axis=1))):
        assert (fresh.encode(cross[rows], present[rows]) != whole[rows]).nnz == 0
    complete = np.flatnonzero(present.all(axis=1))
    assert (fresh.encode(cross[complete]) != whole[complete]).nnz == 0
    parts = [slice(start, start + 13) for start in range(0, len(cross), 13)]
    again = pickle.loads(pickle.dumps(encoder))
    threaded = map_blocks(lambda part: again.encode(cross[part], present[part]), parts, 3)
    assert all((codes != whole[part]).nnz == 0 for part, codes in zip(parts, threaded, strict=True))
    assert encoder.encode(cross[:0], present[:0]).shape == (0, cross.shape[1])


def test_missing_views_need_their_gram_matrices() -> None:
    case = drop_views(random_case(5), 5)
    problem = replace(case.problem(), grams=None)
    with pytest.raises(ValueError, match="complete rows only"):
        encoder_of(problem).encode(case.cross, case.present)
    with pytest.raises(ValueError, match="only the Gram matrix of complete rows"):
        row_grams(problem.gram, problem.grams, case.present)


def test_admm_takes_complete_rows_only() -> None:
    encoder = ReplayEncoder(RowModel(np.eye(3), 0.1, 0.0, 100.0, 1.0, False), ())
    assert encoder.encode(np.ones((2, 3)), np.ones((2, 4), dtype=bool)).shape == (2, 3)
    with pytest.raises(ValueError, match="active_set"):
        encoder.encode(np.ones((2, 3)), np.array([[True, False], [True, True]]))


@pytest.mark.parametrize("coupling", [1e-4, 1.0])
def test_objective_equals_the_literal_one(coupling: float) -> None:
    case = drop_views(random_case(1), 1)
    problem = case.problem(coupling=coupling)
    codes = encoder_of(problem).encode(case.cross, case.present)
    embedding = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), problem.n_components)))[0].T
    value = objective(problem, sums_of(problem, codes, case.cross_products()), embedding) + case.squared_norm / 2
    assert value == pytest.approx(case.literal_objective(problem, embedding, codes.toarray()), rel=1e-12)


@pytest.mark.parametrize(
    ("coupling", "l1"), [(beta, l1) for beta in (1e-5, 1e-3, 1e-2, 1e-1, 1.0) for l1 in (0.01, 0.2)]
)
def test_objective_never_rises(coupling: float, l1: float) -> None:
    for seed in range(2):
        case = drop_views(random_case(seed), seed)
        problem = case.problem(coupling=coupling, l1=l1)
        result = solve_active_set(problem, case.cross_products(), max_iter=12)
        history = result.objective_history
        assert np.isfinite(history).all()
        assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()
        final = case.literal_objective(problem, result.embedding, result.codes.toarray())
        assert final == pytest.approx(history[-1], rel=1e-10)
        assert (result.encoded != result.encoder.encode(case.cross, case.present)).nnz == 0


def test_converged_means_stationary() -> None:
    """At the end no small change of codes or embedding helps, by the literal objective."""
    case = drop_views(random_case(4), 4)
    problem = case.problem(coupling=1e-3)
    result = solve_active_set(problem, case.cross_products(), max_iter=300, tol=1e-6)
    assert Outcome.CONVERGED in result.outcomes
    codes = result.codes.toarray()
    value = case.literal_objective(problem, result.embedding, codes)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.clip(codes + 1e-4 * rng.normal(size=codes.shape) * (rng.random(codes.shape) < 0.02), 0, 1)
        assert case.literal_objective(problem, result.embedding, other) >= value - 1e-9
        turned = np.linalg.qr((result.embedding + 1e-2 * rng.normal(size=result.embedding.shape)).T)[0].T
        assert case.literal_objective(problem, turned, codes) >= value - 1e-9


def test_threads_and_blocks_do_not_change_the_result() -> None:
    case = drop_views(random_case(6), 6)
    problem = case.problem(coupling=1e-2)
    one = solve_active_set(problem, case.cross_products(), n_threads=1, max_iter=5)
    two = solve_active_set(problem, case.cross_products(), n_threads=2, max_iter=5)
    assert (one.codes != two.codes).nnz == 0
    np.testing.assert_array_equal(one.embedding, two.embedding)
    other = solve_active_set(problem, case.cross_products(50), max_iter=5)
    np.testing.assert_allclose(one.codes.toarray(), other.codes.toarray(), atol=1e-9)


def test_chunks_of_moving_rows_do_not_change_their_codes() -> None:
    """Labelled rows have a curvature of their own: a chunk never mixes them with others, whatever its size."""
    case = drop_views(random_case(6), 6)
    problem, cross = case.problem(coupling=1e-2), case.cross_products()
    codes = encoder_of(problem).encode(case.cross, case.present)
    embedding = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), problem.n_components)))[0].T
    sums = sums_of(problem, codes, cross)
    gradient = coupling_gradient(problem, sums, embedding, codes[: len(case.classes)], must_curvature=0.1)
    rows = np.arange(3, 140)
    whole, small = (RowWork(problem, cross, gradient, rows, codes[rows], 1, chunk_rows) for chunk_rows in (1024, 17))
    assert small.residual(2.0) == pytest.approx(whole.residual(2.0), rel=1e-12)
    for (found, old, new), (expected, *sums_of_whole) in [(small.solve(0.5), whole.solve(0.5))]:
        np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)
        for part, reduction in zip((old, new), sums_of_whole, strict=True):
            assert part.quadratic == pytest.approx(reduction.quadratic, rel=1e-12)
            np.testing.assert_allclose(part.gram, reduction.gram, atol=1e-12)


def test_all_views_present_is_the_complete_problem() -> None:
    """Presence without gaps changes only how the data term is summed; grams alone change nothing."""
    case = random_case(7)
    plain = solve_active_set(case.problem(coupling=1e-2), case.cross_products(), max_iter=5)
    full = replace(case, present=np.ones((len(case.views[0]), 3), dtype=bool))
    masked = solve_active_set(full.problem(coupling=1e-2), full.cross_products(), max_iter=5)
    np.testing.assert_allclose(masked.objective_history, plain.objective_history, rtol=1e-12)
    np.testing.assert_allclose(masked.codes.toarray(), plain.codes.toarray(), atol=1e-9)
    ready = replace(case.problem(coupling=1e-2), grams=case.grams)
    later = solve_active_set(ready, case.cross_products(), max_iter=5)
    np.testing.assert_array_equal(later.objective_history, plain.objective_history)
    assert (later.codes != plain.codes).nnz == 0
    gap = np.array([[True, False, True]])
    assert later.encoder.encode(case.cross[:1], gap).shape == (1, len(case.gram))
