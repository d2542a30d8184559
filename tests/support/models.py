"""Small fitted models of every kind, to be written to files and read back."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchorview import ADMM, FSSMSC, AnchorViewClassifier, Constraints, PerView, TableViews, Views, datasets
from support.settled import settle

SHORT = {
    "dense_scalings": ("minmax",),
    "feature_strengths": (1.0,),
    "graph_strengths": (0.8,),
    "ridges": (),
    "l1s": (),
    "must_link_weights": (),
    "heavy_ridges": (),
    "n_finalists": 1,
}
N_ROWS = 60


@functools.cache
def made() -> Any:
    """Two views of 60 rows in three classes."""
    return datasets.make_multiview_subspaces(N_ROWS, 3, (8, 6), random_state=0)


def labels() -> np.ndarray:
    """Labels of two rows in five."""
    return datasets.hide_labels(made().target, 0.4, random_state=0)


def quick(**parameters: Any) -> FSSMSC:
    """A model that chooses nothing."""
    return settle(**{"n_landmarks": 12, "random_state": 0, **parameters})


def search(**parameters: Any) -> AnchorViewClassifier:
    """A short search."""
    return AnchorViewClassifier(
        **{"n_landmarks": 12, "n_averaged": 6, "search_options": SHORT, "random_state": 0, **parameters}
    )


def _words() -> dict[str, Any]:
    counts = sparse.csr_array(np.maximum(np.round(2 * made().data[0]), 0))
    return {"words": counts, "numbers": made().data[1].astype(np.float32)}


def _gaps() -> Views:
    mask = np.random.default_rng(0).random((N_ROWS, 2)) > 0.3
    mask[~mask.any(axis=1), 0] = True
    return Views(list(made().data), mask=mask, ids=[f"row {i}" for i in range(N_ROWS)])


def _frame() -> pd.DataFrame:
    columns = [f"a{i}" for i in range(8)] + [f"b{i}" for i in range(6)]
    return pd.DataFrame(np.hstack(made().data), columns=columns, index=[f"row {i}" for i in range(N_ROWS)])


def _table() -> pd.DataFrame:
    """A raw table: sentences of words that the three classes have more or less often, a number and a category."""
    rng = np.random.default_rng(0)
    words = np.array(["oven", "flour", "sugar", "wheel", "brake", "engine", "goal", "pitch", "racket", "and", "more"])
    chances = np.full((3, len(words)), 1.0)
    chances[np.arange(9) // 3, np.arange(9)] = 4.0
    chances /= chances.sum(axis=1, keepdims=True)
    texts = [" ".join(rng.choice(words, 8, p=chances[number])) for number in made().target]
    price, size = made().data[1][:, :2].T.round(2)
    return pd.DataFrame({"text": texts, "price": price, "shop": np.where(size > 0, "north", "south")})


def text_labels() -> np.ndarray:
    """The same labels as text."""
    return np.array([["", "zwei", "drei", "<eins>"][label + 1] for label in labels()])


def _pairs() -> Constraints:
    return Constraints.from_pairs([(0, 1), (2, 3), (0, 2)], [(1, 4), (0, 1)], n_rows=N_ROWS)


def _weights() -> np.ndarray:
    return np.random.default_rng(1).uniform(0.5, 2.0, N_ROWS)


@functools.cache
def fitted(kind: str) -> tuple[Any, Any]:
    """Return a model of some kind, and the rows it was fitted on."""
    X, y, fit = made().views, labels(), {}
    float32 = [part.astype(np.float32) for part in made().data]
    columns = _frame().columns
    model: Any = quick()
    if kind == "float32":
        X = float32
    elif kind == "all readers":
        model = quick(readers=("nearest", "linear", "poisson"))
    elif kind in ("knn", "euclidean", "paper", "linear"):
        model = quick(readers=kind)
    elif kind == "auto":
        model = FSSMSC(n_landmarks=12, random_state=0)
    elif kind == "clusters":
        model, y = quick(n_clusters=3, random_state=np.random.RandomState(5)), None
    elif kind == "admm":
        model = quick(solver=ADMM(dtype="float64"))
    elif kind == "text":
        X, model = _words(), quick(scaling={"words": "lsa", "numbers": "standard"}, class_balance="balanced")
    elif kind == "tfidf":
        X, model = _words(), quick(scaling=["tfidf", "l2"])
    elif kind == "gaps":
        X, model = _gaps(), quick(relabel=0.9, on_empty="drop")
    elif kind == "frame":
        X, y = _frame(), text_labels()
        model = quick(views={"a": columns[:8], "b": list(columns[8:])}, solver__omit=["smoothness"], unlabelled="?")
    elif kind == "pairs":
        fit = {"constraints": _pairs(), "sample_weight": _weights()}
    elif kind == "landmarks":
        X, model = np.hstack(made().data), quick(views=[slice(0, 8), slice(8, 14)])
        model.set_params(landmarks=np.eye(14)[::2], scaling="none")
    elif kind == "pipeline":
        model = make_pipeline(PerView({"view0": PCA(3), "view1": StandardScaler()}), quick())
    elif kind == "table":
        X, model = _table(), make_pipeline(TableViews(text_encoder=None), search(n_repeats=1, n_averaged=12))
    elif kind == "search":
        model = search()
    elif kind == "text search":
        X, model = _words(), search(n_repeats=1, n_averaged=12)
    elif kind == "weighted search":
        X, model = _gaps(), search(n_landmarks=[12, 9])
        fit = {"constraints": Constraints.from_pairs([("row 0", "row 1")], [("row 3", "row 4")])}
        fit["sample_weight"] = _weights()
    elif kind != "plain":
        raise ValueError(kind)
    return model.fit(X, y, **fit), X


KINDS = (
    *("plain", "float32", "knn", "euclidean", "paper", "auto", "clusters", "admm", "text", "tfidf", "gaps", "frame"),
    *("pairs", "landmarks", "pipeline", "search", "text search", "weighted search", "linear", "all readers"),
    "table",
)
