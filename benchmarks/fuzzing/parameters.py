"""Parameters of every estimator: nonsense, and values that are just allowed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from anchorview import ActiveSet

from .case import EITHER, REFUSE, Case
from .problems import NAMES, check_fit, plant, quick

# Refused by any parameter that is a number, a choice, a flag or a collection of names.
NONSENSE: dict[str, Any] = {
    "10**30": 10**30,
    "-10**30": -(10**30),
    "10**5000": 10**5000,
    "2**63": 2**63,
    "-2**63": -(2**63),
    "2**31": 2**31,
    "1e308": 1e308,
    "-1e308": -1e308,
    "inf": math.inf,
    "-inf": -math.inf,
    "nan": math.nan,
    "np.nan32": np.float32("nan"),
    "'3'": "3",
    "'nonsense'": "nonsense",
    "long text": "x" * 100_000,
    "b'3'": b"3",
    "[None]": [None],
    "[[]]": [[]],
    "[nan]": [math.nan],
    "{'a': 'b'}": {"a": "b"},
    "set": {3},
    "np.array(3)": np.array(3),
    "np.zeros((2, 2, 2))": np.zeros((2, 2, 2)),
    "text array": np.array([["a", "b"]]),
    "3j": 3j,
    "Fraction": Fraction(1, 3),
    "object()": object(),
    "a class": dict,
    "a function": len,
    "a generator": (i for i in ()),
    "-1.5": -1.5,
    "datetime": np.datetime64("2024-01-01"),
    "longdouble": np.longdouble(10) ** 400,
}
_ANY_LABEL = ("unlabelled",)  # any text or number may mark rows without a label
_COLLECTIONS = ("[None]", "[[]]", "[nan]", "{'a': 'b'}", "set", "np.array(3)", "np.zeros((2, 2, 2))", "text array")
_NO_LABEL = (*_COLLECTIONS, "object()", "a class", "a function", "a generator")
COUNTED = ("n_landmarks", "max_iter", "n_neighbors", "n_clusters", "n_init", "n_folds", "n_splits", "n_repeats")
SMALLEST: dict[str, Any] = {
    **{"n_landmarks": 4, "max_iter": 1, "n_neighbors": 1, "n_init": 1, "tol": 0, "n_folds": 2, "n_splits": 2},
    **{"l1": 0, "ridge": 1e-9, "coupling": 0, "must_link_weight": 0, "n_averaged": 1, "n_repeats": 1},
    **{"label_weight": 0, "graph_weight": 0, "sparsity": 0, "common_ratio": 0, "orthogonality": 0, "alpha": 1e-9},
    **{"C": 1e-9, "labelled_weight": 1e-9, "n_components": 1, "relabel": 0.5, "verbose": 0},
}
LARGEST: dict[str, Any] = {
    **{"n_landmarks": 2**31 - 1, "max_iter": 2**31 - 1, "n_neighbors": 2**31 - 1, "tol": 1e15, "n_folds": 2**31 - 1},
    **{"n_splits": 2**31 - 1, "l1": 1e15, "ridge": 1e15, "coupling": 1e15, "must_link_weight": 1e15},
    **{"n_averaged": 2**31 - 1, "label_weight": 1e15, "graph_weight": 1e15, "sparsity": 1e15, "common_ratio": 1},
    **{"orthogonality": 1e15, "alpha": 0.999999, "C": 1e15, "labelled_weight": 1e15, "view_exponent": 1e15},
    **{"relabel": 1, "verbose": 0, "n_jobs": 65536, "random_state": 2**32 - 1, "n_components": 10_000},
}


def make(rng: np.random.Generator) -> Case:
    """Give one parameter of one estimator a value."""
    name = str(rng.choice(NAMES))
    problem = plant(rng, n_views=2)
    model = quick(name, problem.n_classes)
    if name == "FSSMSC" and rng.random() < 0.5:  # parameters of the solver too
        model.set_params(solver=ActiveSet())
    parameter = str(rng.choice(list(model.get_params())))
    own = parameter.rpartition("__")[2]
    extremes = {"smallest": SMALLEST, "largest": LARGEST}
    chosen = str(rng.choice([*NONSENSE, *NONSENSE, *extremes]))
    if chosen in extremes and own in extremes[chosen]:
        value, expect = extremes[chosen][own], EITHER
    elif chosen in extremes:
        chosen, value, expect = "nonsense", "nonsense", REFUSE
    else:
        value, expect = NONSENSE[chosen], REFUSE
    if parameter in _ANY_LABEL and chosen not in _NO_LABEL:
        expect = EITHER
    if (chosen == "2**31" and own not in COUNTED) or (parameter == "views" and chosen in ("{'a': 'b'}", "text array")):
        expect = EITHER  # a weight like others; a view of one column; a view of columns a and b
    model.set_params(**{parameter: value})

    def run() -> None:
        model.fit(problem.by_name, problem.y)
        check_fit(model, problem.by_name, len(problem.y))

    return Case(f"{name}({parameter}={chosen}).fit", run, expect, (parameter.replace("__", "."),))
