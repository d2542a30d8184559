"""Maps of embeddings: t-SNE over all rows, as pictures had it before, beside t-SNE of landmarks, as they have it.

    python benchmarks/maps.py [--data FILE_OR_FOLDER ...] [--out FOLDER]

For each data set: seconds of the fit and of both maps, and how good the maps are over the rows drawn (5,000 at most):
trustworthiness (of the ten nearest in the plane, how many are near in the embedding; 1 is all) and agreement (rows
whose ten nearest in the plane have the row's true label by majority). "Embedding" is the agreement before the
embedding is made flat. With --out, a summary of each model is drawn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import numpy.typing as npt
from sklearn.manifold import TSNE, trustworthiness

from anchorview import FSSMSC, datasets
from anchorview.bench.sources import find_sources, load_dataset
from anchorview.core.arrays import unit_rows
from anchorview.features.neighbours import nearest_rows
from anchorview.plotting import map_to_plane, plot_summary
from anchorview.readers.plane import draw_from_classes
from anchorview.report.tables import markdown_table

NEAREST, ROWS = 10, 5000
HEAD = ["data", "rows", "classes", "fit s", "map s", "before s", "trust", "before", "agree", "before", "embedding"]
Points = npt.NDArray[np.floating]


def all_rows(rows: Points) -> Points:
    """Return the map as pictures drew it up to version 0.1.0."""
    flat: Points = TSNE(init="random", perplexity=min(30, (len(rows) - 1) / 3), random_state=0).fit_transform(rows)
    return flat


def agreement(points: Points, class_ids: npt.NDArray[np.intp]) -> float:
    index, _ = nearest_rows(points.astype(np.float64), NEAREST)
    votes = np.array([np.bincount(class_ids[near]).argmax() for near in index])
    return 100 * float(np.mean(votes == class_ids))


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - start


def compare(name: str, place: str, out: Path | None) -> list[str]:
    data = load_dataset(place)
    y = datasets.hide_labels(data.target, 0.05, random_state=0)
    model, fit_seconds = timed(FSSMSC(random_state=0).fit, data.views, y)
    class_ids = np.unique(data.target, return_inverse=True)[1]
    chosen = draw_from_classes(model.labels_, ROWS, np.random.RandomState(0))
    rows, truth = unit_rows(model.embedding_[chosen]), class_ids[chosen]
    flat, seconds = timed(map_to_plane, rows, model.labels_[chosen])
    before, before_seconds = timed(all_rows, rows)
    trust = [trustworthiness(rows, points, n_neighbors=NEAREST) for points in (flat, before)]
    agree = [agreement(points, truth) for points in (flat, before, rows)]
    if out is not None:
        plot_summary(model, data.target, y != -1).savefig(out / f"{name}.png", dpi=110)
    return [
        name,
        f"{len(y):,}",
        str(class_ids.max() + 1),
        *(f"{value:.2f}" for value in (fit_seconds, seconds, before_seconds)),
        *(f"{value:.4f}" for value in trust),
        *(f"{value:.1f}" for value in agree),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=[], help=".npz or .mat files, or folders of them")
    parser.add_argument("--out", type=Path, help="folder for pictures")
    options = parser.parse_args()
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    sources = [*find_sources([]), *(find_sources(options.data) if options.data else [])]
    digits = datasets.load_handwritten()
    FSSMSC(n_landmarks=50, random_state=0).fit(digits.views[::5], digits.target[::5])  # compiles the kernels
    print(markdown_table(HEAD, [compare(source.name, source.place, options.out) for source in sources]))


if __name__ == "__main__":
    main()
