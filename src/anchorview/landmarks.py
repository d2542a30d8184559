"""Landmarks: m points in the scaled feature space that every row is described by.

The paper takes k-means centres of the concatenated views. How far k-means has converged hardly matters (design 2.9), so a
sample of the rows and a few iterations do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .engine.parallel import map_blocks
from .scaling import BLOCK_ROWS, ViewsScaler
from .views import Views

ROWS_PER_LANDMARK = 40  # size of the sample that k-means sees
MAX_ITER = 20

Matrix = npt.NDArray[np.floating]


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
    parts = [chosen[start : start + BLOCK_ROWS] for start in range(0, n_sample, BLOCK_ROWS)]
    sample = np.concatenate(map_blocks(lambda part: scaler.rows(views, part), parts, n_threads))
    if how == "random":
        return sample
    return kmeans_centres(sample, n_landmarks, rng, n_threads)


def kmeans_centres(
    rows: Matrix, n_clusters: int, rng: np.random.RandomState, n_threads: int = 1, max_iter: int = MAX_ITER
) -> Matrix:
    """Lloyd's k-means from random rows; an emptied cluster takes the row farthest from its centre.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.2], [5.0], [5.4]])
    >>> kmeans_centres(rows, 2, np.random.RandomState(0)).round(1)
    array([[5.2],
           [0.1]])
    """
    centres = rows[rng.choice(len(rows), n_clusters, replace=False)]
    squared = np.einsum("ij,ij->i", rows, rows)
    blocks = [slice(start, min(start + 1024, len(rows))) for start in range(0, len(rows), 1024)]
    previous = None
    for _ in range(max_iter):
        half = np.einsum("ij,ij->i", centres, centres) / 2
        transposed = np.ascontiguousarray(centres.T)

        def assign(
            block: slice, transposed: Matrix = transposed, half: Matrix = half
        ) -> tuple[npt.NDArray[np.intp], Matrix]:
            score = rows[block] @ transposed
            score -= half
            nearest = score.argmax(axis=1)
            return nearest, squared[block] - 2 * score[np.arange(len(nearest)), nearest]

        results = map_blocks(assign, blocks, n_threads)
        labels = np.concatenate([part[0] for part in results])
        if previous is not None and np.array_equal(labels, previous):
            break
        previous = labels
        counts = np.bincount(labels, minlength=n_clusters)
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            distance = np.concatenate([part[1] for part in results])
            labels = labels.copy()
            labels[np.argsort(-distance, kind="stable")[: len(empty)]] = empty
            counts = np.bincount(labels, minlength=n_clusters)
        centres = _cluster_means(rows, labels, counts, centres)
    return centres


def _cluster_means(rows: Matrix, labels: npt.NDArray[np.intp], counts: npt.NDArray[np.intp], old: Matrix) -> Matrix:
    order = np.argsort(labels, kind="stable")
    filled = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[filled])[:-1]])
    sums = np.add.reduceat(rows[order], starts, axis=0)
    means = old.copy()
    means[filled] = sums / counts[filled, None].astype(rows.dtype)
    return means
