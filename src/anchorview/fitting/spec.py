"""What a fit is asked to do, how it is run, and what it is going to do, checked before any long computation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..core.checks import COUNT, SHARED, WEIGHT_OR_AUTO, Mark, Names, Number, OneOf, Rule, Together, ViewWeightsRule
from ..core.progress import Outcome
from ..features.auto import ScalingChoice, read_scaling, suit_views
from ..features.landmarks import check_landmarks
from ..features.view_weights import ViewWeights, ViewWeightsChoice, read_view_weights, start_weights
from ..readers.base import COMBINATIONS, OF_PRODUCTS
from ..solver.registry import SOLVERS, Solver
from ..solvers import SOLVER_RULE, ActiveSet, SolverParameters, resolve_solver
from ..supervision.given import FitInput
from .cluster_count import USUAL

READERS_RULE = Together(
    COMBINATIONS, "several: 'nearest' or 'knn' with 'linear', 'poisson' or both, or 'linear' with 'poisson'"
)
RULES_OF_FIT: dict[str, Rule] = {  # what the parameters of `FSSMSC` may be
    "view_weights": ViewWeightsRule(),
    "solver": SOLVER_RULE,
    "readers": READERS_RULE,
    **SHARED,
    "n_clusters": Number(1, integer=True, optional=True, or_text=("auto",)),
    "n_landmarks": COUNT,
    "scaling": Names(),
    "landmarks": OneOf(("kmeans", "random"), or_array=True),
    "l1": WEIGHT_OR_AUTO,
    "ridge": WEIGHT_OR_AUTO,
    "must_link_weight": WEIGHT_OR_AUTO,
    "coupling": WEIGHT_OR_AUTO,
    "class_balance": OneOf((None, "balanced")),
    "relabel": Number(0.5, 1, optional=True),
    "on_empty": OneOf(("error", "drop")),
    "unlabelled": Mark(),
    "n_neighbors": Number(1, integer=True, or_text=("auto",)),
}


@dataclass
class Plan:
    """The choices of a fit, and what had to be changed to get there."""

    scaling: list[str]  # of each view
    asked_scaling: list[str]  # of each view, perhaps "auto"
    view_weights: ViewWeights  # None if views count the same
    weighs_views: bool  # whether labels may choose them
    solver: Solver
    how: SolverParameters  # of the solver: rounds, tolerance, units, what is left out
    readers: tuple[str, ...] | None  # that of the embedding first; None if they may be chosen
    n_components: int
    n_landmarks: int
    outcomes: list[Outcome] = field(default_factory=list)
    codes_in_files: bool = False  # there would be too many for the memory
    embedding_on_cluster: bool = False  # it would be too large for the memory here
    notes: list[str] = field(default_factory=list)  # what else there is to say


def make_plan(params: FitParameters, given: FitInput) -> Plan:
    """Decide on scaling, solver, and the numbers of components and landmarks."""
    how, readers = params.solver, resolve_readers(params.readers)
    if {"must_link", "smoothness"} <= set(how.omit):
        raise ValueError("solver.omit=('must_link', 'smoothness') leaves no distance to make small; keep one of them.")
    views, has_pairs = given.views, given.known.pairs is not None
    solver = _choose_solver(how.name, given.present is not None, given.weights is not None)
    if views.is_on_cluster and not solver.stores_codes:
        raise _cannot(how.name, "dask arrays")
    if views.is_on_cluster and readers is not None and set(readers) & set(OF_PRODUCTS):
        raise ValueError(f"readers={params.readers!r} is not for dask arrays; choose 'nearest', 'knn' or 'auto'.")
    outcomes: list[Outcome] = []
    n_components = count_components(params.n_clusters, len(given.known.classes), has_pairs, how.omit, outcomes)
    by_name = isinstance(params.landmarks, str)
    if by_name:
        n_landmarks = count_landmarks(params.n_landmarks, given.n_counted, n_components, outcomes)
    else:
        n_landmarks = _count_given(np.asarray(params.landmarks), n_components)
    asked = read_scaling(views, params.scaling)
    scaling = suit_views(views, asked)
    if not by_name:  # landmarks are in the scaled feature space: labels must not choose another one
        asked = scaling
    if 1 in views.sizes and any(size == 1 and kind != "none" for size, kind in zip(views.sizes, scaling, strict=True)):
        outcomes.append(Outcome.SINGLE_FEATURE)
    if not by_name and "lsa" not in scaling:  # whose number of features is known once it is fitted
        check_landmarks(np.asarray(params.landmarks), sum(views.sizes))
    # The paper has no such weights, given landmarks are in a space that has some, and features that are left as they
    # are have the lengths that the user wants.
    weighs_views = isinstance(params.view_weights, str) and by_name and how.units == "data" and "none" not in asked
    weighs_views = weighs_views and len(views.names) > 1
    view_weights = start_weights(views, given.present) if weighs_views else None
    if params.view_weights is not None and not isinstance(params.view_weights, str):
        view_weights = read_view_weights(views.names, params.view_weights)
    weights = view_weights, weighs_views
    return Plan(scaling, asked, *weights, solver, how, readers, n_components, n_landmarks, outcomes)


def resolve_readers(readers: Any) -> tuple[str, ...] | None:
    """Return the readers that a parameter names, that of the embedding first; None for "auto", an error for nonsense.

    Examples
    --------
    >>> resolve_readers("nearest"), resolve_readers(["poisson", "knn"]), resolve_readers("auto")
    (('nearest',), ('knn', 'poisson'), None)
    """
    READERS_RULE.check("readers", readers)
    if isinstance(readers, str):
        return None if readers == "auto" else (str(readers),)
    return READERS_RULE.ordered(list(readers))


def _choose_solver(name: str, has_missing: bool, has_weights: bool) -> Solver:
    """Return the solver of a name, or raise an error if it cannot do what is wanted."""
    solver = SOLVERS[name]
    if has_missing and not solver.takes_missing_views:
        raise _cannot(name, "rows that lack views")
    if has_weights and not solver.takes_weights:
        raise _cannot(name, "sample_weight")
    return solver


def _cannot(solver: str, what: str) -> ValueError:
    return ValueError(f"solver={solver!r} does not support {what}; use solver='active_set'.")


def count_components(
    n_clusters: int | str | None, n_classes: int, has_pairs: bool, omit: Sequence[str], outcomes: list[Outcome]
) -> int:
    """Return the dimension of the embedding: the number of clusters, or of labelled classes."""
    if isinstance(n_clusters, str):  # "auto", whose number is not known before the fit
        n_clusters = None if n_classes else USUAL
    if n_classes == 0:
        outcomes.append(Outcome.NO_LABELS)
        if n_clusters is None:
            raise ValueError(
                'Without labels the number of clusters is needed: pass n_clusters, a number or "auto", or labels in y.'
            )
        if "smoothness" in omit and not has_pairs:
            raise ValueError("solver.omit=('smoothness',) leaves nothing to learn from when there are no labels.")
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


def _count_given(given: npt.NDArray[np.generic], n_components: int) -> int:
    if given.ndim != 2:
        raise ValueError(
            f"landmarks must be a 2-D array (m rows in the scaled feature space); got shape {given.shape}."
        )
    if given.dtype.kind not in "fiub":
        raise ValueError(f"landmarks must be numbers; got an array of {given.dtype}.")
    if not np.isfinite(given.astype(np.float64)).all():
        raise ValueError("landmarks contains NaN or infinity.")
    if len(given) < n_components:
        raise ValueError(f"{len(given)} landmarks are fewer than the {n_components} clusters.")
    return len(given)


@dataclass(frozen=True, eq=False)
class FitParameters:
    """What a fit is asked to do, by the names and defaults of `FSSMSC`, which documents and checks them."""

    n_clusters: int | str | None = None
    n_landmarks: int = 500
    scaling: ScalingChoice = "auto"
    view_weights: ViewWeightsChoice = "auto"
    landmarks: str | npt.ArrayLike = "kmeans"
    l1: float | str = "auto"
    ridge: float | str = "auto"
    must_link_weight: float | str = "auto"
    coupling: float | str = "auto"
    class_balance: str | None = None
    relabel: float | None = None
    solver: SolverParameters = field(default_factory=ActiveSet)
    readers: str | Sequence[str] = "auto"
    n_neighbors: int | str = "auto"

    @classmethod
    def of(cls, estimator: object) -> FitParameters:
        """Return those of an estimator; a solver that is given by name has its defaults."""
        given = {each.name: getattr(estimator, each.name) for each in fields(cls)}
        return cls(**given | {"solver": resolve_solver(given["solver"])})


@dataclass(frozen=True, eq=False)
class FitRun:
    """How a fit is run: its random numbers, threads, and whom it tells of its progress."""

    rng: np.random.RandomState
    n_threads: int = 1
    estimator: BaseEstimator | None = None  # whose callbacks are told
    verbose: bool = False
