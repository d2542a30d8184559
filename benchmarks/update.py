"""What an update with 20 new labels costs beside a fit, in one run, and whether its answers are those of a fit.

    python benchmarks/update.py                       # 100,000 rows, 500 landmarks, all defaults
    python benchmarks/update.py --readers nearest linear poisson    # all that the default may choose
    python benchmarks/update.py --rows 1000000

Rows are made (`make_multiview_subspaces`, 200 features in two views unless said), 1 % of them labelled, 1,000 at most.
Fit and updates take turns; seconds are of the clock. Suggestions: `suggest_labels(20)` after an update, when the rows
are grouped. The difference is that of an update and of a fit from nothing with the same settings, landmarks and rows of
the graph. The record is added to benchmarks/results/update.jsonl with the commit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.bench.scripts import warm_up
from anchorview.fitting.pipeline import fit_labels

HERE = Path(__file__).resolve().parent


def measure(n: int, n_landmarks: int, repeats: int, readers: Any, features: list[int]) -> dict[str, Any]:
    warm_up(FSSMSC(n_landmarks=30, readers=readers))  # compiles
    made = datasets.make_multiview_subspaces(n, 10, tuple(features), noise=0.4, random_state=0)
    views = [view.astype(np.float32) for view in made.data]
    y = datasets.hide_labels(made.target, min(0.01, 1000 / n), random_state=0)
    fits, updates, suggestions, rng = [], [], [], np.random.RandomState(1)
    for _ in range(repeats):
        start = time.perf_counter()
        model = FSSMSC(n_landmarks=n_landmarks, readers=readers, random_state=0).fit(views, y)
        fits.append(time.perf_counter() - start)
        rows = rng.choice(np.flatnonzero(y < 0), 20, replace=False)
        y[rows] = made.target[rows]
        start = time.perf_counter()
        model.update(y)
        updates.append(time.perf_counter() - start)
        model.suggest_labels(20)
        start = time.perf_counter()
        model.suggest_labels(20)
        suggestions.append(time.perf_counter() - start)
    chosen, is_open = dict(model.chosen_), y < 0
    same = fit_labels(model._prepared.without_codes(), model._prepared.given, model._make_run()).top
    apart = np.abs(same.confidence[is_open] - model.confidence_[is_open])
    found = model._prepared.given.known.classes[same.class_ids]
    return {
        "rows": n,
        "features": features,
        "landmarks": n_landmarks,
        "nonzeros": round(model.nonzeros_, 1),
        "readers": "+".join(chosen["readers"]),
        "fit_seconds": round(float(np.median(fits)), 2),
        "update_seconds": round(float(np.median(updates)), 2),
        "ratio": round(float(np.median(updates) / np.median(fits)), 3),
        "stages": {name: round(value, 2) for name, value in model.stage_seconds_.items()},
        "suggest_seconds": round(float(np.median(suggestions)), 3),
        "labels_that_differ": int((found != model.labels_)[is_open].sum()),
        "largest_difference": float(apart.max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--readers", nargs="+", default="auto")
    parser.add_argument("--features", nargs="+", type=int, default=[120, 80], help="of each view")
    given = parser.parse_args()
    found = measure(given.rows, given.landmarks, given.repeats, given.readers, given.features)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    found["commit"] = commit.stdout.strip()
    print(json.dumps(found, indent=1))
    with (HERE / "results" / "update.jsonl").open("a") as file:
        file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
