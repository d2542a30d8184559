"""The points nearest to some rows; the exact search among rows is in tests/baselines."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from anchorview.features.neighbours import nearest_points


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 80),
    st.integers(0, 40),
    st.integers(0, 6),
    st.integers(1, 12),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 200, 2**20]),
    st.integers(0, 99),
)
def test_nearest_points_are_those_of_all_distances(
    n_points: int, n_queries: int, width: int, count: int, n_threads: int, block_entries: int, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    points, queries = rng.normal(size=(n_points, width)) + 3, rng.normal(size=(n_queries, width)) + 3
    narrow = points.astype(np.float32), queries.astype(np.float32)
    index, distances = nearest_points(*narrow, count, n_threads, block_entries=block_entries)
    expected = np.sort(cdist(queries, points), axis=1)[:, :count] if width else np.zeros((n_queries, count))
    assert distances.shape == index.shape == (n_queries, min(count, n_points))
    np.testing.assert_allclose(distances, expected[:, : distances.shape[1]], atol=1e-4)
    assert all(len(set(row)) == len(row) for row in index)
    for query, row, found in zip(queries, index, distances, strict=True):
        np.testing.assert_allclose(np.linalg.norm(points[row] - query, axis=1), found, atol=1e-4)


def test_a_row_is_its_own_nearest_even_far_from_the_origin() -> None:
    points = (np.random.RandomState(0).normal(size=(300, 20)) + 30).astype(np.float32)
    index, distances = nearest_points(points, points, 1)
    np.testing.assert_array_equal(index[:, 0], np.arange(300))
    assert distances.max() == 0
