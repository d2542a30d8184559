"""Plain k-means as the published methods use it ("litekmeans"), for dense and sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, ClassIds, Matrix, as_dense, squared_norms
from ..engine.blocks import map_blocks
from ..features.landmarks import fill_empty
from ._matrix import multiply

_BLOCK_ENTRIES = 2**20  # similarities of one block: 8 MB


@dataclass(frozen=True)
class Clusters:
    """A k-means solution; `cost` is the sum of the (unsquared) distances to the centres."""

    labels: ClassIds
    centres: Matrix
    cost: float


def litekmeans(
    rows: AnyMatrix,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_replicates: int = 10,
    max_iter: int = 100,
    n_threads: int = 1,
) -> Clusters:
    """Run Lloyd's k-means from random rows several times and keep the cheapest run.

    Clusters that lose all their rows take the rows farthest from their centres, one each. A run ends when no row
    changes its cluster; centres are the means of the final clusters.

    Examples
    --------
    >>> best = litekmeans(np.array([[0.0], [0.2], [5.0], [5.4]]), 2, np.random.RandomState(0))
    >>> np.sort(best.centres.ravel())
    array([0.1, 5.2])
    """
    if rows.shape[0] < n_clusters:
        raise ValueError(f"n_samples={rows.shape[0]} should be >= n_clusters={n_clusters}.")
    squared = squared_norms(rows)
    runs = (_lloyd(rows, squared, n_clusters, rng, max_iter, n_threads) for _ in range(n_replicates))
    return min(runs, key=lambda run: run.cost)


def _lloyd(
    rows: AnyMatrix, squared: Matrix, n_clusters: int, rng: np.random.RandomState, max_iter: int, n_threads: int
) -> Clusters:
    centres = as_dense(rows[np.sort(rng.choice(rows.shape[0], n_clusters, replace=False))])
    labels = np.full(rows.shape[0], -1, dtype=np.intp)
    for _ in range(max_iter):
        previous = labels
        labels, distances = _assign(rows, squared, centres, n_threads)
        fill_empty(labels, n_clusters, distances)
        if np.array_equal(labels, previous):
            break
        centres = _means(rows, labels, n_clusters)
    own = squared - 2 * _own_products(rows, centres, labels) + squared_norms(centres)[labels]
    return Clusters(labels, centres, float(np.sqrt(np.maximum(own, 0.0)).sum()))


def _assign(rows: AnyMatrix, squared: Matrix, centres: Matrix, n_threads: int) -> tuple[ClassIds, Matrix]:
    """Nearest centre of each row and the squared distance to it."""
    half = squared_norms(centres) / 2
    transposed = np.ascontiguousarray(centres.T)
    step = max(1, _BLOCK_ENTRIES // max(len(centres), 64))

    def of_block(block: slice) -> tuple[ClassIds, Matrix]:
        score = multiply(rows[block], transposed)
        score -= half
        nearest = score.argmax(axis=1)
        return nearest, squared[block] - 2 * score[np.arange(len(nearest)), nearest]

    starts = range(0, rows.shape[0], step)
    parts = map_blocks(of_block, [slice(s, min(s + step, rows.shape[0])) for s in starts], n_threads)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _means(rows: AnyMatrix, labels: ClassIds, n_clusters: int) -> Matrix:
    """Means of the clusters, as a product with a sparse indicator."""
    entries = (1.0 / np.bincount(labels, minlength=n_clusters)[labels], (labels, np.arange(len(labels))))
    return multiply(sparse.csr_array(entries, shape=(n_clusters, len(labels))), rows)


def _own_products(rows: AnyMatrix, centres: Matrix, labels: ClassIds) -> Matrix:
    """Inner product of each row with its centre."""
    result = np.empty(len(labels))
    for cluster in range(len(centres)):
        members = np.flatnonzero(labels == cluster)
        result[members] = multiply(rows[members], centres[cluster])
    return result
