"""A fitted model (or one that is not) and rows that do not go with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from anchorview import Views
from anchorview.view_importance import measure_views

from .case import EITHER, REFUSE, WORK, Broken, Case
from .problems import NAMES, Problem, check_prediction, plant, quick, require

_INDUCTIVE = ("FSSMSC", "FSSMSC", "AnchorViewClassifier", "MVAR", "ConcatLogisticRegression")
_X = ("X", "view", "sample", "feature", "column", "row", "part1")


def _with(problem: Problem, array: Any) -> dict[str, Any]:
    return {**problem.by_name, "part1": array}


ROWS: dict[str, tuple[Callable[[Problem], Any], str]] = {
    "a column less": (lambda p: _with(p, p.views[1][:, :-1]), REFUSE),
    "a column more": (lambda p: _with(p, np.column_stack([p.views[1], p.truth])), REFUSE),
    "a view of another name": (lambda p: {"part0": p.views[0], "other": p.views[1]}, REFUSE),
    "a view more": (lambda p: {**p.by_name, "more": p.views[0]}, REFUSE),
    "a view more, in a list": (lambda p: [*p.views, p.views[0]], REFUSE),
    "views joined": (lambda p: [np.hstack(p.views)], REFUSE),
    "NaN": (lambda p: _with(p, np.where(np.eye(*p.views[1].shape) > 0, np.nan, p.views[1])), REFUSE),
    "infinity": (lambda p: _with(p, np.where(np.eye(*p.views[1].shape) > 0, np.inf, p.views[1])), REFUSE),
    "text": (lambda p: _with(p, p.views[1].astype(str)), REFUSE),
    "no rows": (lambda p: [v[:0] for v in p.views], REFUSE),
    "None": (lambda p: None, REFUSE),
    "1-D": (lambda p: p.views[0][0], REFUSE),
    "malformed CSR": (lambda p: _with(p, _malformed(p.views[1])), REFUSE),
    "complex": (lambda p: _with(p, p.views[1] * 1j), REFUSE),
    "one row": (lambda p: [v[:1] for v in p.views], WORK),
    "other order of views": (lambda p: dict(reversed(p.by_name.items())), WORK),
    "Views": (lambda p: Views(p.by_name), WORK),
    "huge values": (lambda p: _with(p, p.views[1] * 1e290), EITHER),
    "float32": (lambda p: _with(p, p.views[1].astype(np.float32)), WORK),
    "sparse where dense was": (lambda p: _with(p, sparse.csr_array(p.views[1])), EITHER),
    "a view less": (lambda p: {"part0": p.views[0]}, EITHER),
}


def _malformed(array: np.ndarray) -> Any:
    result = sparse.csr_matrix(array)
    result.indices[3] = 10**6
    return result


def make(rng: np.random.Generator) -> Case:
    """Predict, score, suggest or measure with rows and arguments of all kinds."""
    problem = plant(rng, n_views=2)
    makers = (_predict, _predict, _predict, _columns, _unfitted, _refit, _suggest, _score, _measure, _untouched)
    return makers[int(rng.integers(len(makers)))](problem, rng)


def _predict(problem: Problem, rng: np.random.Generator) -> Case:
    name, what = str(rng.choice(_INDUCTIVE)), str(rng.choice(list(ROWS)))
    build, expect = ROWS[what]
    X = build(problem)
    model = quick(name, problem.n_classes)
    method = str(rng.choice([m for m in ("predict", "predict_proba", "transform") if hasattr(model, m)]))

    def run() -> None:
        model.fit(problem.by_name, problem.y)
        getattr(model, method)(X)
        n_rows = 1 if what == "one row" else len(problem.y)
        check_prediction(model, X, n_rows)

    return Case(f"{name}.{method}({what})", run, expect, _X)


def _columns(problem: Problem, rng: np.random.Generator) -> Case:
    """DataFrames with columns in another order are put right; with other names they are refused."""
    frames = {
        name: pd.DataFrame(view, columns=[f"{name}_{i}" for i in range(view.shape[1])])
        for name, view in problem.by_name.items()
    }
    name = str(rng.choice(_INDUCTIVE))
    model = quick(name, problem.n_classes)
    if rng.random() < 0.5:
        renamed = {**frames, "part1": frames["part1"].rename(columns={"part1_0": "alien"})}
        run = lambda: model.fit(frames, problem.y).predict(renamed)  # noqa: E731
        return Case(f"{name}.predict(a column renamed)", run, REFUSE, ("alien", "part1_0"))
    moved = {key: frame[rng.permutation(frame.columns)] for key, frame in frames.items()}

    def check() -> None:
        expected = model.fit(frames, problem.y).predict(frames)
        require(bool((model.predict(moved) == expected).all()), "columns in another order change the labels")

    return Case(f"{name}.predict(columns moved)", check, WORK)


def _unfitted(problem: Problem, rng: np.random.Generator) -> Case:
    name = str(rng.choice(_INDUCTIVE))
    model = quick(name, problem.n_classes)
    methods = [m for m in ("predict", "predict_proba", "transform", "score", "suggest_labels") if hasattr(model, m)]
    method = str(rng.choice(methods))
    arguments: tuple[Any, ...] = (problem.by_name,)
    if method in ("score", "suggest_labels"):
        arguments = (problem.by_name, problem.truth) if method == "score" else (3,)
    return Case(f"{name}().{method} unfitted", lambda: getattr(model, method)(*arguments), REFUSE, ("not fitted",))


def _refit(problem: Problem, rng: np.random.Generator) -> Case:
    """After a refit that failed the old model stands, whole."""
    name = str(rng.choice(NAMES))
    model = quick(name, problem.n_classes)
    broken = {**problem.by_name, "part1": np.full_like(problem.views[1], np.inf)}

    def run() -> None:
        model.fit(problem.by_name, problem.y)
        before = dict(model.__dict__)
        try:
            model.fit(broken, problem.y)
        except ValueError:
            changed = [key for key in {*before, *model.__dict__} if model.__dict__.get(key) is not before.get(key)]
            changed = [key for key in changed if "callback" not in key and key != "_search"]
            if name != "AnchorViewClassifier":
                require(not changed, f"a failed refit changed {changed}")
            return
        raise Broken("infinity was taken")

    return Case(f"{name}: a refit that fails", run, WORK)


def _suggest(problem: Problem, rng: np.random.Generator) -> Case:
    model = quick("FSSMSC", problem.n_classes)
    bad = {
        "n=0": (0, None),
        "n=-1": (-1, None),
        "n='3'": ("3", None),
        "n=10**30": (10**30, None),
        "n=nan": (np.nan, None),
        "n=True": (True, None),
        "n too many": (10**4, None),
        "among nobody": (1, []),
        "among rows too far": (1, [10**6]),
        "among text": (1, ["a"]),
        "among None": (1, [None]),
        "among NaN": (1, [np.nan]),
        "among a number": (1, 3.5),
        "among 2-D": (1, [[1, 2]]),
    }
    what = str(rng.choice(list(bad)))
    n, among = bad[what]
    run = lambda: model.fit(problem.by_name, problem.y).suggest_labels(n, among=among)  # noqa: E731
    return Case(f"suggest_labels({what})", run, REFUSE, ("n", "among", "rows", "row"))


def _score(problem: Problem, rng: np.random.Generator) -> Case:
    bad: dict[str, Any] = {
        "too short": problem.truth[:-1],
        "text": problem.truth.astype(str),
        "nothing": np.full(len(problem.y), -1),
        "None": None,
        "2-D": np.zeros((len(problem.y), 2)),
        "infinite": np.full(len(problem.y), np.inf),
        "a number": 3,
        "objects": [object()] * len(problem.y),
    }
    what, name = str(rng.choice(list(bad))), str(rng.choice(["FSSMSC", "FSSMSC", "AnchorViewClassifier"]))
    model = quick(name, problem.n_classes)
    run = lambda: model.fit(problem.by_name, problem.y).score(problem.by_name, bad[what])  # noqa: E731
    return Case(f"{name}.score(y: {what})", run, REFUSE, ("y", "label"))


def _measure(problem: Problem, rng: np.random.Generator) -> Case:
    bad: dict[str, dict[str, Any]] = {
        "max_rows": {"max_rows": rng.choice([0, -1])},
        "max_rows huge": {"max_rows": 10**30},
        "max_rows text": {"max_rows": "all"},
        "random_state": {"random_state": "seed"},
        "y": {"y": problem.truth[:-2]},
    }
    what = str(rng.choice(list(bad)))
    model = quick("FSSMSC", problem.n_classes)
    run = lambda: measure_views(model.fit(problem.by_name, problem.y), problem.by_name, **bad[what])  # noqa: E731
    return Case(f"measure_views({what})", run, REFUSE, tuple(bad[what]))


def _untouched(problem: Problem, rng: np.random.Generator) -> Case:
    """Fit, and see that nothing given is changed."""
    name = str(rng.choice(NAMES))
    model = quick(name, problem.n_classes)
    copies = [view.copy() for view in problem.views]
    y = problem.y.copy()

    def run() -> None:
        model.fit(problem.by_name, y)
        same = all(np.array_equal(a, b) for a, b in zip(copies, problem.views, strict=True))
        require(same and np.array_equal(y, problem.y), "fit changed its input")

    return Case(f"{name}.fit leaves its input as it is", run, WORK)
