"""Labels spread along the edges of a neighbour graph, fading with every step.

Sums over walks on a graph: Σ_t α^t S^t B, which solves (I − α S) X = B, in few products with the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import ClassIds, Matrix
from .base import Space

_LEFT = 1e-4  # part of the sum over walks that may be left out: far from labels there is little of it, and it decides


def propagate(
    graph: sparse.csr_array, labels: Sequence[tuple[ClassIds, ClassIds]], n_classes: int, alpha: float
) -> npt.NDArray[np.float32]:
    """Spread labels along the edges: Σ_t α^t S^t Y, as far as it matters.

    Parameters
    ----------
    labels : sequence of (rows, classes)
        Several sets of labels, spread together.

    Returns
    -------
    ndarray of shape (n_sets, n_rows, n_classes)
        Shares of the classes; equal where no label arrives.
    """
    n = graph.shape[0]
    seeds = np.zeros((n, len(labels), n_classes), np.float32)
    for number, (rows, classes) in enumerate(labels):
        seeds[rows, number, classes] = 1.0
    spread = sum_walks(graph, seeds.reshape(n, -1), alpha, _LEFT)
    shares = np.maximum(spread, 0, out=spread).reshape(n, len(labels), n_classes)  # below zero is what was left out
    total = shares.sum(axis=2, keepdims=True)
    shares = np.where(total > 0, shares / np.where(total > 0, total, 1), np.float32(1 / n_classes))
    return np.ascontiguousarray(shares.transpose(1, 0, 2))


def share_scores(shares: Matrix) -> Matrix:
    """Turn shares of the classes into scores for a softmax."""
    result: Matrix = np.log(shares + 1e-3)
    return result


@dataclass(frozen=True)
class SpreadReader:
    """Spread labels of the rows of a graph; a new row takes the weighted mean of its nearest ones."""

    shares: npt.NDArray[np.float32]
    temperature: float = 1.0
    reads: ClassVar[Space] = "graph"

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class, for weights of the rows of the graph."""
        return share_scores(rows @ self.shares)


def sum_walks(graph: sparse.csr_array, right: Matrix, alpha: float, left: float) -> Matrix:
    """Solve (I − α S) X = B by Chebyshev's iteration: a third to a tenth of the products that adding up walks takes.

    Parameters
    ----------
    graph : csr_array
        S, whose eigenvalues are real and lie in [−1, 1].
    right : ndarray of shape (n_rows, n_columns), float32
        B.
    alpha : float
        At least 0 and below 1.
    left : float
        Part of the solution that may be missing.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pair = sparse.csr_array(np.array([[0, 1], [1, 0]], np.float32))
    >>> sum_walks(pair, np.array([[1], [0]], np.float32), 0.5, 1e-4).ravel().astype(float).round(3).tolist()
    [1.333, 0.667]
    """
    condition = np.sqrt((1 + alpha) / (1 - alpha))
    n_steps = int(np.ceil(np.log(left / 2) / np.log((condition - 1) / (condition + 1)))) if alpha > 0 else 0
    solution, residual, step = np.zeros_like(right), right.copy(), right.copy()
    factor = alpha
    for _ in range(n_steps):
        solution += step
        residual -= step
        residual += np.float32(alpha) * (graph @ step)
        previous, factor = factor, 1 / (2 / alpha - factor)
        step *= np.float32(factor * previous)
        step += np.float32(2 * factor / alpha) * residual
    solution += step
    return solution
