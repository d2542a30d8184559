"""Small data, and slow ways to what the parts of the baselines compute."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

FORMS = [np.asarray, sparse.csr_array]


def made_rows(n: int = 60, d: int = 7, seed: int = 0) -> Any:
    """Rows with many zeros."""
    rows = np.random.RandomState(seed).randn(n, d)
    rows[np.random.RandomState(seed + 1).rand(n, d) < 0.4] = 0.0
    return rows


def slow_distances(rows: Any) -> Any:
    """Squared distances of all pairs."""
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=2, dtype=float)


def slow_neighbours(rows: Any, count: int) -> Any:
    """Nearest other rows and their squared distances; ties by row number."""
    distances = slow_distances(rows)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(distances, order, axis=1)


def slow_pkn(distances: Any, k: int) -> Any:
    """The parameter-free graph of all distances, before it is made symmetric."""
    graph = np.zeros_like(distances)
    for i, row in enumerate(distances):
        order = [j for j in np.argsort(row, kind="stable") if j != i]
        far = row[order[k]]
        for j in order[:k]:
            graph[i, j] = (far - row[j]) / sum(far - row[h] for h in order[:k])
    return graph
