"""Planted problems, quick estimators, and what is true of every answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, baselines

from .case import Broken

CLUSTERERS = ("BestViewSpectral", "ConcatKMeans", "FPMVS", "LMVSC")
NAMES = ("FSSMSC", "AnchorViewClassifier", *baselines.__all__)
_SHORT_SEARCH = {
    "feature_strengths": (1.0,),
    "graph_strengths": (0.8,),
    "ridges": (),
    "l1s": (),
    "must_link_weights": (),
}
_QUICK = {
    "FSSMSC": {"n_landmarks": 20},
    "AnchorViewClassifier": {
        **{"n_landmarks": 15, "scaling": ["minmax"], "n_averaged": 2, "n_splits": 2, "n_repeats": 1},
        "search_options": _SHORT_SEARCH,
    },
    "GPSNMF": {"n_components": 12, "max_iter": 60},
    "CONMF": {"max_iter": 60},
    "FPMVS": {"n_init": 5},
}


@dataclass(frozen=True)
class Problem:
    """Views of planted clusters, the truth, and labels with -1 where there is none."""

    views: list[np.ndarray]
    truth: np.ndarray
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of clusters."""
        return int(self.truth.max()) + 1

    @property
    def names(self) -> list[str]:
        """Names for the views."""
        return [f"part{i}" for i in range(len(self.views))]

    @property
    def by_name(self) -> dict[str, np.ndarray]:
        """The views by name."""
        return dict(zip(self.names, self.views, strict=True))


def plant(rng: np.random.Generator, *, n_views: int | None = None, n_rows: int | None = None) -> Problem:
    """Draw clusters that lie well apart in every view, with at least two labelled rows each."""
    n_views = int(rng.integers(1, 4)) if n_views is None else n_views
    n_rows = int(rng.integers(40, 110)) if n_rows is None else n_rows
    n_classes = int(rng.integers(2, 5))
    truth = rng.permutation(np.arange(n_rows) % n_classes)
    views = []
    for _ in range(n_views):
        n_features = int(rng.integers(n_classes + 1, 13))
        corners = np.eye(n_classes, n_features) @ np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
        views.append(8 * corners[truth] + rng.normal(size=(n_rows, n_features)) * 0.4 + rng.normal(size=n_features))
    y = np.full(n_rows, -1)
    for number in range(n_classes):
        rows = np.flatnonzero(truth == number)
        y[rng.choice(rows, max(3, len(rows) // 3), replace=False)] = number
    return Problem(views, truth, y)


def quick(name: str, n_classes: int, **parameters: Any) -> Any:
    """Return an estimator whose fit takes tenths of a second."""
    given = {"random_state": 0, "n_jobs": 1, **_QUICK.get(name, {}), **parameters}
    if name in CLUSTERERS:
        given.setdefault("n_clusters", n_classes)
    kind = {"FSSMSC": FSSMSC, "AnchorViewClassifier": AnchorViewClassifier}.get(name) or getattr(baselines, name)
    return kind(**given)


def uses_labels(model: Any) -> bool:
    """Tell whether a method takes labels."""
    return type(model).__name__ not in CLUSTERERS


def check_fit(model: Any, X: Any, n_rows: int, known: Any = None) -> None:
    """Raise `Broken` unless a fitted model is sound: `known` maps rows to the labels that they were given."""
    labels = np.asarray(model.labels_)
    require(labels.shape == (n_rows,), f"labels_ has shape {labels.shape} for {n_rows} rows")
    if hasattr(model, "classes_") and uses_labels(model):
        require(bool(np.isin(labels, model.classes_).all()), "labels_ holds what is no class")
    for row, label in (known or {}).items():
        require(labels[row] == label, f"row {row} was given {label!r} and got {labels[row]!r}")
    if hasattr(model, "confidence_"):
        check_probabilities(np.asarray(model.confidence_)[:, None], n_rows, whole=False)
    if hasattr(model, "predict"):
        check_prediction(model, X, n_rows)


def check_prediction(model: Any, X: Any, n_rows: int) -> None:
    """Raise `Broken` unless predictions are sound."""
    predicted = np.asarray(model.predict(X))
    require(predicted.shape == (n_rows,), f"predict gives shape {predicted.shape} for {n_rows} rows")
    require(bool(np.isin(predicted, model.classes_).all()), "predict names what is no class")
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        check_probabilities(shares, n_rows)
        require(shares.shape[1] == len(model.classes_), "predict_proba has not a column for each class")
        own = shares[np.arange(n_rows), np.searchsorted(model.classes_, predicted)]  # of classes that tie, any
        require(bool((own == shares.max(axis=1)).all()), "predict is not the argmax of predict_proba")
    if hasattr(model, "transform"):
        require(bool(np.isfinite(model.transform(X)).all()), "transform gives NaN or infinity")


def check_probabilities(shares: np.ndarray, n_rows: int, *, whole: bool = True) -> None:
    """Raise `Broken` unless these are probabilities; those of a row add up to one if they are `whole`."""
    require(len(shares) == n_rows, f"{len(shares)} rows of probabilities for {n_rows} rows")
    require(bool(np.isfinite(shares).all()), "a probability is NaN or infinite")
    require(bool((shares >= 0).all() and (shares <= 1 + 1e-6).all()), "a probability is not within 0 … 1")
    if whole:
        require(bool(np.allclose(shares.sum(axis=1), 1, atol=1e-5)), "probabilities do not add up to 1")


def require(good: bool, otherwise: str) -> None:
    """Raise `Broken` unless something holds."""
    if not good:
        raise Broken(otherwise)
