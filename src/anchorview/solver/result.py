"""What a solver returns, and the readable outcomes that end up in ``status_``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from scipy import sparse

from ..core.arrays import Matrix, Presence
from ..core.progress import Outcome
from .codes import Codes


class Encoder(Protocol):
    """Codes of rows that were not in the fit, row by row."""

    def encode(self, cross: Matrix, present: Presence = None) -> sparse.csr_array:
        """Return the codes (rows×m) for some rows of E; `present` (rows×V) tells which views they have, None all."""
        ...


@dataclass(frozen=True)
class SolverResult:
    """Outcome of a solver.

    Attributes
    ----------
    embedding : ndarray of shape (k, m)
        A.
    codes : csr_array of shape (n, m), or rows in a store
        Z, the codes of the joint problem.
    encoded : csr_array of shape (n, m), or rows in a store
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

    embedding: Matrix
    codes: Codes
    encoded: Codes
    encoder: Encoder
    objective_history: Matrix
    residual_history: Matrix
    n_iter: int
    outcomes: tuple[Outcome, ...] = field(default=())
