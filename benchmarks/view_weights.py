"""What weights of views are worth: `view_weights="auto"` against equal weights; views of noise; a view given twice.

    python benchmarks/view_weights.py --data DATA

Every draw labels 5 % of the rows; accuracy is that of the others. Of sets with more than 6,000 rows as many are drawn,
the same in every draw. `DATA` is a folder of .npz files; results go to benchmarks/results/view_weights.md.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, Views, datasets
from anchorview.bench.scripts import Result, Runs, add_draws, make_parser, run_parts
from anchorview.report.tables import markdown_table

MOST_ROWS = 6000
SHARE = 0.05
NOISE_SETS = ("hw", "landuse21", "scene15")
TUNED_SETS = ("hw", "landuse21", "scene15", "msrcv1", "leaves100", "mnist4")
WEIGHTS = {"equal": None, "auto": "auto"}
ESTIMATORS = {"plain": FSSMSC, "tuned": AnchorViewClassifier}


def some_rows(data: Any) -> tuple[Views, Any]:
    """Return the views and classes of all rows, or of as many as are looked at."""
    if len(data.target) <= MOST_ROWS:
        return data.views, data.target
    rows = np.sort(np.random.RandomState(0).choice(len(data.target), MOST_ROWS, replace=False))
    return data.views[rows], data.target[rows]


def fit(views: Views, target: Any, seed: int, estimator: str, weights: str) -> Result:
    """Fit with one way to weigh views, and score rows without a label."""
    y = datasets.hide_labels(target, SHARE, random_state=seed)
    start = time.perf_counter()
    model = ESTIMATORS[estimator](view_weights=WEIGHTS[weights], random_state=seed).fit(views, y)
    seconds = time.perf_counter() - start
    hidden = y == -1
    acc = 100 * float((model.labels_ == target)[hidden].mean())
    return {"acc": acc, "seconds": seconds, "weights": model.chosen_["view_weights"]}


def run_set(data: Any, seed: int, estimator: str, weights: str) -> Result:
    return fit(*some_rows(data), seed, estimator, weights)


def run_noise(data: Any, seed: int, n_noise: int, weights: str) -> Result:
    """Fit on the first three views, beside some of pure noise that are as wide as they are on average."""
    views, target = some_rows(data)
    arrays = views.arrays[:3]
    width, rng = int(np.mean([array.shape[1] for array in arrays])), np.random.default_rng(seed)
    noise = [rng.normal(size=(len(target), width)).astype(np.float32) for _ in range(n_noise)]
    return fit(Views([*arrays, *noise]), target, seed, "plain", weights)


def run_copies(data: Any, seed: int, n_copies: int, weights: str) -> Result:
    """Fit on the first three views, the first of them given several times."""
    views, target = some_rows(data)
    arrays = views.arrays[:3]
    return fit(Views([*arrays, *[arrays[0]] * n_copies]), target, seed, "plain", weights)


def compare(runs: Runs, key: dict[str, Any], run: Any, n_draws: int) -> tuple[list[str], float] | None:
    """Return a row of the table of equal and chosen weights, and the gain; None if nothing is recorded."""
    found = {weights: runs.repeat({**key, "weights": weights}, run, n_draws) for weights in WEIGHTS}
    n_draws = min(map(len, found.values()))
    if not n_draws:
        return None
    accuracies = {weights: np.array([one["acc"] for one in results[:n_draws]]) for weights, results in found.items()}
    seconds = {weights: np.median([one["seconds"] for one in results]) for weights, results in found.items()}
    gains = accuracies["auto"] - accuracies["equal"]
    error = gains.std(ddof=1) / np.sqrt(n_draws) if n_draws > 1 else 0.0
    changed = sum(one["weights"] is not None for one in found["auto"])
    cells = [f"{accuracies[weights].mean():.1f}" for weights in WEIGHTS]
    cells += [f"{gains.mean():+.2f} ± {error:.2f}", f"{changed} of {n_draws}"]
    return [*cells, *(f"{seconds[weights]:.1f}" for weights in WEIGHTS)], float(gains.mean())


HEADER = ["equal", "auto", "gain ± standard error", "draws with other weights", "equal, s", "auto, s"]


def on_sets(runs: Runs, estimator: str, names: list[str], n_draws: int) -> list[str]:
    rows, gains = [], []
    for name in names:
        key = {"what": "sets", "data": name, "estimator": estimator}
        found = compare(runs, key, run_set, n_draws)
        if found is not None:
            rows.append([name, *found[0]])
            gains.append(found[1])
    if not rows:
        return []
    rows.append(["mean", "", "", f"{np.mean(gains):+.2f} (worst {min(gains):+.2f})", "", "", ""])
    return [f"## {estimator.capitalize()} estimator", markdown_table(["data", *HEADER], rows)]


def plain(runs: Runs) -> list[str]:
    return on_sets(runs, "plain", [source.name for source in runs.data.readable()], 8)


def tuned(runs: Runs) -> list[str]:
    return on_sets(runs, "tuned", [name for name in TUNED_SETS if name in runs.data.sources], 4)


def extra_views(runs: Runs, what: str, title: str, counts: tuple[int, ...]) -> list[str]:
    rows, run = [], {"noise": run_noise, "copies": run_copies}[what]
    for name in NOISE_SETS:
        for number in counts:
            if name not in runs.data.sources:
                continue
            found = compare(runs, {"what": what, "data": name, f"n_{what}": number}, run, 8)
            rows += [] if found is None else [[name, str(number), *found[0]]]
    return [f"## {title}", markdown_table(["data", "views added", *HEADER], rows)] if rows else []


def noise(runs: Runs) -> list[str]:
    return extra_views(runs, "noise", "Views of noise beside three good ones (plain)", (0, 2))


def copies(runs: Runs) -> list[str]:
    return extra_views(runs, "copies", "The first of three views given again (plain)", (2,))


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__))
    parts = {"plain": plain, "noise": noise, "copies": copies, "tuned": tuned}
    run_parts(parser, parts, "view_weights", "Weights of views")


if __name__ == "__main__":
    main()
