"""Labels that are broken or odd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from anchorview import Views

from .case import EITHER, REFUSE, WORK, Case
from .problems import CLUSTERERS, NAMES, check_fit, plant, quick

Change = Callable[[np.ndarray], Any]
_Y = ("y", "label", "class")
LETTERS = np.array(list("abcdefgh"))


def text(y: np.ndarray, missing: Any = None) -> np.ndarray:
    result = LETTERS[y].astype(object)
    result[y == -1] = missing
    return result


BAD: dict[str, Change] = {
    "too short": lambda y: y[:-1],
    "too long": lambda y: np.r_[y, 0],
    "empty": lambda y: y[:0],
    "a number": lambda y: 3,
    "text": lambda y: "a",
    "a set": lambda y: {0, 1},
    "a dict without ids": lambda y: {0: 1, 2: 0},
    "an object": lambda y: object(),
    "2-D": lambda y: np.column_stack([y, y]),
    "3-D": lambda y: y[:, None, None],
    "infinite": lambda y: np.where(np.arange(len(y)) == 1, np.inf, y),
    "fractions": lambda y: np.where(y == -1, -1, y + 0.5),
    "complex": lambda y: y + 1j,
    "dates": lambda y: y.astype("M8[D]"),
    "lists": lambda y: [[int(v)] * (1 + v % 2) for v in y],
    "tuples": lambda y: _objects([(int(v), 1) for v in y]),
    "dicts": lambda y: _objects([{"a": int(v)} for v in y]),
    "text and numbers": lambda y: [("a" if v == 0 else int(v)) for v in y],
    "no label at all": lambda y: np.full(len(y), -1),
    "one class": lambda y: np.where(y == 0, 0, -1),
    "None only": lambda y: [None] * len(y),
    "NaN only": lambda y: np.full(len(y), np.nan),
    "'nan' as text": lambda y: text(y, "nan").astype(str),
    "'unknown' as text": lambda y: text(y, "unknown").astype(str),
    "'-1' as text": lambda y: text(y, "-1").astype(str),
    "objects": lambda y: _objects([object() for _ in y]),
    "records": lambda y: np.zeros(len(y), dtype=[("x", int)]),
    "bytes b'' as a class and nothing else": lambda y: np.full(len(y), b""),
    "ids that no row has": lambda y: pd.Series(y, index=[f"q{i}" for i in range(len(y))]),
    "an index that repeats": lambda y: pd.Series(y, index=["s0"] * len(y)),
}
GOOD: dict[str, Change] = {
    "float": lambda y: y.astype(float),
    "float with NaN": lambda y: np.where(y == -1, np.nan, y),
    "int8": lambda y: y.astype(np.int8),
    "text with None": text,
    "text with ''": lambda y: text(y, ""),
    "text array": lambda y: text(y, "").astype(str),
    "bytes": lambda y: text(y, "").astype("S1"),
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "column": lambda y: y[:, None],
    "Series": pd.Series,
    "Series of text": lambda y: pd.Series(text(y)),
    "categories": lambda y: pd.Series(pd.Categorical(text(y))),
    "nullable integers": lambda y: pd.Series([None if v == -1 else int(v) for v in y], dtype="Int64"),
    "nullable text": lambda y: pd.Series(text(y), dtype="string"),
    "polars": lambda y: pl.Series([None if v == -1 else int(v) for v in y]),
    "polars text": lambda y: pl.Series([None if v == -1 else str(LETTERS[v]) for v in y]),
    "masked": lambda y: np.ma.masked_array(y, mask=y == -1),
    "large numbers": lambda y: np.where(y == -1, -1, y + 10**15),
    "negative classes": lambda y: np.where(y == -1, -1, -2 - y),
    "all labelled": lambda y: np.where(y == -1, 0, y),
    "shuffled Series": lambda y: pd.Series(y, index=[f"s{i}" for i in range(len(y))]).sample(frac=1, random_state=1),
    "a dict of ids": lambda y: {f"s{i}": int(v) for i, v in enumerate(y) if v != -1},
}
_NEEDS_IDS = ("ids that no row has", "an index that repeats", "shuffled Series", "a dict of ids")
_CAN_CLUSTER = ("no label at all", "None only", "NaN only", "one class")


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def make(rng: np.random.Generator) -> Case:
    """Give labels to a method that takes some."""
    problem = plant(rng)
    name = str(rng.choice(["FSSMSC", *(n for n in NAMES if n not in CLUSTERERS)]))
    is_bad = rng.random() < 0.6
    what = str(rng.choice(list(BAD if is_bad else GOOD)))
    given = (BAD if is_bad else GOOD)[what](problem.y)
    X: Any = problem.by_name
    if what in _NEEDS_IDS:
        X = Views(problem.by_name, ids=[f"s{i}" for i in range(len(problem.y))])
    model = quick(name, problem.n_classes)
    expect = REFUSE if is_bad else WORK
    if what in ("bytes", "fractions") or (what in _CAN_CLUSTER and name == "FSSMSC" and rng.random() < 0.3):
        expect = EITHER
        if what in _CAN_CLUSTER:
            model.n_clusters = problem.n_classes

    def run() -> None:
        model.fit(X, given)
        if is_bad:
            check_fit(model, X, len(problem.y))
            return
        order = np.unique(problem.truth)  # classes of every form above sort like the numbers, but the negative ones
        if what == "negative classes":
            order = order[::-1]
        numbers = {row: model.classes_[order[c]] for row, c in enumerate(problem.y) if c != -1}
        check_fit(model, X, len(problem.y), numbers)

    return Case(f"{name}.fit(y: {what})", run, expect, _Y)
