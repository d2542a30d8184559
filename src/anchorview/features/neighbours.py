"""The one neighbour search: products of blocks of rows, the candidates of each row, their distances computed anew.

`nearest_points` and `nearest_others` trust the products: of points that their rounding cannot tell apart, the first are
taken.

`nearest_rows` and `joint_neighbours` are exact. Products of dense rows are in single precision, at twice the speed;
their rounding is known, so that a row which could be among the nearest is never missed. The nearest of the few
candidates are then chosen by distances in double precision. Where there are many candidates (duplicates, clusters far
apart) the block is done in double precision throughout. Rows at the same distance (to working precision) are taken in
the order of their numbers, and a row is never its own neighbour, also among duplicates; so the result does not depend
on threads or blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.arrays import AnyMatrix, Matrix, Rows, squared_norms
from ..engine.blocks import map_blocks, row_blocks
from .ranking import Exact, RowDistances

_SAME = 1e-3  # distances below this part of the longest row are rounding: squares of float32 lose half the digits


def nearest_points(
    points: Matrix,
    queries: Matrix,
    count: int,
    n_threads: int = 1,
    *,
    half_squares: Matrix | None = None,
    block_entries: int = 2**20,
) -> tuple[Rows, Matrix]:
    """Return the points nearest to each query (all if there are fewer), nearest first, and the distances to them.

    Distances are as the precision of the points has them; of points equally far, to rounding, the first are taken.
    `half_squares` are those of the points' lengths, if known. `block_entries` distances are computed at a time, by each
    thread: by default 4 MB in single precision, which a cache can hold.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0]], np.float32)
    >>> index, distances = nearest_points(points, np.array([[4.0]], np.float32), 2)
    >>> index.tolist(), distances.tolist()
    ([[2, 1]], [[1.0, 3.0]])
    """
    count = min(count, len(points))
    if count < 1 or len(queries) == 0:
        return np.zeros((len(queries), max(count, 0)), np.intp), np.zeros((len(queries), max(count, 0)))
    squares = squared_norms(points) / 2 if half_squares is None else half_squares

    def of_block(block: slice) -> tuple[Rows, Matrix]:
        from .kernels import list_smallest  # loads numba

        rows = queries[block]
        halves = rows @ points.T  # half the squared distances, less that of the row: |p|²/2 − qᵀp
        np.subtract(squares, halves, out=halves)
        index = np.empty((len(halves), count), np.intp)
        list_smallest(halves, count, np.zeros(len(halves), halves.dtype), index)
        distances = np.linalg.norm(rows[:, None, :] - points[index], axis=2)
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(index, order, axis=1), np.take_along_axis(distances, order, axis=1)

    results = map_blocks(of_block, row_blocks(len(queries), max(1, block_entries // len(points))), n_threads)
    return np.concatenate([index for index, _ in results]), np.concatenate([part for _, part in results])


def rounding_of(points: Matrix) -> float:
    """Return the distance below which points are the same to rounding."""
    return _SAME * max(float(np.sqrt(squared_norms(points).max(initial=0.0))), 1e-30)


def nearest_others(points: Matrix, count: int, n_threads: int = 1) -> tuple[Rows, Matrix]:
    """Return the nearest others of each point (fewer if there are not so many), and the distances to them.

    Where points have more doubles than that, nearest means nearest places, the first point of each: else such points
    would have their doubles only, and a graph of neighbours would fall apart.

    Examples
    --------
    >>> points = np.array([[0.0], [0.0], [0.0], [1.0], [5.0]], np.float32)
    >>> nearest_others(points, 1)[0].ravel().tolist()
    [3, 0, 0, 0, 3]
    """
    n = len(points)
    index, distances = nearest_points(points, points, min(count + 1, n), n_threads)
    rounding = rounding_of(points)
    if (distances[:, -1] <= rounding).any():
        first = np.unique(np.round(points / rounding), axis=0, return_index=True)[1]
        index, distances = nearest_points(points[first], points, count + 1, n_threads)
        index = first[index]
    other = index != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False  # a point with many doubles may not be among its own neighbours
    width = index.shape[1] - 1
    return index[other].reshape(n, width), distances[other].reshape(n, width)


def nearest_rows(
    rows: AnyMatrix, n_neighbors: int, metric: str = "euclidean", n_threads: int = 1, *, block_entries: int = 2**22
) -> tuple[Rows, Matrix]:
    """Return each row's nearest other rows (all if there are fewer), nearest first, and the distances to them.

    These are squared, or for "cosine" 1 − inner product, of rows of unit length or zero. `block_entries` are computed
    at a time, by each thread: by default 32 MB in double precision.

    Examples
    --------
    >>> nearest_rows(np.array([[0.0], [1.0], [5.0], [1.0]]), 2)[0].tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    index, distances = _nearest_others([RowDistances(rows, metric)], n_neighbors, n_threads, block_entries)
    return index, np.sort(distances[0], axis=1)  # ties go by row number, not by their last digit


def joint_neighbours(
    views: Sequence[AnyMatrix],
    n_neighbors: int,
    centred: Sequence[bool],
    n_threads: int = 1,
    *,
    block_entries: int = 2**22,
) -> tuple[Rows, Matrix]:
    """Return each row's nearest other rows by the sum of the views' squared distances, and those in each view.

    Nearest first, ties by row number. In views that are to be `centred` each row's own mean is taken off first.

    Examples
    --------
    >>> views = [np.array([[0.0], [1.0], [9.0]]), np.array([[9.0], [0.0], [9.0]])]
    >>> index, distances = joint_neighbours(views, 1, [False, False])
    >>> index[:, 0].tolist(), distances[..., 0].tolist()
    ([2, 0, 0], [[81.0, 1.0, 81.0], [0.0, 81.0, 0.0]])
    """
    parts = [RowDistances(rows, centred=shift) for rows, shift in zip(views, centred, strict=True)]
    return _nearest_others(parts, n_neighbors, n_threads, block_entries)


def _nearest_others(
    parts: list[RowDistances], n_neighbors: int, n_threads: int, block_entries: int
) -> tuple[Rows, Matrix]:
    """Return the rows nearest to each by the sum of the parts' distances, and each part's distances to them."""
    n_rows, exact = parts[0].n_rows, Exact(parts)
    count = min(n_neighbors, n_rows - 1)
    if count < 1:
        return np.zeros((n_rows, max(count, 0)), np.intp), np.zeros((len(parts), n_rows, max(count, 0)))

    def of_block(block: slice) -> tuple[Rows, Matrix]:
        index = exact.candidates(block, count)
        distances = np.stack([part.pairs(block, np.maximum(index, 0)) for part in parts])
        return exact.nearest(block, count, index, distances)

    results = map_blocks(of_block, row_blocks(n_rows, max(1, block_entries // n_rows)), n_threads)
    return np.concatenate([index for index, _ in results]), np.concatenate([part for _, part in results], axis=1)
