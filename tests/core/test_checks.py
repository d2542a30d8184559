"""Every parameter of every estimator is checked, by type and by range, before any work; errors name the parameter."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone

from anchorview import ADMM, FSSMSC, ActiveSet, AnchorViewClassifier, LabelHidingKFold, baselines, datasets
from anchorview import classifier as classifier_module
from anchorview.core.checks import (
    ColumnCuts,
    Flag,
    Jobs,
    Mark,
    Names,
    Number,
    OneOf,
    OneOfKinds,
    Options,
    Parts,
    Rule,
    Seed,
    Together,
    check_parameters,
    make_random_state,
    shorten,
)
from anchorview.fitting.spec import RULES_OF_FIT

MADE = datasets.make_multiview_subspaces(36, 3, (5, 4), noise=0.1, random_state=0)
Y = datasets.hide_labels(MADE.target, 0.5, stratified=True, random_state=0)
CLUSTERERS = ("BestViewSpectral", "ConcatKMeans", "FPMVS", "LMVSC")
ESTIMATORS = [
    FSSMSC(n_landmarks=9),
    FSSMSC(n_landmarks=9, solver=ActiveSet()),
    FSSMSC(n_landmarks=9, solver=ADMM()),
    AnchorViewClassifier(n_landmarks=9),
    *(getattr(baselines, name)(3) if name in CLUSTERERS else getattr(baselines, name)() for name in baselines.__all__),
]

NONSENSE = {
    "10**30": 10**30,
    "-(10**30)": -(10**30),
    "10**5000": 10**5000,  # too long to be written out
    "2**63": 2**63,
    "1e308": 1e308,
    "inf": math.inf,
    "nan": math.nan,
    "True": True,
    "'3'": "3",
    "b'3'": b"3",
    "[]": [],
    "[None]": [None],
    "{}": {},
    "{3: 3}": {3: 3},
    "set": {3},
    "None": None,
    "np.array(3)": np.array(3),
    "np.array([])": np.array([]),
    "3j": 3j,
    "Fraction": Fraction(1, 3),
    "object": object(),
    "class": dict,
}
MAY_BE_NONE = (
    *("n_clusters", "n_anchors", "n_dims", "n_repeats", "n_jobs", "relabel", "class_balance", "random_state"),
    "solver__memory_limit",
    *("view", "views", "view_weights", "search_options"),
)
FLAGS = ("equal_views", "warm_start", "verbose", "solver__fixed_step")


def is_fine(model: Any, name: str, case: str) -> bool:
    """Tell what is a choice after all."""
    if name == "unlabelled":  # any single label
        return case not in ("[]", "[None]", "{}", "{3: 3}", "set", "np.array(3)", "np.array([])", "object", "class")
    if case == "None":
        return (name in MAY_BE_NONE) or (name == "scaling" and isinstance(model, AnchorViewClassifier))
    return (
        (case == "True" and name in FLAGS)
        or (case in ("[]", "np.array([])") and name == "solver__omit")
        or (case == "{}" and name == "search_options")
        or (case == "{3: 3}" and name == "views")  # a view of three columns
        or (case == "{}" and name == "scaling" and isinstance(model, FSSMSC))  # a choice for none of the views
    )


def name_of(model: Any) -> str:
    return type(model).__name__


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
def test_nonsense_is_refused_by_name(model: Any) -> None:
    """All estimators, all parameters, all nonsense: this is the pin."""
    wrong = []
    for name, (case, value) in product(model.get_params(), NONSENSE.items()):
        if is_fine(model, name, case):
            continue
        given = clone(model)
        given.set_params(**{name: value})
        before = list(given.__dict__)
        try:
            given.fit(MADE.views, Y)
            wrong.append(f"{name}={case} is taken")
        except (ValueError, TypeError) as error:
            if name.replace("__", ".") not in str(error) or len(str(error)) > 400:
                wrong.append(f"{name}={case}: {error}")
            if list(given.__dict__) != before:
                wrong.append(f"{name}={case} leaves half a model")
    assert not wrong


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
def test_every_parameter_is_in_the_table(model: Any) -> None:
    tables = {"FSSMSC": RULES_OF_FIT, "AnchorViewClassifier": classifier_module._RULES}
    rules = tables.get(type(model).__name__) or type(model)._rules
    assert set(rules) == set(model.get_params(deep=False))
    check_parameters(model, rules)


@pytest.mark.parametrize("model", [m for m in ESTIMATORS if not isinstance(m, AnchorViewClassifier)], ids=name_of)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_numpy_are_numbers(model: Any) -> None:
    kinds = {bool: np.bool_, int: np.int32, float: np.float64}
    plain = clone(model).set_params(random_state=0)
    numpy = clone(plain).set_params(
        **{name: kinds[type(v)](v) for name, v in plain.get_params().items() if type(v) in kinds}
    )
    np.testing.assert_array_equal(numpy.fit(MADE.views, Y).labels_, plain.fit(MADE.views, Y).labels_)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Number(1, integer=True), [1, np.int8(1), 2**31 - 1], [0, 1.0, 2**31, True, "1", np.True_, None]),
        (Number(0, 1), [0, 1, 0.5, np.float32(1)], [-1e-9, 1.1, np.longdouble(0.5), math.nan]),
        (Number(0, 1, strict=True), [0.5], [0, 1]),
        (Number(0), [0, 1e15], [1.1e15, math.inf, -math.inf]),
        (Number(0, or_text=("cv",), optional=True), ["cv", None, 2], ["CV", b"cv"]),
        (Number(1, integer=True, several=True), [3, [3, 4], (5,), np.array([5, 6])], [[], [0], [3, "4"], {3}, "34"]),
        (OneOf(("a", None)), ["a", None, np.str_("a")], ["b", False, 0, ["a"], np.array(["a"])]),
        (OneOf(("a",), or_array=True), ["a", np.eye(2), [[1.0]]], [3, np.array(3), {}, None]),
        (Flag(), [True, np.False_], [0, 1, "yes", None]),
        (Flag(or_level=True), [True, 0, 2], [-1, 2**40, 1.0, "2"]),
        (Seed(), [0, 2**32 - 1, None, np.random.RandomState(0), np.random.default_rng(0)], [-1, 2**32, "0", 0.0, True]),
        (Jobs(), [None, -1, 4, np.int64(2)], [0, 2**20, -(2**20), 1.5, "all", True]),
        (Mark(), [None, "?", -9, math.nan, np.int8(3), b"?"], [[], {}, np.array(3), object()]),
        (Names(), ["a", ["a", "b"], {"v": "a"}, np.array(["a"])], [3, None, [3], {"v": 3}, b"a"]),
        (Names(optional=True), [None, "a"], [[None], 3]),
        (Parts(("a", "b")), [(), ["a"], ("a", "b")], ["a", ["c"], [["a"]], {"a"}, None, 3]),
        (Options(), [None, {}, {"a": 1}], [[], "a", {1: 2}, 3]),
        (
            ColumnCuts(),
            [None, [3, 4], {"a": slice(3), "b": ["x"]}, np.array([3, 4]), [range(3)]],
            [[], {}, 3, "ab", [[]]],
        ),
        (ColumnCuts(), [{"a": "x"}], [[0], [2.5, 3], [True], [None], [{1, 2}], {3, 4}, [10**30], np.ones((2, 2, 2))]),
    ],
)
def test_rules(rule: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        rule.check("knob", value)
    for value in bad:
        with pytest.raises(ValueError, match="knob"):
            rule.check("knob", value)


def test_what_an_error_says() -> None:
    def message(rule: Any, value: Any) -> str:
        with pytest.raises(ValueError) as caught:
            check_parameters(SimpleNamespace(knob=value), {"knob": rule})
        return str(caught.value)

    assert message(Number(1, integer=True), 0) == "knob must be an integer of at least 1; got 0."
    assert message(Number(1, integer=True), 2**31).endswith("of at least 1 and at most 2147483647; got 2147483648.")
    assert (
        message(Number(0, 1, or_text=("cv",)), 7)
        == "knob must be a number of at least 0 and at most 1, or 'cv'; got 7."
    )
    assert message(OneOf(("a", "b")), "c") == "knob='c' is not known; choose one of 'a', 'b'."


def test_what_was_given_is_shown_in_short() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    for value in (
        10**5000,
        "a" * 10**6,
        list(range(10**5)),
        np.zeros((1000, 1000)),
        {i: i for i in range(999)},
        Broken(),
    ):
        shown = shorten(value)
        assert len(shown) < 120
        assert "\n" not in shown


@pytest.mark.parametrize("seed", [-1, 2**32, "seed", 0.5, True, [1], np.array(3)])
def test_a_seed_that_is_none_is_named(seed: Any) -> None:
    with pytest.raises(ValueError, match="random_state must be an integer from 0 to"):
        make_random_state(seed)
    with pytest.raises(ValueError, match="random_state must be"):
        next(LabelHidingKFold(random_state=seed).split(Y, Y))


def test_names_that_go_together_may_come_in_any_order_but_once() -> None:
    rule = Together((("near",), ("far",), ("wide",), ("near", "wide")), "'near' with 'wide'")
    for value in ("auto", "near", ["wide", "near"], np.array(["near", "wide"])):
        rule.check("readers", value)
    assert rule.ordered(["wide", "near"]) == ("near", "wide") and rule.ordered([3, "far"]) == ("far", "")
    for value in ("none", ["near", "far"], ["near", "near"], [], 3, None):
        with pytest.raises(ValueError, match="choose 'auto', one of 'near', 'far', 'wide', or 'near' with 'wide'"):
            rule.check("readers", value)


def test_an_object_in_place_of_a_name_is_checked_by_its_own_rules() -> None:
    class Fast:
        _rules: ClassVar[dict[str, Rule]] = {"rounds": Number(1, integer=True)}

        def __init__(self, rounds: int) -> None:
            self.rounds = rounds

    rule = OneOfKinds({"fast": Fast})
    rule.check("solver", "fast")
    rule.check("solver", Fast(2))
    with pytest.raises(ValueError, match=r"solver\.rounds must be an integer of at least 1; got 0"):
        rule.check("solver", Fast(0))
    for value in ("slow", Fast, None):
        with pytest.raises(ValueError, match=r"choose one of 'fast', or give an Fast\(…\)"):
            rule.check("solver", value)
