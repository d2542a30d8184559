"""Each row's nearest other rows, exactly: products of blocks of rows, then distances anew for those that may be near.

Products of dense rows are in single precision, at twice the speed. Their rounding is known, so that a row which could
be among the nearest is never missed; which of the few candidates are, distances in double precision tell. Where there
are many candidates (duplicates, clusters far apart) the block is done in double precision throughout.

Rows at the same distance (to working precision) are taken in the order of their numbers, and a row is never its own
neighbour, also among duplicates; so the result does not depend on threads or blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from ..engine.blocks import map_blocks
from ._distances import Distances
from ._matrix import Dense, Index, Matrix

_BLOCK_ENTRIES = 2**22  # distances of one block: 32 MB in double precision
_CHUNK = 64
_MORE_CANDIDATES = 32  # than neighbours: above that, double precision


def nearest_rows(rows: Matrix, n_neighbors: int, metric: str = "euclidean", n_threads: int = 1) -> tuple[Index, Dense]:
    """Return each row's nearest other rows, nearest first.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Finite rows; of unit length or zero for "cosine".
    n_neighbors : int
        How many; all other rows if there are fewer.
    metric : {"euclidean", "cosine"}
        Squared Euclidean distance, or 1 − inner product.

    Returns
    -------
    index, distances : ndarrays of shape (n, n_neighbors)

    Examples
    --------
    >>> nearest_rows(np.array([[0.0], [1.0], [5.0], [1.0]]), 2)[0].tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    index, distances = _nearest([Distances(rows, metric)], n_neighbors, n_threads)
    return index, np.sort(distances[0], axis=1)  # ties go by row number, not by their last digit


def joint_neighbours(
    views: Sequence[Matrix], n_neighbors: int, centred: Sequence[bool], n_threads: int = 1
) -> tuple[Index, Dense]:
    """Return each row's nearest other rows by the sum of the views' squared distances, nearest first.

    Parameters
    ----------
    views : sequence of ndarray or csr_array with n rows each
        Finite features.
    n_neighbors : int
        How many; all other rows if there are fewer.
    centred : sequence of bool
        Per view, whether to take each row's own mean off first.

    Returns
    -------
    index : ndarray of shape (n, n_neighbors)
        Ties go by row number.
    distances : ndarray of shape (n_views, n, n_neighbors)
        Squared distances in each view.

    Examples
    --------
    >>> views = [np.array([[0.0], [1.0], [9.0]]), np.array([[9.0], [0.0], [9.0]])]
    >>> index, distances = joint_neighbours(views, 1, [False, False])
    >>> index[:, 0].tolist(), distances[..., 0].tolist()
    ([2, 0, 0], [[81.0, 1.0, 81.0], [0.0, 81.0, 0.0]])
    """
    parts = [Distances(rows, centred=shift) for rows, shift in zip(views, centred, strict=True)]
    return _nearest(parts, n_neighbors, n_threads)


def _nearest(parts: list[Distances], n_neighbors: int, n_threads: int) -> tuple[Index, Dense]:
    """Return the nearest rows by the sum of the parts' distances, and each part's distances to them."""
    n = len(parts[0].squares)
    count = min(n_neighbors, n - 1)
    if count < 1:
        return np.zeros((n, 0), dtype=np.intp), np.zeros((len(parts), n, 0))
    squares = np.sum([part.squares for part in parts], axis=0)
    size = np.sqrt(squares + squares.max())
    noise = np.sum([part.noise(np.float64) for part in parts], axis=0)
    slack = 2 * np.sum([part.noise(np.float32) for part in parts], axis=0) + noise
    # Sparse products gain nothing from single precision, and there are squares that it cannot hold.
    single = not any(part.is_sparse for part in parts) and 1e-30 < squares.max() < 1e30
    for part in parts:
        part.prepare(np.float64)
        if single:
            part.prepare(np.float32)
    step = max(1, _BLOCK_ENTRIES // n)

    def halves(block: slice, dtype: Any) -> Any:
        result = parts[0].halves(block, dtype)
        for part in parts[1:]:
            result += part.halves(block, dtype)
        result[np.arange(len(result)), np.arange(block.start, block.stop)] = np.inf
        return result

    def of_block(block: slice) -> tuple[Index, Dense]:
        index = _candidates(halves(block, np.float32), count, slack[block]) if single else None
        if index is None:
            index = _smallest(halves(block, np.float64), count, noise[block])
        distances = np.stack([part.pairs(block, np.maximum(index, 0)) for part in parts])
        if index.shape[1] > count:
            total = np.where(index < 0, np.inf, distances.sum(axis=0) / 2)
            kept = _smallest(total, count, noise[block])
            index = np.take_along_axis(index, kept, axis=1)
            distances = np.take_along_axis(distances, kept[None], axis=2)
        ordered = _in_order(index, distances.sum(axis=0), size[block])
        place = ordered.argsort(axis=1).argsort(axis=1)  # in `index`, which ascends
        return ordered, np.take_along_axis(distances, place[None], axis=2)

    found = map_blocks(of_block, [slice(s, min(s + step, n)) for s in range(0, n, step)], n_threads)
    return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found], axis=1)


def _candidates(values: Any, count: int, slack: Dense) -> Index | None:
    """Columns of each row whose values may be among the smallest, ascending, then −1; None if there are too many."""
    index = np.full((len(values), min(count + _MORE_CANDIDATES, values.shape[1])), -1, dtype=np.intp)
    most: int = _list_candidates(values, count, slack.astype(np.float32), index)
    return index[:, :most] if most <= index.shape[1] else None


@njit(cache=True, nogil=True)
def _list_candidates(values: Any, count: int, slack: Any, index: Any) -> Any:
    """Write the columns within the slack of each row's count-th smallest value; return the largest number of them.

    Most columns are looked at only once, by the minimum of their chunk.
    """
    n = values.shape[1]
    most = 0
    best, minima = np.empty(count, values.dtype), np.empty((n + _CHUNK - 1) // _CHUNK, values.dtype)
    for row in range(values.shape[0]):
        _chunk_minima(values[row], minima)
        best[:] = np.inf
        for chunk in range(len(minima)):
            if minima[chunk] >= best[count - 1]:
                continue
            for column in range(chunk * _CHUNK, min(chunk * _CHUNK + _CHUNK, n)):
                value = values[row, column]
                if value < best[count - 1]:
                    place = count - 1
                    while place > 0 and value < best[place - 1]:
                        best[place] = best[place - 1]
                        place -= 1
                    best[place] = value
        limit = best[count - 1] + slack[row]
        found = 0
        for chunk in range(len(minima)):
            if minima[chunk] > limit:
                continue
            for column in range(chunk * _CHUNK, min(chunk * _CHUNK + _CHUNK, n)):
                if values[row, column] <= limit:
                    if found == index.shape[1]:
                        return index.shape[1] + 1
                    index[row, found] = column
                    found += 1
        most = max(most, found)
    return most


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})  # else minima are not taken several at a time
def _chunk_minima(values: Any, minima: Any) -> None:
    """Minima of whole chunks; a last part of one is always to be looked at."""
    minima[:] = -np.inf
    for chunk in range(len(values) // _CHUNK):
        part = values[chunk * _CHUNK : chunk * _CHUNK + _CHUNK]
        smallest = part[0]
        for column in range(_CHUNK):
            value = part[column]
            smallest = value if value < smallest else smallest
        minima[chunk] = smallest


def _smallest(distances: Dense, count: int, noise: Dense) -> Index:
    """Columns of the smallest entries of each row, ascending; of tied entries those with the lowest columns."""
    last = np.partition(distances, count - 1, axis=1)[:, count - 1]
    near = distances <= (last + noise)[:, None]
    for row in np.flatnonzero(np.count_nonzero(near, axis=1) > count):
        surely = distances[row] < last[row] - noise[row]
        ties = np.flatnonzero(near[row] & ~surely)
        near[row, ties[count - np.count_nonzero(surely) :]] = False
    result: Index = near.nonzero()[1].reshape(len(distances), count)
    return result


def _in_order(index: Index, distances: Dense, size: Dense) -> Index:
    """Sort by distance; distances that only rounding tells apart are ties, and go by row number."""
    order = np.argsort(distances, axis=1, kind="stable")
    index, distances = np.take_along_axis(index, order, axis=1), np.take_along_axis(distances, order, axis=1)
    noise = 8 * np.finfo(np.float64).eps * size[:, None] * np.sqrt(np.abs(distances[:, 1:]))
    rank = np.cumsum(np.diff(distances, axis=1) > noise, axis=1)
    rank = np.concatenate([np.zeros((len(rank), 1), dtype=rank.dtype), rank], axis=1)
    result: Index = np.take_along_axis(index, np.lexsort((index, rank), axis=1), axis=1)
    return result
