"""Pictures of confidence: how sure rows are, and whether that is honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix
from ..metrics import reliability_curve
from .classes import name_axis, pyplot, read_classes
from .rows import SIDE, check_lengths, side_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_BINS = 20
_COLOUR = "#1f77b4"


def plot_confidence(
    confidence: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    classes: npt.ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how sure rows are: a histogram, or with labels a box for each class.

    A box holds the middle half of a class's rows, its whiskers nine tenths of them; the line is the median.

    Parameters
    ----------
    confidence : array-like of shape (n_rows,)
        For example ``model.confidence_[y == -1]``: given labels are sure, and would hide the others.
    labels : array-like of shape (n_rows,), optional
        For example ``model.labels_[y == -1]``; rows without a label (-1, None, NaN or "") are left out.
    classes : array-like, optional
        All classes, if not all have rows here: colours then agree with those of other pictures.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> plot_confidence([0.9, 0.4, 0.95], ["cat", "cat", "dog"]).get_xlabel()
    'confidence'
    """
    sure = np.asarray(confidence, dtype=float)
    if sure.ndim != 1 or not len(sure):
        raise ValueError(f"confidence has shape {sure.shape}; it needs one number for each row, and at least one row.")
    if labels is None:
        axes = pyplot().figure(figsize=(6, 3.4), layout="constrained").gca() if ax is None else ax
        axes.hist(np.clip(sure, 0, 1), np.linspace(0, 1, _N_BINS + 1).tolist(), color=_COLOUR, rwidth=0.92)
        axes.set(xlim=(0, 1), ylabel="rows")
    else:
        axes = _boxes(sure, labels, classes, ax)
    axes.set_xlabel("confidence")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _boxes(sure: Matrix, labels: npt.ArrayLike, classes: npt.ArrayLike | None, ax: Axes | None) -> Axes:
    look, (class_ids,) = read_classes(labels, classes=classes)
    check_lengths("confidence", len(sure), labels=class_ids)
    side = side_of(look)
    axes = ax
    if axes is None:
        axes = pyplot().figure(figsize=(SIDE + look.name_width() + 0.4, side + 0.7), layout="constrained").gca()
    places = np.flatnonzero(np.bincount(class_ids[class_ids >= 0], minlength=len(look)))
    groups = [np.quantile(sure[class_ids == number], [0.05, 0.25, 0.5, 0.75, 0.95]) for number in places]
    low, left, middle, right, high = np.array(groups).reshape(-1, 5).T
    axes.hlines(places, low, high, color="black", linewidth=1, zorder=1)
    colours = [look.colours[number] for number in places]
    axes.barh(places, right - left, left=left, height=0.6, color=colours, edgecolor="black", linewidth=0.7, zorder=2)
    axes.vlines(middle, places - 0.3, places + 0.3, color="black", linewidth=1.8, zorder=3)
    name_axis(axes.yaxis, look, side)
    lowest = float(np.floor(10 * low.min(initial=0.9)) / 10)
    axes.set(xlim=(lowest, 1.005), ylim=(len(look) - 0.4, -0.6))
    axes.grid(axis="x", alpha=0.3)
    return axes


def plot_reliability(
    correct: npt.ArrayLike, confidence: npt.ArrayLike, *, n_bins: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how often predictions are right that are equally sure; on the dashed line, confidence is honest.

    Parameters
    ----------
    correct : array-like of shape (n_samples,)
        Whether each prediction is right; of labels that were hidden in a fit, ``model.held_out_.right``.
    confidence : array-like of shape (n_samples,)
        Its stated probability of being right; ``model.held_out_.confidence``.
    n_bins : int, optional
        Number of groups; see :func:`anchorview.metrics.reliability_curve`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> plot_reliability([True, True, False, True], [0.9, 0.8, 0.3, 0.95], n_bins=2).get_ylabel()
    'right'
    """
    from matplotlib.ticker import PercentFormatter

    curve = reliability_curve(correct, confidence, n_bins)
    axes = pyplot().figure(figsize=(4.6, 4.4), layout="constrained").gca() if ax is None else ax
    low = min(float(np.floor(10 * min(curve.confidence.min(), curve.low.min())) / 10), 0.9)
    axes.plot([low, 1], [low, 1], ls="--", lw=1, color="gray", zorder=1)
    reach = np.maximum([curve.accuracy - curve.low, curve.high - curve.accuracy], 0)
    axes.errorbar(curve.confidence, curve.accuracy, yerr=reach, fmt="o", ms=6, color=_COLOUR, ecolor="#8fbbd9", lw=2)
    edge = 0.02 * (1 - low)
    axes.set(xlim=(low, 1 + edge), ylim=(low, 1 + edge), xlabel="confidence", ylabel="right")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
