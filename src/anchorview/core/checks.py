"""Checks of parameters, with errors that name the parameter and what it may be."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Number:
    """A number at or above (strictly: above) `low`."""

    low: float
    integer: bool = False
    strict: bool = False
    optional: bool = False  # may be None


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    choices: tuple[Any, ...]
    or_array: bool = False  # anything that is not text is looked at elsewhere


class NotFiniteError(ValueError):
    """A view holds NaN or infinity, first in this row; who knows the names of rows and columns adds them."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def check_parameters(model: Any, rules: Mapping[str, Number | Choice]) -> None:
    """Raise an error that names the first parameter that makes no sense."""
    for name, rule in rules.items():
        value = getattr(model, name)
        if isinstance(rule, Choice):
            if isinstance(value, str) or not rule.or_array:
                check_choice(name, value, rule.choices)
        elif value is not None or not rule.optional:
            check_number(name, value, rule.low, integer=rule.integer, strict=rule.strict)


def make_random_state(seed: Any) -> np.random.RandomState:
    """Return a RandomState for what estimators take as `random_state`: also a Generator, whose bits are then used."""
    if isinstance(seed, np.random.Generator):
        return np.random.RandomState(seed.bit_generator)
    state: np.random.RandomState = check_random_state(seed)
    return state


def is_missing(value: Any) -> bool:
    """Tell whether a single value stands for nothing: None, NaN, pandas' NA and NaT, a masked entry."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Real) and value != value


def check_number(name: str, value: Any, low: float, *, integer: bool = False, strict: bool = False) -> None:
    """Raise an error unless a parameter is a number at or above (strictly: above) ``low``."""
    kind = numbers.Integral if integer else numbers.Real
    good = not isinstance(value, bool) and isinstance(value, kind) and np.isfinite(float(value))
    if not good or value < low or (strict and value == low):
        what = "an integer" if integer else "a number"
        raise ValueError(f"{name} must be {what} {'above' if strict else 'of at least'} {low}; got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise an error unless a parameter is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}.")
