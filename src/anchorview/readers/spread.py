"""Labels spread along the edges of a neighbour graph, fading with every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import ClassIds, Matrix
from .base import Space
from .walks import sum_walks

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
