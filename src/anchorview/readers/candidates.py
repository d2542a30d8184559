"""Rows in groups that lie together, and the labelled rows that could be nearest to one row of a group.

Let q be the centre of a group and s its radius: its rows are f = q + u with |u| ≤ s. For any point a, its anchor, a
labelled row r has

    |f − r|² = |q − r|² − 2 uᵀ(r − a) + (terms without r),

where the second term is at most 2 s |r − a| in size. So r is not the nearest one to any row of the group if
|q − r|² − 2 s |r − a| is more than |q − r'|² + 2 s |r' − a| of another row r'. One product tells this for all labelled
rows and many groups. Among the rows of one class the mean of the class is a good anchor: of a class that is tight and
far away few rows are left, whichever class the group is of. Among all labelled rows it is q itself, which makes this
the triangle inequality.

What is ruled out is farther away than another one by more than rounding, so the nearest of the others is the nearest of
all. Where groups are wide beside the classes, as in many dimensions without clusters, nothing is ruled out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from ..core.arrays import Matrix, Rows, squared_norms

GROUP_ROWS = 1024  # half as many have fewer rivals, but the groups themselves take as long as that saves
MIN_ROWS = 16 * GROUP_ROWS  # fewer groups cannot be narrow
MIN_LABELLED = 1000  # putting a row into a group takes as long as some hundred distances
EVERY = 8  # one row of so many tells whether it pays for all
_SAMPLE = 16  # groups of these
TOGETHER = 8  # groups whose rivals are found by one product
COPIES = 5  # of that product that are made to compare
_WORTH = 0.5  # share of the labelled rows; looking at more of them saves little


def split_rows(rows: Matrix, size: int = GROUP_ROWS) -> list[Rows]:
    """Cut rows into groups of at most so many that lie together, and return the numbers of the rows of each.

    Rows that are the same stay together, however many.

    Examples
    --------
    >>> [group.tolist() for group in split_rows(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    tree = cKDTree(rows, leafsize=size, balanced_tree=False)  # cuts through gaps, not through the middle row
    groups, nodes = [], [tree.tree]
    while nodes:
        node = nodes.pop()
        if node.lesser is None:
            groups.append(tree.indices[node.start_idx : node.end_idx])
        else:
            nodes += [node.greater, node.lesser]
    return groups


class CandidateFilter:
    """Labelled rows of which some could be nearest to a row of a group.

    Parameters
    ----------
    reference : ndarray of shape (n_labelled, k)
        The labelled rows, ordered by class.
    starts : ndarray or None
        The first row of each class, if the nearest one of each class is wanted.
    count : int
        Without `starts`: how many of the nearest are wanted.

    Examples
    --------
    >>> labelled = np.array([[0.0], [2.0], [9.0], [10.0]])
    >>> rows, group = np.array([[0.1], [0.2]]), np.array([0, 1])
    >>> CandidateFilter(labelled, np.array([0, 2])).of(rows, [group])  # the nearest of two classes
    [array([0, 2])]
    >>> CandidateFilter(labelled, None, 2).of(rows, [group])  # the nearest two
    [array([0, 1])]
    >>> CandidateFilter(labelled, None, 2).are_few(rows)
    True
    """

    def __init__(self, reference: Matrix, starts: Rows | None, count: int = 1) -> None:
        self._middle = reference.mean(axis=0)  # small distances far from the origin would be rounded away
        self._points = np.asfortranarray(reference - self._middle)
        self._squares = squared_norms(self._points)
        self._count, self._starts = min(count, len(reference)), starts
        if starts is not None:
            sizes = np.diff(starts, append=len(reference))
            means = np.add.reduceat(self._points, starts) / sizes[:, None]
            self._from_mean = np.sqrt(squared_norms(self._points - np.repeat(means, sizes, axis=0)))

    def of(self, rows: Matrix, groups: Sequence[Rows]) -> list[Rows]:
        """Return for each group of the rows the labelled rows that could be nearest; their numbers ascend."""
        if self._starts is not None:
            return [self._of_classes(rows, group, self._starts) for group in groups]
        members = [rows[group] for group in groups]
        centres = np.array([part.mean(axis=0) for part in members])
        radius = np.sqrt([squared_norms(part - centre).max() for part, centre in zip(members, centres, strict=True)])
        centres -= self._middle
        squares = squared_norms(centres)
        rounding = 8 * (16 + centres.shape[1]) * np.finfo(np.float64).eps
        slack = rounding * (self._squares.max() + squares + radius**2)[:, None]
        squared = self._squares - 2 * (centres @ self._points.T) + squares[:, None]
        reach = 2 * radius[:, None] * np.sqrt(np.maximum(squared, 0.0) + slack)
        most = np.partition(squared + reach, self._count - 1, axis=1)[:, self._count - 1, None] + slack
        ruled_out = squared - reach > most  # never so where numbers are too large to be compared
        return [np.flatnonzero(~out) for out in ruled_out]

    def _of_classes(self, rows: Matrix, group: Rows, starts: Rows) -> Rows:
        from .nearest_kernel import list_rivals  # numba, which small problems do without

        n_labelled, k = self._points.shape
        work, found = np.empty((2, max(n_labelled, k))), np.empty(n_labelled, dtype=np.intp)
        columns = self._points.T  # contiguous: the points are kept by columns
        bounds = np.append(starts, n_labelled)
        count = list_rivals(rows, group, self._middle, columns, self._squares, self._from_mean, bounds, work, found)
        return found[:count].copy()

    def are_few(self, sample: Matrix) -> bool:
        """Tell by one row in `EVERY` whether groups of all rows have few rivals: then these are worth finding."""
        groups = split_rows(sample, GROUP_ROWS // EVERY)
        some = groups[:: -(-len(groups) // _SAMPLE)]
        left = [len(self.of(sample, [group])[0]) * len(group) for group in some]  # one by one: each may be large
        return sum(left) <= _WORTH * len(self._points) * sum(map(len, some))
