"""Rows of no known class: how likely each row is to belong to none of the labelled classes.

Three signs, none of them best everywhere: how unsure the model is; the distance to the nearest labelled row in the
coordinates of the codes; and how little of any class's labels a walk over the neighbour graph of these coordinates
brings. The walk finds classes that hang together best. How much each counts is told by leaving classes out: without
the class that a row seems to belong to it should look new, and with it it should not. Rows that are scattered hang
together with nothing, and are told apart (`scattered`).

Nothing here changes a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..features.neighbours import nearest_points
from .base import HeldOutLabels
from .label_walk import N_NEIGHBORS, LabelWalk
from .scattered import ScatteredRows, fit_scattered, isolation
from .unseen_classes import DensityRatio, fit_density_ratio, held_out_doubts, left_out_distances, percentile_ranks

_MOST_MEMBERS = 10_000  # rows of the graph; others take the mean of their nearest members
_MOST_LABELS = 3000  # labelled rows in it
_N_FOLDS = 3  # of labels that are hidden from the walk in turn
_LEAST_MASS = 1e-6
_FINEST = 3e-3  # steps of ranks that count: the very last ones are chance
# Doubt, distance and walk, before a look at the labels: the walk was the best sign of a class without a label on most
# data sets that were tried, and the others help it where it is not.
_USUAL_WEIGHTS = np.array([0.1, 0.1, 0.8])


_Signs = tuple[Matrix, Matrix, Matrix]


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
    scattered : ScatteredRows
        What tells rows that belong to nothing.
    """

    members: Matrix
    mass: Matrix
    labelled: Matrix
    ranks: _Signs
    weights: Matrix
    scores: Matrix
    offset: float
    slope: float
    scattered: ScatteredRows

    def signs(self, coordinates: Matrix, confidence: Matrix, n_threads: int = 1) -> Matrix:
        """Return the three signs of rows, ranked in 0 … 1."""
        return _ranked(self._read(coordinates, confidence, n_threads)[0], self.ranks)

    def _read(self, coordinates: Matrix, confidence: Matrix, n_threads: int) -> tuple[_Signs, Matrix]:
        return _raw_signs(self.members, self.mass, self.labelled, coordinates, confidence, n_threads)

    def novelty(self, coordinates: Matrix, confidence: Matrix, n_threads: int = 1) -> Matrix:
        """Return the novelty of rows, by their coordinates and the confidence of their labels."""
        raw, alone = self._read(coordinates, confidence, n_threads)
        scores = combine(_ranked(raw, self.ranks), self.weights)
        odds = np.exp(DensityRatio(self.offset, self.slope).log(percentile_ranks(scores, self.scores)))
        odds += self.scattered.evidence(alone, raw[0])
        result: Matrix = odds / (1 + odds)
        return result


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
    drawn_at_random: Mask | None = None,
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
    drawn_at_random : ndarray of bool of shape (n_rows,), optional
        Which labelled rows were not chosen by the model; all by default. Only these show what rows of known classes
        look like.
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
    walk = LabelWalk(points[members], class_ids[kept], n_threads)
    mass = walk.masses(np.arange(len(kept)))
    largest = mass.max(axis=1)
    about_model = points[members], largest, points[kept]
    raw, alone = _raw_signs(*about_model, points[drawn], confidence[drawn], n_threads)
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
    known_alone = _raw_signs(*about_model, points[kept], confidence[kept], n_threads)[1]
    counted = None if drawn_at_random is None else drawn_at_random[kept]
    scattered = fit_scattered(known_alone, known[0], alone, counted)
    return NoveltyModel(*about_model, ranks, weights, scores, ratio.offset, ratio.slope, scattered)


def _weigh(known: Matrix, new: Matrix) -> Matrix:
    """Return how much each sign counts: as usual, and by how well it tells new rows from known ones."""
    if not len(known):
        return _USUAL_WEIGHTS
    strength = np.empty(3)
    for sign in range(3):
        below = percentile_ranks(new[:, sign], known[:, sign]).mean()  # the area under the ROC curve
        strength[sign] = max(below - 0.5, 0.05)
    weights = _USUAL_WEIGHTS * strength**4
    result: Matrix = weights / weights.sum()
    return result


def _signs_without_class(
    walk: LabelWalk,
    mass: Matrix,
    labelled: Matrix,
    class_ids: ClassIds,
    rows: Matrix,
    confidence: Matrix,
    second: Matrix | None,
    n_threads: int,
) -> _Signs:
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
) -> tuple[_Signs, Matrix]:
    """Return doubt, distance and lack of mass of rows, and how far they are from others."""
    points = np.ascontiguousarray(rows, dtype=np.float32)
    distance = nearest_points(labelled, points, 1, n_threads)[1][:, 0].astype(np.float64) ** 2 / 2
    index, far = nearest_points(members, points, min(N_NEIGHBORS + 1, len(members)), n_threads)
    alone = isolation(far)
    index, far = index[:, :N_NEIGHBORS], far[:, :N_NEIGHBORS]
    same = far <= 1e-3  # a member is at no distance, to rounding, of itself, and decides alone
    near = np.where(same.any(axis=1, keepdims=True), same, 1.0)
    near = near / near.sum(axis=1, keepdims=True)
    brought = (near * mass[index]).sum(axis=1)
    return (1 - confidence.astype(np.float64), distance, -np.log(np.maximum(brought, _LEAST_MASS))), alone


def _ranked(raw: _Signs, ranks: _Signs) -> Matrix:
    return np.column_stack([percentile_ranks(values, among) for values, among in zip(raw, ranks, strict=True)])


def _left_out_signs(
    walk: LabelWalk, points: Matrix, class_ids: ClassIds, rows: Rows, held_out: HeldOutLabels | None, usual: float
) -> tuple[_Signs, _Signs]:
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
