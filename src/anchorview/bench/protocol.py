"""The protocol of every accuracy figure (docs/protocol in README): how labels are drawn and scores averaged.

Labelled rows are a uniform random sample (5 % below 10,000 rows, 1 % from there on), not stratified; landmarks are
drawn anew in each repetition, inside the timed region; scores are those of the unlabelled rows (of all rows for
methods without labels); mean and population standard deviation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..datasets import hide_labels
from ..metrics.clusters import clustering_report
from ..metrics.labels import expected_calibration_error
from .notices import listen


def label_fraction(n_rows: int) -> float:
    """Part of the rows that keep their label: 5 % of small data, 1 % of large."""
    return 0.05 if n_rows < 10_000 else 0.01


def run_once(
    model: Any, views: Any, target: npt.NDArray[Any], seed: int, fraction: float | None = None
) -> dict[str, Any]:
    """Fit a model on one draw of labels; return scores of the unlabelled rows in percent, seconds, and what it said."""
    y = hide_labels(target, label_fraction(len(target)) if fraction is None else fraction, random_state=seed)
    hidden = y == -1
    start = time.perf_counter()
    fitted, said = listen(lambda: model.fit(views, y))
    seconds = time.perf_counter() - start
    labels = fitted.labels_
    scores = {name: 100 * value for name, value in clustering_report(target[hidden], labels[hidden]).items()}
    scores |= {"seconds": seconds, **said}
    if hasattr(model, "confidence_"):
        right = target[hidden] == labels[hidden]
        scores["ece"] = 100 * expected_calibration_error(right, model.confidence_[hidden])
    return scores


def cluster_once(model: Any, views: Any, target: npt.NDArray[Any]) -> dict[str, Any]:
    """Fit a model without labels; return scores of all rows in percent, seconds, and what it said."""
    start = time.perf_counter()
    fitted, said = listen(lambda: model.fit(views))
    seconds = time.perf_counter() - start
    scores = {name: 100 * value for name, value in clustering_report(target, fitted.labels_).items()}
    return scores | {"seconds": seconds, **said}


def repeat(
    make_model: Callable[[int], Any],
    views: Any,
    target: npt.NDArray[Any],
    seeds: Iterable[int],
    fraction: float | None = None,
) -> list[dict[str, Any]]:
    """Run one model per seed."""
    return [run_once(make_model(seed), views, target, seed, fraction) for seed in seeds]


def average(runs: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Mean and population standard deviation of each score; what is no number is left out.

    Examples
    --------
    >>> average([{"acc": 90.0, "warnings": []}, {"acc": 94.0}])
    {'acc': (92.0, 2.0)}
    """
    names = [name for name, value in runs[0].items() if isinstance(value, int | float)]
    return {name: (float(np.mean(v)), float(np.std(v))) for name in names if (v := [run[name] for run in runs])}
