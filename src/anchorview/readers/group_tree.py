"""Groups of rows that are alike, made once for a fit: what suggestions are spread over.

Some rows are grouped finely by k-means, and the groups are joined two by two (Ward), so that any number of groups can
be had at once: fewer and larger ones while there are few labels. Codes know nothing of the labels, so the groups stay
when labels change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import ward

from ..core.arrays import Matrix, Rows, squared_norms
from ..engine.blocks import one_blas_thread
from ..features.landmarks import kmeans_labels
from ..features.neighbours import nearest_points

_MAX_ROWS = 10_000  # rows that are grouped; with more, a random sample
_MAX_GROUPS = 1000
_ROUNDS = 10  # of k-means
_MAX_TOGETHER = 256  # first rows of groups that are drawn together
_DOUBLE = 0.25  # of the usual distance of a row from its group's centre: rows nearer to each other are doubles


@dataclass(frozen=True, eq=False)
class GroupTree:
    """Rows in groups that can be joined.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows that were grouped, ascending.
    points : ndarray of float32 of shape (n_grouped, p)
        Their coordinates.
    groups : ndarray of int of shape (n_grouped,)
        The fine group of each.
    centres : ndarray of float32 of shape (n_groups, p)
        Of the fine groups.
    merges : ndarray of int of shape (n_groups - 1, 2)
        Which two are joined, in order; joined ones are numbered from `n_groups` on.
    double : float
        Rows at a smaller distance are near-doubles.
    """

    rows: Rows
    points: Matrix
    groups: Rows
    centres: Matrix
    merges: Rows
    double: float

    def joined(self, n_groups: int) -> Rows:
        """Return, for each fine group, its number among so many groups, all of them if there are fewer.

        Examples
        --------
        >>> places = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
        >>> made = make_group_tree(places)
        >>> made.joined(3)[made.groups].tolist()
        [0, 0, 1, 1, 2]
        """
        n_fine = len(self.centres)
        n_merges = max(n_fine - max(n_groups, 1), 0)
        parent = np.arange(n_fine + n_merges)
        for number, (one, other) in enumerate(self.merges[:n_merges].tolist()):
            parent[one] = parent[other] = n_fine + number
        for node in range(len(parent) - 1, -1, -1):  # a parent has the larger number: it is resolved before
            parent[node] = parent[parent[node]]
        first, place = np.unique(parent[:n_fine], return_index=True)
        order = np.argsort(place)  # numbered by their first fine group
        numbers = np.empty(len(first), dtype=np.intp)
        numbers[order] = np.arange(len(first))
        result: Rows = numbers[np.searchsorted(first, parent[:n_fine])]
        return result

    def nearest(self, points: Matrix) -> Rows:
        """Return the fine group of other rows, by their coordinates."""
        with one_blas_thread():
            found = nearest_points(self.centres, np.ascontiguousarray(points, dtype=np.float32), 1)[0]
        result: Rows = found[:, 0]
        return result


def make_group_tree(coordinates: Matrix, random_state: int = 0) -> GroupTree:
    """Group rows by their coordinates; see `GroupTree`.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, p)
        Where rows that are alike lie together; see `code_space`.
    random_state : int
        Which rows are grouped, if there are many, and where k-means starts.
    """
    rng = np.random.RandomState(random_state)
    rows = np.arange(len(coordinates))
    if len(rows) > _MAX_ROWS:
        rows = np.sort(rng.choice(len(rows), _MAX_ROWS, replace=False))
    points = np.ascontiguousarray(coordinates[rows], dtype=np.float32)  # as a run keeps them, for the same answer later
    n_groups = min(_MAX_GROUPS, len(points))
    if n_groups == len(points):
        groups = np.arange(n_groups)
    else:
        with one_blas_thread():  # several round otherwise
            groups = kmeans_labels(points, n_groups, rng, max_iter=_ROUNDS, first=spread_out(points, n_groups, rng))
    groups = np.unique(groups, return_inverse=True)[1]  # none is empty
    centres = group_centres(points, groups)
    merges = np.empty((0, 2), dtype=np.intp)
    if len(centres) > 1:
        merges = ward(centres.astype(np.float64))[:, :2].astype(np.intp)
    half = max(len(centres) // 2, 1)
    distances = np.linalg.norm(points - group_centres(points, groups)[groups], axis=1)
    if not distances.any():  # each alone
        made = GroupTree(rows, points, groups, centres, merges, 0.0)
        coarse = made.joined(half)[groups]
        distances = np.linalg.norm(points - group_centres(points, coarse)[coarse], axis=1)
    usual = float(np.median(distances[distances > 0])) if (distances > 0).any() else 0.0
    return GroupTree(rows, points, groups, centres, merges, _DOUBLE * usual)


def group_centres(points: Matrix, groups: Rows) -> Matrix:
    """Return the mean of the rows of each group; every group has one."""
    n_groups = int(groups.max()) + 1
    sums = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(n_groups, len(groups)))
    means = (sums @ points.astype(np.float64)) / np.bincount(groups, minlength=n_groups)[:, None]
    result: Matrix = means.astype(np.float32)
    return result


def spread_out(rows: Matrix, n: int, rng: np.random.RandomState) -> Rows:
    """Draw different rows that are far from each other, as k-means++ does, but several of many at a time.

    The chance of a row is its squared distance from the nearest of those drawn before. To draw a quarter as many as
    there are already takes one product, where k-means++ takes as many passes over the rows as it draws.
    """
    squares = squared_norms(rows)
    chosen = new = np.array([rng.randint(len(rows))])
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < n:
        squared = squares[:, None] + squares[new] - 2 * (rows @ rows[new].T)
        nearest = np.minimum(nearest, np.maximum(squared.min(axis=1), 0.0))
        nearest[chosen] = 0.0
        reached = np.cumsum(nearest)
        if reached[-1] <= 0:  # all others are the same as one of those drawn
            others = np.setdiff1d(np.arange(len(rows)), chosen)
            return np.concatenate([chosen, rng.permutation(others)[: n - len(chosen)]])
        count = min(n - len(chosen), max(1, len(chosen) // 4), _MAX_TOGETHER)
        new = np.unique(np.searchsorted(reached, rng.random_sample(count) * reached[-1], side="right"))
        chosen = np.concatenate([chosen, new])
    return chosen
