"""Hide most labels, as a semi-supervised experiment needs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..core.checks import Seed, check_number, is_plain_number, shorten


def hide_labels(
    y: npt.ArrayLike,
    fraction: float | None = None,
    n_labels: int | None = None,
    *,
    stratified: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> npt.NDArray[np.generic]:
    """Copy `y` with all labels hidden but a random sample.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, all known.
    fraction : float, optional
        Share of the labels to keep, from 0 to 1: ``floor(fraction * n_samples)`` of them, but at least one
        if it is positive. Give either `fraction` or `n_labels`.
    n_labels : int, optional
        Number of labels to keep.
    stratified : bool, default=False
        Whether classes keep labels in proportion to their sizes, each at least one if there are enough.
        By default the sample is uniform, so a rare class may lose all its labels.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; None draws a new sample at each call.

    Returns
    -------
    ndarray of shape (n_samples,)
        Integer labels with -1 where hidden; labels of any other type as an object array with None there.

    Examples
    --------
    >>> from anchorview.datasets import hide_labels
    >>> hide_labels([3, 3, 3, 5, 5, 5], n_labels=2, stratified=True, random_state=0)
    array([-1, -1,  3,  5, -1, -1])
    >>> hide_labels(["a", "b"], fraction=0.0)
    array([None, None], dtype=object)
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; it needs one label per sample (one dimension).")
    whole = np.issubdtype(labels.dtype, np.integer)
    if whole and (labels == -1).any():
        raise ValueError("y holds -1, which means 'hidden'; give known labels only, and recode a class -1.")
    if not whole and any(label is None for label in labels):
        raise ValueError("y holds None, which means 'hidden'; give known labels only.")

    Seed().check("random_state", random_state)
    rng = np.random.default_rng(random_state)
    order = rng.permutation(len(labels))
    if stratified:
        order = order[np.argsort(_place_in_class(labels[order]), kind="stable")]
    hidden = order[_number_to_keep(len(labels), fraction, n_labels) :]

    if not whole:
        result = labels.astype(object)
        result[hidden] = None
        return result
    known = labels.astype(np.int64 if labels.dtype.kind == "u" else labels.dtype)  # -1 needs a sign
    known[hidden] = -1
    return known


def _number_to_keep(n_samples: int, fraction: float | None, n_labels: int | None) -> int:
    if (fraction is None) == (n_labels is None):
        raise ValueError("Give either fraction or n_labels, and not both.")
    if n_labels is not None:
        check_number("n_labels", n_labels, 0, integer=True)
        if not 0 <= n_labels <= n_samples:
            raise ValueError(f"n_labels is {n_labels} but must lie between 0 and {n_samples}, the size of y.")
        return int(n_labels)
    assert fraction is not None
    if not (is_plain_number(fraction) and 0 <= fraction <= 1):
        raise ValueError(f"fraction is {shorten(fraction)} but must lie between 0 and 1.")
    if fraction == 0:
        return 0
    return min(n_samples, max(1, math.floor(fraction * n_samples + 1e-9)))  # 0.29 * 100 is 28.999…


def _place_in_class(labels: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Give each sample its relative place, in [0, 1), among the samples of its class.

    Taking samples in this order takes the first of every class, and then from each in proportion to its size.
    """
    names = labels.astype(str) if labels.dtype == object else labels
    _, classes, counts = np.unique(names, return_inverse=True, return_counts=True)
    grouped = np.argsort(classes, kind="stable")
    place = np.empty(len(labels))
    place[grouped] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    place /= counts[classes]
    return place
