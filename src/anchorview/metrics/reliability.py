"""How often predictions are right that are equally sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix, Rows
from ..core.checks import Number
from ..core.intervals import share_interval
from .labels import read_confidence

_ROWS_PER_BIN = 15  # fewer say little: an accuracy of 80 % would lie between 56 and 94
_MOST_BINS = 10
_ALIKE = 0.02  # of confidence


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Samples grouped by confidence, the least sure group first.

    Attributes
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean confidence of each group.
    accuracy : ndarray of shape (n_bins,)
        Share of its predictions that are right; equal to the confidence where that is honest.
    low, high : ndarray of shape (n_bins,)
        Where that share lies in nine of ten cases, as few samples leave it open.
    count : ndarray of int of shape (n_bins,)
        Samples of each group.

    Examples
    --------
    >>> from anchorview.metrics import reliability_curve
    >>> curve = reliability_curve([True, False, True, True], [0.6, 0.6, 0.9, 0.9], n_bins=2)
    >>> curve.accuracy.tolist(), curve.count.tolist()
    ([0.5, 1.0], [2, 2])
    """

    confidence: Matrix
    accuracy: Matrix
    low: Matrix
    high: Matrix
    count: Rows

    def __len__(self) -> int:
        return len(self.count)


def reliability_curve(correct: npt.ArrayLike, confidence: npt.ArrayLike, n_bins: int | None = None) -> ReliabilityCurve:
    """Compare how sure predictions are with how often they are right, in groups of equal size by confidence.

    Parameters
    ----------
    correct : array-like of shape (n_samples,)
        Whether each prediction is right (booleans, or 0 and 1).
    confidence : array-like of shape (n_samples,)
        Its stated probability of being right, from 0 to 1.
    n_bins : int, optional
        Number of groups; by default one for every 15 samples, from 1 to 10, and those that lie within two points of
        confidence are joined.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> from anchorview.metrics import reliability_curve
    >>> curve = reliability_curve([False, True, True, True], [0.5, 0.6, 0.9, 1.0], n_bins=2)
    >>> curve.confidence, curve.accuracy, curve.count
    (array([0.55, 0.95]), array([0.5, 1. ]), array([2, 2]))
    """
    right, sure = read_confidence(correct, confidence)
    wanted = int(np.clip(len(sure) // _ROWS_PER_BIN, 1, _MOST_BINS)) if n_bins is None else n_bins
    Number(1, 1_000_000, integer=True).check("n_bins", wanted)
    groups = np.array_split(np.argsort(sure, kind="stable"), min(int(wanted), len(sure)))
    if n_bins is None:
        groups = _join_alike(groups, sure)
    accuracy = np.array([right[group].mean() for group in groups])
    count = np.array([len(group) for group in groups])
    ends = np.array([share_interval(share, number) for share, number in zip(accuracy, count, strict=True)])
    return ReliabilityCurve(np.array([sure[group].mean() for group in groups]), accuracy, ends[:, 0], ends[:, 1], count)


def _join_alike(groups: list[Rows], sure: Matrix) -> list[Rows]:
    """Join groups whose mean confidence is nearly the same: apart they would show nothing but chance."""
    joined: list[Rows] = []
    start = -np.inf
    for group in groups:
        middle = float(sure[group].mean())
        if middle - start < _ALIKE:
            joined[-1] = np.concatenate([joined[-1], group])
        else:
            joined.append(group)
            start = middle
    return joined
