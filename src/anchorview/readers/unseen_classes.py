"""Confidence where classes have no label: some rows belong to none of the known classes, and are wrong for sure.

If labels are a random sample, the share of rows in classes without a label is about N1 / n, the classes with exactly
one label over all labels (Good and Turing). Which rows these are is seen by how far they are from all labelled ones,
and by how unsure the model is: on labels whose whole class is left out, against labels with others of their class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..features.neighbours import nearest_points
from .base import HeldOutLabels

# How strongly the sign tells new rows from known ones, before a look at the labels: exp(8) from its least to its most.
_SLOPE, _SLOPE_SPREAD, _OFFSET_SPREAD = 8.0, 4.0, 3.0
_ROUNDS = 200


@dataclass(frozen=True)
class DensityRatio:
    """How much likelier a sign in 0 … 1 is for a row of a class without a label: log ρ(s) = offset + slope (s − ½)."""

    offset: float
    slope: float

    def log(self, signs: Matrix) -> Matrix:
        """Return log ρ of some rows."""
        result: Matrix = self.offset + self.slope * (signs - 0.5)
        return result

    def probabilities(self, signs: Matrix, share: float) -> Matrix:
        """Return the probability that each row is new if such a share of all rows is."""
        if share <= 0 or share >= 1:
            return np.full(len(signs), float(share >= 1))
        result: Matrix = expit(self.log(signs) + np.log(share / (1 - share)))
        return result


def fit_density_ratio(known: Matrix, new: Matrix) -> DensityRatio:
    """Fit the ratio to signs of known and of new rows, both groups weighing the same.

    Examples
    --------
    >>> ratio = fit_density_ratio(np.linspace(0, 0.5, 20), np.linspace(0.5, 1, 20))
    >>> ratio.slope > 8, bool(abs(ratio.log(np.array([0.5]))[0]) < 0.5)
    (True, True)
    """
    if not len(known):  # nothing shows what these look like: half of the new rows are told
        return DensityRatio(_SLOPE * (0.5 - float(new.mean())), _SLOPE)
    signs = np.concatenate([known, new]) - 0.5
    is_new = np.repeat([0.0, 1.0], [len(known), len(new)])
    n = len(signs)
    weights = np.where(is_new > 0, n / (2 * max(len(new), 1)), n / (2 * max(len(known), 1)))
    penalty = np.diag([1 / _OFFSET_SPREAD**2, 1 / _SLOPE_SPREAD**2])
    prior = np.array([0.0, _SLOPE])
    columns = np.column_stack([np.ones(n), signs])

    def loss(values: Matrix) -> float:
        logits = columns @ values
        fit = -(weights * (is_new * log_expit(logits) + (1 - is_new) * log_expit(-logits))).sum()
        return float(fit + 0.5 * (values - prior) @ penalty @ (values - prior))

    values = prior
    for _ in range(50):  # Newton's method with halved steps: the loss is convex
        shares = expit(columns @ values)
        slope = columns.T @ (weights * (shares - is_new)) + penalty @ (values - prior)
        curvature = (columns * (weights * shares * (1 - shares))[:, None]).T @ columns + penalty
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while loss(values - size * step) > loss(values) and size > 1e-6:
            size /= 2
        values = values - size * step
        if np.abs(step).max() < 1e-10:
            break
    return DensityRatio(float(values[0]), float(values[1]))


def fused_share(ratio: DensityRatio, signs: Matrix, n_labels: int, n_alone: int) -> float:
    """Return the share of new rows, by what the rows look like and by Good and Turing's estimate together.

    Examples
    --------
    >>> ratio = DensityRatio(0.0, 8.0)
    >>> round(fused_share(ratio, np.linspace(0, 1, 101), 100, 10), 2)
    0.22
    """
    share = n_alone / n_labels
    for _ in range(_ROUNDS):
        previous = share
        seen = float(ratio.probabilities(signs, share).mean())
        share = (n_labels * seen + n_alone) / (2 * n_labels + 3)
        if abs(share - previous) < 1e-9:
            break
    return share


def percentile_ranks(values: Matrix, among: Matrix) -> Matrix:
    """Return the share of `among` that lies below each value, ties by half.

    Examples
    --------
    >>> percentile_ranks(np.array([0.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([0.   , 0.375, 1.   ])
    """
    ordered = np.sort(among)
    below = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
    result: Matrix = below / (2 * max(len(ordered), 1))
    return result


def nearest_label_distances(coordinates: Matrix, labelled: Rows, n_threads: int = 1) -> Matrix:
    """Return 1 − the largest cosine of each row (of unit length) to a labelled one.

    Examples
    --------
    >>> nearest_label_distances(np.eye(3), np.array([0, 1])).round(4).tolist()
    [0.0, 0.0, 1.0]
    """
    points = np.ascontiguousarray(coordinates, dtype=np.float32)
    distances = nearest_points(points[labelled], points, 1, n_threads)[1][:, 0].astype(np.float64)
    result: Matrix = distances**2 / 2  # of unit rows
    return result


@dataclass(frozen=True, eq=False)
class LeftOutLabels:
    """Distances of labelled rows to other labels: those of their own class too, and only those of other classes.

    Infinite where there are none.
    """

    known: Matrix
    new: Matrix


def left_out_distances(coordinates: Matrix, class_ids: ClassIds) -> LeftOutLabels:
    """Return the distance 1 − cosine of each labelled row to the nearest other label, its class there or left out.

    Parameters
    ----------
    coordinates : ndarray of shape (n_labelled, p)
        Of the labelled rows, of unit length.
    class_ids : ndarray of shape (n_labelled,)
        Their classes.
    """
    known, new = (np.empty(len(class_ids)) for _ in range(2))
    for start in range(0, len(class_ids), 1024):  # not all pairs at once
        block = slice(start, start + 1024)
        distances = 1 - coordinates[block] @ coordinates.T
        distances[np.arange(len(distances)), np.arange(start, start + len(distances))] = np.inf
        own = class_ids[block, None] == class_ids
        known[block] = distances.min(axis=1)
        new[block] = np.where(own, np.inf, distances).min(axis=1)
    return LeftOutLabels(np.maximum(known, 0.0), np.maximum(new, 0.0))


def labels_alone(class_ids: ClassIds, counted: Mask | None = None) -> tuple[int, int]:
    """Return how many labels there are, and how many of them are the only one of their class.

    Parameters
    ----------
    class_ids : ndarray of shape (n_rows,)
        Classes of the labelled rows, −1 for others.
    counted : ndarray of bool of shape (n_rows,), optional
        Rows that were drawn at random, if that is known: only their labels are counted, among all labels.

    Examples
    --------
    >>> labels_alone(np.array([0, 0, 1, 2, -1]))
    (4, 2)
    >>> labels_alone(np.array([0, 0, 1, 2, -1]), np.array([True, True, True, False, False]))
    (3, 1)
    """
    labelled = class_ids >= 0
    counts = np.bincount(class_ids[labelled], minlength=1)
    considered = labelled if counted is None else labelled & counted
    return int(considered.sum()), int((counts[class_ids[considered]] == 1).sum())


def can_be_corrected(class_ids: ClassIds, held_out: HeldOutLabels | None, counted: Mask | None = None) -> bool:
    """Return whether the labels tell anything of classes without one.

    Not if no class, or every label, is alone, if there are fewer than two classes, or if nothing was held out.
    """
    n, n_alone = labels_alone(class_ids, counted)
    several = len(np.unique(class_ids[class_ids >= 0])) > 1
    return held_out is not None and len(held_out) > 0 and several and 0 < n_alone < n and bool((class_ids < 0).any())


def correct_confidence(
    confidence: Matrix,
    class_ids: ClassIds,
    coordinates: Matrix,
    held_out: HeldOutLabels | None,
    *,
    counted: Mask | None = None,
    n_threads: int = 1,
) -> tuple[Matrix, float]:
    """Return the confidence lowered by the probability that a row's class has no label, and the share of such rows.

    Nothing changes unless `can_be_corrected`. With fewer than some fifteen labels the share of such rows is mostly
    chance.

    Parameters
    ----------
    confidence : ndarray of shape (n_rows,)
        Probability of the label found.
    class_ids : ndarray of shape (n_rows,)
        Classes of the labelled rows, whose confidence stays; −1 for others.
    coordinates : ndarray of shape (n_rows, p)
        From `code_coordinates`.
    held_out : HeldOutLabels or None
        Labels judged by models that did not see them.
    counted : ndarray of bool of shape (n_rows,), optional
        Rows that were drawn at random, if that is known; see `labels_alone`.
    n_threads : int
        Threads.
    """
    if not can_be_corrected(class_ids, held_out, counted):
        return confidence, 0.0
    assert held_out is not None
    n, n_alone = labels_alone(class_ids, counted)
    labelled, others = np.flatnonzero(class_ids >= 0), np.flatnonzero(class_ids < 0)
    counts = np.bincount(class_ids[labelled])
    distances = nearest_label_distances(coordinates, labelled, n_threads)[others]
    doubts = 1 - confidence[others].astype(np.float64)
    ids = class_ids[labelled]
    left_out = left_out_distances(coordinates[labelled].astype(np.float64), ids)
    doubt_known, doubt_new = held_out_doubts(held_out, labelled, float(np.median(doubts)))

    def sign(distance: Matrix, doubt: Matrix) -> Matrix:
        return (2 * percentile_ranks(distance, distances) + percentile_ranks(doubt, doubts)) / 3

    has_others = counts[ids] > 1
    ratio = fit_density_ratio(sign(left_out.known[has_others], doubt_known[has_others]), sign(left_out.new, doubt_new))
    signs = sign(distances, doubts)
    share = fused_share(ratio, signs, n, n_alone)
    loss = confidence[others] * ratio.probabilities(signs, share)
    corrected = confidence.copy()
    corrected[others] -= loss * _needed_part(confidence[others], loss, held_out, n_alone / n, counted)
    return corrected, share


def _needed_part(
    confidence: Matrix, loss: Matrix, held_out: HeldOutLabels, share_alone: float, counted: Mask | None
) -> float:
    """Return how much of a correction is needed: the mean confidence stays above the accuracy that labels show.

    Labels that are the only one of their class are wrong to a model that has not seen them. A model that is too modest
    already has nothing to correct.
    """
    judged = np.ones(len(held_out), dtype=bool) if counted is None else counted[held_out.rows]
    if not judged.any() or not loss.any():
        return 1.0
    shown = float(held_out.right[judged].mean()) * (1 - share_alone)
    return float(np.clip((confidence.mean() - shown) / loss.mean(), 0.0, 1.0))


def held_out_doubts(held_out: HeldOutLabels, labelled: Rows, usual: float) -> tuple[Matrix, Matrix]:
    """Return 1 − confidence of each label, held out, with its class there and without; the usual one if not judged."""
    known, new = (np.full(len(labelled), usual) for _ in range(2))
    places = np.searchsorted(labelled, held_out.rows)
    known[places] = 1 - held_out.confidence
    others = held_out.probabilities.astype(np.float64)
    own = others[np.arange(len(others)), held_out.class_ids]
    others[np.arange(len(others)), held_out.class_ids] = 0.0
    left = np.maximum(1 - own, 1e-12)
    new[places] = 1 - others.max(axis=1) / left
    return known, new
