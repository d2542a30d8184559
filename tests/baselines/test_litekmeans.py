"""The k-means of the published methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.baselines._kmeans import litekmeans
from support.slow_ways import FORMS, made_rows


@pytest.mark.parametrize("form", FORMS)
def test_kmeans_is_a_fixed_point_and_finds_clear_clusters(form: Any) -> None:
    centres = np.array([[0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    rows = np.repeat(centres, 20, axis=0) + np.random.RandomState(0).rand(60, 2)
    found = litekmeans(form(rows), 3, np.random.RandomState(0))
    assert len(np.unique(found.labels.reshape(3, 20), axis=1).T) == 1 and len(np.unique(found.labels)) == 3
    np.testing.assert_allclose(found.centres, [rows[found.labels == j].mean(axis=0) for j in range(3)])
    distances = np.linalg.norm(rows[:, None] - found.centres, axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), found.labels)
    np.testing.assert_allclose(found.cost, distances.min(axis=1).sum())


def test_kmeans_keeps_the_replicate_with_the_smallest_sum_of_distances() -> None:
    rows = made_rows(80, 3)
    rng = np.random.RandomState(3)
    costs = [litekmeans(rows, 6, rng, n_replicates=1).cost for _ in range(8)]
    assert litekmeans(rows, 6, np.random.RandomState(3), n_replicates=8).cost == min(costs) < max(costs)


@pytest.mark.parametrize("n_clusters", [1, 4, 6])
def test_kmeans_leaves_no_cluster_empty_among_duplicates(n_clusters: int) -> None:
    rows = np.array([[1.0, 2.0]] * 5 + [[3.0, 0.0]])
    found = litekmeans(rows, n_clusters, np.random.RandomState(0))
    assert len(np.unique(found.labels)) == n_clusters
    assert np.isfinite(found.centres).all()


def test_kmeans_does_not_depend_on_threads_and_wants_enough_rows() -> None:
    rows = made_rows(500, 4)
    one, two = (litekmeans(rows, 5, np.random.RandomState(0), n_threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    with pytest.raises(ValueError, match="n_samples=500 should be >= n_clusters=501"):
        litekmeans(rows, 501, np.random.RandomState(0))
