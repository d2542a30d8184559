"""Draw the rooms of the package and who imports whom, from the import graph: docs/images/architecture.png.

python scripts/draw_architecture.py
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, GAP = 2.6, 0.62, 0.42


def layers() -> list[list[str]]:
    """Return the rooms of each layer, top first, as the contract in pyproject.toml has them."""
    contracts = tomllib.loads((HERE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = next(contract for contract in contracts if contract["type"] == "layers")
    return [[room.strip() for room in line.split("|")] for line in layered["layers"]]


def imports(rooms: set[str]) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Count the imports from room to room, and the files of each room."""
    graph = grimp.build_graph("anchorview")
    between: Counter[tuple[str, str]] = Counter()
    files: Counter[str] = Counter()
    for module in graph.modules:
        parts = module.split(".")
        if len(parts) < 2 or parts[1] not in rooms:
            continue
        files[parts[1]] += 1
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.split(".")
            if len(other) > 1 and other[1] != parts[1]:
                between[parts[1], other[1]] += 1
    return between, files


def main() -> None:
    rows = layers()
    between, files = imports({room for row in rows for room in row})
    widest = max(len(row) for row in rows)
    places = {}
    for level, row in enumerate(rows):
        for place, room in enumerate(row):
            x = (place - (len(row) - 1) / 2) * (WIDTH + 0.5)
            places[room] = (x, -level * (HEIGHT + GAP))
    figure = plt.figure(figsize=(0.9 * widest * (WIDTH + 0.5), 0.9 * len(rows) * (HEIGHT + GAP)), layout="constrained")
    axes = figure.gca()
    for (room, other), count in between.items():
        (x0, y0), (x1, y1) = places[room], places[other]
        bend = 0.0 if abs(x0 - x1) > 0.1 or y0 - y1 < 1.2 * (HEIGHT + GAP) else 0.28  # around the rooms in between
        axes.annotate(
            "",
            xy=(x1, y1 + HEIGHT / 2),
            xytext=(x0, y0 - HEIGHT / 2),
            arrowprops={
                "arrowstyle": "-|>",
                "color": "tab:blue",
                "alpha": min(0.15 + 0.05 * count, 0.75),
                "linewidth": min(0.6 + 0.12 * count, 3.0),
                "connectionstyle": f"arc3,rad={bend}",
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    for room, (x, y) in places.items():
        box = {"boxstyle": "round,pad=0.1,rounding_size=0.12", "facecolor": "white", "edgecolor": "black"}
        axes.add_patch(FancyBboxPatch((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, zorder=5, **box))
        axes.text(x, y + 0.06, room, ha="center", va="center", fontsize=11, weight="bold", zorder=6)
        number = files[room]
        axes.text(
            x, y - 0.2, f"{number} file{'s' if number > 1 else ''}", ha="center", va="center", fontsize=8, zorder=6
        )
    half = widest * (WIDTH + 0.5) / 2
    axes.set(xlim=(-half, half), ylim=(-(len(rows) - 1) * (HEIGHT + GAP) - HEIGHT, HEIGHT))
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.savefig(HERE / "docs" / "images" / "architecture.png", dpi=110)


if __name__ == "__main__":
    main()
