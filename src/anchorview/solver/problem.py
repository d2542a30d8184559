"""The FSSMSC problem as arrays: everything a solver needs to know except the rows themselves.

Rows are samples. With codes Z (n×m, one row per sample), embedding A (k×m), G = Σ_v U_v U_vᵀ (m×m) and
E = Σ_v X_v U_vᵀ (n×m), the objective is

    J(A, Z) = ½ Σ_v ‖X_v − Z U_v‖² + λ_Z ‖Z‖₁ + (μ/2) ‖Z‖² + β (φ_s + λ_M φ_M) / (φ_C + ε)

where φ_s = Tr(A (I − D^-½ ZᵀZ D^-½) Aᵀ), D = diag(ZᵀZ 1), φ_M = Tr(Fᵀ L_M F), φ_C = Tr(Fᵀ L_C F) and
F = Z_l Aᵀ over the labelled rows (paper, eq. op: FSSMSC, and its addition μ; see docs/method.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..supervision import Laplacian

EPSILON = 1e-5  # ε and ε_q of the paper


class CrossProducts(Protocol):
    """Access to E = Σ_v X_v U_vᵀ, block of rows by block of rows."""

    n_rows: int
    blocks: list[slice]

    def rows(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.floating]:
        """Return the rows ``index`` of E as a new or read-only array."""
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
        Σ_v ‖X_v‖², the constant of the data term.
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

    @property
    def n_landmarks(self) -> int:
        """Number m of landmarks."""
        return len(self.gram)


@dataclass
class MemoryCrossProducts:
    """Cross products held whole in memory; enough for small data, tests and studies."""

    values: npt.NDArray[np.floating]
    block_size: int = 1024

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


def _row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
