"""Fits, scores and rows of tables that all parts of benchmarks/realdata.py use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sklearn.metrics import recall_score

from anchorview.bench.protocol import average
from anchorview.bench.scripts import SCORES, Result, Runs, score_columns
from anchorview.metrics import clustering_report

Mean = dict[str, tuple[float, float]]


def score(target: Any, labels: Any, rows: Any, seconds: float) -> Result:
    """Return scores of some rows in percent."""
    scores = {name: 100 * value for name, value in clustering_report(target[rows], labels[rows]).items()}
    recall = recall_score(target[rows], labels[rows], average="macro", zero_division=0)
    return {**scores, "recall": 100 * recall, "seconds": seconds}


def fit_and_score(model: Any, views: Any, y: Any, target: Any, rows: Any = None, **fit_options: Any) -> Result:
    """Fit, and score the unlabelled rows (or `rows`)."""
    start = time.perf_counter()
    labels = model.fit(views, y, **fit_options).labels_
    return score(target, labels, y == -1 if rows is None else rows, time.perf_counter() - start)


def mean_of(runs: Runs, key: dict[str, Any], run: Callable[..., Result], n_draws: int) -> Mean:
    """Return mean and spread over the draws, and the number of draws; empty if there are none."""
    results = runs.repeat(key, run, n_draws)
    if not results:
        return {}
    mean = {**average(results), "draws": (float(len(results)), 0.0)}
    print(*key.values(), *(f"{name} {value[0]:.2f}" for name, value in mean.items()), flush=True)
    return mean


def table_row(first: list[str], mean: Mean, scores: Sequence[str] = SCORES) -> list[list[str]]:
    """Return one row of a table; none if the runs are not there."""
    return [[*first, f"{mean['draws'][0]:.0f}", *score_columns(mean, scores)]] if mean else []
