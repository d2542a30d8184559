"""Parameters at the edge of what they may be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anchorview.core.checks import Number, OneOf, check_number, check_parameters, is_missing


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.5), np.int64(3)])
def test_numbers_at_or_above_the_bound(value: Any) -> None:
    check_number("depth", value, 2)


@pytest.mark.parametrize("value", [1.999, -3, np.nan, np.inf, True, "2", None])
def test_numbers_below_the_bound_and_other_things_are_named(value: Any) -> None:
    with pytest.raises(ValueError, match="depth must be a number of at least 2"):
        check_number("depth", value, 2)


def test_strict_bounds_and_integers() -> None:
    check_number("rate", 1e-300, 0, strict=True)
    with pytest.raises(ValueError, match="rate must be a number above 0; got 0"):
        check_number("rate", 0, 0, strict=True)
    with pytest.raises(ValueError, match="count must be an integer"):
        check_number("count", 2.0, 1, integer=True)


def test_a_table_of_rules() -> None:
    rules: dict[str, Number | OneOf] = {
        "depth": Number(1, integer=True, optional=True),
        "kind": OneOf(("a", "b")),
        "start": OneOf(("random",), or_array=True),
    }
    good = {"depth": None, "kind": "a", "start": np.zeros(2)}
    check_parameters(SimpleNamespace(**good), rules)
    for name, value in (("depth", 0), ("kind", "c"), ("start", "rnd")):
        with pytest.raises(ValueError, match=name):
            check_parameters(SimpleNamespace(**good | {name: value}), rules)


@pytest.mark.parametrize(
    ("value", "missing"), [(None, True), (np.nan, True), (np.ma.masked, True), (0, False), ("", False)]
)
def test_what_stands_for_nothing(value: Any, missing: bool) -> None:
    assert is_missing(value) is missing
