"""Clusters without labels: k-means on the embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.arrays import Matrix, Weights, squared_norms, unit_rows
from ..engine.blocks import one_blas_thread, rows_of
from .base import Space


@dataclass(frozen=True)
class ClusterCentres:
    """Clusters without labels: k-means centres on the unit rows of the embedding."""

    centres: Matrix
    temperature: float
    reads: ClassVar[Space] = "embedding"

    def scores(self, rows: Matrix, n_threads: int = 1) -> Matrix:
        """Return minus the squared distance to each centre."""
        unit = unit_rows(rows.astype(np.float64))  # so that rows do not depend on those beside them
        near = 2 * (unit @ self.centres.astype(np.float64).T) - squared_norms(self.centres)
        result: Matrix = (near - squared_norms(unit)[:, None]).astype(rows.dtype)
        return result


def fit_clusters(
    embedding: Any, n_clusters: int, rng: np.random.RandomState, weights: Weights = None
) -> ClusterCentres:
    """Run k-means on the unit rows; the temperature is the mean squared distance within clusters."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    n_rows = len(embedding)
    n_sample = min(n_rows, max(20_000, 100 * n_clusters))
    chosen = slice(0, n_rows) if n_sample == n_rows else rng.choice(n_rows, n_sample, replace=False)
    sample, weight = unit_rows(rows_of(embedding, chosen)), None if weights is None else weights[chosen]
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):  # the sums of several threads come in any order
        kmeans = KMeans(n_clusters, n_init=10, random_state=rng).fit(sample, sample_weight=weight)
    total = len(sample) if weight is None else weight.sum()
    return ClusterCentres(kmeans.cluster_centers_, max(kmeans.inertia_ / total, 1e-6))
