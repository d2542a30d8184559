"""Checks of parameters, by a table, with errors that name the parameter, what it may be and what it is."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

MOST = 2**31 - 1  # of a count: what compiled code and NumPy's random numbers take on every machine
HEAVIEST = 1e15  # of a weight or tolerance: beyond it nothing else is left of the 16 digits of a float64


class Rule(Protocol):
    """What a parameter may be."""

    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError that names the parameter unless the value will do."""
        ...


def check_parameters(model: Any, rules: Mapping[str, Rule], prefix: str = "") -> None:
    """Raise an error that names the first parameter that makes no sense, with a prefix if it is one of another object.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_parameters(SimpleNamespace(n_init=10**30), {"n_init": Number(1, integer=True)})
    Traceback (most recent call last):
    ValueError: n_init must be an integer of at least 1 and at most 2147483647; got 1000000000000000000000000000000.
    """
    for name, rule in rules.items():
        rule.check(f"{prefix}{name}", getattr(model, name))


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`, NumPy's included; without `high` up to what can be computed with.

    With `strict` the ends themselves are left out. It may be None if `optional`, or one of the texts `or_text`; with
    `several` it may also be a sequence of such numbers, at least one.
    """

    low: float
    high: float | None = None
    integer: bool = False
    strict: bool = False
    optional: bool = False
    or_text: tuple[str, ...] = ()
    several: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is such a number."""
        if (self.optional and value is None) or (isinstance(value, str) and value in self.or_text):
            return
        if self.several and is_sequence(value) and len(value) > 0:
            items: list[Any] = value.tolist() if isinstance(value, np.ndarray) else list(value)
        else:
            items = [value]
        if not all(self._holds(item) for item in items):
            raise ValueError(f"{name} must be {self._describe(items)}; got {shorten(value)}.")

    def _holds(self, value: Any) -> bool:
        if not is_plain_number(value, integer=self.integer):
            return False
        above = value > self.low if self.strict else value >= self.low
        below = value < self._most if self.strict and self.high is not None else value <= self._most
        return bool(above and below)  # both False for NaN

    @property
    def _most(self) -> float:
        return self.high if self.high is not None else MOST if self.integer else HEAVIEST

    def _describe(self, items: list[Any]) -> str:
        what = f"{'an integer' if self.integer else 'a number'} {'above' if self.strict else 'of at least'} {self.low}"
        if self.high is not None:
            what += f" and {'below' if self.strict else 'at most'} {self.high}"
        elif any(is_plain_number(item) and self._most < item < np.inf for item in items):
            what += f" and at most {self._most}"
        ways = [what] + ["a sequence of such"] * self.several + [repr(text) for text in self.or_text]
        return ", or ".join(ways + ["None"] * self.optional)


@dataclass(frozen=True)
class OneOf:
    """One of some values; anything that is not text is looked at elsewhere if `or_array`."""

    choices: tuple[Any, ...]
    or_array: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is one of the choices."""
        if self.or_array and is_sequence(value):
            return
        same = any(choice is value or (type(choice) is type(value) and choice == value) for choice in self.choices)
        if not same and not (isinstance(value, str) and value in self.choices):  # NumPy has a text of its own
            listed = ", ".join(map(repr, self.choices)) + (" or give an array" if self.or_array else "")
            raise ValueError(f"{name}={shorten(value)} is not known; choose one of {listed}.")


@dataclass(frozen=True)
class Flag:
    """True or False; with `or_level` also a whole number, as scikit-learn's `verbose`."""

    or_level: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is a flag."""
        if isinstance(value, bool | np.bool_) or (
            self.or_level and is_plain_number(value, integer=True) and 0 <= value <= MOST
        ):
            return
        raise ValueError(f"{name}={shorten(value)} is not known; choose one of False, True.")


@dataclass(frozen=True)
class Names:
    """A text; or a sequence of texts, or a mapping to texts: one for each view, which are looked at with the views."""

    optional: bool = False
    nested: bool = False  # several such choices may be listed, some of them one for each view

    def check(self, name: str, value: Any) -> None:
        """Raise an error that names what is no text."""
        items: list[Any] = [value]
        if isinstance(value, Mapping):
            items = list(value.values())
        elif is_sequence(value):
            items = list(value)
        if self.nested:
            items = [part for item in items for part in (item if is_sequence(item) and len(item) else [item])]
        for item in items:
            if not (isinstance(item, str) or (self.optional and value is None)):
                raise ValueError(f"{name}={shorten(item)} is not known; give a name, or one for each view.")


class ViewWeightsRule:
    """What the parameter `view_weights` may be; whether it fits the views is looked at with these."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error that names what is no weight."""
        if value is None or (isinstance(value, str) and value == "auto"):
            return
        named = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        if not (named or is_sequence(value)) or not len(value):
            raise ValueError(
                f"{name} must be 'auto', None, or a positive number for each view, as a sequence or by the names of "
                f"the views; got {shorten(value)}."
            )
        for weight in value.values() if isinstance(value, Mapping) else value:
            if not (is_plain_number(weight) and 0 < weight <= MOST):
                remedy = "to leave a view out, do not pass it"
                raise ValueError(f"{name} holds {shorten(weight)}; weights are positive numbers ({remedy}).")


@dataclass(frozen=True)
class Parts:
    """A sequence of texts out of some; perhaps none."""

    choices: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise an error that names what is not one of the texts."""
        if not is_sequence(value):
            example = f"{name}=({self.choices[0]!r},)"
            raise ValueError(f"{name} is a sequence of names, such as {example}; got {shorten(value)}.")
        for item in value:
            check_choice(name, item, self.choices)


@dataclass(frozen=True)
class Together:
    """One of some names, or several that go together, in any order; or the text "auto"."""

    combinations: tuple[tuple[str, ...], ...]  # single names too, which come first, in their order
    remedy: str  # which go together, in words

    def check(self, name: str, value: Any) -> None:
        """Raise an error that lists what is possible unless the value is."""
        listed = [value] if isinstance(value, str) else list(value) if is_sequence(value) else [None]
        if (isinstance(value, str) and value == "auto") or self.ordered(listed) in self.combinations:
            return
        names = ", ".join(repr(several[0]) for several in self.combinations if len(several) == 1)
        raise ValueError(f"{name}={shorten(value)} is not known; choose 'auto', one of {names}, or {self.remedy}.")

    def ordered(self, names: list[Any]) -> tuple[str, ...]:
        """Return names in the order of the single ones; what is no name is left last."""
        order = [several[0] for several in self.combinations if len(several) == 1]
        known = [str(name) for name in names if isinstance(name, str) and name in order]
        return (*sorted(known, key=order.index), *([""] * (len(names) - len(known))))


@dataclass(frozen=True)
class OneOfKinds:
    """One of some names, or an object of a class that one of them stands for, whose own parameters make sense."""

    kinds: Mapping[str, type]

    def check(self, name: str, value: Any) -> None:
        """Raise an error that names the parameter, or that of the object."""
        if isinstance(value, tuple(self.kinds.values())):
            check_parameters(value, type(value)._rules, f"{name}.")  # type: ignore[attr-defined]
        elif not (isinstance(value, str) and value in self.kinds):
            listed = ", ".join(map(repr, self.kinds))
            objects = " or ".join(f"{kind.__name__}(…)" for kind in self.kinds.values())
            raise ValueError(f"{name}={shorten(value)} is not known; choose one of {listed}, or give an {objects}.")


@dataclass(frozen=True)
class Options:
    """A mapping from names to values, or None."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is None or such a mapping."""
        if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
            raise ValueError(f"{name} must be a dict of options by name, or None; got {shorten(value)}.")


@dataclass(frozen=True)
class Seed:
    """What random numbers may come from."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless random numbers can come from the value."""
        if value is None or value is np.random or isinstance(value, np.random.RandomState | np.random.Generator):
            return
        if not (is_plain_number(value, integer=True) and 0 <= value < 2**32):
            raise ValueError(
                f"{name} must be an integer from 0 to 2**32 - 1, a RandomState, a Generator or None; "
                f"got {shorten(value)}."
            )


@dataclass(frozen=True)
class Jobs:
    """A number of threads, counted from the end if negative; or None."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value stands for a number of threads."""
        if value is not None and not (is_plain_number(value, integer=True) and -(2**16) <= value <= 2**16):
            raise ValueError(f"{name} must be an integer from -65536 to 65536, or None; got {shorten(value)}.")
        if value == 0:
            raise ValueError(f"{name}=0 has no meaning; use None for all cores or a positive number of threads.")


@dataclass(frozen=True)
class Mark:
    """A single value that may stand for "no label": text, a number, or what means nothing anyway."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error if the value can be no label."""
        if not (isinstance(value, str | bytes | numbers.Number | np.generic) or is_missing(value)):
            raise ValueError(f"{name} must be a single label, a text or a number, or None; got {shorten(value)}.")


@dataclass(frozen=True)
class ColumnCuts:
    """How columns are cut into views: a sequence, or a mapping from name, of sizes, slices or columns; or None."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value can cut columns."""
        if value is None:
            return
        if not (isinstance(value, Mapping) or is_sequence(value)):
            raise ValueError(
                f"{name} must be a sequence or a mapping that cuts the columns of X, such as [6, 4] or "
                f"{{'image': ['a', 'b'], 'text': ['c']}}, or None; got {shorten(value)}."
            )
        groups = list(value.values()) if isinstance(value, Mapping) else list(value)
        if not groups:
            raise ValueError(f"{name}= is empty; name at least one group of columns.")
        for group in groups:
            if not (isinstance(group, slice | str) or _is_listed(group) or _is_size(group)):
                raise ValueError(
                    f"{name} holds {shorten(group)}; each view is given by its number of columns, a slice, or a list "
                    "of columns."
                )


def _is_listed(group: Any) -> bool:
    return is_sequence(group) and getattr(group, "ndim", 1) == 1 and len(group) > 0


def _is_size(group: Any) -> bool:
    return is_plain_number(group, integer=True) and 1 <= group <= MOST


def is_plain_number(value: Any, *, integer: bool = False) -> bool:
    """Tell whether a value is a plain number, of Python or NumPy; booleans are none, nor are numbers in an array."""
    kinds = int | np.integer if integer else int | float | np.integer | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool | np.longdouble)


def is_sequence(value: Any) -> bool:
    """Tell whether a value has items in an order; text, mappings, sets and arrays of no dimension have not."""
    if isinstance(value, str | bytes | Mapping | Set | type):
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0
    return isinstance(value, Sequence) or (hasattr(value, "__len__") and hasattr(value, "__iter__"))


def shorten(value: Any) -> str:
    """Return what a value looks like, in one line that is not too long.

    Examples
    --------
    >>> shorten("a" * 1000), shorten(list(range(1000)))
    ("'aaaaaaaaaaaa...aaaaaaaaaaaaa'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # what cannot be shown, such as an integer of 5,000 digits
        return f"<{type(value).__name__}>"


_SHORT = reprlib.Repr()
_SHORT.maxother = 60


def make_random_state(seed: Any) -> np.random.RandomState:
    """Return a RandomState for what estimators take as `random_state`: also a Generator, whose bits are then used."""
    Seed().check("random_state", seed)
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
    """Raise an error unless an argument is a number at or above (strictly: above) ``low``."""
    Number(low, integer=integer, strict=strict).check(name, value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise an error unless an argument is one of the choices."""
    OneOf(choices).check(name, value)


# Parameters that most estimators have.
COUNT = Number(1, integer=True)
WEIGHT = Number(0)
WEIGHT_OR_AUTO = Number(0, or_text=("auto",))
POSITIVE = Number(0, strict=True)
SHARED: dict[str, Rule] = {
    "views": ColumnCuts(),
    "random_state": Seed(),
    "n_jobs": Jobs(),
    "verbose": Flag(or_level=True),
}
