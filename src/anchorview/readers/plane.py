"""Rows in the plane: t-SNE of some rows, the landmarks; every other row is then placed among them.

t-SNE (van der Maaten & Hinton, 2008) draws a row near its neighbours. Over all rows it takes many times as long as a
fit; over a few hundred, drawn from every class, it takes a fraction of one, and placing a row is a problem of its own
(Poličar et al., "Embedding to reference t-SNE space", 2019) whose cost is the same for every row.
benchmarks/maps.py compares time and quality with t-SNE over all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix, Rows, squared_norms, unit_rows
from ..core.progress import Progress
from ..engine.blocks import count_threads, iter_blocks, one_blas_thread, row_blocks

_PERPLEXITY, _PLACING_PERPLEXITY = 10.0, 2.5  # of a sample: some thousand rows have 30 where 500 of them have 10
_ROUNDS, _EXAGGERATED, _EXAGGERATION = 200, 60, 12.0
_PLACING_ROUNDS, _PLACING_EXAGGERATION, _LONGEST_STEP = 25, 1.5, 0.5
_BLOCK = 512  # rows placed at a time: their distances to the landmarks fit into a cache
_FEW = 5  # rows that even a small class gets


def map_to_plane(
    embedding: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    n_landmarks: int = 500,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Matrix:
    """Return a place in the plane for each row, near rows in the same direction (t-SNE of landmarks first).

    Parameters
    ----------
    embedding : array-like of shape (n_rows, n_components)
        For example ``model.embedding_``; only the directions of the rows count, as for the labels.
    labels : array-like of shape (n_rows,), optional
        Landmarks are drawn from every class; without labels, from all rows alike.
    n_landmarks : int, default=500
        Rows that t-SNE is made of; its time grows with the square of their number.
    random_state : int, default=0
        Which rows are landmarks.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Write lines of progress to the logger "anchorview", as a fit does.

    Returns
    -------
    ndarray of shape (n_rows, 2)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat(np.eye(4), 50, axis=0) + 0.1 * rng.normal(size=(200, 4))
    >>> places = map_to_plane(rows, n_landmarks=100)
    >>> within = np.linalg.norm(places[:50] - places[:50].mean(axis=0), axis=1).max()
    >>> bool(within < np.linalg.norm(places[:50].mean(axis=0) - places[50:100].mean(axis=0)))
    True
    """
    rows = np.asarray(embedding)
    if rows.ndim != 2:
        raise ValueError(f"embedding must have two dimensions, rows and components; its shape is {rows.shape}.")
    unusable = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(unusable):
        raise ValueError(f"Row {unusable[0]} of the embedding holds NaN or infinity; leave such rows out.")
    progress = Progress(None, verbose, _ROUNDS, 0.0)
    rng = np.random.RandomState(random_state)
    rows = unit_rows(rows.astype(np.float64)).astype(np.float32)
    landmarks = draw_from_classes(np.zeros(len(rows)) if labels is None else np.asarray(labels), n_landmarks, rng)
    others = np.setdiff1d(np.arange(len(rows)), landmarks)
    places = np.zeros((len(rows), 2), dtype=np.float32)
    with one_blas_thread():  # the same map whatever the number of threads
        progress.log("map: t-SNE of %d of %d rows", len(landmarks), len(rows))
        if len(landmarks) > 1:
            places[landmarks] = _spread(rows[landmarks], rng, progress)
    fixed, fixed_places = rows[landmarks], places[landmarks]
    blocks = row_blocks(len(others), _BLOCK)
    placed = iter_blocks(
        lambda block: _place(rows[others[block]], fixed, fixed_places), blocks, count_threads(n_jobs), "placing rows"
    )
    for block, found in zip(blocks, placed, strict=True):
        if block.start % (4 * _BLOCK) == 0:
            progress.log("map: placing the others, %d of %d done", block.start, len(others))
        places[others[block]] = found
    progress.log("map: done")
    return places


def draw_from_classes(labels: npt.NDArray[Any], count: int, rng: np.random.RandomState) -> Rows:
    """Draw rows from every class in proportion to its size, but a few at least of each; in ascending order.

    Examples
    --------
    >>> labels = np.repeat([0, 1], [990, 10])
    >>> np.bincount(labels[draw_from_classes(labels, 100, np.random.RandomState(0))]).tolist()
    [95, 5]
    """
    if len(labels) <= count:
        return np.arange(len(labels))
    order = rng.permutation(len(labels))
    _, class_ids, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    by_class = order[np.argsort(class_ids[order], kind="stable")]
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # The first few of each class come before all others; then the classes go on at a pace that ends together.
    pace = np.where(rank < _FEW, rank - float(_FEW), rank / np.repeat(sizes, sizes))
    return np.sort(by_class[np.argsort(pace, kind="stable")[:count]])


def _spread(rows: Matrix, rng: np.random.RandomState, progress: Progress) -> Matrix:
    """Return the t-SNE of a few rows: exact, from the first two principal components on."""
    count = len(rows)
    distances = _squared_distances(rows, rows)
    np.fill_diagonal(distances, np.inf)
    index, near = _nearest(distances, min(int(3 * _PERPLEXITY), count - 1))
    one_sided = np.zeros((count, count), dtype=np.float32)
    np.put_along_axis(one_sided, index, _affinities(near, min(_PERPLEXITY, (count - 1) / 3)), axis=1)
    affinities = (one_sided + one_sided.T) / (2 * count)
    walk = _Walk(_first_places(rows, rng), rate=max(count / _EXAGGERATION, 10.0))
    for number in range(_ROUNDS):
        early = number < _EXAGGERATED
        kernel = 1 / (1 + _squared_distances(walk.places, walk.places))
        np.fill_diagonal(kernel, 0)
        force = affinities * np.float32(_EXAGGERATION) if early else affinities.copy()
        force -= kernel / kernel.sum()
        force *= kernel
        walk.step(4 * (force.sum(axis=1, keepdims=True) * walk.places - force @ walk.places), 0.5 if early else 0.8)
        if (number + 1) % 50 == 0:
            progress.log("map: round %d of %d", number + 1, _ROUNDS)
    places: Matrix = walk.places - walk.places.mean(axis=0)
    return places


def _first_places(rows: Matrix, rng: np.random.RandomState) -> Matrix:
    """Return the first two principal components, small; rows that are alike get places that are not quite."""
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    components = left[:, :2] * sizes[:2]
    places = np.zeros((len(rows), 2))
    places[:, : components.shape[1]] = components / max(float(components[:, 0].std()), 1e-6)
    result: Matrix = (1e-4 * (places + 0.01 * rng.normal(size=places.shape))).astype(np.float32)
    return result


def _place(rows: Matrix, landmarks: Matrix, places: Matrix) -> Matrix:
    """Return places for rows among landmarks that stay where they are."""
    index, near = _nearest(_squared_distances(rows, landmarks), min(int(3 * _PLACING_PERPLEXITY), len(landmarks)))
    pull = _affinities(near, min(_PLACING_PERPLEXITY, len(landmarks) / 3))
    targets = places[index]
    walk = _Walk(np.einsum("ij,ijk->ik", pull, targets), rate=0.1, longest=_LONGEST_STEP)
    at_rows = np.ones(len(rows), dtype=np.float32)
    # What goes over every pair of a row and a landmark is kept to products, a reciprocal and a square.
    at_landmarks = np.column_stack([places, np.ones(len(places))]).astype(np.float32)
    factor = np.vstack([-2 * places.T, at_landmarks[:, 2], 1 + squared_norms(places)]).astype(np.float32)
    kernel = np.empty((len(rows), len(places)), dtype=np.float32)
    for _ in range(_PLACING_ROUNDS):
        moved = np.column_stack([walk.places, squared_norms(walk.places), at_rows])
        np.matmul(moved, factor, out=kernel)  # 1 + squared distance
        np.reciprocal(np.maximum(kernel, 1, out=kernel), out=kernel)
        total = kernel @ at_landmarks[:, 2:]
        np.multiply(kernel, kernel, out=kernel)
        pushed = kernel @ at_landmarks
        away = (pushed[:, 2:] * walk.places - pushed[:, :2]) / total
        apart = walk.places[:, None] - targets
        weight = _PLACING_EXAGGERATION * pull / (1 + np.einsum("ijk,ijk->ij", apart, apart))
        walk.step(4 * (np.einsum("ij,ijk->ik", weight, apart) - away), 0.8)
    return walk.places


class _Walk:
    """Gradient descent with momentum and a gain for each coordinate, as van der Maaten's t-SNE has it."""

    def __init__(self, places: Matrix, rate: float, longest: float = np.inf) -> None:
        self.places, self._rate, self._longest = places, np.float32(rate), np.float32(longest)
        self._speed, self._gains = np.zeros_like(places), np.ones_like(places)

    def step(self, gradient: Matrix, momentum: float) -> None:
        turned = gradient * self._speed >= 0  # the last step went up
        self._gains = np.maximum(np.where(turned, self._gains * 0.8, self._gains + 0.2), 0.01).astype(np.float32)
        self._speed = np.float32(momentum) * self._speed - self._rate * self._gains * gradient
        if np.isfinite(self._longest):
            length = np.sqrt(squared_norms(self._speed))[:, None]
            self._speed *= self._longest / np.maximum(length, self._longest)
        self.places = self.places + self._speed


def _squared_distances(rows: Matrix, others: Matrix) -> Matrix:
    distances: Matrix = rows @ (-2 * others.T)
    distances += squared_norms(others)
    distances += squared_norms(rows)[:, None]
    return np.maximum(distances, 0, out=distances)


def _nearest(distances: Matrix, count: int) -> tuple[Rows, Matrix]:
    index = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return index, np.take_along_axis(distances, index, axis=1)


def _affinities(distances: Matrix, perplexity: float) -> Matrix:
    """Return the weights of neighbours: a Gaussian as wide as gives the perplexity, by bisection in each row."""
    gap = (distances - distances.min(axis=1, keepdims=True)).astype(np.float64)
    low, high = np.zeros((len(gap), 1)), np.full((len(gap), 1), np.inf)
    sharpness = 1 / np.maximum(gap.mean(axis=1, keepdims=True), 1e-12)
    for _ in range(40):
        weights = np.exp(-np.minimum(gap * sharpness, 700.0))
        total = weights.sum(axis=1, keepdims=True)
        entropy = np.log(total) + sharpness * (gap * weights).sum(axis=1, keepdims=True) / total
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, sharpness, low), np.where(wide, high, sharpness)
        sharpness = np.where(np.isinf(high), np.minimum(2 * sharpness, 1e30), (low + high) / 2)
    result: Matrix = (weights / total).astype(np.float32)
    return result
