"""A picture of what each view did for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.names import short_names
from .classes import pyplot, write_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..view_importance import ViewImportance


def plot_view_importance(importance: ViewImportance, *, ax: Axes | None = None) -> Axes:
    """Draw what each view did for a model: a bar per view and measure, the view that mattered most on top.

    Parameters
    ----------
    importance : ViewImportance
        From :func:`anchorview.view_importance.measure_views`. Measures that are NaN for every view are left out.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.view_importance import measure_views
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, made.target)
    >>> measured = measure_views(model, made.views)
    >>> [text.get_text() for text in plot_view_importance(measured).get_legend().get_texts()]
    ['part of what is rebuilt', 'labels that change without it']
    """
    measures = {
        "part of what is rebuilt": (importance.share, "tab:gray"),
        "labels that change without it": (importance.changed, "tab:blue"),
        "accuracy lost without it": (importance.accuracy_drop, "tab:orange"),
    }
    shown = {name: entry for name, entry in measures.items() if not np.isnan(entry[0]).all()}
    order = np.argsort(np.nan_to_num(importance.changed), kind="stable")  # bars are drawn from the bottom up
    names = short_names((importance.names[number] for number in order), 40)
    axes = pyplot().figure(figsize=(7, 1.2 + 0.6 * len(names)), layout="constrained").gca() if ax is None else ax
    height = 0.8 / len(shown)
    for place, (name, (values, colour)) in enumerate(shown.items()):
        offset = 0.4 - (place + 0.5) * height
        bars = axes.barh(np.arange(len(names)) + offset, 100 * values[order], height=0.92 * height, color=colour)
        bars.set_label(name)
        axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8)
    write_ticks(axes.yaxis, np.arange(len(names)), names, 10.0)
    axes.set_xlabel("percent")
    axes.margins(x=0.1, y=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, ncols=len(shown), loc="lower left", bbox_to_anchor=(0.0, 1.0), borderpad=0)
    return axes
