"""Ranks of methods over data sets, and their picture (Demšar, "Statistical comparisons of classifiers", 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, studentized_range

from .classes import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 0.22  # height of a line of text, in inches


def mean_ranks(scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the mean rank of each method: 1 is the best score of a data set, equal scores share their ranks.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_methods)
        Larger is better.

    Examples
    --------
    >>> mean_ranks([[90.0, 80.0, 70.0], [60.0, 60.0, 50.0]])
    array([1.25, 1.75, 3.  ])
    """
    result: npt.NDArray[np.float64] = rankdata(-np.asarray(scores, dtype=float), axis=1).mean(axis=0)
    return result


def critical_distance(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Return the difference of mean ranks from which on two methods differ (Nemenyi's test).

    q sqrt(k(k+1) / 6N), q the quantile of the studentized range for k methods, over √2.

    Parameters
    ----------
    n_methods, n_sets : int
        What the mean ranks were taken of.
    level : float, default=0.05
        Probability of an error of the first kind.

    Examples
    --------
    >>> round(critical_distance(5, 30), 3)  # q = 2.728 in Demšar's table
    1.114
    """
    quantile = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def cliques(ranks: npt.ArrayLike, distance: float) -> list[tuple[float, float]]:
    """Return the largest groups of methods within the distance, each by its first and last rank.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    ordered = np.sort(np.asarray(ranks, dtype=float))
    groups: list[tuple[float, float]] = []
    for low in ordered:
        high = ordered[ordered <= low + distance].max()
        if high > low and (not groups or high > groups[-1][1]):  # not part of the group before
            groups.append((float(low), float(high)))
    return groups


def plot_ranks(ranks: Mapping[str, float], distance: float, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on an axis, the best on the left; bars join methods that do not differ.

    Parameters
    ----------
    ranks : mapping of str to float
        Mean rank of each method, see `mean_ranks`.
    distance : float
        From `critical_distance`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = plot_ranks({"a": 1.2, "b": 1.9, "c": 2.9}, 1.0)
    >>> sorted(text.get_text() for text in ax.texts)
    ['1', '2', '2.90  c', '3', 'a  1.20', 'b  1.90', 'critical distance 1.00']
    """
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    bars = cliques([rank for _, rank in ordered], distance)
    left = (len(ordered) + 1) // 2
    depth = 1 + 0.55 * len(bars)  # where the names begin, in lines below the axis
    height = _LINE * (depth + 1.4 * left + 4.5)
    axes = pyplot().figure(figsize=(8, height), layout="constrained").gca() if ax is None else ax
    last = max(len(ordered), 2)
    margin = 0.5 * (last - 1)  # room for the names on both sides
    axes.set(xlim=(1 - margin, last + margin), ylim=(depth + 1.4 * left + 0.2, -4.2))
    axes.set_axis_off()
    axes.plot([1, last], [0, 0], color="black", linewidth=1.2, solid_capstyle="butt")
    for tick in range(1, last + 1):
        axes.plot([tick, tick], [0, -0.35], color="black", linewidth=1)
        axes.annotate(str(tick), (tick, -0.5), ha="center", va="bottom", fontsize=9)
    middle = (1 + last) / 2
    axes.errorbar(middle, -2.4, xerr=distance / 2, color="dimgray", capsize=4, linewidth=1.5)
    axes.text(middle, -2.8, f"critical distance {distance:.2f}", ha="center", va="bottom", fontsize=9, color="dimgray")
    for number, (low, high) in enumerate(bars):
        y = 0.75 + 0.55 * number
        axes.plot([low - 0.04, high + 0.04], [y, y], color="tab:blue", linewidth=3.5, solid_capstyle="butt")
    for place, (name, rank) in enumerate(ordered):
        on_left = place < left
        line = place if on_left else len(ordered) - 1 - place
        y, end = depth + 1.4 * (line + 0.6), (1 - 0.06 * margin if on_left else last + 0.06 * margin)
        axes.plot([rank, rank, end], [0, y, y], color="black", linewidth=0.9)
        text = f"{rank:.2f}  {name}" if not on_left else f"{name}  {rank:.2f}"
        axes.text(end + (-0.03 if on_left else 0.03) * margin, y, text, ha="right" if on_left else "left", va="center")
    return axes
