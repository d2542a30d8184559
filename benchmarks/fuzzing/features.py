"""Views that are broken or odd, given to `fit` of every estimator and to `Views`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from anchorview import Views

from .case import EITHER, REFUSE, WORK, Case
from .problems import NAMES, Problem, check_fit, plant, quick

Maker = Callable[[Problem, np.random.Generator], Any]
_ANY = ("X", "view", "array", "row", "column")  # what an error about features may name at least


def spoil(value: Any, *, where: str = "one") -> Maker:
    """Put a value into the second view."""

    def make(problem: Problem, rng: np.random.Generator) -> Any:
        array = problem.views[1].astype(np.result_type(problem.views[1], type(value)))
        row, column = int(rng.integers(len(array))), int(rng.integers(array.shape[1]))
        index: Any = {"one": (row, column), "column": (slice(None), column), "row": row}[where]
        array[index] = value
        return {**problem.by_name, "part1": array}

    return make


def second(change: Callable[[np.ndarray], Any]) -> Maker:
    """Change the second view."""
    return lambda problem, rng: {**problem.by_name, "part1": change(problem.views[1])}


def whole(change: Callable[[Problem], Any]) -> Maker:
    """Give something else altogether."""
    return lambda problem, rng: change(problem)


def malformed(kind: Any, attribute: str, value: int) -> Maker:
    def make(problem: Problem, rng: np.random.Generator) -> Any:
        matrix = kind(np.abs(problem.views[1]))
        getattr(matrix, attribute)[int(rng.integers(1, len(getattr(matrix, attribute))))] = value
        return {**problem.by_name, "part1": matrix}

    return make


def frame(array: np.ndarray, **more: Any) -> pd.DataFrame:
    return pd.DataFrame(array, columns=[f"c{i}" for i in range(array.shape[1])], **more)


def with_column(values: Callable[[int], Any]) -> Maker:
    return second(lambda a: frame(a).assign(c1=values(len(a))))


BAD: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "one NaN": (spoil(np.nan), ("part1",)),
    "one inf": (spoil(np.inf), ("part1",)),
    "one -inf": (spoil(-np.inf), ("part1",)),
    "a column of NaN": (spoil(np.nan, where="column"), ("part1",)),
    "a row of inf": (spoil(np.inf, where="row"), ("part1",)),
    "one view short of rows": (second(lambda a: a[:-3]), ("part1",)),
    "no rows": (whole(lambda p: [v[:0] for v in p.views]), _ANY),
    "a view without columns": (second(lambda a: a[:, :0]), ("part1",)),
    "no views": (whole(lambda p: {}), ("view",)),
    "an empty list": (whole(lambda p: []), ("view", "X")),
    "None": (whole(lambda p: None), _ANY),
    "a number": (whole(lambda p: 3), _ANY),
    "text": (whole(lambda p: "data.csv"), _ANY),
    "bytes": (whole(lambda p: b"data"), _ANY),
    "a set": (whole(lambda p: {1, 2, 3}), _ANY),
    "a generator": (whole(lambda p: (v for v in p.views)), _ANY),
    "an object": (whole(lambda p: object()), _ANY),
    "an estimator": (whole(lambda p: quick("FSSMSC", 2)), _ANY),
    "a view of 1-D": (second(lambda a: a[:, 0]), ("part1",)),
    "a view of 3-D": (second(lambda a: a[:, :, None]), ("part1",)),
    "a view of 0-D": (second(lambda a: np.array(3.0)), ("part1",)),
    "a view that is None": (second(lambda a: None), ("part1",)),
    "a view that is text": (second(lambda a: "words"), ("part1",)),
    "a view that is a dict": (second(lambda a: {"a": 1}), ("part1",)),
    "a view that is a set": (second(lambda a: {1, 2}), ("part1",)),
    "ragged rows": (second(lambda a: [list(row)[: 2 + i % 2] for i, row in enumerate(a)]), ("part1",)),
    "text in cells": (second(lambda a: a.astype(str)), ("part1",)),
    "objects in cells": (second(lambda a: np.full(a.shape, object())), ("part1",)),
    "lists in cells": (second(lambda a: _filled(a.shape, [1])), ("part1",)),
    "complex": (second(lambda a: a * 1j), ("part1",)),
    "dates": (second(lambda a: a.astype("M8[s]")), ("part1",)),
    "durations": (second(lambda a: a.astype("m8[s]")), ("part1",)),
    "records": (second(lambda a: np.zeros(len(a), dtype=[("x", float)])), ("part1",)),
    "bytes in cells": (second(lambda a: a.astype("S8")), ("part1",)),
    "longdouble beyond float64": (second(lambda a: a.astype(np.longdouble) * np.longdouble(10) ** 400), ("part1",)),
    "huge integers as objects": (second(lambda a: _filled(a.shape, 10**400)), ("part1",)),
    "CSR index too large": (malformed(sparse.csr_array, "indices", 10**6), ("part1",)),
    "CSR index negative": (malformed(sparse.csr_array, "indices", -5), ("part1",)),
    "CSC index too large": (malformed(sparse.csc_array, "indices", 10**6), ("part1",)),
    "CSR pointer too large": (malformed(sparse.csr_matrix, "indptr", 10**7), ("part1",)),
    "CSR pointer negative": (malformed(sparse.csr_matrix, "indptr", -7), ("part1",)),
    "COO index too large": (malformed(sparse.coo_matrix, "row", 10**6), ("part1",)),
    "sparse NaN": (second(lambda a: sparse.csr_array(np.where(a > a.mean(), np.nan, a))), ("part1",)),
    "sparse complex": (second(lambda a: sparse.csr_array(a * 1j)), ("part1",)),
    "a column of text": (with_column(lambda n: ["a", "b"] * (n // 2) + ["a"] * (n % 2)), ("part1", "c1")),
    "a column of dates": (with_column(lambda n: pd.Timestamp("2024-05-01")), ("c1",)),
    "a column of categories": (with_column(lambda n: pd.Categorical(["a", "b"] * (n // 2) + ["a"] * (n % 2))), ("c1",)),
    "a column with one NA": (with_column(lambda n: pd.array([None, *range(n - 1)], dtype="Int64")), ("c1", "part1")),
    "a polars column of text": (
        second(lambda a: pl.DataFrame(a).with_columns(pl.lit("x").alias("column_1"))),
        ("column_1", "part1"),
    ),
    "a polars column with a null": (
        second(lambda a: pl.DataFrame(a).with_columns(pl.Series("column_1", [None, *range(len(a) - 1)]))),
        ("column_1", "part1"),
    ),
    "indexes that differ": (
        whole(
            lambda p: {n: frame(v, index=np.arange(len(v)) + 5 * (i + 1)) for i, (n, v) in enumerate(p.by_name.items())}
        ),
        ("id", "index"),
    ),
}


def _filled(shape: tuple[int, ...], value: Any) -> np.ndarray:
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        array[index] = value
    return array


ODD: dict[str, Maker] = {  # must work, or be refused in words
    "float16": second(lambda a: a.astype(np.float16)),
    "bool": second(lambda a: a > a.mean()),
    "int8": second(lambda a: np.clip(a, -99, 99).astype(np.int8)),
    "uint64": second(lambda a: np.abs(a * 100).astype(np.uint64)),
    "longdouble": second(lambda a: a.astype(np.longdouble)),
    "big endian": second(lambda a: a.astype(">f8")),
    "Fortran order": second(np.asfortranarray),
    "strided": second(lambda a: np.repeat(a, 2, axis=0)[::2]),
    "negative strides": second(lambda a: a[::-1][::-1]),
    "read only": second(lambda a: _read_only(a)),
    "matrix": second(np.matrix),
    "nested lists": second(lambda a: a.tolist()),
    "tuples": second(lambda a: tuple(map(tuple, a))),
    "objects that are numbers": second(lambda a: a.astype(object)),
    "constant": second(np.ones_like),
    "zeros": second(np.zeros_like),
    "values of 1e300": second(lambda a: a * 1e300),
    "values of 1e-300": second(lambda a: a * 1e-300),
    "values of 1e38 in float32": second(lambda a: (a * 1e37).astype(np.float32)),
    "denormal": second(lambda a: a * 5e-324),
    "one huge value": spoil(1e200),
    "duplicate rows": second(lambda a: a[np.arange(len(a)) % 3]),
    "a single distinct row": whole(lambda p: [np.ones_like(v) for v in p.views]),
    "one column": second(lambda a: a[:, :1]),
    "many columns": second(lambda a: np.repeat(a, 60, axis=1)),
    "some rows absent": spoil(np.nan, where="row"),
    "masked": second(lambda a: np.ma.masked_array(a, mask=np.arange(len(a))[:, None] < np.array([2] * a.shape[1]))),
    "CSR": second(lambda a: sparse.csr_matrix(np.maximum(a, 0))),
    "CSC": second(lambda a: sparse.csc_array(np.maximum(a, 0))),
    "COO with doubles": second(lambda a: _doubled(np.maximum(a, 0))),
    "DOK": second(lambda a: sparse.dok_array(np.maximum(a, 0))),
    "LIL": second(lambda a: sparse.lil_matrix(np.maximum(a, 0))),
    "sparse of nothing": second(lambda a: sparse.csr_array(a.shape)),
    "sparse of 1e160": second(lambda a: sparse.csr_array(np.maximum(a, 0) * 1e160)),
    "sparse of 1e-170": second(lambda a: sparse.csr_array(np.maximum(a, 0) * 1e-170)),
    "sparse float32 of 3e19": second(lambda a: sparse.csr_array((np.maximum(a, 0) * 3e18).astype(np.float32))),
    "DataFrame": second(frame),
    "nullable columns": second(lambda a: frame(a).convert_dtypes()),
    "pyarrow columns": second(lambda a: frame(a).convert_dtypes(dtype_backend="pyarrow")),
    "polars": second(pl.DataFrame),
    "doubled column names": second(lambda a: pd.DataFrame(a, columns=["c"] * a.shape[1])),
    "an index that repeats": whole(lambda p: {n: frame(v, index=["s"] * len(v)) for n, v in p.by_name.items()}),
    "two rows": whole(lambda p: [v[:2] for v in p.views]),
    "one row": whole(lambda p: [v[:1] for v in p.views]),
}
_HELD = ("NaN", "inf", "no rows", "a generator", "longdouble", "null", "NA")  # by `Views`; an estimator refuses them
_MAKES_OTHER_ROWS = ("two rows", "one row")


def _read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _doubled(array: np.ndarray) -> Any:
    rows, columns = np.nonzero(array)
    values = array[rows, columns] / 2
    entries = np.r_[values, values], (np.r_[rows, rows], np.r_[columns, columns])
    return sparse.coo_matrix(entries, shape=array.shape)


def make(rng: np.random.Generator) -> Case:
    """Give broken or odd views to an estimator, or to `Views`."""
    problem = plant(rng, n_views=int(rng.integers(2, 4)))
    name = str(rng.choice(["FSSMSC", *NAMES]))
    if rng.random() < 0.55:
        what = str(rng.choice(list(BAD)))
        maker, names = BAD[what]
        X, expect = maker(problem, rng), REFUSE
    else:
        what = str(rng.choice(list(ODD)))
        X, expect, names = (
            ODD[what](problem, rng),
            EITHER,
            (*_ANY, "n_samples", "n_clusters", "label", "class", "n_anchors"),
        )
        if name == "FSSMSC" and what in ("polars", "nullable columns", "pyarrow columns", "some rows absent", "CSR"):
            expect = WORK
    if isinstance(X, list) and X and hasattr(X[0], "shape"):
        names = tuple(n.replace("part", "view") for n in names)
    known = what not in _MAKES_OTHER_ROWS
    if expect == REFUSE and rng.random() < 0.15 and not any(word in what for word in _HELD):
        return Case(f"Views({what})", lambda: Views(X), expect, names)
    model = quick(name, problem.n_classes)
    n_rows = len(problem.y) if known else {"two rows": 2, "one row": 1}[what]
    y = problem.y[:n_rows]

    def run() -> None:
        model.fit(X, y)
        check_fit(model, X, n_rows)

    return Case(f"{name}.fit({what})", run, expect, names)
