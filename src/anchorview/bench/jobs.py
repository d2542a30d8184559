"""What runs in a child process: one fit, its scores and its cost; or a choice of parameters by hidden labels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix, Rows
from ..data.labels import split_labels
from ..datasets import hide_labels, make_multiview_subspaces
from ..metrics.clusters import clustering_report
from ..readers.held_out import hold_out
from .graph_store import StoredGraphs, graphs_of
from .methods import METHODS, Method
from .notices import listen
from .process import reset_peak, resident_bytes
from .sources import describe_dataset, load_dataset

Scores = dict[str, Any]


def describe_data(name: str, place: str) -> dict[str, Any]:
    """Read a data set and return its sizes, as `Description` takes them; it stays in memory for the first fits."""
    return asdict(describe_dataset(name, _data(place)))


def fit_once(
    place: str,
    method: str,
    parameters: dict[str, Any],
    seed: int,
    fraction: float,
    n_rows: int | None = None,
    histories: bool = False,
) -> Scores:
    """Fit once and return scores in percent, seconds, bytes, rounds, and what the fit said of itself.

    Labelled rows are a uniform sample; the others are scored. Methods without labels are scored on all rows.
    """
    chosen = METHODS[method]
    views, target = _rows(place, n_rows, seed)
    y, scored = _draw(chosen, target, fraction, seed)
    _warm(method)
    before = reset_peak()
    graphs = _stored_graphs(chosen, place, n_rows)
    start = time.perf_counter()
    model, said = listen(lambda: chosen.make(parameters, len(np.unique(target)), seed, graphs).fit(views, y))
    labels = model.labels_
    seconds = time.perf_counter() - start + graphs.correction
    result: Scores = {name: 100 * value for name, value in clustering_report(target[scored], labels[scored]).items()}
    result |= {"seconds": seconds, "fit_bytes": max(resident_bytes(peak=True) - before, 0)}
    result |= {"graph_seconds": graphs.seconds, **said}
    if hasattr(model, "n_iter_"):
        result["n_iter"] = int(model.n_iter_)
    if hasattr(model, "codes_") and chosen.class_name == "FSSMSC":
        result["nonzeros"] = model.codes_.nnz / len(target)
    if histories:
        result["objective"] = [float(value) for value in model.objective_history_]
        result["residual"] = [float(value) for value in model.residual_history_]
    return result


def choose_setting(
    place: str,
    method: str,
    settings: list[dict[str, Any]],
    seed: int,
    fraction: float,
    n_folds: int = 3,
) -> dict[str, Any]:
    """Return the setting that guesses most hidden labels: a third of the given labels is hidden in turn."""
    chosen = METHODS[method]
    views, target = _rows(place, None, seed)
    y, _ = _draw(chosen, target, fraction, seed)
    classes, class_ids = np.unique(y, return_inverse=True)
    class_ids = class_ids - 1 if classes[0] == -1 else class_ids
    folds = split_labels(class_ids, n_folds, np.random.RandomState(seed))
    start = time.perf_counter()
    if not folds or len(settings) < 2:
        return {"parameters": settings[0], "hidden_acc": None, "seconds": 0.0}
    graphs = _stored_graphs(chosen, place, None)

    right = [
        _count_right(partial(chosen.make, setting, len(classes), seed, graphs), views, y, folds) for setting in settings
    ]
    best = int(np.argmax(right))
    share = 100 * right[best] / sum(map(len, folds))
    seconds = time.perf_counter() - start + graphs.correction
    return {"parameters": settings[best], "hidden_acc": share, "seconds": seconds}


def scale(n_rows: int, parameters: dict[str, Any], seed: int) -> Scores:
    """Fit FSSMSC on synthetic views of any size, 1 % labelled."""
    return fit_once(f"synthetic:{n_rows}", "FSSMSC", parameters, seed, 0.01)


def _count_right(make: Callable[[], Any], views: Any, y: Any, folds: list[Rows]) -> int:
    """Return how many hidden labels a setting guesses right; −1 if it fails, so that it is not chosen."""

    def judge(fold: int, hidden: Rows, shown: Rows) -> Matrix:
        known = y.copy()
        known[hidden] = -1
        labels = make().fit(views, known).labels_
        return np.asarray(labels[hidden] == y[hidden], dtype=np.float64)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            judged = hold_out(folds, len(y), judge)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return -1
    return int(sum(right.sum() for right in judged.scores))


def _stored_graphs(method: Method, place: str, n_rows: int | None) -> StoredGraphs:
    return graphs_of(method.name, (place, n_rows)) if method.keeps_graphs else StoredGraphs({})


@lru_cache(maxsize=1)
def _data(place: str) -> Any:
    if place.startswith("synthetic:"):
        n = int(place.split(":")[1])
        return make_multiview_subspaces(n, 10, (100, 60, 40), noise=0.3, random_state=0)
    return load_dataset(place)


def _rows(place: str, n_rows: int | None, seed: int) -> tuple[Any, npt.NDArray[Any]]:
    data = _data(place)
    views, target = data.views, _class_numbers(data.target)
    if n_rows is None or n_rows >= len(target):
        return views, target
    rows = np.sort(np.random.default_rng(seed).permutation(len(target))[:n_rows])
    return views[rows], _class_numbers(target[rows])


def _class_numbers(target: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.unique(target, return_inverse=True)[1].astype(np.int64)


def _draw(method: Method, target: Any, fraction: float, seed: int) -> tuple[Any, Any]:
    """Return the labels a method gets, and which rows are scored."""
    if not method.uses_labels:
        return None, np.ones(len(target), dtype=bool)
    y = hide_labels(target, fraction, random_state=seed)
    return y, y == -1


@cache
def _warm(method: str) -> None:
    """Load what is compiled or imported late, so that it is not timed."""
    few = make_multiview_subspaces(90, 3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method].make({}, 3, 0).fit(few.views, few.target)
