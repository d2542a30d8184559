"""Which settings are averaged: those that together do best on the hidden labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..core.arrays import ClassIds, Matrix, Weights
from ..readers.temperature import log_loss, mean_of


def select(
    held_out: Sequence[Matrix],
    class_ids: ClassIds,
    penalties: Sequence[float],
    n_picks: int,
    first: Sequence[int],
    weights: Weights = None,
) -> dict[int, int]:
    """Choose members of an average one after the other, each the one that helps the average most.

    Ensemble selection after Caruana et al. (2004): a member may be taken several times, which is its weight. The first
    ones are taken as they come, so that few labels do not decide alone.

    Parameters
    ----------
    held_out : sequence of ndarray of shape (n_judged, n_classes)
        Probabilities of the hidden labels by each member, best member first.
    class_ids : ndarray of shape (n_judged,)
        The hidden labels.
    penalties : sequence of float
        Prior doubt in each member, in units of log loss.
    n_picks : int
        Number of picks in all.
    first : sequence of int
        Members that are taken without choosing, at least one.
    weights : ndarray of shape (n_judged,), optional
        Weights of the hidden labels.

    Returns
    -------
    dict of int to int
        Members and how often each was taken.

    Examples
    --------
    >>> import numpy as np
    >>> sure, unsure = np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[0.4, 0.6], [0.2, 0.8]])
    >>> select([sure, unsure], np.array([0, 1]), [0.0, 0.0], 4, [0])
    {0: 1, 1: 3}
    """
    picks = list(first)
    total = np.sum([held_out[pick] for pick in picks], axis=0)
    doubt = sum(penalties[pick] for pick in picks)
    while len(picks) < n_picks:
        count = len(picks) + 1
        losses = [
            mean_of(log_loss((total + probabilities) / count, class_ids), weights) + (doubt + penalty) / count
            for probabilities, penalty in zip(held_out, penalties, strict=True)
        ]
        best = int(np.argmin(losses))
        picks.append(best)
        total = total + held_out[best]
        doubt += penalties[best]
    return dict(sorted(Counter(picks).items()))
