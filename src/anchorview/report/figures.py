"""The figures, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.colours import distinct_colours
from ..core.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 4.3  # inches of one panel
_OURS = ("FSSMSC", "AnchorViewClassifier")  # drawn thick, and named ours in the legend
_COLOURS = {  # one for each method in every figure; ours stand out
    "FSSMSC": "#c1121f",
    "AnchorViewClassifier": "#7b0d1e",
    "FSSMSC-ADMM": "#f08a5d",
    "MVAR": "#1f77b4",
    "MLAN": "#2a9d8f",
    "AMGL": "#8d6cab",
    "GPSNMF": "#b5892e",
    "CONMF": "#5c677d",
    "LabelSpreading": "#7fb069",
    "Logistic": "#3d5a80",
}
_LEAST_SPAN = 3.0  # percentage points shown at least
_MARKERS = "osD^vP*Xh<>"
_LONGEST_TITLE = 48  # characters that fit above a panel


def draw_heat_maps(
    maps: dict[str, npt.NDArray[np.float64]], weights: Sequence[float], couplings: Sequence[float], path: Path
) -> None:
    """Draw ACC over λ_M (rows) and β (columns), one panel per data set."""
    figure, axes = _panels(len(maps), height=3.6)
    for ax, (name, values) in zip(axes, maps.items(), strict=False):
        low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 100.0)
        image = ax.imshow(values, cmap="viridis", aspect="auto", vmin=low - 0.05, vmax=high + 0.05, origin="lower")
        for (row, column), value in np.ndenumerate(values):
            dark = value < (low + high) / 2
            text = "–" if np.isnan(value) else f"{value:.1f}"
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        ax.set_xticks(range(len(couplings)), [f"{value:g}" for value in couplings])
        ax.set_yticks(range(len(weights)), [f"{value:g}" for value in weights])
        ax.set(title=_plain(name), xlabel="β (coupling)", ylabel="λ_M (must_link_weight)")
        ax.figure.colorbar(image, ax=ax, label="ACC (%)", shrink=0.9)
    _save(figure, path)


def draw_curves(
    panels: Mapping[str, Mapping[str, Sequence[float | None]]],
    x: Sequence[float],
    path: Path,
    *,
    xlabel: str,
    ylabel: str,
    titles: bool = True,
) -> None:
    """Draw curves over a logarithmic axis, one panel per measure or, without titles, per data set."""
    figure, axes = _panels(len(panels), height=3.5)
    for ax, (title, curves) in zip(axes, panels.items(), strict=False):
        for number, (name, values) in enumerate(curves.items()):
            y = np.array([np.nan if value is None else value for value in values], dtype=float)
            ax.plot(x, y, **_style(name, number, len(curves)), label=_label(name))
        ax.set_xscale("log")
        ax.set_xticks(x, [f"{value:g}" for value in x], rotation=35 if len(x) > 6 else 0)
        ax.minorticks_off()
        low, high = ax.get_ylim()
        if high - low < _LEAST_SPAN:  # tenths of a point should not look like a cliff
            ax.set_ylim((low + high - _LEAST_SPAN) / 2, (low + high + _LEAST_SPAN) / 2)
        ax.set(title=_plain(title), xlabel=xlabel, ylabel=ylabel if titles is False or ax is axes[0] else "")
        ax.grid(alpha=0.3)
    if titles:
        _legend(figure, axes[0])
    _save(figure, path)


def draw_convergence(curves: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """Draw stop criterion (top) and objective (bottom) of each round, one column per data set."""
    plt = _pyplot()
    count = max(len(curves), 1)
    figure, grid = plt.subplots(2, count, figsize=(_WIDTH * count + 0.6, 6), layout="constrained", squeeze=False)
    colours = {"active_set": _COLOURS["FSSMSC"], "admm": _COLOURS["MVAR"]}
    for column, (name, solvers) in enumerate(curves.items()):
        top, bottom = grid[:, column]
        for solver, value in solvers.items():
            rounds = np.arange(1, len(value["residual"]) + 1)
            residual = np.maximum(value["residual"], 1e-16)
            top.semilogy(rounds, residual, marker="o", ms=3.5, color=colours[solver], label=solver)
            objective = np.array(value["objective"])
            gap = (objective - objective.min()) / abs(objective[0])
            gap[gap <= 1e-13] = np.nan  # the lowest itself, and rounding
            bottom.semilogy(rounds, gap, marker="o", ms=3.5, color=colours[solver], label=solver)
        top.set(title=_plain(name), ylabel="stop criterion" if column == 0 else "")
        bottom.set(xlabel="round", ylabel="objective above its lowest, relative" if column == 0 else "")
        for ax in (top, bottom):
            ax.grid(alpha=0.3)
            ax.xaxis.get_major_locator().set_params(integer=True)
    if curves:
        grid[0, 0].legend()
    _save(figure, path)


def draw_times(curves: dict[str, dict[str, list[tuple[int, float, float]]]], path: Path) -> None:
    """Draw seconds against n, and dashed those of the similarity graphs."""
    figure, axes = _panels(len(curves), height=4.0)
    for ax, (data, methods) in zip(axes, curves.items(), strict=False):
        for number, (name, points) in enumerate(methods.items()):
            if not points:
                continue
            n, total, graphs = np.array(points, dtype=float).T
            style = _style(name, number, len(methods))
            ax.loglog(n, total, **style, label=_label(name))
            if graphs.any():
                ax.loglog(n, graphs, ls="--", lw=1, color=style["color"])
        sizes = sorted({n for points in methods.values() for n, _, _ in points})
        if sizes:
            _log_axes(ax, sizes)
        ax.set(title=_plain(data), xlabel="rows", ylabel="seconds" if ax is axes[0] else "")
        ax.grid(alpha=0.3)
    _legend(figure, axes[0])
    _save(figure, path)


def draw_scaling(points: list[tuple[int, float, float]], path: Path) -> None:
    """Draw seconds and peak memory against n, with a line of slope 1."""
    n, seconds, peak = np.array(points, dtype=float).T
    figure, axes = _panels(2, height=3.6)
    for ax, values, label in zip(
        axes, (seconds, peak / 1e6), ("seconds", "peak memory beyond the input (MB)"), strict=True
    ):
        ax.loglog(n, values, marker="o", color=_COLOURS["FSSMSC"], lw=2, label="FSSMSC")
        ax.loglog(n, values[-1] * n / n[-1], "k--", lw=1, label="linear")
        _log_axes(ax, [int(value) for value in n])
        ax.set(xlabel="rows", ylabel=label)
        ax.grid(alpha=0.3)
        ax.legend()
    _save(figure, path)


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    plt = _pyplot()
    columns = min(max(count, 1), 3)
    rows = -(-max(count, 1) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(_WIDTH * columns + 0.8, height * rows), layout="constrained", squeeze=False
    )
    axes = list(grid.ravel())
    for ax in axes[count:]:
        ax.set_visible(False)
    return figure, axes


def _log_axes(ax: Axes, sizes: Sequence[int]) -> None:
    """Mark the numbers of rows, and 1, 2 and 5 of each power of ten upwards, in plain figures."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], rotation=20 if len(sizes) > 3 else 0)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _style(name: str, number: int, count: int) -> dict[str, Any]:
    ours = name in _OURS or count == 1
    other = distinct_colours(number + 1, avoid=tuple(_COLOURS.values()))[number]
    colour = _COLOURS.get(name, _COLOURS["FSSMSC"] if count == 1 else other)
    return {
        "color": colour,
        "marker": _MARKERS[number % len(_MARKERS)],
        "ms": 5.5 if ours else 4.5,
        "lw": 2.4 if ours else 1.3,
        "zorder": 3 if ours else 2,
    }


def _plain(name: str) -> str:
    """Return a name of the user's as text to draw: none of it is mathematics, and none of it too long for a panel."""
    short = name if len(name) <= _LONGEST_TITLE else name[: _LONGEST_TITLE - 1] + "…"
    return short.replace("$", r"\$")


def _label(method: str) -> str:
    return f"{method} (ours)" if method in _OURS else _plain(method)


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)


def _pyplot() -> Any:
    """Load matplotlib to write files, not to open windows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        for kind in ("png", "svg"):
            picture = BytesIO()
            figure.savefig(picture, format=kind, dpi=130)
            replace_file(path.with_name(f"{path.name}.{kind}"), picture.getvalue())
    finally:
        _pyplot().close(figure)
