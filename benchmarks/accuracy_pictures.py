"""The pictures of benchmarks/accuracy.py: mean ranks, and ACC against the share of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from anchorview.plotting.ranks import critical_distance, plot_ranks

Points = list[tuple[float, float, float]]  # share of labels, mean, spread; all in percent
STYLES = {
    "FSSMSC": ("#f08a5d", "o"),
    "AnchorViewClassifier": ("#c1121f", "s"),
    "LogisticRegression": ("C0", "D"),
    "SVC": ("C2", "^"),
    "LabelSpreading": ("C4", "v"),
    "KNeighborsClassifier": ("C7", "P"),
    "SelfTrainingClassifier": ("C8", "X"),
}
STRONG = "AnchorViewClassifier"


def draw_ranks(ranks: dict[str, float], n_sets: int, path: Path) -> None:
    matplotlib.use("Agg")  # no window
    axes = plot_ranks(ranks, critical_distance(len(ranks), n_sets))
    axes.set_title(f"Mean rank by ACC over {n_sets} data sets", fontsize=11)
    axes.figure.savefig(path, dpi=130)


def draw_curves(curves: dict[str, dict[str, Points]], path: Path) -> None:
    """Draw a panel per data set: data set, method, points."""
    rows, columns = -(-len(curves) // 2), min(len(curves), 2)
    figure = Figure(figsize=(4.6 * columns + 2, 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for ax in panels.ravel()[len(curves) :]:
        ax.set_visible(False)
    for ax, (name, methods) in zip(panels.ravel(), curves.items(), strict=False):
        _draw_panel(ax, name, methods)
    lines = {label: h for ax in panels.ravel() for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    ordered = [method for method in STYLES if method in lines]
    figure.legend([lines[m] for m in ordered], ordered, loc="outside right center", frameon=False)
    figure.savefig(path, dpi=130)


def _draw_panel(ax: Any, name: str, methods: dict[str, Points]) -> None:
    shares: set[float] = set()
    for method, points in methods.items():
        x, y, spread = np.array(points).T
        strong = method == STRONG
        colour, marker = STYLES[method]
        ax.plot(x, y, color=colour, marker=marker, ms=5, lw=2.4 if strong else 1.3, zorder=2 + strong, label=method)
        if strong:
            ax.fill_between(x, y - spread, y + spread, color=colour, alpha=0.15, lw=0)
        shares |= set(x.tolist())
    ax.set_xscale("log")
    ax.set_xticks(sorted(shares), [f"{share:g}" for share in sorted(shares)])
    ax.minorticks_off()
    ax.set(title=name, xlabel="labelled rows (%)", ylabel="ACC (%)")
    ax.grid(alpha=0.3)
