"""Nearest rows in all views together, with the distances of each view to them and to no other row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.parallel import map_blocks
from ._graphs import _BLOCK_ENTRIES, _in_order, _smallest
from ._matrix import Dense, Index, Matrix, is_sparse, multiply, squared_norms


class _Distances:
    """Squared distances between the rows of one view.

    With ``centred`` they are those of the rows less their own mean μ, without filling the zeros of a sparse view:
    (x − μ_x 1)ᵀ(y − μ_y 1) = xᵀy − d μ_x μ_y.
    """

    def __init__(self, rows: Matrix, centred: bool) -> None:
        if not is_sparse(rows):
            rows = rows - rows.mean(axis=0)  # far from the origin the products would round small distances away
        self._rows = rows
        self._columns = rows.T.tocsr() if is_sparse(rows) else rows.T
        self.squares = squared_norms(rows)
        self.noise = np.finfo(np.float64).eps * (8 + np.sqrt(rows.shape[1])) * (self.squares + self.squares.max())
        self._shift = np.sqrt(rows.shape[1]) * np.asarray(rows.mean(axis=1)).ravel() if centred else None

    def halves(self, block: slice) -> Dense:
        """Half the distances from some rows to all, but for the square of the row itself: the order is the same."""
        result = multiply(self._rows[block], self._columns)
        np.subtract(self.squares / 2, result, out=result)
        if self._shift is not None:
            result += np.outer(self._shift[block], self._shift) - self._shift**2 / 2
        return result

    def pairs(self, block: slice, index: Index) -> Dense:
        """Distances to given rows, from differences: those of the products lose the small ones to rounding."""
        own, result = self._rows[block], np.empty(index.shape)
        for rank in range(index.shape[1]):
            result[:, rank] = squared_norms(own - self._rows[index[:, rank]])
        if self._shift is not None:
            result = np.maximum(result - (self._shift[block][:, None] - self._shift[index]) ** 2, 0.0)
        return result


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
    n = views[0].shape[0]
    count = min(n_neighbors, n - 1)
    parts = [_Distances(rows, shift) for rows, shift in zip(views, centred, strict=True)]
    noise = np.sum([part.noise for part in parts], axis=0)
    squares = np.sum([part.squares for part in parts], axis=0)
    size = np.sqrt(squares + squares.max())
    step = max(1, _BLOCK_ENTRIES // max(n, *(rows.shape[1] for rows in views)))

    def of_block(block: slice) -> tuple[Index, Dense]:
        halves = parts[0].halves(block)
        for part in parts[1:]:
            halves += part.halves(block)
        halves[np.arange(len(halves)), np.arange(block.start, block.stop)] = np.inf
        index = _smallest(halves, count, noise[block])
        distances = np.stack([part.pairs(block, index) for part in parts])
        ordered = _in_order(index, distances.sum(axis=0), size[block])[0]
        place = ordered.argsort(axis=1).argsort(axis=1)  # in `index`, which ascends
        return ordered, np.take_along_axis(distances, place[None], axis=2)

    found = map_blocks(of_block, [slice(s, min(s + step, n)) for s in range(0, n, step)], n_threads)
    return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found], axis=1)
