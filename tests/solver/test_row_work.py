"""The rows that may move in a round: which they are, and how far they are from their optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from anchorview.solver.elastic_net import ElasticNetEncoder
from anchorview.solver.objective import CouplingGradient
from anchorview.solver.problem import Problem
from anchorview.solver.row_work import RowWork, active_rows
from support.problems import MemoryCrossProducts

M = 3
PROBLEM = Problem(np.eye(M), 2, l1=0.2, ridge=1.0, coupling=1e-4, must_link_weight=1.0, labelled=np.array([1]))


def work_of(cross: np.ndarray, codes: np.ndarray, problem: Problem = PROBLEM) -> RowWork:
    """Rows without any coupling: then their optimum is known."""
    nothing = CouplingGradient(np.zeros((2, M)), np.zeros((1, M)), np.zeros(M), np.zeros((1, 2)), 0.0)
    rows = np.arange(len(cross))
    return RowWork(problem, MemoryCrossProducts(cross, 64), nothing, rows, sparse.csr_array(codes), 1)


def test_codes_at_their_bounds_are_optimal() -> None:
    """At 1 with a slope that leads on beyond, at 0 with one that leads below: nothing is left to do."""
    cross = np.array([[9.0, -4.0, 1.2], [5.0, 0.1, 0.7]])
    codes = ElasticNetEncoder(PROBLEM.gram, PROBLEM.ridge, PROBLEM.l1).encode(cross).toarray()
    np.testing.assert_allclose(codes, [[1.0, 0.0, 0.5], [1.0, 0.0, 0.25]])
    assert work_of(cross, codes).residual(1.0) == pytest.approx(0.0, abs=1e-12)


def test_the_residual_is_the_largest_step_to_the_box() -> None:
    cross = np.array([[9.0, -4.0, 1.2], [5.0, 0.1, 0.7]])
    codes = np.array([[1.0, 0.0, 0.5], [1.0, 0.0, 0.35]])  # the last slope is 0.35 + 0.2 − 0.7 + 0.35 = 0.2
    assert work_of(cross, codes).residual(1.0) == pytest.approx(0.2)
    assert work_of(cross, codes).residual(4.0) == pytest.approx(0.05)
    codes[1, 2] = 0.0  # slope −0.5
    assert work_of(cross, codes).residual(1.0) == pytest.approx(0.5)
    assert work_of(cross, codes).residual(0.1) == pytest.approx(1.0)  # no further than the bound


def test_rows_that_may_move() -> None:
    above = np.array([0])
    assert active_rows(PROBLEM, above, np.array([4])).tolist() == [0, 1, 4]
    weighted = replace(PROBLEM, weights=np.array([0.0, 1.0, 1.0, 1.0, 1.0]))
    assert active_rows(weighted, above, np.array([4])).tolist() == [1, 4]
    assert active_rows(replace(PROBLEM, coupling=0.0), above, np.array([4])).tolist() == []


def test_a_proximal_term_holds_codes_where_they_are() -> None:
    """With G = I a row is min ½ (1 + μ + L) z² − (e − λ_Z + L z_t) z, entry by entry."""
    cross = np.array([[9.0, -4.0, 1.2], [5.0, 0.1, 0.7]])
    codes = np.array([[0.9, 0.4, 0.1], [0.0, 0.8, 0.6]])
    for proximal in (0.0, 3.0, 1e6):
        found, before, after = work_of(cross, codes).solve(proximal)
        expected = np.clip((cross - 0.2 + proximal * codes) / (2.0 + proximal), 0, 1)
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-9)
        assert before.fit == pytest.approx((cross * codes).sum())
        assert after.fit == pytest.approx((cross * expected).sum())
