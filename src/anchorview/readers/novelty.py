"""Rows of no known class: how likely each row is to belong to none of the labelled classes, and groups of such rows.

Three signs, none of them best everywhere: how unsure the model is; the distance to the nearest labelled row in the
coordinates of the codes; and how little of any class's labels a walk over the neighbour graph of these coordinates
brings. The walk finds classes that hang together and misses scattered rows, which the distance finds. How much each
counts is told by leaving classes out: without the class that a row seems to belong to it should look new, and with it
it should not.

Nothing here changes a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..engine.blocks import one_blas_thread
from ..features.landmarks import kmeans_labels
from .held_out_labels import HeldOutLabels
from .unseen_classes import DensityRatio, fit_density_ratio, held_out_doubts, left_out_distances, percentile_ranks

_N_NEIGHBORS = 10
_DAMPING, _STEPS = 0.97, 60
_MOST_MEMBERS = 10_000  # rows of the graph; others take the mean of their nearest members
_MOST_LABELS = 3000  # labelled rows in it
_N_FOLDS = 3  # of labels that are hidden from the walk in turn
_LEAST_MASS = 1e-6
NEW = 0.5  # novelty above which rows are grouped
_FINEST = 3e-3  # steps of ranks that count: the very last ones are chance
_N_CENTRAL = 5


@dataclass(frozen=True, eq=False)
class NoveltyModel:
    """What tells the novelty of rows, those of the fit and new ones.

    Attributes
    ----------
    members : ndarray of shape (n_members, p)
        Coordinates of the rows of the graph.
    mass : ndarray of shape (n_members,)
        The largest share of a class's labels that a walk from each brings.
    labelled : ndarray of shape (n_labelled, p)
        Coordinates of labelled rows.
    ranks : tuple of three ndarrays
        The signs of unlabelled rows, ascending: what a new row's signs are ranked among.
    weights : ndarray of shape (3,)
        How much each sign counts: doubt, distance and walk.
    scores : ndarray
        The signs of unlabelled rows taken together (`combine`), ascending.
    offset, slope : float
        Of the logit of the novelty in the rank among these.
    """

    members: Matrix
    mass: Matrix
    labelled: Matrix
    ranks: tuple[Matrix, Matrix, Matrix]
    weights: Matrix
    scores: Matrix
    offset: float
    slope: float

    def signs(self, coordinates: Matrix, confidence: Matrix, n_threads: int = 1) -> Matrix:
        """Return the three signs of rows, ranked in 0 … 1."""
        raw = _raw_signs(self.members, self.mass, self.labelled, coordinates, confidence, n_threads)
        return _ranked(raw, self.ranks)

    def novelty(self, coordinates: Matrix, confidence: Matrix, n_threads: int = 1) -> Matrix:
        """Return the novelty of rows, by their coordinates and the confidence of their labels."""
        scores = combine(self.signs(coordinates, confidence, n_threads), self.weights)
        ratio = DensityRatio(self.offset, self.slope)
        return ratio.probabilities(percentile_ranks(scores, self.scores), 0.5)


def combine(signs: Matrix, weights: Matrix) -> Matrix:
    """Return one number for ranked signs, as Fisher combines p-values: a single high rank counts more than in a mean.

    Examples
    --------
    >>> signs = np.array([[0.5, 0.5, 0.5], [0.99, 0.25, 0.26]])
    >>> combine(signs, np.full(3, 1 / 3)).round(2)
    array([0.69, 1.64])
    """
    result: Matrix = -np.log(1 + _FINEST - signs) @ weights
    return result


def fit_novelty(
    coordinates: Matrix,
    class_ids: ClassIds,
    confidence: Matrix,
    held_out: HeldOutLabels | None,
    n_threads: int = 1,
    random_state: int = 0,
    second: Matrix | None = None,
) -> NoveltyModel | None:
    """Learn what tells rows of unknown classes; None without two classes, or if all rows have a label.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, p)
        From `code_coordinates`.
    class_ids : ndarray of shape (n_rows,)
        Classes of the labelled rows, −1 for others.
    confidence : ndarray of shape (n_rows,)
        Probability of the label found.
    held_out : HeldOutLabels or None
        Labels judged by models that did not see them.
    n_threads : int
        Threads.
    random_state : int
        Which rows are in the graph, if there are many.
    second : ndarray of shape (n_rows,), optional
        Probability of the second likeliest class; by default labels that were held out tell what doubt is worth.
    """
    labelled = np.flatnonzero(class_ids >= 0)
    others = np.flatnonzero(class_ids < 0)
    if len(np.unique(class_ids[labelled])) < 2 or not len(others):
        return None
    rng = np.random.RandomState(random_state)
    points = np.ascontiguousarray(coordinates, dtype=np.float32)
    kept = labelled if len(labelled) <= _MOST_LABELS else np.sort(rng.choice(labelled, _MOST_LABELS, replace=False))
    drawn = others if len(others) <= _MOST_MEMBERS else np.sort(rng.choice(others, _MOST_MEMBERS, replace=False))
    members = np.concatenate([kept, drawn])  # labelled ones first
    walk = _Walk(points[members], class_ids[kept], n_threads)
    mass = walk.masses(np.arange(len(kept)))
    largest = mass.max(axis=1)
    raw = _raw_signs(points[members], largest, points[kept], points[drawn], confidence[drawn], n_threads)
    ranks = (np.sort(raw[0]), np.sort(raw[1]), np.sort(raw[2]))
    known, new = _left_out_signs(walk, points[kept], class_ids[kept], kept, held_out, float(np.median(raw[0])))
    signs = [_ranked(part, ranks) for part in (known, new)]
    counts = np.bincount(class_ids[kept])
    signs[0] = signs[0][counts[class_ids[kept]] > 1]
    without = _signs_without_class(walk, mass, points[kept], class_ids[kept], points[drawn], confidence[drawn],
                                   None if second is None else second[drawn], n_threads)  # fmt: skip
    weights = _weigh(_ranked(raw, ranks), _ranked(without, ranks)) if second is not None else _weigh(*signs)
    scores = np.sort(combine(_ranked(raw, ranks), weights))
    # Without a second label in any class nothing shows what known rows look like: only the expected slope is left.
    places = [percentile_ranks(combine(part, weights), scores) if len(signs[0]) else np.empty(0) for part in signs]
    ratio = fit_density_ratio(*places)
    return NoveltyModel(points[members], largest, points[kept], ranks, weights, scores, ratio.offset, ratio.slope)


def _weigh(known: Matrix, new: Matrix) -> Matrix:
    """Return how much each sign counts: by how well it tells new rows from known ones, and all alike.

    Classes that are left out show nothing of scattered rows, so that no sign is given up for another.
    """
    if not len(known):
        return np.full(3, 1 / 3)
    strength = np.empty(3)
    for sign in range(3):
        below = percentile_ranks(new[:, sign], known[:, sign]).mean()  # the area under the ROC curve
        strength[sign] = max(below - 0.5, 0.05)
    weights: Matrix = (strength**2 / (strength**2).sum() + 1 / 3) / 2
    return weights


def _signs_without_class(
    walk: _Walk,
    mass: Matrix,
    labelled: Matrix,
    class_ids: ClassIds,
    rows: Matrix,
    confidence: Matrix,
    second: Matrix | None,
    n_threads: int,
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the raw signs of rows, had the class that they seem to belong to no label."""
    left = np.maximum(1 - confidence.astype(np.float64), 1e-12)
    doubt = np.full(len(rows), 0.5) if second is None else 1 - np.minimum(second / left, 1.0)
    distance = np.empty(len(rows))
    for start in range(0, len(rows), 1024):  # not all pairs at once
        apart = 1 - rows[start : start + 1024] @ labelled.T
        own = class_ids[apart.argmin(axis=1)]
        distance[start : start + 1024] = np.where(own[:, None] == class_ids, np.inf, apart).min(axis=1)
    others = mass[len(labelled) :]
    brought = np.partition(others, -2, axis=1)[:, -2] if others.shape[1] > 1 else np.zeros(len(others))
    return doubt, np.maximum(distance, 0.0), -np.log(np.maximum(brought.astype(np.float64), _LEAST_MASS))


def _raw_signs(
    members: Matrix, mass: Matrix, labelled: Matrix, rows: Matrix, confidence: Matrix, n_threads: int = 1
) -> tuple[Matrix, Matrix, Matrix]:
    """Return doubt, distance and lack of mass of rows."""
    from ..features.neighbours import nearest_points  # loads numba

    points = np.ascontiguousarray(rows, dtype=np.float32)
    distance = nearest_points(labelled, points, 1, n_threads)[1][:, 0].astype(np.float64) ** 2 / 2
    index, far = nearest_points(members, points, _N_NEIGHBORS, n_threads)
    same = far <= 1e-3  # a member is at no distance, to rounding, of itself, and decides alone
    near = np.where(same.any(axis=1, keepdims=True), same, 1.0)
    near = near / near.sum(axis=1, keepdims=True)
    brought = (near * mass[index]).sum(axis=1)
    return 1 - confidence.astype(np.float64), distance, -np.log(np.maximum(brought, _LEAST_MASS))


def _ranked(raw: tuple[Matrix, Matrix, Matrix], ranks: tuple[Matrix, Matrix, Matrix]) -> Matrix:
    return np.column_stack([percentile_ranks(values, among) for values, among in zip(raw, ranks, strict=True)])


class _Walk:
    """Walks over the neighbour graph of rows, of which the first have labels."""

    def __init__(self, points: Matrix, class_ids: ClassIds, n_threads: int) -> None:
        from ..features.neighbours import nearest_points  # loads numba

        n = len(points)
        width = min(_N_NEIGHBORS + 1, n)
        index = nearest_points(points, points, width, n_threads)[0]
        other = index != np.arange(n)[:, None]
        other[other.all(axis=1), -1] = False
        columns = index[other]
        starts = np.arange(n + 1) * (width - 1)
        directed = sparse.csr_array((np.ones(len(columns), np.float32), columns, starts), shape=(n, n))
        graph = sparse.csr_array(directed.maximum(directed.T))
        degrees = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1.0)
        self.steps = sparse.csr_array(sparse.diags_array((_DAMPING / degrees).astype(np.float32)) @ graph)
        self.class_ids, self.n_classes, self.n = class_ids, int(class_ids.max()) + 1, n

    def masses(self, shown: Rows) -> Matrix:
        """Return the share of walks from each row that end at labels of each class; only those shown count."""
        labels = np.zeros((len(shown), self.n_classes), np.float32)
        labels[np.arange(len(shown)), self.class_ids[shown]] = 1.0
        mass = np.zeros((self.n, self.n_classes), np.float32)
        mass[shown] = labels
        for _ in range(_STEPS):
            mass = self.steps @ mass
            mass[shown] = labels
        return mass


def _left_out_signs(
    walk: _Walk, points: Matrix, class_ids: ClassIds, rows: Rows, held_out: HeldOutLabels | None, usual: float
) -> tuple[tuple[Matrix, Matrix, Matrix], tuple[Matrix, Matrix, Matrix]]:
    """Return the raw signs of labelled rows without their own label: with others of their class there, and without."""
    distances = left_out_distances(points.astype(np.float64), class_ids)
    known, new = np.empty(len(class_ids)), np.empty(len(class_ids))
    fold_of = np.random.RandomState(0).permutation(len(class_ids)) % _N_FOLDS
    for fold in range(_N_FOLDS):
        hidden = np.flatnonzero(fold_of == fold)
        mass = walk.masses(np.flatnonzero(fold_of != fold))[hidden]
        known[hidden] = mass.max(axis=1, initial=0.0)
        mass[np.arange(len(hidden)), class_ids[hidden]] = 0.0
        new[hidden] = mass.max(axis=1, initial=0.0)
    doubts = (np.full(len(rows), usual),) * 2 if held_out is None else held_out_doubts(held_out, rows, usual)
    finite = [np.where(np.isfinite(part), part, 1.0) for part in (distances.known, distances.new)]
    lacks = [-np.log(np.maximum(part, _LEAST_MASS)) for part in (known, new)]
    return (doubts[0], finite[0], lacks[0]), (doubts[1], finite[1], lacks[1])


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
    """
    rows = np.flatnonzero(candidates & (novelty > NEW))
    if not len(rows):
        return []
    count = n_groups or max(1, round(len(rows) / max(usual_size, 1.0)))
    count = min(count, len(rows))
    points = coordinates[rows].astype(np.float32)
    with one_blas_thread():
        labels = kmeans_labels(points, count, np.random.RandomState(random_state))
    groups = []
    for number in range(count):
        inside = np.flatnonzero(labels == number)
        if not len(inside):
            continue
        distances = np.linalg.norm(points[inside] - points[inside].mean(axis=0), axis=1)
        central = rows[inside[np.argsort(distances, kind="stable")[:_N_CENTRAL]]]
        groups.append(NovelGroup(rows[inside], central, float(novelty[rows[inside]].mean())))
    return sorted(groups, key=lambda group: -group.size)
