"""Rows of no known class: how likely each row is to belong to none of the labelled classes.

Two signs: how unsure the model is, and how seldom a walk over the neighbour graph of the coordinates of the codes ends
at a label, of whatever class: a row between two known classes is in doubt, but not new. The walk is the better sign of
classes that hang together, doubt helps it where they do not. Labels whose class is left out tell how high both are for
new rows, and other labels how high they are for known ones. Rows that are scattered hang together with nothing, and are
told apart (`scattered`).

Nothing here changes a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..features.neighbours import nearest_points
from .base import HeldOutLabels
from .label_walk import N_NEIGHBORS, LabelWalk
from .scattered import NONE_SCATTERED, ScatteredRows, fit_scattered
from .unseen_classes import DensityRatio, fit_density_ratio, held_out_doubts, percentile_ranks

_MOST_MEMBERS = 10_000  # rows of the graph; others take the mean of their nearest members
_MOST_LABELS = 3000  # labelled rows in it
_N_FOLDS = 3  # of labels that are hidden from the walk in turn
_LEAST_MASS = 1e-6
_FINEST = 3e-3  # steps of ranks that count: the very last ones are chance
_WEIGHTS = np.array([0.25, 0.75])  # of doubt and walk; to let the labels choose was no better on any kind of rows


_Signs = tuple[Matrix, Matrix]


@dataclass(frozen=True, eq=False)
class NoveltyModel:
    """What tells the novelty of rows, those of the fit and new ones.

    Attributes
    ----------
    members : ndarray of shape (n_members, p)
        Coordinates of the rows of the graph.
    mass : ndarray of shape (n_members,)
        The share of walks from each that end at a label.
    ranks : tuple of two ndarrays
        The signs of unlabelled rows, ascending: what a new row's signs are ranked among.
    scores : ndarray
        The signs of unlabelled rows taken together (`combine`), ascending.
    ratio : DensityRatio
        Of the rank among these.
    scattered : ScatteredRows
        What tells rows that belong to nothing.
    """

    members: Matrix
    mass: Matrix
    ranks: _Signs
    scores: Matrix
    ratio: DensityRatio
    scattered: ScatteredRows

    def signs(self, coordinates: Matrix, confidence: Matrix, n_threads: int = 1) -> Matrix:
        """Return both signs of rows, ranked in 0 … 1."""
        return _ranked(_raw_signs(self.members, self.mass, coordinates, confidence, n_threads), self.ranks)

    def novelty(
        self, coordinates: Matrix, confidence: Matrix, unlikeness: Matrix | None = None, n_threads: int = 1
    ) -> Matrix:
        """Return the novelty of rows, by their coordinates, the confidence of their labels, and their unlikeness."""
        scores = combine(self.signs(coordinates, confidence, n_threads))
        odds = np.exp(self.ratio.log(percentile_ranks(scores, self.scores))) + self.scattered.evidence(unlikeness)
        result: Matrix = odds / (1 + odds)
        return result


def combine(signs: Matrix) -> Matrix:
    """Return one number for ranked signs, as Fisher combines p-values: a single high rank counts more than in a mean.

    Examples
    --------
    >>> signs = np.array([[0.5, 0.5], [0.01, 0.99]])
    >>> combine(signs).round(2)
    array([0.69, 3.26])
    """
    result: Matrix = -np.log(1 + _FINEST - signs) @ _WEIGHTS
    return result


def fit_novelty(
    coordinates: Matrix,
    class_ids: ClassIds,
    confidence: Matrix,
    held_out: HeldOutLabels | None,
    n_threads: int = 1,
    random_state: int = 0,
    unlikeness: Matrix | None = None,
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
    unlikeness : ndarray of shape (n_rows,), optional
        From `fit_unlikeness`; without it scattered rows are not told.
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
    mass = walk.masses(np.arange(len(kept))).sum(axis=1)
    raw = _raw_signs(points[members], mass, points[drawn], confidence[drawn], n_threads)
    ranks = np.sort(raw[0]), np.sort(raw[1])
    known, new = _left_out_signs(walk, class_ids[kept], kept, held_out, float(np.median(raw[0])))
    has_others = np.bincount(class_ids[kept])[class_ids[kept]] > 1
    scores = np.sort(combine(_ranked(raw, ranks)))
    ratio = fit_density_ratio(
        percentile_ranks(combine(_ranked(known, ranks)[has_others]), scores),
        percentile_ranks(combine(_ranked(new, ranks)), scores),
    )
    scattered = NONE_SCATTERED
    if unlikeness is not None:
        shown = labelled if drawn_at_random is None else labelled[drawn_at_random[labelled]]
        scattered = fit_scattered(unlikeness[shown], unlikeness[others])
    return NoveltyModel(points[members], mass, ranks, scores, ratio, scattered)


def _raw_signs(members: Matrix, mass: Matrix, rows: Matrix, confidence: Matrix, n_threads: int = 1) -> _Signs:
    """Return doubt and lack of mass of rows."""
    points = np.ascontiguousarray(rows, dtype=np.float32)
    index, far = nearest_points(members, points, min(N_NEIGHBORS, len(members)), n_threads)
    same = far <= 1e-3  # a member is at no distance, to rounding, of itself, and decides alone
    near = np.where(same.any(axis=1, keepdims=True), same, 1.0)
    near = near / near.sum(axis=1, keepdims=True)
    return 1 - confidence.astype(np.float64), _lack((near * mass[index]).sum(axis=1))


def _lack(mass: Matrix) -> Matrix:
    result: Matrix = -np.log(np.maximum(mass, _LEAST_MASS))
    return result


def _ranked(raw: _Signs, ranks: _Signs) -> Matrix:
    return np.column_stack([percentile_ranks(values, among) for values, among in zip(raw, ranks, strict=True)])


def _left_out_signs(
    walk: LabelWalk, class_ids: ClassIds, rows: Rows, held_out: HeldOutLabels | None, usual: float
) -> tuple[_Signs, _Signs]:
    """Return the raw signs of labelled rows without their own label: with others of their class there, and without."""
    known, new = np.empty(len(class_ids)), np.empty(len(class_ids))
    fold_of = np.random.RandomState(0).permutation(len(class_ids)) % _N_FOLDS
    for fold in range(_N_FOLDS):
        hidden = np.flatnonzero(fold_of == fold)
        mass = walk.masses(np.flatnonzero(fold_of != fold))[hidden]
        known[hidden] = mass.sum(axis=1)
        new[hidden] = known[hidden] - mass[np.arange(len(hidden)), class_ids[hidden]]
    doubts = (np.full(len(rows), usual),) * 2 if held_out is None else held_out_doubts(held_out, rows, usual)
    return (doubts[0], _lack(known)), (doubts[1], _lack(new))
