"""What a fit is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy.typing as npt

from ..features.auto import ScalingChoice
from ..features.view_weights import ViewWeightsChoice
from ..solvers import SolverParameters


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
    solver: str | SolverParameters = "active_set"
    readers: str | Sequence[str] = "auto"
    n_neighbors: int | str = "auto"
    memory_limit: float | None = None

    @classmethod
    def of(cls, estimator: object) -> FitParameters:
        """Return those of an estimator."""
        return cls(**{each.name: getattr(estimator, each.name) for each in fields(cls)})
