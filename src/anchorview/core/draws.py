"""Rows drawn at random, heavy ones more often, so that a row of weight 2 is drawn like the row twice."""

from __future__ import annotations

import numpy as np

from .arrays import ClassIds, Matrix, Rows, Weights


def draw_weighted(rows: Rows, most: int, rng: np.random.RandomState, weights: Weights = None) -> tuple[Rows, Weights]:
    """Return at most so many of the rows, of positive weight, drawn at random, and what each of them then counts.

    A row is drawn with a chance proportional to its weight, and those drawn count alike; rows so heavy that they would
    be drawn several times are taken for sure and keep their weight in proportion. So the mean of what a row counts,
    over all draws, is proportional to its weight, and the heavy ones are never missed. Equal weights are drawn as none.
    All of them together count `most`, as so many rows do; what they weigh, if that is less. If there are no more than
    `most`, all are returned, with their weights.

    Examples
    --------
    >>> draw_weighted(np.array([4, 5, 6]), 3, np.random.RandomState(0))
    (array([4, 5, 6]), None)
    >>> rows, counts = draw_weighted(np.arange(5), 3, np.random.RandomState(0), np.array([1.0, 1, 1, 1, 8]))
    >>> 4 in rows, counts[rows == 4], round(float(counts.sum()), 9)
    (True, array([2.]), 3.0)
    """
    if len(rows) <= most:
        return rows, weights
    most = max(most, 0)
    if weights is None or most == 0 or (weights == weights[0]).all():
        chosen = rng.choice(len(rows), most, replace=False)
        if weights is None or most == 0:
            return rows[chosen], None if weights is None else weights[:0]
        return rows[chosen], np.full(most, min(1.0, float(weights[0]) * len(rows) / most))
    order = rng.permutation(len(rows))
    is_sure, chosen = _split(weights[order], most, float(rng.random_sample()))
    drawn = weights[order]
    light = drawn[~is_sure].sum()
    counts = np.where(is_sure, drawn, light / max(len(chosen) - np.count_nonzero(is_sure), 1))[chosen]
    counts *= min(1.0, most / weights.sum())
    return rows[order[chosen]], counts


def _split(weights: Matrix, most: int, start: float) -> tuple[np.ndarray, Rows]:
    """Return which of the rows are taken for sure, and the places of all that are taken."""
    is_sure = np.zeros(len(weights), dtype=bool)
    while True:  # what is left for the others shrinks as heavy rows are taken, so some more may be heavy
        left = most - np.count_nonzero(is_sure)
        heavy = ~is_sure & (weights * left >= weights[~is_sure].sum()) if left > 0 else np.zeros_like(is_sure)
        if not heavy.any():
            break
        is_sure |= heavy
    others = np.flatnonzero(~is_sure)
    if left <= 0:
        return is_sure, np.flatnonzero(is_sure)
    ends = np.cumsum(weights[others])
    points = (start + np.arange(left)) * (ends[-1] / left)  # evenly: no light row is met twice
    places = np.minimum(np.searchsorted(ends, points, side="right"), len(others) - 1)
    return is_sure, np.concatenate([np.flatnonzero(is_sure), others[np.unique(places)]])


def subsample(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    """Return at most so many of the rows, drawn at random."""
    return rows if len(rows) <= most else rng.choice(rows, max(most, 0), replace=False)


def subsample_classes(class_ids: ClassIds, most: int) -> Rows:
    """Return the places of about so many labels, ascending: of each class the same share, two at least if it has them.

    The same of the same labels, always.

    Examples
    --------
    >>> class_ids = np.repeat([0, 1, 2], [60, 30, 3])
    >>> np.bincount(class_ids[subsample_classes(class_ids, 31)])
    array([20, 10,  2])
    >>> len(subsample_classes(class_ids, 93))
    93
    """
    if len(class_ids) <= most:
        return np.arange(len(class_ids))
    rng, share = np.random.RandomState(0), most / len(class_ids)
    kept = []
    for number in np.unique(class_ids):
        places = np.flatnonzero(class_ids == number)
        kept.append(subsample(places, max(int(share * len(places)), 2), rng))
    return np.sort(np.concatenate(kept))
