"""Landmarks: m points in the scaled feature space that every row is described by.

The paper takes k-means centres of the concatenated views. How far k-means has converged hardly matters
(docs/performance.md), so a sample of the rows and a few iterations do, and rows are assigned to centres in a random
projection; only the final centres are averaged in the full space.
"""

from __future__ import annotations

import numpy as np

from ..core.arrays import ClassIds, Matrix, Presence, Rows, Weights, column_slices
from ..data.views import Views
from ..engine.blocks import map_blocks, row_blocks
from .kmeans import Sample, divide_by_counts, kmeans_labels
from .scaling import BLOCK_ROWS, ViewsScaler

ROWS_PER_LANDMARK = 20  # size of the sample that k-means sees
PROJECTION = 256  # features of the projection in which rows are assigned
FULL_SPACE_ENTRIES = 2**24  # rows × features up to which sparse rows may be filled in for k-means: 64-128 MB
FULL_SPACE_WORK = 5e9  # rows × features × landmarks up to which k-means takes well under a second without a projection


def choose_landmarks(
    views: Views,
    scaler: ViewsScaler,
    how: str | Matrix,
    n_landmarks: int,
    rng: np.random.RandomState,
    n_threads: int = 1,
    *,
    present: Presence = None,
    weights: Weights = None,
) -> Matrix:
    """Return m landmarks (m×d, views side by side, scaled).

    Parameters
    ----------
    how : {"kmeans", "random"} or ndarray of shape (m, d)
        k-means centres, a random sample of rows, or the landmarks themselves in the scaled space.
    present : ndarray of bool of shape (n_rows, n_views), optional
        Which rows have which view. A landmark has all of them: what a row or a cluster lacks is the mean of the rest.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.
    """
    if not isinstance(how, str):
        return np.asarray(how, dtype=scaler.dtype)
    source = _Source(views, scaler, present, weights, n_threads)
    usable = np.arange(len(views)) if weights is None else np.flatnonzero(weights > 0)
    if len(usable) < n_landmarks:
        raise ValueError(f"{n_landmarks} landmarks need at least as many rows of positive weight; got {len(usable)}.")
    n_sample = n_landmarks if how == "random" else min(len(usable), ROWS_PER_LANDMARK * n_landmarks)
    chosen = usable if n_sample == len(usable) else np.sort(rng.choice(usable, n_sample, replace=False))
    if how == "random":
        return source.means(chosen, np.arange(len(chosen)), len(chosen))
    labels = kmeans_labels(source.project(chosen, n_landmarks, rng), n_landmarks, rng, n_threads)
    by_label = np.argsort(labels, kind="stable")
    return source.means(chosen[by_label], labels[by_label], n_landmarks)


def check_landmarks(given: str | Matrix, n_features: int) -> None:
    """Raise an error if given landmarks are not in the scaled feature space."""
    if not isinstance(given, str) and given.shape[1] != n_features:
        raise ValueError(f"landmarks must be an m×{n_features} array; got shape {given.shape}.")


class _Source:
    """The rows that landmarks are made of."""

    def __init__(self, views: Views, scaler: ViewsScaler, present: Presence, weights: Weights, n_threads: int) -> None:
        self.views, self.scaler, self.n_threads = views, scaler, n_threads
        self.present, self.weights = present, weights

    def project(self, chosen: Rows, n_landmarks: int, rng: np.random.RandomState) -> Sample:
        """Return the chosen rows as k-means sees them: as they are, or projected if that saves much."""
        n_features = sum(self.scaler.sizes)
        n_entries = len(chosen) * n_features
        # By size only: a sparse copy of dense data gets the same landmarks.
        saves = n_entries * n_landmarks > FULL_SPACE_WORK or n_entries > FULL_SPACE_ENTRIES
        is_large = saves and n_features > 2 * PROJECTION
        sizes = [n_features] if self.present is None else list(self.scaler.sizes)
        widths = [min(size, PROJECTION) if is_large else size for size in sizes]
        projections = [
            None if width == size else _random_projection(size, width, self.scaler.dtype, rng)
            for size, width in zip(sizes, widths, strict=True)
        ]

        def of_part(part: slice) -> Matrix:
            rows = self.scaler.take(self.views, chosen[part], self.present)
            if len(projections) == 1:
                return rows.dense() if projections[0] is None else rows.product(projections[0])
            out = np.empty((len(rows), sum(widths)), dtype=rows.dtype)
            for number, (columns, target) in enumerate(zip(column_slices(sizes), column_slices(widths), strict=True)):
                out[:, target] = rows.columns(columns, projections[number])
            return out

        projected = np.concatenate(map_blocks(of_part, row_blocks(len(chosen), BLOCK_ROWS), self.n_threads))
        weights = None if self.weights is None else self.weights[chosen]
        present = None if self.present is None else self.present[chosen]
        return Sample(projected, present, column_slices(widths), weights)

    def means(self, rows: Rows, labels: ClassIds, n_clusters: int) -> Matrix:
        """Average the scaled rows of each cluster; rows come sorted by cluster, so a block holds few of them."""
        weights = None if self.weights is None else self.weights[rows]

        def sum_block(part: slice) -> tuple[ClassIds, Matrix]:
            clusters, local = np.unique(labels[part], return_inverse=True)
            scaled = self.scaler.take(self.views, rows[part], self.present)
            return clusters, scaled.sum_by(local, len(clusters), None if weights is None else weights[part])

        sums = np.zeros((n_clusters, sum(self.scaler.sizes)), dtype=self.scaler.dtype)
        for clusters, part in map_blocks(sum_block, row_blocks(len(rows), BLOCK_ROWS), self.n_threads):
            sums[clusters] += part
        present = None if self.present is None else self.present[rows]
        return divide_by_counts(sums, present, column_slices(self.scaler.sizes), labels, weights)


def _random_projection(n_features: int, width: int, dtype: np.dtype[np.floating], rng: np.random.RandomState) -> Matrix:
    """Return a Gaussian projection that keeps distances on average."""
    projection: Matrix = rng.standard_normal((n_features, width)).astype(dtype)
    projection /= dtype.type(np.sqrt(width))
    return projection
