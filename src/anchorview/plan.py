"""What a fit is going to do, settled and checked before any long computation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .inference import RULES
from .scaling import resolve_scaling
from .solver.result import Outcome
from .validation import check_choice, check_number
from .view_importance import check_can_leave_out
from .views import Views

OMITTABLE = ("l1", "must_link", "cannot_link", "smoothness", "coupling")
_ADMM_OPTIONS: dict[str, tuple[Any, ...]] = {
    "mode": ("paper", "released"),
    "fixed_step": (False, True),
    "dtype": ("float32", "float64"),
}


@dataclass
class Plan:
    """Sizes of a fit, and what had to be changed to get them."""

    n_components: int
    n_landmarks: int
    outcomes: list[Outcome] = field(default_factory=list)


def check_parameters(model: Any) -> None:
    """Raise an error that names the first parameter that makes no sense."""
    for name in ("l1", "ridge", "must_link_weight", "coupling", "tol"):
        check_number(name, getattr(model, name), 0)
    for name in ("n_landmarks", "max_iter", "n_neighbors"):
        check_number(name, getattr(model, name), 1, integer=True)
    if model.n_clusters is not None:
        check_number("n_clusters", model.n_clusters, 1, integer=True)
    if model.n_jobs is not None:
        check_number("n_jobs", model.n_jobs, -(2**20), integer=True)
    check_choice("solver", model.solver, ("active_set", "admm"))
    check_choice("inference", model.inference, RULES)
    check_choice("class_balance", model.class_balance, (None, "balanced"))
    check_choice("on_empty", model.on_empty, ("error", "drop"))
    if model.relabel is not None:
        check_number("relabel", model.relabel, 0.5)
    check_choice("measure_views", model.measure_views, (False, True))
    if model.measure_views:
        check_can_leave_out(model)
    if isinstance(model.landmarks, str):
        check_choice("landmarks", model.landmarks, ("kmeans", "random"))
    _check_omitted(model.omit)
    _check_solver_options(model.solver, model.solver_options)


def _check_omitted(omit: Any) -> None:
    if isinstance(omit, str) or not isinstance(omit, Iterable):
        raise ValueError(f"omit is a sequence of names, such as omit=('l1',); got {omit!r}.")
    names = list(omit)
    for name in names:
        check_choice("omit", name, OMITTABLE)
    if {"must_link", "smoothness"} <= set(names):
        raise ValueError("omit=('must_link', 'smoothness') leaves no distance to make small; keep one of them.")


def _check_solver_options(solver: str, options: dict[str, Any] | None) -> None:
    allowed = _ADMM_OPTIONS if solver == "admm" else {}
    unknown = sorted(set(options or {}) - set(allowed))
    if unknown:
        raise ValueError(f"solver_options {unknown} are not known to solver={solver!r}; it takes {sorted(allowed)}.")
    for name, value in (options or {}).items():
        check_choice(f"solver_options[{name!r}]", value, allowed[name])


def check_support(model: Any, *, has_missing: bool, has_weights: bool) -> None:
    """Raise an error if the chosen solver cannot work on such data."""
    if model.solver == "admm" and (has_missing or has_weights):
        what = "rows that lack views" if has_missing else "sample_weight"
        raise ValueError(f"solver='admm' is the paper's algorithm and knows no {what}; use solver='active_set'.")


def make_plan(model: Any, views: Views, n_classes: int, has_pairs: bool = False, n_rows: int | None = None) -> Plan:
    """Settle the number of components and landmarks; `n_rows` rows count (by default all of `views`)."""
    n_rows = len(views) if n_rows is None else n_rows
    outcomes: list[Outcome] = []
    n_components = _count_components(model.n_clusters, n_classes, has_pairs, model.omit, outcomes)
    if isinstance(model.landmarks, str):
        n_landmarks = count_landmarks(model.n_landmarks, n_rows, n_components, outcomes)
    else:
        n_landmarks = _count_given(np.asarray(model.landmarks), n_components)
        if "lsa" not in resolve_scaling(views, model.scaling):  # whose number of features is known once it is fitted
            check_landmarks(np.asarray(model.landmarks), sum(views.sizes))
    return Plan(n_components, n_landmarks, outcomes)


def _count_components(
    n_clusters: int | None, n_classes: int, has_pairs: bool, omit: Any, outcomes: list[Outcome]
) -> int:
    if n_classes == 0:
        outcomes.append(Outcome.NO_LABELS)
        if n_clusters is None:
            raise ValueError("Without labels the number of clusters is needed: pass n_clusters, or labels in y.")
        if "smoothness" in omit and not has_pairs:
            raise ValueError("omit=('smoothness',) leaves nothing to learn from when there are no labels.")
        return int(n_clusters)
    if n_clusters is None:
        if n_classes == 1:
            raise ValueError(
                "Only one class is labelled, so every row would get it; label rows of at least two classes, "
                "or pass n_clusters."
            )
        return n_classes
    if n_clusters < n_classes:
        outcomes.append(Outcome.MORE_CLASSES)
    if n_clusters > n_classes:
        outcomes.append(Outcome.FEWER_CLASSES)
    return max(int(n_clusters), n_classes)


def count_landmarks(asked: int, n_rows: int, n_components: int, outcomes: list[Outcome]) -> int:
    """Return the number of landmarks for so many rows, noting in `outcomes` if it is less than asked for."""
    if asked < n_components:
        raise ValueError(f"n_landmarks={asked} is below the {n_components} clusters; it must be at least as large.")
    if n_rows < n_components:
        raise ValueError(f"n_samples={n_rows} should be >= n_clusters={n_components}.")
    most = max(n_rows // 3, min(n_rows, 2 * n_components))
    if asked > most:
        outcomes.append(Outcome.LANDMARKS_CAPPED)
    return int(min(asked, most))


def _count_given(given: Any, n_components: int) -> int:
    if given.ndim != 2:
        raise ValueError(
            f"landmarks must be a 2-D array (m rows in the scaled feature space); got shape {given.shape}."
        )
    if not np.isfinite(given.astype(np.float64)).all():
        raise ValueError("landmarks contains NaN or infinity.")
    if len(given) < n_components:
        raise ValueError(f"{len(given)} landmarks are fewer than the {n_components} clusters.")
    return len(given)


def check_landmarks(given: Any, n_features: int) -> None:
    """Raise an error if given landmarks are not in the scaled feature space."""
    if not isinstance(given, str) and given.shape[1] != n_features:
        raise ValueError(f"landmarks must be an m×{n_features} array; got shape {given.shape}.")
