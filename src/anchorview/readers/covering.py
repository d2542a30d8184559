"""Rows that together stand for as much doubt as possible: each new one adds what those before it leave uncovered.

A row covers others the more the nearer they are, and a place counts as it is covered by the nearest row that has a
label or is chosen. What a set of rows covers grows less and less with each row more, so that the greedy choice is
within a factor of 1 − 1/e of the best one, and its gains need not all be computed again.
"""

from __future__ import annotations

import numpy as np

from ..core.arrays import Matrix, Rows, squared_norms
from ..features.neighbours import nearest_points
from .group_tree import GroupTree, group_centres

_NO_WIDTH = 1e-12


class CoveredDoubt:
    """How well the fine groups of rows are covered by labelled ones.

    Parameters
    ----------
    groups : GroupTree
        Of all rows.
    n_groups : int
        As many groups as there will be labels: a label covers about as much as one of them holds.
    labelled : ndarray of shape (n_labelled, p)
        Coordinates of the rows that have a label.
    """

    def __init__(self, groups: GroupTree, n_groups: int, labelled: Matrix) -> None:
        joined = groups.joined(n_groups)[groups.groups]
        away = np.linalg.norm(groups.points - group_centres(groups.points, joined)[joined], axis=1)
        self._centres = groups.centres
        self._width = max(float(np.median(away)), _NO_WIDTH)
        self._covered: Matrix = np.zeros(len(groups.centres))
        if len(labelled):
            self._covered = self._by_distance(_squared_to_nearest(labelled, groups.centres))

    def _by_distance(self, squared: Matrix) -> Matrix:
        result: Matrix = np.exp(-0.5 * np.maximum(squared, 0.0) / self._width**2)
        return result

    def choose(self, points: Matrix, doubt: Matrix, n: int, first: Rows) -> Rows:
        """Return places of the points that cover most of what is in doubt, the best first; none that adds nothing.

        Parameters
        ----------
        points : ndarray of shape (n_points, p)
            What can be chosen.
        doubt : ndarray of shape (n_groups,)
            Of the rows of each fine group.
        n : int
            How many, at most.
        first : ndarray of int
            Points that are chosen before, for other reasons; they are not returned.
        """
        squared = squared_norms(points)[:, None] + squared_norms(self._centres) - 2 * points @ self._centres.T
        similar, covered = self._by_distance(squared), self._covered
        if len(first):
            covered = np.maximum(covered, similar[first].max(axis=0))
        gains = np.maximum(similar - covered, 0.0) @ doubt
        gains[first] = 0.0
        chosen: list[int] = []
        known_after = np.zeros(len(points), dtype=np.intp)  # gains only fall: old ones are upper bounds
        while len(chosen) < min(n, len(points)):
            best = int(gains.argmax())
            if gains[best] <= 0:
                break
            if known_after[best] < len(chosen):
                gains[best] = np.maximum(similar[best] - covered, 0.0) @ doubt
                known_after[best] = len(chosen)
                continue
            chosen.append(best)
            covered, gains[best] = np.maximum(covered, similar[best]), 0.0
        return np.array(chosen, dtype=np.intp)


def _squared_to_nearest(rows: Matrix, points: Matrix) -> Matrix:
    """Return the squared distance of each point to the nearest of some rows."""
    known, asked = (np.ascontiguousarray(part, dtype=np.float32) for part in (rows, points))
    result: Matrix = nearest_points(known, asked, 1)[1][:, 0].astype(np.float64) ** 2
    return result
