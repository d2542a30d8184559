"""Landmarks: m points in the scaled feature space that every row is described by.

The paper takes k-means centres of the concatenated views. How far k-means has converged hardly matters
(docs/performance.md), so a sample of the rows and a few iterations do, and rows are assigned to centres in a random
projection; only the final centres are averaged in the full space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .engine.parallel import map_blocks
from .scaling import BLOCK_ROWS, ViewsScaler
from .views import Views

ROWS_PER_LANDMARK = 20  # size of the sample that k-means sees
PROJECTION = 256  # features of the projection in which rows are assigned
FULL_SPACE_WORK = 5e9  # rows × features × landmarks up to which k-means takes well under a second without a projection
MAX_ITER = 6

Matrix = npt.NDArray[np.floating]
Labels = npt.NDArray[np.intp]


def choose_landmarks(
    views: Views,
    scaler: ViewsScaler,
    how: str | npt.NDArray[np.floating],
    n_landmarks: int,
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> Matrix:
    """Return m landmarks (m×d, views side by side, scaled).

    Parameters
    ----------
    how : {"kmeans", "random"} or ndarray of shape (m, d)
        k-means centres, a random sample of rows, or the landmarks themselves in the scaled space.
    """
    if not isinstance(how, str):
        return np.asarray(how, dtype=scaler.dtype)
    n_rows = len(views)
    n_sample = n_landmarks if how == "random" else min(n_rows, ROWS_PER_LANDMARK * n_landmarks)
    chosen = np.arange(n_rows) if n_sample == n_rows else np.sort(rng.choice(n_rows, n_sample, replace=False))
    if how == "random":
        return scaler.rows(views, chosen)
    n_features = sum(scaler.sizes)
    projection = None
    if n_sample * n_features * n_landmarks > FULL_SPACE_WORK and n_features > 2 * PROJECTION:
        projection = _random_projection(n_features, scaler.dtype, rng)

    def project(part: Labels) -> Matrix:
        rows = scaler.rows(views, part)
        return rows if projection is None else rows @ projection

    projected = np.concatenate(map_blocks(project, _parts(chosen), n_threads))
    labels = kmeans_labels(projected, n_landmarks, rng, n_threads)
    by_label = np.argsort(labels, kind="stable")
    return _means(views, scaler, chosen[by_label], labels[by_label], n_landmarks, n_threads)


def _parts(rows: Labels) -> list[Labels]:
    return [rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS)]


def _random_projection(n_features: int, dtype: np.dtype[np.floating], rng: np.random.RandomState) -> Matrix:
    """Return a Gaussian projection that keeps distances on average."""
    projection: Matrix = rng.standard_normal((n_features, PROJECTION)).astype(dtype)
    projection /= dtype.type(np.sqrt(PROJECTION))
    return projection


def _means(views: Views, scaler: ViewsScaler, rows: Labels, labels: Labels, n_clusters: int, n_threads: int) -> Matrix:
    """Average the scaled rows of each cluster; rows come sorted by cluster, so a block holds few of them."""

    def sum_block(number: int) -> tuple[Labels, Matrix]:
        part = slice(number * BLOCK_ROWS, (number + 1) * BLOCK_ROWS)
        found, local = np.unique(labels[part], return_inverse=True)
        return found, _group_sums(scaler.rows(views, rows[part]), local, len(found))

    sums = np.zeros((n_clusters, sum(scaler.sizes)), dtype=scaler.dtype)
    for found, part in map_blocks(sum_block, range(-(-len(rows) // BLOCK_ROWS)), n_threads):
        sums[found] += part
    counts = np.bincount(labels, minlength=n_clusters)
    means: Matrix = sums / np.maximum(counts, 1)[:, None].astype(scaler.dtype)
    return means


def kmeans_labels(
    rows: Matrix, n_clusters: int, rng: np.random.RandomState, n_threads: int = 1, max_iter: int = MAX_ITER
) -> Labels:
    """Assign rows to clusters by Lloyd's k-means from random rows.

    An emptied cluster takes the row farthest from its centre.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.2], [5.0], [5.4]])
    >>> kmeans_labels(rows, 2, np.random.RandomState(0))
    array([0, 0, 1, 1])
    """
    centres = rows[rng.choice(len(rows), n_clusters, replace=False)]
    squared = np.einsum("ij,ij->i", rows, rows)
    blocks = [slice(start, min(start + 1024, len(rows))) for start in range(0, len(rows), 1024)]
    labels = np.full(len(rows), -1)
    for _ in range(max_iter):
        previous = labels
        labels, distances = _assign(rows, squared, centres, blocks, n_threads)
        _fill_empty(labels, distances, n_clusters)
        if np.array_equal(labels, previous):
            break
        centres = _cluster_means(rows, labels, n_clusters)
    return labels


def _assign(
    rows: Matrix, squared: Matrix, centres: Matrix, blocks: list[slice], n_threads: int
) -> tuple[Labels, Matrix]:
    """Nearest centre of each row and the squared distance to it."""
    half = np.einsum("ij,ij->i", centres, centres) / 2
    transposed = np.ascontiguousarray(centres.T)

    def of_block(block: slice) -> tuple[Labels, Matrix]:
        score = rows[block] @ transposed
        score -= half
        nearest = score.argmax(axis=1)
        return nearest, squared[block] - 2 * score[np.arange(len(nearest)), nearest]

    parts = map_blocks(of_block, blocks, n_threads)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _fill_empty(labels: Labels, distances: Matrix, n_clusters: int) -> None:
    """Hand the rows farthest from their centres to clusters without rows, never a cluster's last one."""
    counts = np.bincount(labels, minlength=n_clusters)
    farthest = iter(np.argsort(-distances, kind="stable"))
    for cluster in np.flatnonzero(counts == 0):
        row = next(row for row in farthest if counts[labels[row]] > 1)
        counts[labels[row]] -= 1
        labels[row], counts[cluster] = cluster, 1


def _cluster_means(rows: Matrix, labels: Labels, n_clusters: int) -> Matrix:
    """Means of the clusters, none of which is empty."""
    counts = np.bincount(labels, minlength=n_clusters)
    means: Matrix = _group_sums(rows, labels, n_clusters) / counts[:, None].astype(rows.dtype)
    return means


def _group_sums(rows: Matrix, labels: Labels, n_groups: int) -> Matrix:
    """Sum the rows of each group, as a product with a sparse indicator: many times faster than ``np.add.at``."""
    entries = (np.ones(len(rows), dtype=rows.dtype), (labels, np.arange(len(rows))))
    sums: Matrix = sparse.csr_array(entries, shape=(n_groups, len(rows))) @ rows
    return sums
