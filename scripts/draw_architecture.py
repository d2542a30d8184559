"""Draw who imports whom, room by room, from the import graph: docs/images/architecture.png.

    python scripts/draw_architecture.py

Rooms stand in the order of their layers, top first. A number counts the imports that a room (row) makes from another
(column); below the diagonal there is none, since nothing imports what is above it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent.parent


def layers() -> list[list[str]]:
    """Return the rooms of each layer, top first, as the contract in pyproject.toml has them."""
    contracts = tomllib.loads((HERE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = next(contract for contract in contracts if contract["type"] == "layers")
    return [[room.strip() for room in line.split("|")] for line in layered["layers"]]


def count_imports(rooms: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Count the imports from room to room, and the files of each room."""
    graph = grimp.build_graph("anchorview")
    between, files = np.zeros((len(rooms), len(rooms)), dtype=int), np.zeros(len(rooms), dtype=int)
    for module in graph.modules:
        room = module.split(".")[1:2]
        if not room:
            continue  # the package itself: public names, loaded on first use
        files[rooms.index(room[0])] += 1
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.split(".")[1:2]
            if other and other != room:
                between[rooms.index(room[0]), rooms.index(other[0])] += 1
    return between, files


def main() -> None:
    rows = layers()
    rooms = [room for row in rows for room in row]
    between, files = count_imports(rooms)
    n = len(rooms)
    figure = plt.figure(figsize=(11, 9.6), layout="constrained")
    axes = figure.gca()
    axes.imshow(
        np.where(between > 0, np.sqrt(between), np.nan), cmap="Blues", vmin=0, vmax=1.4 * np.sqrt(between.max())
    )
    for i, j in np.argwhere(between > 0):
        axes.text(j, i, str(between[i, j]), ha="center", va="center", fontsize=9)
    axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color="lightgray", linewidth=1, zorder=0)
    edge = -0.5
    for row in rows:  # a box for each layer: rooms in it do not know each other
        axes.add_patch(
            plt.Rectangle((edge, edge), len(row), len(row), fill=False, edgecolor="tab:orange", linewidth=1.6)
        )
        edge += len(row)
    names = [f"{room}  ({number} file{'s' if number > 1 else ''})" for room, number in zip(rooms, files, strict=True)]
    axes.set_yticks(range(n), names)
    axes.set_xticks(range(n), rooms, rotation=50, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_ylabel("imports …")
    axes.set_xlabel("… from; an orange box is a layer, and below the diagonal there is nothing")
    axes.spines[:].set_visible(False)
    figure.savefig(HERE / "docs" / "images" / "architecture.png", dpi=110)


if __name__ == "__main__":
    main()
