"""A picture of the search of `AnchorViewClassifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.colours import distinct_colours
from ..core.names import short_names
from .classes import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = {
    "loss": ("mean_test_loss", 1.0, "log loss on hidden labels"),
    "accuracy": ("mean_test_score", 100.0, "accuracy on hidden labels (%)"),
}
_MARKERS = "osD^vPX"


def plot_search(model: Any, *, measure: str = "loss", ax: Axes | None = None) -> Axes:
    """Draw what :class:`AnchorViewClassifier` tried: a dot per setting, in the row of its reader, coloured by scaling.

    Full dots with a black rim are the settings whose probabilities are averaged.

    Parameters
    ----------
    model : AnchorViewClassifier
        After a fit.
    measure : {"loss", "accuracy"}, default="loss"
        What to show of each setting: the log loss (small is good; settings are chosen by it) or the accuracy.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from anchorview import AnchorViewClassifier, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.3, random_state=0)
    >>> model = AnchorViewClassifier(n_landmarks=30, scaling="l2", n_repeats=1, random_state=0).fit(made.views, y)
    >>> plot_search(model, measure="accuracy").get_xlabel()
    'accuracy on hidden labels (%)'
    """
    check_is_fitted(model, "cv_results_")
    if measure not in _MEASURES:
        raise ValueError(f"measure={measure!r} is not known; choose one of {', '.join(map(repr, _MEASURES))}.")
    key, factor, label = _MEASURES[measure]
    results = model.cv_results_
    values = factor * np.asarray(results[key], dtype=float)
    heads, scalings = results["param_head"], results["param_scaling"]
    chosen_settings = [
        {name: value for name, value in setting.items() if name != "weight"} for setting in model.averaged_
    ]
    averaged = np.array([setting in chosen_settings for setting in results["params"]])
    # Settings come best first, so rows and colours do too.
    rows, colours = list(dict.fromkeys(heads.tolist())), list(dict.fromkeys(scalings.tolist()))
    axes = pyplot().figure(figsize=(8, 1.4 + 0.75 * len(rows)), layout="constrained").gca() if ax is None else ax
    names = short_names(map(_short, colours), 24)
    for number, scaling in enumerate(colours):
        colour, marker = distinct_colours(len(colours))[number], _MARKERS[number % len(_MARKERS)]
        # A lane of its own for each scaling: dots of the same height would hide one another.
        lane = 0.7 * ((number + 0.5) / len(colours) - 0.5)
        for used in (False, True):
            chosen = (scalings == scaling) & (averaged == used)
            axes.scatter(
                values[chosen],
                [rows.index(head) + lane for head in heads[chosen]],
                s=48 if used else 30,
                marker=marker,
                color=colour,
                alpha=1.0 if used else 0.5,
                edgecolors="black" if used else "none",
                linewidths=1.0,
                zorder=3 if used else 2,
            )
        axes.scatter([], [], s=36, marker=marker, color=colour, label=names[number])
    axes.scatter([], [], s=48, color="white", edgecolors="black", label=f"averaged ({averaged.sum()})")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(label)
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color="lightgray", linewidth=0.8, zorder=1)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, ncols=5, loc="lower left", bbox_to_anchor=(0.0, 1.01), borderpad=0.3)
    return axes


def _short(scaling: str) -> str:
    """Name a scaling; one that differs from view to view is a tuple, written out."""
    return scaling.strip("()").replace("'", "") if scaling.startswith("(") else scaling
