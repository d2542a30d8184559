"""What a solver returns, and the readable outcomes that end up in ``status_``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scipy import sparse

from ..core.arrays import Matrix, Presence
from ..core.progress import Outcome
from .codes import Codes, Reduction


class Encoder(Protocol):
    """Codes of rows that were not in the fit, row by row."""

    def encode(self, cross: Matrix, present: Presence = None) -> sparse.csr_array:
        """Return the codes (rows×m) for some rows of E; `present` (rows×V) tells which views they have, None all."""
        ...


@dataclass(frozen=True)
class SolverResult:
    """Outcome of a solver.

    Labels are read from `encoded`, what `encoder` gives for the training rows, so that a row gets the same label in fit
    and in predict.
    """

    embedding: Matrix  # A, k×m
    codes: Codes  # Z, the codes of the joint problem
    encoded: Codes
    encoder: Encoder
    objective_history: Matrix  # after each round
    residual_history: Matrix  # optimality residual (active_set) or max(‖ΔB‖∞, ‖ΔZ‖∞) (admm) of each round
    n_iter: int
    outcomes: tuple[Outcome, ...] = ()
    sums: Reduction | None = None  # over `encoded`, where the solver needs no other for the next labels
