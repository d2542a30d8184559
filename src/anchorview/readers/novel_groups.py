"""Groups of rows that seem to belong to classes without a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Rows, squared_norms
from ..engine.blocks import one_blas_thread
from ..features.landmarks import kmeans_labels

NEW = 0.5  # novelty above which rows are grouped
_OPEN = 0.3  # so near to it a row may as well be of a class as new
_N_CENTRAL = 5


@dataclass(frozen=True, eq=False)
class NovelGroup:
    """Rows that look alike and belong to none of the labelled classes.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows, ascending.
    central : ndarray of int
        The rows nearest to the middle of the group, nearest first: those to look at.
    novelty : float
        Mean novelty of the rows.
    features : tuple of (str, int, float)
        What sets the group apart, the most telling first: view, place of the feature in it, and by how many standard
        deviations the group's mean lies above or below that of all rows. Empty where the features are not here.
    """

    rows: Rows
    central: Rows
    novelty: float
    features: tuple[tuple[str, int, float], ...] = ()

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)


def group_novel_rows(
    coordinates: Matrix,
    novelty: Matrix,
    candidates: Mask,
    usual_size: float,
    n_groups: int | None = None,
    random_state: int = 0,
    class_ids: ClassIds | None = None,
) -> list[NovelGroup]:
    """Group rows of high novelty, the largest group first.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, p)
        From `code_coordinates`.
    novelty : ndarray of shape (n_rows,)
        Of each row.
    candidates : ndarray of bool of shape (n_rows,)
        Rows without a label.
    usual_size : float
        Rows of a usual class, such as the median over `labels_`.
    n_groups : int, optional
        Number of groups; by default so many that a group is as large as a usual class.
    random_state : int
        Where k-means starts.
    class_ids : ndarray of shape (n_rows,), optional
        Class found for each row. If given, rows whose novelty leaves it open go where the nearer centre is, that of
        their class or of a group.
    """
    rows = np.flatnonzero(candidates & (novelty > NEW))
    if not len(rows):
        return []
    count = n_groups or max(1, round(len(rows) / max(usual_size, 1.0)))
    count = min(count, len(rows))
    points = np.ascontiguousarray(coordinates, dtype=np.float32)
    group_of = np.full(len(points), -1, dtype=np.intp)
    with one_blas_thread():
        group_of[rows] = kmeans_labels(points[rows], count, np.random.RandomState(random_state))
        if class_ids is not None:
            group_of = _move_between(points, group_of, class_ids, candidates & (np.abs(novelty - NEW) < _OPEN))
    groups = []
    for number in range(count):
        inside = np.flatnonzero(group_of == number)
        if not len(inside):
            continue
        distances = np.linalg.norm(points[inside] - points[inside].mean(axis=0), axis=1)
        central = inside[np.argsort(distances, kind="stable")[:_N_CENTRAL]]
        groups.append(NovelGroup(inside, central, float(novelty[inside].mean())))
    return sorted(groups, key=lambda group: -group.size)


def _move_between(points: Matrix, group_of: Rows, class_ids: ClassIds, is_open: Mask) -> Rows:
    """Return the groups of rows, −1 for none, after open rows went to the nearer centre: their class's or a group's."""
    n_groups, is_grouped = int(group_of.max()) + 1, group_of >= 0
    joined = np.where(is_grouped, group_of, n_groups + class_ids)
    joined[(class_ids < 0) & ~is_grouped] = -1
    sizes = np.bincount(joined[joined >= 0], minlength=n_groups + int(class_ids.max(initial=0)) + 1)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, joined[joined >= 0], points[joined >= 0])
    centres = sums / np.maximum(sizes, 1)[:, None]
    rows = np.flatnonzero(is_open & (class_ids >= 0))
    rows = rows[sizes[n_groups + class_ids[rows]] > 0]  # a class that is all in groups has no centre
    here = points[rows].astype(np.float64)
    to_groups = squared_norms(here)[:, None] - 2 * here @ centres[:n_groups].T + squared_norms(centres[:n_groups])
    to_class = ((here - centres[n_groups + class_ids[rows]]) ** 2).sum(axis=1)
    moved = group_of.copy()
    moved[rows] = np.where(to_groups.min(axis=1) < to_class, to_groups.argmin(axis=1), -1)
    return moved
