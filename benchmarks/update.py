"""What an update with 20 new labels costs beside a fit, in one run, and whether its answers are those of a fit.

    python benchmarks/update.py                       # 100,000 rows, 500 landmarks, all defaults
    python benchmarks/update.py --readers nearest linear poisson    # all that the default may choose
    python benchmarks/update.py --rows 1000000

Rows are made (`make_multiview_subspaces`, 200 features in two views), 1 % of them labelled. Fit and updates take turns;
seconds are of the clock. The record is added to benchmarks/results/update.jsonl with the commit.
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

HERE = Path(__file__).resolve().parent


def measure(n: int, n_landmarks: int, repeats: int, readers: Any) -> dict[str, Any]:
    made = datasets.make_multiview_subspaces(n, 10, (120, 80), noise=0.4, random_state=0)
    views = [view.astype(np.float32) for view in made.data]
    y = datasets.hide_labels(made.target, 0.01, random_state=0)
    model = FSSMSC(n_landmarks=n_landmarks, readers=readers, random_state=0).fit(views, y)  # compiles
    fits, updates, rng = [], [], np.random.RandomState(1)
    for _ in range(repeats):
        start = time.perf_counter()
        model = FSSMSC(n_landmarks=n_landmarks, readers=readers, random_state=0).fit(views, y)
        fits.append(time.perf_counter() - start)
        rows = rng.choice(np.flatnonzero(y < 0), 20, replace=False)
        y[rows] = made.target[rows]
        start = time.perf_counter()
        model.update(y)
        updates.append(time.perf_counter() - start)
    chosen = dict(model.chosen_)
    same = FSSMSC(**chosen, landmarks=model.landmarks_, random_state=0).fit(views, y)
    return {
        "rows": n,
        "landmarks": n_landmarks,
        "nonzeros": round(model.nonzeros_, 1),
        "readers": "+".join(chosen["readers"]),
        "fit_seconds": round(float(np.median(fits)), 2),
        "update_seconds": round(float(np.median(updates)), 2),
        "ratio": round(float(np.median(updates) / np.median(fits)), 3),
        "stages": {name: round(value, 2) for name, value in model.stage_seconds_.items()},
        "labels_that_differ": int((same.labels_ != model.labels_).sum()),
        "largest_difference": float(np.abs(same.confidence_ - model.confidence_).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--readers", nargs="+", default="auto")
    given = parser.parse_args()
    found = measure(given.rows, given.landmarks, given.repeats, given.readers)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    found["commit"] = commit.stdout.strip()
    print(json.dumps(found, indent=1))
    with (HERE / "results" / "update.jsonl").open("a") as file:
        file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
