"""Random valid problems: planted clusters are found, and what must not matter does not."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.base import clone

from anchorview import ADMM, ActiveSet, Constraints, Views, load, save
from anchorview.metrics import clustering_accuracy

from .case import WORK, Case
from .problems import NAMES, Problem, check_fit, plant, quick, require, uses_labels

FORMS = ("list", "dict", "Views", "table", "frames", "two levels", "polars", "float32", "sparse", "ids", "Fortran")
# Clusterers do not always find the best of their local optima; two clusters that became one leave half of the rows.
FLOORS = {"FPMVS": 0.4, "LMVSC": 0.5, "BestViewSpectral": 0.6, "ConcatKMeans": 0.6, "GPSNMF": 0.6, "CONMF": 0.6}
_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "FSSMSC": [
        *({}, {}, {"readers": "knn"}, {"readers": "euclidean"}, {"class_balance": "balanced"}, {"relabel": 0.95}),
        *(
            {"solver": ADMM(units="data")},
            {"landmarks": "random"},
            {"scaling": "standard"},
            {"ridge": 0.0},
            {"coupling": 0.0},
        ),
        *(
            {"readers": ("nearest", "linear")},
            {"solver": ActiveSet(omit=("l1",))},
            {"scaling": "l2"},
            {"n_landmarks": 500},
        ),
    ]
}


def give(problem: Problem, form: str) -> tuple[Any, dict[str, Any]]:
    """Return the views in some form, and the parameters that go with it."""
    arrays, n = problem.views, len(problem.y)
    named = problem.by_name
    frames = {k: pd.DataFrame(v, columns=[f"{k}_{i}" for i in range(v.shape[1])]) for k, v in named.items()}
    if form == "list":
        return arrays, {}
    if form == "Views":
        return Views(named), {}
    if form == "table":
        return np.hstack(arrays), {"views": [v.shape[1] for v in arrays]}
    if form == "frames":
        return frames, {}
    if form == "two levels":
        return pd.concat(frames, axis=1), {}
    if form == "polars":
        return {k: pl.from_pandas(f) for k, f in frames.items()}, {}
    if form == "float32":
        return {k: v.astype(np.float32) for k, v in named.items()}, {}
    if form == "sparse":
        signed = {k: np.hstack([np.maximum(v, 0), np.maximum(-v, 0)]) for k, v in named.items()}
        return {k: sparse.csr_array(v) if k == "part0" else named[k] for k, v in signed.items()}, {}
    if form == "ids":
        return Views(named, ids=[f"s{i}" for i in range(n)]), {}
    return {k: np.asfortranarray(v) for k, v in named.items()} if form == "Fortran" else named, {}


def make(rng: np.random.Generator) -> Case:
    """Draw a problem, a form, an estimator and its options."""
    problem = plant(rng)
    name = str(rng.choice(["FSSMSC", "FSSMSC", *NAMES]))
    form = str(rng.choice(FORMS))
    X, parameters = give(problem, form)
    options = _OPTIONS.get(name, [{}])
    chosen = dict(options[int(rng.integers(len(options)))])
    if form == "sparse" and name == "FSSMSC" and "scaling" in chosen:
        chosen["scaling"] = "l2"
    if form == "sparse" and name in (
        "GPSNMF",
        "CONMF",
        "AnchorViewClassifier",
    ):  # which sparse signed views do not suit
        X, form = problem.by_name, "dict"
    if (
        name == "FSSMSC"
        and not isinstance(chosen.get("solver"), ADMM)
        and form in ("list", "dict", "Views")
        and rng.random() < 0.2
    ):
        chosen["constraints"] = True
    model = quick(name, problem.n_classes, **parameters, **{k: v for k, v in chosen.items() if k != "constraints"})
    more = {"constraints": _true_pairs(problem, rng)} if "constraints" in chosen else {}
    seed = int(rng.integers(2**31))

    def run() -> None:
        fitted = clone(model).fit(X, problem.y, **more)
        known = (
            {row: label for row, label in enumerate(problem.y.tolist()) if label != -1} if uses_labels(model) else {}
        )
        check_fit(fitted, X, len(problem.y), {} if "relabel" in chosen else known)
        check_found(fitted, problem, name)
        if name in ("FSSMSC", "AnchorViewClassifier"):
            check_kept(fitted, X)
        again = clone(model).fit(X, problem.y, **more)
        require(bool((again.labels_ == fitted.labels_).all()), "a second fit with the same seed differs")
        if form in ("list", "dict") and not more:
            check_permuted(model, fitted, problem, np.random.default_rng(seed))

    said = ", ".join(f"{k}={v!r}" for k, v in chosen.items())
    return Case(f"{name}({said}) on {len(problem.views)} views as {form}", run, WORK)


def _true_pairs(problem: Problem, rng: np.random.Generator) -> Any:
    first, second = rng.integers(0, len(problem.y), (2, 12))
    same = problem.truth[first] == problem.truth[second]
    apart = np.column_stack([first, second])[~same]
    return Constraints.from_pairs(np.column_stack([first, second])[same], apart, n_rows=len(problem.y))


def check_found(fitted: Any, problem: Problem, name: str) -> None:
    """Clusters that lie well apart are found."""
    hidden = problem.y == -1
    if uses_labels(fitted):
        right = float((fitted.labels_[hidden] == problem.truth[hidden]).mean())
    else:
        right = clustering_accuracy(problem.truth, fitted.labels_)
    floor = FLOORS.get(name, 0.9)
    require(right >= floor, f"only {100 * right:.0f} % of planted clusters were found ({floor:.0%} is the least)")


def check_kept(fitted: Any, X: Any) -> None:
    """Save and load the model: it answers as before, to the last bit, and is saved to the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        save(fitted, first)
        back = load(first)
        save(back, second)
        require(first.read_bytes() == second.read_bytes(), "a loaded model is saved to other bytes")
    for method in ("predict", "predict_proba", "transform"):
        before, after = getattr(fitted, method)(X), getattr(back, method)(X)
        same = before.dtype == after.dtype and bool((before == after).all())
        require(same, f"{method} of the loaded model differs")


def check_permuted(model: Any, fitted: Any, problem: Problem, rng: np.random.Generator) -> None:
    """Columns, views and rows in another order give the same labels."""
    if not uses_labels(model):
        return  # clusters have no names, and end where their start was
    columns = {k: v[:, rng.permutation(v.shape[1])] for k, v in problem.by_name.items()}
    views = dict(reversed(problem.by_name.items()))
    order = rng.permutation(len(problem.y))
    rows = {k: v[order] for k, v in problem.by_name.items()}
    for what, X, y, back in (
        ("columns", columns, problem.y, slice(None)),
        ("views", views, problem.y, slice(None)),
        ("rows", rows, problem.y[order], np.argsort(order)),
    ):
        labels = clone(model).fit(X, y).labels_[back]
        same = float((labels == fitted.labels_).mean())
        least = 0.8 if type(model).__name__ in FLOORS else 0.97  # those start from random factors
        require(same >= least, f"another order of {what} changes {100 * (1 - same):.0f} % of the labels")
