"""Parameters and settings of older model files by the names that they have now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..solvers import ADMM, ActiveSet

_OF_SOLVER = ("max_iter", "tol", "units", "omit")
_SPREAD = "graph"  # what the head "spread" was called; as a part of `inference` this was Poisson learning


def translate_parameters(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator by their names of today."""
    found = {name: value for name, value in given.items() if name != "measure_views"}  # a function does it now
    if kind != "FSSMSC":
        return found
    limit = found.pop("memory_limit", None)
    if "inference" in found:
        solver = ADMM if found.pop("solver") == "admm" else ActiveSet
        options = {name: found.pop(name) for name in _OF_SOLVER} | (found.pop("solver_options") or {})
        found |= {"solver": solver(**options), "readers": _readers(found.pop("inference"))}
    if limit is not None and found["solver"] == "active_set":
        found["solver"] = ActiveSet(memory_limit=limit)
    elif limit is not None and isinstance(found["solver"], ActiveSet):
        found["solver"].set_params(memory_limit=limit)
    return found


def translate_fitted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted attributes of an estimator with parameters and settings by their names of today."""
    found = {name: value for name, value in given.items() if name != "view_importance_"}
    for name in {"chosen_", "best_params_"} & found.keys():
        found[name] = _translate_chosen(found[name])
    if "best_setting_" in found:
        found["best_setting_"] = translate_setting(found["best_setting_"])
    if "averaged_" in found:
        found["averaged_"] = [translate_setting(setting) for setting in found["averaged_"]]
    if "cv_results_" in found:
        table = found["cv_results_"]
        heads = np.where(table["param_head"] == _SPREAD, "spread", table["param_head"])
        params = [translate_setting(setting) for setting in table["params"]]
        found["cv_results_"] = table | {"param_head": heads, "params": params}
    return found


def translate_setting(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a setting of the search with the name of its head of today; the first had no units."""
    found = dict(fields)
    found.setdefault("units", "paper")
    return found | {"head": "spread"} if fields.get("head") == _SPREAD else found


def _translate_chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(given)
    if "inference" in found:
        found["readers"] = _readers(found.pop("inference"))
    if "units" in found:
        found["solver"] = ActiveSet(units=found.pop("units"))
    return found


def _readers(inference: str) -> str | tuple[str, ...]:
    if inference == "auto":
        return inference
    return tuple("poisson" if name == "graph" else name for name in inference.split("+"))
