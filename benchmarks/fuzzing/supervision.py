"""Weights, pairs and groups that are broken or odd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from anchorview import Constraints, Views

from .case import EITHER, REFUSE, Case
from .problems import check_fit, plant, quick

WEIGHTS: dict[str, tuple[Callable[[int], Any], str]] = {
    "too short": (lambda n: np.ones(n - 1), REFUSE),
    "too long": (lambda n: np.ones(n + 1), REFUSE),
    "empty": (lambda n: [], REFUSE),
    "2-D": (lambda n: np.ones((n, 2)), REFUSE),
    "negative": (lambda n: np.r_[-1.0, np.ones(n - 1)], REFUSE),
    "NaN": (lambda n: np.r_[np.nan, np.ones(n - 1)], REFUSE),
    "infinite": (lambda n: np.r_[np.inf, np.ones(n - 1)], REFUSE),
    "zero": (lambda n: np.zeros(n), REFUSE),
    "text": (lambda n: ["a"] * n, REFUSE),
    "digits as text": (lambda n: ["1"] * n, REFUSE),
    "one text": (lambda n: "balanced", REFUSE),
    "None within": (lambda n: [None, *[1.0] * (n - 1)], REFUSE),
    "a dict": (lambda n: {0: 1.0}, REFUSE),
    "a set": (lambda n: {1.0, 2.0}, REFUSE),
    "objects": (lambda n: [object()] * n, REFUSE),
    "complex": (lambda n: np.ones(n) * 1j, REFUSE),
    "dates": (lambda n: np.zeros(n, dtype="M8[s]"), REFUSE),
    "masked": (lambda n: np.ma.masked_array(np.ones(n), mask=np.arange(n) < 2), REFUSE),
    "lists": (lambda n: [[1.0] * (1 + i % 2) for i in range(n)], REFUSE),
    "True": (lambda n: [True] * n, EITHER),
    "a number": (lambda n: 2.0, EITHER),
    "integers": (lambda n: np.arange(n) % 3 + 1, EITHER),
    "tiny": (lambda n: np.full(n, 1e-300), EITHER),
    "huge": (lambda n: np.full(n, 1e300), EITHER),
    "a Series": (lambda n: pd.Series(np.ones(n)), EITHER),
    "some zero": (lambda n: (np.arange(n) % 4 > 0).astype(float), EITHER),
}


def pairs(must: Any = (), cannot: Any = (), **more: Any) -> Callable[[int], Any]:
    return lambda n: Constraints.from_pairs(must, cannot, **{"n_rows": n, **more})


def groups(must: Callable[[int], Any] | None = None, cannot: Any = None, **more: Any) -> Callable[[int], Any]:
    return lambda n: Constraints.from_groups(must and must(n), cannot and cannot(n), **more)


def matrix(change: Callable[[np.ndarray], Any]) -> Callable[[int], Any]:
    return lambda n: Constraints.from_matrix(change(np.zeros((n, n))))


def entry(i: int, j: int, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array = array.astype(type(value)) if isinstance(value, complex) else array
        array[i, j] = value
        return array

    return change


_PAIRS = ("must", "cannot", "pair")
CONSTRAINTS: dict[str, tuple[Callable[[int], Any], str, tuple[str, ...]]] = {
    "a row too far": (pairs([(0, 10**6)]), REFUSE, ("must",)),
    "a negative row": (pairs([(0, -1)]), REFUSE, ("must",)),
    "a fraction of a row": (pairs([(0, 1.5)]), REFUSE, ("must",)),
    "NaN as a row": (pairs([(0, np.nan)]), REFUSE, ("must",)),
    "text as a row": (pairs([("a", "b")]), REFUSE, ("must",)),
    "None as a row": (pairs([(None, 1)]), REFUSE, ("must",)),
    "True as a row": (pairs([(True, 5)]), REFUSE, ("must",)),
    "a row with itself": (pairs(cannot=[(3, 3)]), REFUSE, ("cannot",)),
    "singles": (pairs([(1,)]), REFUSE, ("must",)),
    "quadruples": (pairs([(1, 2, 3, 4)]), REFUSE, ("must",)),
    "numbers": (pairs([1, 2]), REFUSE, ("must",)),
    "one number": (pairs(5), REFUSE, ("must",)),
    "text for pairs": (pairs("ab"), REFUSE, ("must",)),
    "None for pairs": (pairs(None), REFUSE, ("must",)),
    "a dict for pairs": (pairs({1: 2}), REFUSE, ("must",)),
    "lists as ids": (pairs([([1], [2])], n_rows=None), REFUSE, _PAIRS),
    "a negative weight": (pairs([(0, 1, -2.0)]), REFUSE, ("must",)),
    "a weight of NaN": (pairs([(0, 1, np.nan)]), REFUSE, ("must",)),
    "a weight of text": (pairs([(0, 1, "x")]), REFUSE, ("must",)),
    "too few weights": (pairs([(0, 1), (1, 2), (2, 3)], must_weight=[1.0, 2.0]), REFUSE, ("must",)),
    "weights twice": (pairs([(0, 1, 2.0)], must_weight=[1.0]), REFUSE, ("must",)),
    "n_rows of text": (pairs([(0, 1)], n_rows="9"), REFUSE, ("n_rows",)),
    "n_rows of 10**30": (pairs([(0, 1)], n_rows=10**30), REFUSE, ("n_rows", "rows")),
    "n_rows negative": (pairs([(0, 1)], n_rows=-4), REFUSE, ("n_rows",)),
    "for other rows": (pairs([(0, 1)], n_rows=7), REFUSE, ("rows",)),
    "ids without ids": (pairs([("a", "b")], n_rows=None), REFUSE, ("id",)),
    "groups too short": (groups(lambda n: [0] * (n - 1)), REFUSE, ("rows",)),
    "groups of lists": (groups(lambda n: [[1]] * n), REFUSE, ("group", "must")),
    "groups 2-D": (groups(lambda n: np.zeros((n, 2))), REFUSE, ("group", "must")),
    "groups as a dict": (groups(lambda n: {0: 1}), REFUSE, ("group", "must")),
    "groups as a set": (groups(lambda n: {0, 1}), REFUSE, ("group", "must")),
    "groups as text": (groups(lambda n: "a" * n), REFUSE, ("group", "must")),
    "groups as a number": (groups(lambda n: 4), REFUSE, ("group", "must")),
    "no groups": (groups(), REFUSE, ("group",)),
    "groups of two lengths": (groups(lambda n: [0] * n, lambda n: [0] * (n - 2)), REFUSE, ("must", "cannot")),
    "group weight 0": (groups(lambda n: [0] * n, weight=0), REFUSE, ("weight",)),
    "group weight text": (groups(lambda n: [0] * n, weight="x"), REFUSE, ("weight",)),
    "group weight 1e308": (groups(lambda n: [0] * n, weight=1e308), REFUSE, ("weight",)),
    "a matrix not square": (matrix(lambda a: a[:, :-1]), REFUSE, ("matrix",)),
    "a matrix of 1-D": (matrix(lambda a: a[0]), REFUSE, ("matrix",)),
    "a matrix with NaN": (matrix(entry(0, 1, np.nan)), REFUSE, ("matrix",)),
    "a matrix with inf": (matrix(entry(0, 1, np.inf)), REFUSE, ("matrix",)),
    "a matrix of text": (matrix(lambda a: a.astype(str)), REFUSE, ("matrix",)),
    "a complex matrix": (matrix(entry(0, 1, 1j)), REFUSE, ("matrix",)),
    "a matrix with a negative diagonal": (matrix(entry(2, 2, -1.0)), REFUSE, ("matrix",)),
    "a matrix that is None": (matrix(lambda a: None), REFUSE, ("matrix",)),
    "a matrix of ragged lists": (matrix(lambda a: [[1], [1, 2]]), REFUSE, ("matrix",)),
    "a matrix for fewer rows": (matrix(lambda a: a[:5, :5]), REFUSE, ("rows",)),
    "a malformed sparse matrix": (matrix(lambda a: _malformed(len(a))), REFUSE, ("matrix",)),
    "a list": (lambda n: [(0, 1)], REFUSE, ("constraints",)),
    "a dict": (lambda n: {"must": [(0, 1)]}, REFUSE, ("constraints",)),
    "text": (lambda n: "must", REFUSE, ("constraints",)),
    "the class": (lambda n: Constraints, REFUSE, ("constraints",)),
    "no pairs": (pairs(), EITHER, _PAIRS),
    "one pair": (pairs([(0, 1)]), EITHER, _PAIRS),
    "an array of pairs": (pairs(np.array([[0, 1], [2, 3]])), EITHER, _PAIRS),
    "a DataFrame of pairs": (pairs(pd.DataFrame({"a": [0, 2], "b": [1, 3]})), EITHER, _PAIRS),
    "the same pair as must and cannot": (pairs([(0, 1)], [(1, 0)]), EITHER, _PAIRS),
    "a huge weight": (pairs([(0, 1, 1e300)]), EITHER, _PAIRS),
    "everyone in one group": (groups(lambda n: [0] * n), EITHER, _PAIRS),
    "everyone apart": (groups(None, lambda n: [0] * n), EITHER, _PAIRS),
    "groups of NaN": (groups(lambda n: [np.nan] * n), EITHER, _PAIRS),
    "a sparse matrix": (matrix(lambda a: sparse.csr_array(entry(0, 1, 1.0)(a))), EITHER, ("matrix",)),
}
_IDS: dict[str, tuple[Callable[[int], Any], str]] = {
    "too few": (lambda n: list(range(n - 1)), REFUSE),
    "repeated": (lambda n: ["a"] * n, REFUSE),
    "a set": (lambda n: set(range(n)), REFUSE),
    "a dict of another view": (lambda n: {"nobody": list(range(n))}, REFUSE),
    "text": (lambda n: "a" * n, REFUSE),
    "a number": (lambda n: 5, REFUSE),
    "None within": (lambda n: [None] * n, REFUSE),
    "lists": (lambda n: [[i] for i in range(n)], EITHER),
    "2-D": (lambda n: np.zeros((n, 2)), REFUSE),
    "NaN": (lambda n: np.full(n, np.nan), REFUSE),
}
_MASKS: dict[str, tuple[Callable[[int], Any], str]] = {
    "too few": (lambda n: np.ones((n - 1, 2), dtype=bool), REFUSE),
    "one view": (lambda n: np.ones((n, 1), dtype=bool), REFUSE),
    "numbers": (lambda n: np.full((n, 2), 0.5), REFUSE),
    "text": (lambda n: np.full((n, 2), "yes"), REFUSE),
    "one text": (lambda n: "mask", REFUSE),
    "another view's": (lambda n: {"nobody": np.ones(n, dtype=bool)}, REFUSE),
    "NaN": (lambda n: np.full((n, 2), np.nan), REFUSE),
    "a set": (lambda n: {True}, REFUSE),
    "1-D": (lambda n: np.ones(n, dtype=bool), REFUSE),
    "None within": (lambda n: np.full((n, 2), None), REFUSE),
}


def _malformed(n: int) -> Any:
    result = sparse.csr_array(np.eye(n))
    result.indices[2] = 10**6
    return result


def make(rng: np.random.Generator) -> Case:
    """Give weights, constraints, ids or a mask."""
    problem = plant(rng, n_views=2)
    n, X, y = len(problem.y), problem.by_name, problem.y
    draw = rng.random()
    if draw < 0.3:
        what = str(rng.choice(list(WEIGHTS)))
        value, expect = WEIGHTS[what][0](n), WEIGHTS[what][1]
        name = str(rng.choice(["FSSMSC", "FSSMSC", "AnchorViewClassifier"]))
        model = quick(name, problem.n_classes)
        in_score = rng.random() < 0.4

        def weigh() -> None:
            if in_score:
                model.fit(X, y).score(X, problem.truth, sample_weight=value)
            else:
                check_fit(model.fit(X, y, sample_weight=value), X, n)

        where = "score" if in_score else "fit"
        return Case(f"{name}.{where}(sample_weight: {what})", weigh, expect, ("sample_weight", "sample weights"))
    if draw < 0.8:
        what = str(rng.choice(list(CONSTRAINTS)))
        build, expect, names = CONSTRAINTS[what]
        name = "FSSMSC" if rng.random() < 0.8 else "AnchorViewClassifier"
        given_y = y if rng.random() < 0.7 or name == "AnchorViewClassifier" else None
        model = quick(name, problem.n_classes, **({} if given_y is not None else {"n_clusters": problem.n_classes}))
        return Case(
            f"{name}.fit(constraints: {what})",
            lambda: check_fit(model.fit(X, given_y, constraints=build(n)), X, n),
            expect,
            names,
        )
    table, name = (_IDS, "ids") if draw < 0.9 else (_MASKS, "mask")
    what = str(rng.choice(list(table)))
    value, expect = table[what][0](n), table[what][1]
    return Case(
        f"Views({name}: {what})",
        lambda: check_fit(quick("FSSMSC", 2).fit(Views(X, **{name: value}), y), Views(X, **{name: value}), n),
        expect,
        (name, name.rstrip("s"), "view"),
    )
