"""Rows grouped by the views that they have."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.solver.grams import patterns


@given(st.integers(0, 30), st.integers(1, 20), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_patterns(n_rows: int, n_views: int, seed: int) -> None:
    present = np.random.default_rng(seed).random((n_rows, n_views)) < 0.6 ** (1 / n_views)
    distinct, numbers = patterns(present)
    np.testing.assert_array_equal(distinct[numbers], present)
    assert numbers.shape == (n_rows,)
    assert len({tuple(row) for row in distinct}) == len(distinct) == len(set(numbers.tolist()))
    if present.all(axis=1).any():
        assert distinct[0].all()
    order = np.random.default_rng(seed).permutation(n_rows)
    np.testing.assert_array_equal(patterns(present[order])[0], distinct)
