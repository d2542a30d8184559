"""The nearest labelled rows by plain distances, or a vote of several: cheap enough for a search over many settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..core.arrays import ClassIds, Matrix, Weights, fewer_digits, unit_rows
from ..core.draws import subsample_classes
from ..features.neighbours import nearest_points
from .base import Space
from .nearest import NO_VOTE, SAME, LabelledNeighbours, keep_labelled

_BITS = 24  # of a labelled row, as many as single precision has
_MAX_NEIGHBOURS = 2000  # labelled rows that others are compared with: in few dimensions more are hardly nearer


@dataclass(frozen=True)
class PlainNeighbours:
    """Nearest labelled row, or a vote of several.

    Parameters
    ----------
    labelled : LabelledNeighbours
        The labelled rows, and how many of them vote.
    weights : ndarray of shape (n_labelled,), optional
        In a vote, how often each of them counts. Of rows from the nearest on, those vote that make up a weight of
        `n_neighbors`, the last with what is left of it: as if a row of weight 2 were two rows.
    temperature : float
        See `Reader`.
    """

    labelled: LabelledNeighbours
    weights: Weights = None
    temperature: float = 1.0
    reads: ClassVar[Space] = "unit_embedding"

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return minus squared distances to the nearest row of each class, or the logarithms of votes.

        Which rows vote is told by products in single precision: all rows of a fit are read by several such readers.
        """
        known = self.labelled
        if known.rule != "knn":
            result: Matrix = known.evidence(np.asarray(rows))
            return result
        queries = unit_rows(np.asarray(rows, dtype=np.float64))
        if self.weights is not None:
            return self._weighted(queries, self.weights)
        nearest, _ = nearest_points(known.reference.astype(np.float32), queries.astype(np.float32), known.n_neighbors)
        distances = np.linalg.norm(queries[:, None] - known.reference[nearest], axis=2)
        return self._count(nearest, 1 / np.maximum(distances, SAME))

    def _weighted(self, queries: Matrix, weights: Matrix) -> Matrix:
        count = self.labelled.n_neighbors
        squared = np.maximum(2 - 2 * queries @ self.labelled.reference.T, 0.0)
        reached = np.cumsum(np.sort(weights))
        width = min(int(np.searchsorted(reached, count)) + 1, len(weights))  # enough for any row
        nearest = np.argsort(squared, axis=1, kind="stable")[:, :width]
        of_nearest = weights[nearest]
        counted = np.clip(count - (np.cumsum(of_nearest, axis=1) - of_nearest), 0.0, of_nearest)
        counted /= np.maximum(np.sqrt(np.take_along_axis(squared, nearest, axis=1)), SAME)
        return self._count(nearest, counted)

    def _count(self, nearest: Any, counted: Matrix) -> Matrix:
        """Return the logarithms of the votes of each row's neighbours."""
        class_ids = self.labelled.class_ids
        votes = np.zeros((len(nearest), class_ids[-1] + 1))
        np.add.at(votes, (np.arange(len(votes))[:, None], class_ids[nearest]), counted)
        result: Matrix = np.log(votes + NO_VOTE * votes.sum(axis=1, keepdims=True))
        return result


def fit_plain_neighbours(
    rows: Matrix, class_ids: ClassIds, rule: str, n_neighbors: int, weights: Weights = None
) -> PlainNeighbours:
    """Keep the labelled rows, or some. The nearest is the nearest whatever its weight; in a vote weights count."""
    some = subsample_classes(class_ids, _MAX_NEIGHBOURS)
    rows, class_ids = rows[some], class_ids[some]
    kept = keep_labelled(rows, class_ids, rule, n_neighbors)
    kept = replace(kept, reference=fewer_digits(kept.reference, _BITS))
    if weights is None or rule != "knn":
        return PlainNeighbours(kept)
    return PlainNeighbours(kept, weights[some][np.argsort(class_ids, kind="stable")])
