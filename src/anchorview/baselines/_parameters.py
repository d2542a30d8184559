"""The parameters of a method: a line each in its class, with default and rule; shared ones are documented here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from ..core.checks import SHARED, Names, Rule
from ..data.reading import ColumnGroups

T = TypeVar("T", bound="SharedParameters")

_ENTRY = re.compile(r"^(\w+).*(?:\n    .*)+", re.MULTILINE)  # of a docstring's section: a name, then indented lines


def parameter(default: Any, rule: Rule) -> Any:
    """Declare a parameter of a method by its default and by what it may be."""
    return field(default=default, metadata={"rule": rule})


@dataclass_transform(field_specifiers=(parameter,))
def method(cls: type[T]) -> type[T]:
    """Give a class its constructor and its rules, and its docstring the entries of its bases that it lacks."""
    made = dataclass(eq=False, repr=False)(cls)
    made._rules = {each.name: each.metadata["rule"] for each in fields(made)}
    own = inspect.cleandoc(made.__doc__ or "")
    for base in made.__mro__[1:]:
        if hasattr(base, "_rules"):
            own = _complete(own, inspect.cleandoc(base.__doc__ or ""), made)
    made.__doc__ = own
    return made


def _complete(own: str, inherited: str, made: type) -> str:
    """Return a docstring with the entries of another one that it lacks and that are true of the class."""
    defaults = {each.name: each.default for each in fields(made)}
    for title in ("Parameters", "Attributes"):
        head, section, rest = _find_section(own, title)
        if not section:  # an abstract class
            continue
        for entry in _ENTRY.finditer(_find_section(inherited, title)[1]):
            name, (header, body) = entry[1], entry[0].split("\n", 1)
            if re.search(rf"^{name}\b", section, re.MULTILINE) or (title == "Parameters" and name not in defaults):
                continue
            header = header.partition(", default=")[0]
            if defaults.get(name) is not None:
                header += f", default={defaults[name]!r}".replace("'", '"')
            section += f"\n{header}\n{body}"
        own = head + section + rest
    return own


def _find_section(text: str, title: str) -> tuple[str, str, str]:
    """Return what comes before the entries of a section, the entries, and what comes after them."""
    head, rule, rest = text.partition(f"{title}\n{'-' * len(title)}\n")
    section, blank, rest = rest.partition("\n\n")
    return head + rule, section, blank + rest


@method
class SharedParameters:
    """What every method takes, and what the parameters that several have mean.

    Parameters
    ----------
    n_init : int
        Runs of k-means, of which the best is kept.
    n_folds : int
        Parts of the labelled rows that are hidden in turn to choose what is "cv".
    equal_views : bool
        Divide each view, after `scaling`, by the root of its total variance, so that all views count the same.
    max_iter : int
        Rounds at most.
    tol : float
        Relative change of the objective at which to stop.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`anchorview.Views`. Without it a 2-D `X` is one view.
    scaling : {"none", "l2", "sum", "standard", "minmax", "row_standard"} or sequence
        Scaling for all views, or one per view: none; rows of unit length; rows whose absolute values add up to 1;
        features of mean 0 and deviation 1; features from 0 to 1; rows of mean 0 and deviation 1. Sparse views are
        divided only, never shifted.
    random_state : int, RandomState or None
        Seed of what the method draws at random, if anything: folds, first factors, starts of k-means.
    n_jobs : int, optional
        Threads; by default as many as BLAS uses. The result does not depend on it. scikit-learn's steps do not use it.
    verbose : bool
        Log each stage and round to the logger "anchorview".

    Attributes
    ----------
    n_iter_ : int
        Rounds made.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.
    """

    _rules: ClassVar[dict[str, Rule]]
    _: KW_ONLY
    views: ColumnGroups | None = parameter(None, SHARED["views"])
    scaling: str | Sequence[str] = parameter("minmax", Names())
    random_state: int | np.random.RandomState | None = parameter(None, SHARED["random_state"])
    n_jobs: int | None = parameter(None, SHARED["n_jobs"])
    verbose: bool = parameter(False, SHARED["verbose"])
