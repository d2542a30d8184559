"""What a solver returns, and the readable outcomes that end up in ``status_``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse


class Outcome(Enum):
    """How a fit went, each member a sentence for the user."""

    CONVERGED = "converged: the optimality residual fell below tol."
    MAX_ITER = (
        "stopped at max_iter before the optimality residual fell below tol; "
        "raise max_iter or tol if the objective is still falling."
    )
    STEP_SHORTENED = "a step had to be shortened so that the objective did not rise."
    THEOREM_NOT_MET = (
        "the convergence theorem's condition on the penalty (lambda > L_h + 2 + 2 L_h^2) is not met; "
        "the steps are safeguarded instead."
    )
    DIVERGED = "the unguarded step diverged (NaN or infinity); use fixed_step=False."
    DENOMINATOR_GUARDED = "the trace-ratio denominator was not positive definite and was shifted."
    FEWER_CLASSES = "fewer classes are labelled than clusters were asked for: rows can only get a labelled class."
    MORE_CLASSES = "more classes are labelled than n_clusters: the number of labelled classes was used instead."
    NO_LABELS = "no labels were given: clusters come from k-means on the embedding."
    LANDMARKS_CAPPED = "n_landmarks was lowered: there are fewer than three rows per landmark."
    STOPPED_BY_CALLBACK = "stopped by a callback."


class Encoder(Protocol):
    """Codes of rows that were not in the fit, row by row."""

    def encode(self, cross: npt.NDArray[np.floating], present: npt.NDArray[np.bool_] | None = None) -> sparse.csr_array:
        """Return the codes (rows×m) for some rows of E; `present` (rows×V) tells which views they have, None all."""
        ...


@dataclass(frozen=True)
class Iteration:
    """One finished round, as handed to a progress callback."""

    number: int
    objective: float
    residual: float


ProgressCallback = Callable[[Iteration], bool]  # returns True to stop


@dataclass(frozen=True)
class SolverResult:
    """Outcome of a solver.

    Attributes
    ----------
    embedding : ndarray of shape (k, m)
        A.
    codes : csr_array of shape (n, m)
        Z, the codes of the joint problem.
    encoded : csr_array of shape (n, m)
        What `encoder` gives for the training rows: the codes that labels are read from, so that a row gets
        the same label in fit and in predict.
    encoder : Encoder
        Codes for new rows.
    objective_history : ndarray
        Objective after each round.
    residual_history : ndarray
        Optimality residual (active_set) or max(‖ΔB‖∞, ‖ΔZ‖∞) (admm) of each round.
    n_iter : int
        Number of rounds.
    outcomes : tuple of Outcome
        How it went.
    """

    embedding: npt.NDArray[np.float64]
    codes: sparse.csr_array
    encoded: sparse.csr_array
    encoder: Encoder
    objective_history: npt.NDArray[np.float64]
    residual_history: npt.NDArray[np.float64]
    n_iter: int
    outcomes: tuple[Outcome, ...] = field(default=())
