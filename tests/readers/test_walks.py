"""Sums over walks on a graph."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.readers.graph import make_graph, sum_walks

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("weighted", [False, True])
def test_walks_of_any_length_are_summed(alpha: float, weighted: bool) -> None:
    points = RNG.normal(size=(80, 3)).astype(np.float32)
    graph, _ = make_graph(points, row_weights=RNG.uniform(0.5, 3, 80) if weighted else None)
    right = RNG.normal(size=(80, 4)).astype(np.float32)
    expected = np.linalg.solve(np.eye(80) - alpha * graph.toarray(), right)
    for left in (1e-2, 1e-4):
        found = sum_walks(graph, right, alpha, left)
        assert np.linalg.norm(found - expected) <= 2 * left * np.linalg.norm(expected)
