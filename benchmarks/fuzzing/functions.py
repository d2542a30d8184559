"""Scores, folds, hidden labels and other functions, with arguments of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anchorview import LabelHidingKFold, metrics
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.export import results_frame

from .case import EITHER, REFUSE, Case
from .problems import quick

_SCORES = (
    "adjusted_rand",
    "clustering_accuracy",
    "clustering_report",
    "pairwise_f",
    "purity",
)
_Y = ("y_true", "y_pred", "y", "label")

LABELLINGS: dict[str, tuple[Any, Any, str]] = {
    "of two lengths": ([0, 1, 1], [0, 1], REFUSE),
    "empty": ([], [], REFUSE),
    "None": (None, [0, 1], REFUSE),
    "numbers": (3, 4, REFUSE),
    "2-D": ([[0, 1], [1, 0]], [[0, 1], [1, 0]], REFUSE),
    "ragged": ([[0], [1, 2]], [0, 1], REFUSE),
    "NaN": ([0.0, np.nan, 1.0], [0, 1, 1], REFUSE),
    "None within": (["a", None, "b"], ["a", "b", "b"], REFUSE),
    "masked": (np.ma.masked_array([0, 1, 1], mask=[0, 1, 0]), [0, 1, 1], REFUSE),
    "lists within": (np.array([[1], [1, 2], None], dtype=object)[:2], [0, 1], REFUSE),
    "sets": ({0, 1}, {0, 1}, REFUSE),
    "a dict": ({0: 1}, {0: 1}, REFUSE),
    "text": ("ab", "ab", REFUSE),
    "one sample": ([0], [5], EITHER),
    "text labels": (["a", "b", "b"], [0, 1, 1], EITHER),
    "mixed labels": (np.array(["a", 1, 2.5], dtype=object), [0, 1, 1], EITHER),
    "huge numbers": ([10**18, 1, 1], [0, 1, 1], EITHER),
}
_N = 12
_LABELS = np.arange(_N) % 3
_CALLS: dict[str, tuple[Callable[[], Any], str, tuple[str, ...]]] = {
    "pairwise_f(beta=0)": (lambda: metrics.pairwise_f(_LABELS, _LABELS, beta=0), REFUSE, ("beta",)),
    "pairwise_f(beta='x')": (lambda: metrics.pairwise_f(_LABELS, _LABELS, beta="x"), REFUSE, ("beta",)),
    "pairwise_f(beta=nan)": (lambda: metrics.pairwise_f(_LABELS, _LABELS, beta=np.nan), REFUSE, ("beta",)),
    "pairwise_f(beta=None)": (lambda: metrics.pairwise_f(_LABELS, _LABELS, beta=None), REFUSE, ("beta",)),
    "nmi(average='min')": (lambda: metrics.normalized_mutual_info(_LABELS, _LABELS, "min"), REFUSE, ("average",)),
    "nmi(average=3)": (lambda: metrics.normalized_mutual_info(_LABELS, _LABELS, 3), REFUSE, ("average",)),
    "ece(n_bins=0)": (lambda: metrics.expected_calibration_error([1], [0.5], 0), REFUSE, ("n_bins",)),
    "ece(n_bins='x')": (lambda: metrics.expected_calibration_error([1], [0.5], "x"), REFUSE, ("n_bins",)),
    "ece(n_bins=10**30)": (lambda: metrics.expected_calibration_error([1], [0.5], 10**30), REFUSE, ("n_bins",)),
    "ece(text)": (lambda: metrics.expected_calibration_error(["a"], [0.5]), REFUSE, ("correct",)),
    "ece(confidence text)": (lambda: metrics.expected_calibration_error([1], ["a"]), REFUSE, ("confidence",)),
    "ece(confidence NaN)": (lambda: metrics.expected_calibration_error([1], [np.nan]), REFUSE, ("confidence",)),
    "ece(confidence 2)": (lambda: metrics.expected_calibration_error([1], [2.0]), REFUSE, ("confidence",)),
    "ece(correct 3)": (lambda: metrics.expected_calibration_error([3], [0.5]), REFUSE, ("correct",)),
    "ece(lengths)": (lambda: metrics.expected_calibration_error([1, 0], [0.5]), REFUSE, ("correct",)),
    "accuracy(lengths)": (lambda: metrics.labelled_accuracy([0, 1], [0]), REFUSE, ("y",)),
    "accuracy(no label)": (lambda: metrics.labelled_accuracy([-1], [0]), REFUSE, ("y_true",)),
    "accuracy(text and numbers)": (lambda: metrics.labelled_accuracy(["0", "1"], [0, 1]), REFUSE, ("y_true",)),
    "accuracy(weights short)": (
        lambda: metrics.labelled_accuracy([0, 1], [0, 1], sample_weight=[1]),
        REFUSE,
        ("sample_weight",),
    ),
    "accuracy(weights 0)": (
        lambda: metrics.labelled_accuracy([0, -1], [0, 1], sample_weight=[0, 1]),
        REFUSE,
        ("sample_weight",),
    ),
    "accuracy(weights text)": (
        lambda: metrics.labelled_accuracy([0, 1], [0, 1], sample_weight=["a", "b"]),
        REFUSE,
        ("sample_weight",),
    ),
    "accuracy(weights negative)": (
        lambda: metrics.labelled_accuracy([0, 1], [0, 1], sample_weight=[1, -1]),
        REFUSE,
        ("sample_weight",),
    ),
    "KFold(y None)": (lambda: list(LabelHidingKFold().split(_LABELS, None)), REFUSE, ("y",)),
    "KFold(y a number)": (lambda: list(LabelHidingKFold().split(_LABELS, 3)), REFUSE, ("y",)),
    "KFold(y without labels)": (lambda: list(LabelHidingKFold().split(_LABELS, [-1] * _N)), REFUSE, ("label",)),
    "KFold(singles)": (lambda: list(LabelHidingKFold().split(_LABELS, range(_N))), REFUSE, ("label",)),
    "KFold(many)": (lambda: list(LabelHidingKFold(2**31 - 1).split(_LABELS, _LABELS)), EITHER, ("n_splits",)),
    "results_frame(unfitted)": (lambda: results_frame(quick("FSSMSC", 2)), REFUSE, ("not fitted",)),
    "results_frame(None)": (lambda: results_frame(None), REFUSE, ("model", "estimator")),
}
_FOLDS: dict[str, list[Any]] = {
    "n_splits": [0, 1, -1, 2.5, "3", None, 10**30, np.nan, True, [3], np.array(3)],
    "n_repeats": [0, -1, 2.5, "3", None, 10**30, np.nan, True, [3]],
    "random_state": [-1, 2**32, "seed", 0.5, [1], True],
}
_HIDE: dict[str, list[Any]] = {
    "fraction": [-0.1, 1.5, np.nan, "half", [0.5], 10**30, None, np.inf, 3j],
    "n_labels": [-1, 10**30, 2.5, "3", np.nan, [3], None, _N + 1, True],
    "random_state": ["seed", -1, 0.5, [None]],
}
_MADE: dict[str, list[Any]] = {
    "n_samples": [0, -1, 2.5, "3", None, np.nan, 10**30, [3]],
    "n_clusters": [0, -1, 2.5, "3", None, np.nan, 10**30, [3]],
    "view_dims": [0, -1, (), (0, 3), ("a",), None, (2.5,), (10**30,), "34"],
    "noise": [-1, np.nan, "x", None, np.inf],
    "random_state": ["seed", -1, 0.5],
}


def make(rng: np.random.Generator) -> Case:
    """Call a function."""
    kind = int(rng.integers(5))
    if kind == 0:
        score, what = str(rng.choice(_SCORES)), str(rng.choice(list(LABELLINGS)))
        true, pred, expect = LABELLINGS[what]
        return Case(f"{score}({what})", lambda: getattr(metrics, score)(true, pred), expect, _Y)
    if kind == 1:
        what = str(rng.choice(list(_CALLS)))
        run, expect, names = _CALLS[what]
        return Case(what, run, expect, names)
    if kind == 2:
        parameter, value = _pick(_FOLDS, rng)
        folds = LabelHidingKFold(**{parameter: value})
        return Case(f"KFold({parameter}={value!r})", lambda: list(folds.split(_LABELS, _LABELS)), REFUSE, (parameter,))
    if kind == 3:
        parameter, value = _pick(_HIDE, rng)
        given = {parameter: value} if parameter != "random_state" else {"fraction": 0.5, parameter: value}
        names = (parameter, "random_state") if parameter == "random_state" else (parameter,)
        return Case(f"hide_labels({parameter}={value!r})", lambda: hide_labels(_LABELS, **given), REFUSE, names)
    parameter, value = _pick(_MADE, rng)
    given = {"n_samples": 30, "n_clusters": 3, "view_dims": (4, 3), parameter: value}
    return Case(
        f"make_multiview_subspaces({parameter}={value!r})",
        lambda: make_multiview_subspaces(**given),
        REFUSE,
        (parameter,),
    )


def _pick(table: dict[str, list[Any]], rng: np.random.Generator) -> tuple[str, Any]:
    parameter = str(rng.choice(list(table)))
    return parameter, table[parameter][int(rng.integers(len(table[parameter])))]
