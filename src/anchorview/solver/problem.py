"""The FSSMSC problem as arrays: everything a solver needs to know except the rows themselves.

Rows are samples. With codes Z (n×m, one row per sample), embedding A (k×m), G = Σ_v U_v U_vᵀ (m×m) and
E = Σ_v X_v U_vᵀ (n×m), the objective is

    J(A, Z) = ½ Σ_v ‖X_v − Z U_v‖² + λ_Z ‖Z‖₁ + (μ/2) ‖Z‖² + β (φ_s + λ_M φ_M) / (φ_C + ε)

where φ_s = Tr(A (I − D^-½ ZᵀZ D^-½) Aᵀ), D = diag(ZᵀZ 1), φ_M = Tr(Fᵀ L_M F), φ_C = Tr(Fᵀ L_C F) and
F = Z_l Aᵀ over the labelled rows (paper, eq. op: FSSMSC, and its addition μ; see docs/method.md).

A row that lacks views has a Gram matrix of its own, G_p, and a row of E to match (see `grams`). A row of weight w
counts w times in every sum over rows, ZᵀZ included; L_M and L_C come weighted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..core.arrays import Matrix, Presence, Rows, Weights
from .grams import PatternGrams
from .laplacian import Laplacian

EPSILON = 1e-5  # ε and ε_q of the paper


class CrossProducts(Protocol):
    """Access to E = Σ_v X_v U_vᵀ: block of rows by block of rows, or row by row."""

    n_rows: int
    blocks: list[slice]
    dtype: Any

    def read(self, block: slice) -> Matrix:
        """Return the rows of one of the `blocks` of E as a new or read-only array."""
        ...

    def take(self, rows: Rows) -> Matrix:
        """Return rows of E by their numbers."""
        ...

    def squared_norm(self) -> float:
        """Return Σ_v ‖X_v‖² over all rows: weighted, and with the factor V/|p| where views are missing."""
        ...

    def present_in(self, index: slice | Rows) -> Presence:
        """Tell which of these rows have which view (rows×V); None, always, if no row lacks any."""
        ...


@dataclass(frozen=True)
class Problem:
    """One FSSMSC problem."""

    gram: Matrix  # G, the Gram matrix of the landmarks, in float64
    n_components: int  # k, the dimension of the embedding
    l1: float  # λ_Z
    ridge: float  # μ
    coupling: float  # β
    must_link_weight: float  # λ_M
    labelled: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # ascending
    # L_M and L_C over the rows `labelled`. None leaves φ_M (φ_C) out; without φ_C the denominator φ_C + ε is 1.
    must: Laplacian | None = None
    cannot: Laplacian | None = None
    smoothness: bool = True  # False leaves φ_s out
    squared_norm: float = 0.0  # kept in J while solving; that of `CrossProducts` is added to what is reported
    grams: PatternGrams | None = None  # of rows that lack views; needed if there are any, now or among new rows
    weights: Weights = None  # not negative; a row of weight 0 gets the code of a new row and changes nothing else
