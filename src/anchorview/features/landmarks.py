"""Landmarks: m points in the scaled feature space that every row is described by.

The paper takes k-means centres of the concatenated views. How far k-means has converged hardly matters
(docs/lab/performance.md), so a sample of the rows and a few iterations do, and rows are assigned to centres in a random
projection; only the final centres are averaged in the full space.

Rows may lack views and carry weights. The distance of a row to a centre is taken over the views that the row has, and a
centre's part in a view is the mean of the rows that have it, so a missing view moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Presence, Rows, Weights, column_slices, group_equal, is_sparse
from ..core.draws import draw_weighted
from ..core.progress import Ticker
from ..data.views import Views
from ..engine.blocks import iter_blocks, map_blocks, row_blocks, rows_of
from .scaled import BLOCK_ROWS, ScaledRows, ViewsScaler

MAX_ITER = 6  # accuracy hardly depends on how far k-means has converged (docs/lab/performance.md)
ROWS_PER_LANDMARK = 20  # size of the sample that k-means sees
PROJECTION = 256  # features of the projection in which rows are assigned
FULL_SPACE_ENTRIES = 2**24  # rows × features up to which sparse rows may be filled in for k-means: 64-128 MB
FULL_SPACE_WORK = 5e9  # rows × features × landmarks up to which k-means takes well under a second without a projection
_BLOCK_ROWS = 1024  # of k-means
_CANDIDATES = 8  # centres, as near as the nearest but for rounding, that are compared anew; more are mostly the same
_DIFFERENCES = 2**17  # entries of differences made at a time: 3 MB with rows and centres


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
    least: int = 1,
) -> Matrix:
    """Return m landmarks (m×d, views side by side, scaled), no two of them the same: fewer, if the rows are too alike.

    They are k-means centres ("kmeans"), a sample of rows ("random"), or given, in the scaled space. A landmark has all
    views: what a row or a cluster lacks is the mean of the rest. There are at least `least`, even if some have to be
    the same.
    """
    if not isinstance(how, str):
        check_landmarks(how, sum(scaler.sizes))
        return np.asarray(how, dtype=scaler.dtype)
    source = _Source(views, scaler, present, weights, n_threads)
    usable = np.arange(len(views)) if weights is None else np.flatnonzero(weights > 0)
    if len(usable) < n_landmarks:
        raise ValueError(f"{n_landmarks} landmarks need at least as many rows of positive weight; got {len(usable)}.")
    n_sample = n_landmarks if how == "random" else min(len(usable), ROWS_PER_LANDMARK * n_landmarks)
    chosen = usable
    if n_sample < len(usable) and how == "random":
        chosen = np.sort(rng.choice(usable, n_sample, replace=False, p=_chances(weights, usable)))
    elif n_sample < len(usable):
        chosen = source.draw(usable, n_sample, rng)
    source.hold(chosen)
    if how == "random":
        landmarks = source.means(chosen, np.arange(len(chosen)), len(chosen))
    else:
        sample = source.project(chosen, n_landmarks, rng)
        labels = kmeans_labels(sample, n_landmarks, rng, n_threads)
        landmarks = source.means(chosen, labels, n_landmarks)
    if len(different := _first_of_each(landmarks)) == n_landmarks:
        return landmarks
    # Codes over landmarks that are the same share their weight: a row's code is as long as there are copies, and costs
    # the cube of that.
    if how == "random":
        others = np.setdiff1d(usable, chosen)
        chances, n_others = _chances(weights, others), min(len(others), ROWS_PER_LANDMARK * n_landmarks)
        others = rng.permutation(others)[:n_others] if chances is None else rng.choice(others, n_others, False, chances)
        chosen = np.concatenate([chosen[different], others])
        source.hold(np.sort(chosen))
        chosen = chosen[_first_of_each(source.project(chosen, n_landmarks, rng).with_presence())][:n_landmarks]
        landmarks = source.means(chosen, np.arange(len(chosen)), len(chosen))
    else:
        labels = _cluster_different(sample, n_landmarks, rng, n_threads)
        landmarks = source.means(chosen, labels, int(labels.max()) + 1)
    landmarks = landmarks[_first_of_each(landmarks)]  # where rows lack views, means may have made some the same
    return landmarks[np.arange(max(len(landmarks), least)) % len(landmarks)]


def _chances(weights: Weights, rows: Rows) -> Matrix | None:
    """Return the chances of rows to be drawn, by their weights; None if these are equal.

    Drawn one after the other by these chances, rows come as from a heap in which each lies as often as it weighs.
    """
    if weights is None or not len(rows) or (weights[rows] == weights[rows[0]]).all():
        return None
    chances: Matrix = weights[rows] / weights[rows].sum()
    return chances


def _first_of_each(rows: Matrix) -> Rows:
    """Return the first of the rows that are the same, of all kinds, ascending."""
    return np.sort(np.unique(group_equal(rows), return_index=True)[1])


def _cluster_different(sample: Sample, n_clusters: int, rng: np.random.RandomState, n_threads: int) -> ClassIds:
    """Assign rows, some of them the same, to at most so many clusters: those that are the same always to one."""
    groups = group_equal(sample.with_presence())
    first = np.unique(groups, return_index=True)[1]
    if len(first) <= n_clusters:
        return groups
    one_of_each = Sample(
        sample.rows[first],
        None if sample.present is None else sample.present[first],
        sample.columns,
        np.bincount(groups, sample.weights).astype(sample.rows.dtype),
    )
    return kmeans_labels(one_of_each, n_clusters, rng, n_threads)[groups]


def check_landmarks(given: str | Matrix, n_features: int) -> None:
    """Raise an error if given landmarks are not in the scaled feature space."""
    if not isinstance(given, str) and given.shape[1] != n_features:
        raise ValueError(f"landmarks must be an m×{n_features} array; got shape {given.shape}.")


class _Source:
    """The rows that landmarks are made of."""

    def __init__(self, views: Views, scaler: ViewsScaler, present: Presence, weights: Weights, n_threads: int) -> None:
        self.views, self.scaler, self.n_threads = views, scaler, n_threads
        self.present, self.weights = present, weights
        self._held: tuple[Rows, Views] | None = None

    def draw(self, rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
        """Return so many of the rows, ascending; from now on the others are not there, and these count for them."""
        chosen, counts = draw_weighted(rows, most, rng, None if self.weights is None else self.weights[rows])
        if counts is not None:
            self.weights = np.zeros(len(self.views))
            self.weights[chosen] = counts
        return np.sort(chosen)

    def hold(self, rows: Rows) -> None:
        """Read rows (ascending) of stores into memory: the sample is needed twice, the second time out of order."""
        if self.views.is_stored:
            self._held = rows, self.views[rows]

    def _scaled(self, rows: Rows) -> ScaledRows:
        if self._held is None:
            return self.scaler.take(self.views, rows, self.present)
        place = np.searchsorted(self._held[0], rows)
        arrays = [rows_of(array, place) for array in self._held[1].arrays]
        return self.scaler.scale(arrays, None if self.present is None else self.present[rows])

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

        projected = np.empty((len(chosen), sum(widths)), dtype=self.scaler.dtype)

        def of_part(part: slice) -> None:
            rows, out = self._scaled(chosen[part]), projected[part]
            if len(projections) == 1 and projections[0] is not None:
                rows.product(projections[0], out=out)
            elif len(projections) == 1:
                out[:] = rows.dense()
            else:
                for number, (columns, to) in enumerate(zip(column_slices(sizes), column_slices(widths), strict=True)):
                    out[:, to] = rows.columns(columns, projections[number])

        map_blocks(of_part, row_blocks(len(chosen), BLOCK_ROWS), self.n_threads)
        weights = None if self.weights is None else self.weights[chosen]
        present = None if self.present is None else self.present[chosen]
        return Sample(projected, present, () if present is None else column_slices(widths), weights)

    def means(self, rows: Rows, labels: ClassIds, n_clusters: int) -> Matrix:
        """Average the scaled rows of each cluster; they are sorted by it, so that a block holds few clusters."""
        by_label = np.argsort(labels, kind="stable")
        rows, labels = rows[by_label], labels[by_label]
        weights = None if self.weights is None else self.weights[rows]

        def sum_block(part: slice) -> tuple[ClassIds, Matrix]:
            clusters, local = np.unique(labels[part], return_inverse=True)
            scaled = self._scaled(rows[part])
            return clusters, _sum_by(scaled, local, len(clusters), None if weights is None else weights[part])

        sums = np.zeros((n_clusters, sum(self.scaler.sizes)), dtype=self.scaler.dtype)
        for clusters, part in iter_blocks(sum_block, row_blocks(len(rows), BLOCK_ROWS), self.n_threads):
            sums[clusters] += part
        present = None if self.present is None else self.present[rows]
        columns = () if present is None else column_slices(self.scaler.sizes)
        return divide_by_counts(sums, present, columns, labels, weights)


def _sum_by(rows: ScaledRows, labels: ClassIds, n_groups: int, weights: Weights) -> Matrix:
    """Sum the rows of each group, as a product with a sparse indicator: many times faster than ``np.add.at``."""
    entries = np.ones(rows.n_rows, dtype=rows.dtype) if weights is None else weights.astype(rows.dtype)
    indicator = sparse.csr_array((entries, (labels, np.arange(rows.n_rows))), shape=(n_groups, rows.n_rows))
    sums = np.empty((n_groups, rows.n_features), dtype=rows.dtype)
    for columns, values in rows.parts:
        part = indicator @ values
        sums[:, columns] = part.toarray() if is_sparse(part) else part
    return sums


def _random_projection(n_features: int, width: int, dtype: np.dtype[np.floating], rng: np.random.RandomState) -> Matrix:
    """Return a Gaussian projection that keeps distances on average."""
    projection: Matrix = rng.standard_normal((n_features, width)).astype(dtype)
    projection /= dtype.type(np.sqrt(width))
    return projection


@dataclass(frozen=True)
class Sample:
    """Rows to cluster."""

    rows: Matrix  # zero in the columns of a view that a row lacks
    present: Presence = None
    columns: tuple[slice, ...] = ()  # of each view; needed with `present`
    weights: Weights = None

    def __len__(self) -> int:
        return len(self.rows)

    def with_presence(self) -> Matrix:
        """Return the rows, apart where they have different views."""
        return self.rows if self.present is None else np.hstack([self.rows, self.present.astype(self.rows.dtype)])

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
    first: Rows | None = None,
) -> ClassIds:
    """Assign rows to clusters by Lloyd's k-means from random rows, or from those that are listed as the `first`.

    An emptied cluster takes the row farthest from its centre.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.2], [5.0], [5.4]])
    >>> kmeans_labels(rows, 2, np.random.RandomState(0))
    array([0, 0, 1, 1])
    """
    sample = sample if isinstance(sample, Sample) else Sample(sample)
    centres = _first_centres(sample, n_clusters, rng) if first is None else sample.rows[first]
    squared = np.einsum("ij,ij->i", sample.rows, sample.rows)
    labels = np.full(len(sample), -1)
    ticker = Ticker("grouping rows", max_iter, "rounds at most")
    for _ in range(max_iter):
        previous = labels
        labels = _assign(sample, squared, centres, n_threads)
        if not np.bincount(labels, minlength=n_clusters).all():
            fill_empty(labels, n_clusters, _squared_distances(sample, np.arange(len(sample)), centres, labels))
        if np.array_equal(labels, previous):
            break
        centres = _cluster_means(sample, labels, n_clusters)
        ticker.done()
    return labels


def _first_centres(sample: Sample, n_clusters: int, rng: np.random.RandomState) -> Matrix:
    """Random rows; a view that such a row lacks is filled with the mean of the rows that have it."""
    chances = _chances(sample.weights, np.arange(len(sample)))
    chosen = rng.choice(len(sample), n_clusters, replace=False, p=chances)
    centres = sample.rows[chosen]
    if sample.present is not None:
        mean = _cluster_means(sample, np.zeros(len(sample), dtype=np.intp), 1)[0]
        for number, columns in enumerate(sample.columns):
            centres[np.flatnonzero(~sample.present[chosen, number]), columns] = mean[columns]
    return centres


def _assign(sample: Sample, squared: Matrix, centres: Matrix, n_threads: int) -> ClassIds:
    """Nearest centre of each row, over the views that the row has.

    Products of matrices round differently with every kernel of BLAS, and a row in another cluster moves two landmarks.
    So centres that rounding cannot tell apart are compared by differences, which are the same on all of them.
    """
    transposed = np.ascontiguousarray(centres.T)
    whole = np.einsum("ij,ij->i", centres, centres) / 2
    by_view = np.array([np.einsum("ij,ij->i", centres[:, c], centres[:, c]) / 2 for c in sample.columns])
    rounding = np.finfo(centres.dtype).eps * (8 + np.sqrt(centres.shape[1]))

    def of_block(block: slice) -> ClassIds:
        score = sample.rows[block] @ transposed
        score -= whole if sample.present is None else sample.present[block].astype(score.dtype) @ by_view
        nearest: ClassIds = score.argmax(axis=1)
        each = np.arange(len(nearest))
        least = score[each, nearest] - rounding * (squared[block] + 2 * whole.max())
        score[each, nearest] = -np.inf
        doubtful = np.flatnonzero(score.max(axis=1) >= least)
        score[each, nearest] = np.inf
        place, centre = (score[doubtful] >= least[doubtful, None]).nonzero()
        row = doubtful[place]
        if len(row):
            kept = np.arange(len(row)) - np.searchsorted(row, row) < _CANDIDATES
            row, centre = row[kept], centre[kept]
            order = np.lexsort((centre, _squared_distances(sample, block.start + row, centres, centre), row))
            first = order[np.unique(row, return_index=True)[1]]
            nearest[row[first]] = centre[first]
        return nearest

    return np.concatenate(map_blocks(of_block, sample.blocks, n_threads))


def _squared_distances(sample: Sample, rows: Rows, centres: Matrix, numbers: ClassIds) -> Matrix:
    """Distances from rows to a centre each, by its number, from differences, over the views that the row has."""
    result = np.empty(len(rows))
    for part in row_blocks(len(rows), max(1, _DIFFERENCES // centres.shape[1])):
        differences = sample.rows[rows[part]].astype(np.float64) - centres[numbers[part]]
        if sample.present is not None:
            for number, columns in enumerate(sample.columns):
                differences[~sample.present[rows[part], number], columns] = 0.0
        result[part] = np.einsum("ij,ij->i", differences, differences)
    return result


def fill_empty(labels: ClassIds, n_clusters: int, distances: Matrix) -> None:
    """Hand the rows farthest from their centres to clusters without rows, never a cluster's last one."""
    counts = np.bincount(labels, minlength=n_clusters)
    if counts.all():
        return
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
    """Turn sums over clusters, which may be changed, into means, in each view over the rows that have it.

    A cluster none of whose rows has a view takes the mean of all rows there.
    """
    if present is None:
        counts = np.bincount(labels, weights, minlength=len(sums)).astype(sums.dtype)
        sums /= np.where(counts > 0, counts, 1)[:, None]
        return sums
    means = np.empty_like(sums)
    for number, view in enumerate(columns):
        shares = present[:, number] if weights is None else present[:, number] * weights
        counts = np.bincount(labels, shares, minlength=len(sums)).astype(sums.dtype)
        means[:, view] = sums[:, view] / np.where(counts > 0, counts, 1)[:, None]
        means[counts == 0, view] = sums[:, view].sum(axis=0) / max(float(counts.sum()), 1e-30)
    return means
