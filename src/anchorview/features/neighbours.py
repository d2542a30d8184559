"""Nearest rows, exactly: products of blocks of rows, the best of each row kept, their distances computed anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..core.arrays import Matrix, Rows
from ..engine.blocks import map_blocks

_BLOCK_ENTRIES = 2**20  # similarities of one block: 4 MB, which a cache can hold


def nearest(points: Matrix, queries: Matrix, count: int, n_threads: int) -> tuple[Matrix, Rows]:
    """Return distances and numbers of the points nearest to each query, nearest first.

    The nearest by |q − p|² are the largest by qᵀp − |p|²/2. Of points equally far, to rounding, the first are taken.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [5.0]], np.float32)
    >>> distances, numbers = nearest(points, np.array([[4.0]], np.float32), 2, n_threads=1)
    >>> distances.tolist(), numbers.tolist()
    ([[1.0, 3.0]], [[2, 1]])
    """
    count = min(count, len(points))
    halves = np.einsum("ij,ij->i", points, points) / 2
    size = max(_BLOCK_ENTRIES // max(len(points), 1), 1)
    blocks = [queries[start : start + size] for start in range(0, len(queries), size)]

    def of_block(block: Matrix) -> tuple[Matrix, Rows]:
        index = np.empty((len(block), count), np.intp)
        _keep_largest(block @ points.T, halves, index)
        gaps = np.linalg.norm(block[:, None, :] - points[index], axis=2)
        order = np.argsort(gaps, axis=1, kind="stable")
        return np.take_along_axis(gaps, order, axis=1), np.take_along_axis(index, order, axis=1)

    parts = map_blocks(of_block, blocks, n_threads)
    if not parts:
        return np.empty((0, count)), np.empty((0, count), np.intp)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


@njit(cache=True, nogil=True)
def _keep_largest(products: Any, halves: Any, index: Any) -> None:
    """Write, for each row, the columns with the largest ``products - halves``, largest first."""
    count = index.shape[1]
    best = np.empty(count, products.dtype)
    for row in range(products.shape[0]):
        best[:] = -np.inf
        index[row] = 0
        for column in range(products.shape[1]):
            value = products[row, column] - halves[column]
            if value > best[count - 1]:
                place = count - 1
                while place > 0 and value > best[place - 1]:
                    best[place] = best[place - 1]
                    index[row, place] = index[row, place - 1]
                    place -= 1
                best[place] = value
                index[row, place] = column
