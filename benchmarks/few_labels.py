"""Five to fifty labels: both estimators against what needs no choosing, Poisson learning, label spreading, late fusion.

    python benchmarks/few_labels.py --data DATA [--data MORE]

Labels are drawn at random, again until two classes have one and some class has two. Of sets with more than 600 rows
as many are drawn, the same in every draw. Late fusion is the mean of a logistic regression on each view, its columns
standardised; Poisson learning and label spreading are those of rivals.py with their defaults. "best" is the best of the
four simple ones over all draws of a set and number; so it is partly the luckiest. The summary also compares each draw
with what was best on the other draws.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.bench.scripts import Result, Runs, add_draws, make_parser, run_parts
from anchorview.core.arrays import is_sparse
from anchorview.report.tables import markdown_table
from rivals import Rival, scale

MOST_ROWS = 600
N_DRAWS = 10
NUMBERS = (5, 10, 20, 50)
SIMPLE = ("plain", "Poisson", "spread", "late fusion")
METHODS = ("tuned", *SIMPLE)


def some_rows(data: Any) -> tuple[Views, Any]:
    """Return the views and classes of all rows, or of as many as are looked at."""
    if len(data.target) <= MOST_ROWS:
        return data.views, data.target
    rows = np.sort(np.random.RandomState(0).choice(len(data.target), MOST_ROWS, replace=False))
    return data.views[rows], data.target[rows]


def draw_labels(target: Any, number: int, seed: int) -> Any:
    """Return labels of so many rows, -1 elsewhere."""
    rng = np.random.RandomState(seed)
    while True:
        rows = rng.choice(len(target), number, replace=False)
        counts = np.unique(target[rows], return_counts=True)[1]
        if len(counts) > 1 and counts.max() > 1:
            break
    y = np.full(len(target), -1)
    y[rows] = target[rows]
    return y


def late_fusion(views: Views, y: Any, seed: int) -> Any:
    """Return labels by the mean of a regression on each view."""
    labelled, total = np.flatnonzero(y >= 0), 0.0
    classes = np.unique(y[labelled])
    for array in views.arrays:
        rows = scale(Views([array]), ["lsa" if is_sparse(array) else "standard"], seed)
        total = total + LogisticRegression(C=10.0, max_iter=500).fit(rows[labelled], y[labelled]).predict_proba(rows)
    return classes[np.argmax(total, axis=1)]


def key_of(name: str, number: int, method: str) -> dict[str, Any]:
    return {"data": name, "number": number, "method": method}


def run(data: Any, seed: int, number: int, method: str) -> Result:
    views, target = some_rows(data)
    y = draw_labels(target, number, seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "late fusion":
            labels = late_fusion(views, y, seed)
        else:
            model: Any = {
                "plain": FSSMSC(random_state=seed),
                "tuned": AnchorViewClassifier(random_state=seed),
                "Poisson": Rival("Poisson-default", seed),
                "spread": Rival("LabelSpreading-default", seed),
            }[method]
            labels = model.fit(views, y).labels_
    hidden = y == -1
    seconds = time.perf_counter() - start
    return {"acc": 100 * float((labels == target)[hidden].mean()), "seconds": seconds}


def gaps_to_known_best(accuracies: dict[str, Any]) -> list[float]:
    """Return how far each draw of the tuned estimator is from the simple method that was best on the other draws."""
    gaps = []
    n_draws = len(accuracies["tuned"])
    for draw in range(n_draws if n_draws > 1 else 0):
        others = np.arange(n_draws) != draw
        best = max(SIMPLE, key=lambda m: accuracies[m][others].mean())
        gaps.append(float(accuracies["tuned"][draw] - accuracies[best][draw]))
    return gaps


def table(runs: Runs) -> list[str]:
    rows, behind, beside_known = [], [], []
    n_draws = runs.draws or N_DRAWS
    for draws in range(1, n_draws + 1):  # one draw of every set before the next: a run that is stopped has them all
        for name, number, method in product(runs.data.sources, NUMBERS, METHODS):
            replace(runs, draws=draws).repeat(key_of(name, number, method), run, draws)
    for name in runs.data.sources:
        for number in NUMBERS:
            found = {m: runs.repeat(key_of(name, number, m), run, n_draws) for m in METHODS}
            n_made = min(map(len, found.values()))
            if not n_made:
                continue
            accuracies = {m: np.array([one["acc"] for one in results[:n_made]]) for m, results in found.items()}
            best = max(SIMPLE, key=lambda m: accuracies[m].mean())
            gap = accuracies["tuned"] - accuracies[best]
            error = gap.std(ddof=1) / np.sqrt(n_made) if n_made > 1 else 0.0
            behind.append(float(gap.mean()))
            beside_known += gaps_to_known_best(accuracies)
            cells = [f"{accuracies[m].mean():.1f}" for m in METHODS]
            rows.append([name, str(number), str(n_made), *cells, best, f"{gap.mean():+.1f} ± {error:.1f}"])
    if not rows:
        return []
    within = sum(gap >= -0.5 for gap in behind)
    summary = (
        f"Tuned against the best of the four: {np.mean(behind):+.2f} on average, the worst {min(behind):+.1f}; "
        f"{within} of {len(behind)} within 0.5."
    )
    if beside_known:
        error = np.std(beside_known, ddof=1) / np.sqrt(len(beside_known))
        summary += (
            f" Against the method that was best on the other draws: {np.mean(beside_known):+.2f} ± {error:.2f} "
            f"({len(beside_known)} draws)."
        )
    return [summary, markdown_table(["data", "labels", "draws", *METHODS, "best", "tuned − best"], rows)]


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__))
    run_parts(parser, {"table": table}, "few_labels", "Few labels")


if __name__ == "__main__":
    main()
