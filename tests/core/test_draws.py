"""Rows drawn by their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.core.draws import draw_weighted


def test_the_mean_of_what_a_row_counts_is_its_weight() -> None:
    rng = np.random.RandomState(0)
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 90.0, 0.5, 0.5, 4.0])
    n_draws, total = 6000, np.zeros(10)
    for _ in range(n_draws):
        rows, counts = draw_weighted(np.arange(10), 6, rng, weights)
        assert 6 in rows and counts is not None
        total[rows] += counts
    # The heavy row is never missed; the others differ by chance, a count of some 3 by its root over the draws.
    np.testing.assert_allclose(total / n_draws * weights.sum() / 6, weights, rtol=0.06)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 40), st.floats(0.0, 6.0))
def test_as_many_different_rows_as_asked_for(seed: int, most: int, spread: float) -> None:
    rng = np.random.RandomState(seed)
    rows, weights = 100 + np.arange(40), np.exp(spread * rng.normal(size=40))
    drawn, counts = draw_weighted(rows, most, rng, weights)
    assert counts is not None and len(np.unique(drawn)) == len(drawn) == len(counts) == most
    assert set(drawn) <= set(rows) and (counts > 0).all()
    if most < 40:
        assert counts.sum() == pytest.approx(min(most, weights.sum()))


@pytest.mark.parametrize("weight", [None, 1.0, 3.0])
def test_equal_weights_are_drawn_as_none(weight: float | None) -> None:
    rows = np.arange(50) * 2
    expected = np.random.RandomState(3).choice(rows, 12, replace=False)
    drawn, counts = draw_weighted(rows, 12, np.random.RandomState(3), None if weight is None else np.full(50, weight))
    np.testing.assert_array_equal(drawn, expected)
    assert counts is None if weight is None else (counts == 1).all()


def test_none_and_all() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    rows, counts = draw_weighted(np.arange(3), 0, np.random.RandomState(0), weights)
    assert counts is not None and len(rows) == len(counts) == 0
    rows, counts = draw_weighted(np.arange(3), 3, np.random.RandomState(0), weights)
    np.testing.assert_array_equal(rows, np.arange(3))
    np.testing.assert_array_equal(counts, weights)
