"""Parameters with which `FSSMSC` has nothing to choose: tests of other things compare like with like, and sooner."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from anchorview import FSSMSC, ActiveSet

SETTLED: dict[str, Any] = {"scaling": "minmax", "solver": ActiveSet(units="paper"), "readers": "nearest"}
CHOSEN: dict[str, Any] = {
    "scaling": "minmax",
    "view_weights": None,
    "ridge": 3.0,
    "must_link_weight": 3.0,
    "readers": "nearest",
}
"""The same in the units of the data: what a fit with defaults may come to, without judging 48 settings first."""


def settle(**parameters: Any) -> FSSMSC:
    """Return a model with `SETTLED` and other parameters, those of the solver as ``solver__tol``."""
    return clone(FSSMSC(**SETTLED)).set_params(**parameters)


def choose(**parameters: Any) -> FSSMSC:
    """Return a model with `CHOSEN` and other parameters, those of the solver as ``solver__tol``."""
    return FSSMSC(**CHOSEN).set_params(**parameters)
