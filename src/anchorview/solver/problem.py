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

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..supervision import Laplacian
from .curvature import largest_curvature
from .grams import PatternGrams, pattern_groups

EPSILON = 1e-5  # ε and ε_q of the paper


class CrossProducts(Protocol):
    """Access to E = Σ_v X_v U_vᵀ, block of rows by block of rows."""

    n_rows: int
    blocks: list[slice]

    def rows(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return the rows ``index`` of E as a new or read-only array."""
        ...

    def present(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
        """Tell which of these rows have which view (rows×V); None, always, if no row lacks any."""
        ...


@dataclass(frozen=True)
class Problem:
    """One FSSMSC problem.

    Parameters
    ----------
    gram : ndarray of shape (m, m), float64
        G, the Gram matrix of the landmarks.
    n_components : int
        k, the dimension of the embedding.
    l1, ridge, coupling, must_link_weight : float
        λ_Z, μ, β and λ_M.
    labelled : ndarray of shape (n_labelled,)
        Row numbers of the labelled rows, ascending.
    must, cannot : Laplacian or None
        L_M and L_C over the labelled rows, in the order of `labelled`. None leaves φ_M (φ_C) out of the model;
        without φ_C the denominator φ_C + ε is 1.
    smoothness : bool
        False leaves φ_s out.
    squared_norm : float
        Σ_v ‖X_v‖², the constant of the data term: weighted, and with the factor V/|p| where views are missing.
    grams : PatternGrams, optional
        The Gram matrices of rows that lack views; needed if there are any, now or among new rows.
    weights : ndarray of shape (n_rows,), float64, optional
        Weight of each row, not negative. A row of weight 0 gets the code of a new row and changes nothing else.
    """

    gram: npt.NDArray[np.float64]
    n_components: int
    l1: float
    ridge: float
    coupling: float
    must_link_weight: float
    labelled: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    must: Laplacian | None = None
    cannot: Laplacian | None = None
    smoothness: bool = True
    squared_norm: float = 0.0
    grams: PatternGrams | None = None
    weights: npt.NDArray[np.float64] | None = None

    @property
    def n_landmarks(self) -> int:
        """Number m of landmarks."""
        return len(self.gram)

    @property
    def labelled_weights(self) -> npt.NDArray[np.float64] | None:
        """Weights of the labelled rows."""
        return None if self.weights is None else self.weights[self.labelled]

    @cached_property
    def must_curvature(self) -> float:
        """Largest eigenvalue of L_M per copy of a row, or an upper bound of it; 0 without φ_M."""
        return 0.0 if self.must is None else largest_curvature(self.must, self.labelled_weights)

    def presence(self, cross: CrossProducts, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
        """Tell which of these rows have which view; None if all have all."""
        return None if self.grams is None else cross.present(index)

    def row_grams(self, present: npt.NDArray[np.bool_]) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]]:
        """Return the Gram matrices of some rows, each with the rows it belongs to."""
        if self.grams is None:
            raise ValueError("Some rows lack views, but the problem has only the Gram matrix of complete rows.")
        return [
            (self.gram if pattern.all() else self.grams.of(pattern), rows) for pattern, rows in pattern_groups(present)
        ]


@dataclass
class MemoryCrossProducts:
    """Cross products held whole in memory; enough for small data, tests and studies."""

    values: npt.NDArray[np.floating]
    block_size: int = 1024
    presence: npt.NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def blocks(self) -> list[slice]:
        """Row ranges of the blocks."""
        return list(_row_blocks(len(self.values), self.block_size))

    def rows(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return the rows ``index`` of E."""
        return self.values[index]

    def present(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
        """Tell which of the rows ``index`` have which view."""
        return None if self.presence is None else self.presence[index]


def _row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
