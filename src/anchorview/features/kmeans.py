"""Lloyd's k-means on a sample of rows, also where rows lack some of the views or carry weights.

The distance of a row to a centre is taken over the views that the row has, and a centre's part in a view is the mean of
the rows that have it, so a missing view moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Presence, Weights
from ..engine.blocks import map_blocks, row_blocks

MAX_ITER = 6  # accuracy hardly depends on how far k-means has converged (docs/performance.md)
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class Sample:
    """Rows to cluster.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Values, zero in the columns of a view that a row lacks.
    present : ndarray of bool of shape (n, V), or None
        Which rows have which view; None if all have all.
    columns : list of slice
        Columns of each view; needed with `present`.
    weights : ndarray of shape (n,), or None
        Weight of each row.
    """

    rows: Matrix
    present: Presence = None
    columns: tuple[slice, ...] = ()
    weights: Weights = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def blocks(self) -> list[slice]:
        """Blocks of rows."""
        return row_blocks(len(self), _BLOCK_ROWS)


def kmeans_labels(
    sample: Sample | Matrix,
    n_clusters: int,
    rng: np.random.RandomState,
    n_threads: int = 1,
    max_iter: int = MAX_ITER,
) -> ClassIds:
    """Assign rows to clusters by Lloyd's k-means from random rows.

    An emptied cluster takes the row farthest from its centre.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.2], [5.0], [5.4]])
    >>> kmeans_labels(rows, 2, np.random.RandomState(0))
    array([0, 0, 1, 1])
    """
    sample = sample if isinstance(sample, Sample) else Sample(sample)
    centres = _first_centres(sample, n_clusters, rng)
    squared = np.einsum("ij,ij->i", sample.rows, sample.rows)
    labels = np.full(len(sample), -1)
    for _ in range(max_iter):
        previous = labels
        labels, distances = _assign(sample, squared, centres, n_threads)
        _fill_empty(labels, distances, n_clusters)
        if np.array_equal(labels, previous):
            break
        centres = _cluster_means(sample, labels, n_clusters)
    return labels


def _first_centres(sample: Sample, n_clusters: int, rng: np.random.RandomState) -> Matrix:
    """Random rows; a view that such a row lacks is filled with the mean of the rows that have it."""
    chances = None if sample.weights is None else sample.weights / sample.weights.sum()
    chosen = rng.choice(len(sample), n_clusters, replace=False, p=chances)
    centres = sample.rows[chosen]
    if sample.present is not None:
        mean = _cluster_means(sample, np.zeros(len(sample), dtype=np.intp), 1)[0]
        for number, columns in enumerate(sample.columns):
            centres[np.flatnonzero(~sample.present[chosen, number]), columns] = mean[columns]
    return centres


def _assign(sample: Sample, squared: Matrix, centres: Matrix, n_threads: int) -> tuple[ClassIds, Matrix]:
    """Nearest centre of each row and the squared distance to it, over the views that the row has."""
    transposed = np.ascontiguousarray(centres.T)
    whole = np.einsum("ij,ij->i", centres, centres) / 2
    by_view = np.array([np.einsum("ij,ij->i", centres[:, c], centres[:, c]) / 2 for c in sample.columns])

    def of_block(block: slice) -> tuple[ClassIds, Matrix]:
        score = sample.rows[block] @ transposed
        score -= whole if sample.present is None else sample.present[block].astype(score.dtype) @ by_view
        nearest = score.argmax(axis=1)
        return nearest, squared[block] - 2 * score[np.arange(len(nearest)), nearest]

    parts = map_blocks(of_block, sample.blocks, n_threads)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _fill_empty(labels: ClassIds, distances: Matrix, n_clusters: int) -> None:
    """Hand the rows farthest from their centres to clusters without rows, never a cluster's last one."""
    counts = np.bincount(labels, minlength=n_clusters)
    farthest = iter(np.argsort(-distances, kind="stable"))
    for cluster in np.flatnonzero(counts == 0):
        row = next(row for row in farthest if counts[labels[row]] > 1)
        counts[labels[row]] -= 1
        labels[row], counts[cluster] = cluster, 1


def _cluster_means(sample: Sample, labels: ClassIds, n_clusters: int) -> Matrix:
    """Means of the clusters, none of which is empty."""
    weights = np.ones(len(sample), dtype=sample.rows.dtype) if sample.weights is None else sample.weights
    entries = (weights.astype(sample.rows.dtype), (labels, np.arange(len(sample))))
    sums: Matrix = sparse.csr_array(entries, shape=(n_clusters, len(sample))) @ sample.rows
    return divide_by_counts(sums, sample.present, sample.columns, labels, weights)


def divide_by_counts(
    sums: Matrix,
    present: Presence,
    columns: tuple[slice, ...],
    labels: ClassIds,
    weights: Weights,
) -> Matrix:
    """Turn sums over clusters into means, in each view over the rows that have it.

    A cluster none of whose rows has a view takes the mean of all rows there.
    """
    if present is None:
        counts = np.bincount(labels, weights, minlength=len(sums)).astype(sums.dtype)
        result: Matrix = sums / np.where(counts > 0, counts, 1)[:, None]
        return result
    means = np.empty_like(sums)
    for number, view in enumerate(columns):
        shares = present[:, number] if weights is None else present[:, number] * weights
        counts = np.bincount(labels, shares, minlength=len(sums)).astype(sums.dtype)
        means[:, view] = sums[:, view] / np.where(counts > 0, counts, 1)[:, None]
        means[counts == 0, view] = sums[:, view].sum(axis=0) / max(float(counts.sum()), 1e-30)
    return means
