"""Projection on the simplex, and quadratic programs on it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from anchorview.baselines._simplex import project_rows
from anchorview.baselines._simplex_qp import _active_set, _pivot, minimize_on_simplex, simplex_residual

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)


# Projection


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=FINITE))
def test_a_projection_is_on_the_simplex_and_no_other_point_is_nearer(points: Any) -> None:
    found = project_rows(points)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    # The angle between u − z and any step within the simplex is never acute.
    slope = points - found
    assert (slope.max(axis=1) - (slope * found).sum(axis=1) <= 1e-8 * (1 + np.abs(points).max())).all()


@given(arrays(np.float64, (3, 5), elements=st.floats(-10, 10)), st.floats(-1e3, 1e3))
def test_a_projection_does_not_see_a_constant(points: Any, constant: float) -> None:
    np.testing.assert_allclose(project_rows(points + constant), project_rows(points), atol=1e-11)


def test_a_projection_agrees_with_a_general_optimiser() -> None:
    point = np.array([0.3, 1.1, -0.4, 0.9])
    best = minimize(
        lambda z: ((z - point) ** 2).sum(),
        np.full(4, 0.25),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(project_rows(point[None])[0], best.x, atol=1e-6)


def test_a_point_of_the_simplex_stays_and_ties_are_shared() -> None:
    np.testing.assert_allclose(
        project_rows(np.array([[0.2, 0.8, 0.0], [7.0, 7.0, 0.0]])), [[0.2, 0.8, 0], [0.5, 0.5, 0]]
    )


# Quadratic programs


def enumerate_supports(hessian: Any, c: Any) -> Any:
    """Try every set of positive entries; one of them meets the optimality conditions."""
    m = len(c)
    best, lowest = None, np.inf
    for size in range(1, m + 1):
        for support in itertools.combinations(range(m), size):
            chosen = list(support)
            system = np.ones((size + 1, size + 1))
            system[:size, :size], system[size, size] = hessian[np.ix_(chosen, chosen)], 0.0
            point = np.zeros(m)
            point[chosen] = np.linalg.solve(system, np.append(c[chosen], 1.0))[:size]
            value = 0.5 * point @ hessian @ point - c @ point
            if point.min() >= -1e-12 and value < lowest:
                best, lowest = point, value
    return best


def program(m: int, n: int, ridge: float, seed: int, d: int = 4) -> tuple[Any, Any]:
    rng = np.random.RandomState(seed)
    anchors = rng.randn(m, d)
    return anchors @ anchors.T + ridge * np.eye(m), rng.randn(n, d) @ anchors.T


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from([1e-3, 0.1, 10.0]), st.integers(0, 10**6))
def test_programs_agree_with_trying_every_support(m: int, ridge: float, seed: int) -> None:
    hessian, linear = program(m, 3, ridge, seed)
    found = minimize_on_simplex(hessian, linear)
    for row, c in zip(found, linear, strict=True):
        np.testing.assert_allclose(row, enumerate_supports(hessian, c), atol=1e-8)


@pytest.mark.parametrize(
    ("m", "d", "ridge", "few", "many"),
    [
        (150, 8, 1e-2, 1, 40),  # few positive entries: active set
        (150, 8, 1e3, 120, 150),  # almost all: pivots on the inverse
        (300, 3, 0.1, 61, 225),  # between
        (200, 150, 1e-9, 1, 200),  # badly conditioned
    ],
)
def test_large_programs_meet_the_optimality_conditions(m: int, d: int, ridge: float, few: int, many: int) -> None:
    hessian, linear = program(m, 40, ridge, 0, d)
    found = minimize_on_simplex(hessian, linear)
    assert few <= np.median((found > 0).sum(axis=1)) <= many
    assert simplex_residual(hessian, linear, found) < 1e-11
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() >= 0
    np.testing.assert_array_equal(minimize_on_simplex(hessian, linear, n_threads=3), found)


def test_pivots_and_active_set_end_at_the_same_point() -> None:
    hessian, linear = program(60, 20, 0.05, 1)
    inverse = np.linalg.inv(hessian)
    pivoted, active, slope = np.empty(60), np.empty(60), np.empty(60)
    settled = []
    for c, has_inverse in itertools.product(linear, (False, True)):
        start = np.ones(60, dtype=bool)
        assert _active_set(hessian, c, 600, start.copy(), active, slope)
        settled.append(
            _pivot(hessian, inverse, inverse.sum(axis=0), c, inverse @ c, has_inverse, start, pivoted, slope)
        )
        if settled[-1]:
            np.testing.assert_allclose(pivoted, active, atol=1e-9)
    assert np.mean(settled) > 0.5  # the others are what the active set is there for
    stopped = np.zeros(60, dtype=bool)
    assert not _active_set(hessian, linear[0], 1, stopped, active, slope)
    assert stopped.sum() in (1, 2)


def test_equal_anchors_share_and_the_residual_notices_a_wrong_solution() -> None:
    hessian = np.ones((3, 3)) + 1e-6 * np.eye(3)
    np.testing.assert_allclose(minimize_on_simplex(hessian, np.ones((2, 3))), 1 / 3)
    hessian, linear = program(5, 1, 0.1, 0)
    assert simplex_residual(hessian, linear, np.eye(5)[:1]) > 1e-3
