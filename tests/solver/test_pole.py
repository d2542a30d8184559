"""The A step where the graph falls into more parts than there are classes: nothing is left to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.solver.trace_ratio import solve_trace_ratio


def graph_in_parts(n_parts: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """L_d that knows the first two parts only, and the Laplacian of a graph in parts."""
    m = n_parts * size
    weights = np.kron(np.eye(n_parts), np.ones((size, size))) * rng.uniform(0.5, 1, (m, m))
    weights = weights + weights.T
    root = weights.sum(axis=1) ** -0.5
    between = 1e-6 * np.eye(m)
    between[0, 0], between[size, size] = 2.0, 1.0
    return between, np.eye(m) - root[:, None] * weights * root


@pytest.mark.parametrize("n_components", [2, 3, 5])
def test_rounding_does_not_choose_among_directions_without_distance(n_components: int) -> None:
    rng = np.random.default_rng(0)
    between, within = graph_in_parts(8, 6, rng)
    found = []
    for _ in range(4):
        noise = rng.normal(size=within.shape) * 1e-16
        step = solve_trace_ratio(between, within + noise + noise.T, n_components)
        assert not step.guarded
        assert np.vdot(step.embedding @ within, step.embedding) < 1e-12
        found.append(step.embedding.T @ step.embedding)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-9)
    # Of the parts that L_d knows all come in, of the others the first.
    parts = np.diagonal(found[0]).reshape(8, 6).sum(axis=1)
    np.testing.assert_allclose(parts, np.arange(8) < n_components, atol=1e-9)
