"""Landmarks from a greedy k-means++ start, against those of today, which start from random rows.

    python benchmarks/landmark_starts.py --data ../shared/data --sets hw scene15 mnist4 --draws 9

For each data set and draw of labels a default fit settles scaling, weights and reading. With these given, the model is
fitted twice: with its own landmarks, and with landmarks handed in. Those are the centres of k-means on a sample of as
many scaled rows as it takes by itself, with as many iterations, from rows that scikit-learn's greedy k-means++ draws.
Both fits are timed without the choice; "landmarks" is the time until the landmarks are there. Finished draws are kept
in benchmarks/results/landmark_starts.jsonl and not computed again (--fresh does); the table is landmark_starts.md.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from anchorview import FSSMSC
from anchorview.bench.protocol import label_fraction
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, warm_up, write_report
from anchorview.core.arrays import Matrix, is_sparse
from anchorview.data.views import Views
from anchorview.datasets import hide_labels
from anchorview.features.landmarks import MAX_ITER, ROWS_PER_LANDMARK
from anchorview.features.scaling import fit_scaling
from anchorview.metrics import clustering_accuracy
from anchorview.report.tables import markdown_table

SETS = ("hw", "scene15", "mnist4", "landuse21", "leaves100", "hdigit")


def far_landmarks(views: Views, scaling: list[str], n_landmarks: int, seed: int) -> Matrix:
    """Return the centres of k-means on a sample of scaled rows, from a greedy k-means++ start."""
    rng = np.random.RandomState(seed)
    scaler = fit_scaling(views, scaling, 1, rng=rng)
    n_sample = min(len(views), ROWS_PER_LANDMARK * n_landmarks)
    rows = scaler.take(views, np.sort(rng.choice(len(views), n_sample, replace=False))).stacked()
    start, _ = kmeans_plusplus(rows, n_landmarks, random_state=rng)
    start = start.toarray() if is_sparse(start) else start
    centres: Matrix = KMeans(n_landmarks, init=start, n_init=1, max_iter=MAX_ITER).fit(rows).cluster_centers_
    return centres


def fit(data: Any, seed: int) -> Result:
    """Return ACC and seconds with both kinds of landmarks, for one draw of labels."""
    target = np.unique(data.target, return_inverse=True)[1]
    y = hide_labels(target, label_fraction(len(target)), random_state=seed)
    hidden = y == -1
    first = FSSMSC(random_state=seed).fit(data.views, y)
    found: Result = {}
    for name in ("random rows", "k-means++"):
        start = time.perf_counter()
        landmarks: Any = "kmeans"
        if name == "k-means++":
            landmarks = far_landmarks(data.views, first.chosen_["scaling"], len(first.landmarks_), seed)
        until_landmarks = time.perf_counter() - start
        model = FSSMSC(random_state=seed, **{**first.chosen_, "landmarks": landmarks}).fit(data.views, y)
        if name == "random rows":
            until_landmarks = model.stage_seconds_["scaling"] + model.stage_seconds_["landmarks"]
        acc = 100 * clustering_accuracy(target[hidden], model.labels_[hidden])
        found[name] = {"acc": acc, "seconds": time.perf_counter() - start, "landmarks": until_landmarks}
    return found


def row_of(name: str, draws: list[Result]) -> list[str]:
    """Return a row of the table: means, the paired difference with its standard error, and seconds."""

    def of(kind: str, what: str) -> Any:
        return np.array([draw[kind][what] for draw in draws])

    difference = of("k-means++", "acc") - of("random rows", "acc")
    error = difference.std(ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else float("nan")
    cells = [name, str(len(draws)), *(f"{of(kind, 'acc').mean():.1f}" for kind in draws[0])]
    cells += [f"{difference.mean():+.2f}", f"{error:.2f}"]
    return cells + [f"{of(kind, what).mean():.2f}" for what in ("landmarks", "seconds") for kind in draws[0]]


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 9)
    parser.add_argument("--sets", nargs="+", default=SETS, help="names of the data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up(FSSMSC(random_state=0))
    data = DataSets(options.data, options.sets)
    runs = Runs(
        Records(options.out / "landmark_starts.jsonl"),
        data,
        options.draws,
        options.fresh,
        any_commit=options.any_commit,
    )
    for name in options.sets:
        print(*row_of(name, runs.repeat({"data": name}, fit, options.draws)), flush=True)
    recorded: dict[str, list[Result]] = {}
    for key, result in sorted(runs.recorded(), key=lambda run: (run[0]["data"], run[0]["seed"])):
        recorded.setdefault(key["data"], []).append(result)
    rows = [row_of(name, draws) for name, draws in recorded.items()]
    means = [float(row[4]) for row in rows]
    note = f"Mean difference over {len(rows)} sets: {np.mean(means):+.2f} points; worst {min(means):+.2f}."
    header = ["data", "draws", "ACC, random rows", "ACC, k-means++", "difference", "error"]
    header += [f"{what} s, {kind}" for what in ("landmarks", "fit") for kind in ("random rows", "k-means++")]
    parts = [note, markdown_table(header, rows)]
    print("\n" + write_report(runs.folder / "landmark_starts.md", "Starts of the landmarks", parts))


if __name__ == "__main__":
    main()
