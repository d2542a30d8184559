"""How a fit is run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator


@dataclass(frozen=True, eq=False)
class FitRun:
    """How a fit is run: its random numbers, threads, and whom it tells of its progress."""

    rng: np.random.RandomState
    n_threads: int = 1
    estimator: BaseEstimator | None = None  # whose callbacks are told
    verbose: bool = False
