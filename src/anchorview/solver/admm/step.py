"""ADMM, the side of the rows: what happens to one block of samples in one iteration, and its replay.

With the scaled multiplier Y = Λ/λ and K = (G + λI)⁻¹ the paper's updates of Z, B and Λ are, a sample per row,

    Z⁺ = clip(Z − η ∇P(Z), 0, m_Z),    ∇P(Z) = λ (Z − B − Y) + λ_Z + μ Z + R(Z)      (eq. update Z)
    B⁺ = E K + λ (Z⁺ − Y) K                                                           (eq. update B)
    Y⁺ = Y + B⁺ − Z⁺                                                                  (eq. update multipliers)

E enters only through B⁰ = E K, the paper's initial B. What is left of the gradient has rank k + 2,

    R(Z) = −(2β/τ₂) Z D_q^-½ AᵀA D_q^-½ + λ₀ (Z1 rᵀ + Z r 1ᵀ),    r = ZᵀZ1 − q,

plus, for labelled rows only, β L_pc Z_l AᵀA. Thus an unlabelled row needs nothing but its own past and a few
vectors that are the same for all rows: kept, they let a new row go through the very same iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...core.arrays import Matrix, Presence, Rows


@dataclass(frozen=True)
class RowModel:
    """What stays the same over the iterations."""

    inverse: Matrix  # K = (G + λI)⁻¹, in the dtype of the rows
    l1: float  # λ_Z
    ridge: float  # μ
    penalty: float  # λ
    upper: float  # m_Z
    normalise: bool  # divide each row by its sum after each clip, as the released code does


@dataclass(frozen=True)
class Push:
    """What all rows of an iteration share: R(Z) = (Z `left`) `right`, and the step η as a fraction of 1/λ."""

    left: Matrix  # m×(k+2): [C, 1, λ₀r], C = (2β/τ₂)^½ D_q^-½ Aᵀ
    right: Matrix  # (k+2)×m: [−Cᵀ; λ₀rᵀ; 1ᵀ]
    step: float


def first_consensus(model: RowModel, cross: Matrix) -> Matrix:
    """Return B⁰ = E K."""
    return cross.astype(model.inverse.dtype, copy=False) @ model.inverse


def first_codes(model: RowModel, consensus: Matrix) -> Matrix:
    """Return Z⁰ = clip(B⁰ − λ_Z/λ, 0, m_Z)."""
    return _feasible(model, consensus - consensus.dtype.type(model.l1 / model.penalty))


def update_codes(
    model: RowModel,
    push: Push,
    codes: Matrix,
    target: Matrix,
    pairs: tuple[Rows, Matrix] | None = None,
) -> Matrix:
    """Return Z⁺, given Z, the target B + Y and, for labelled rows, their positions and β L_pc Z_l AᵀA.

    At the paper's step, η = 1/λ, the first line is the target itself: Z⁺ = clip(B + Y − (λ_Z + μZ + R(Z))/λ).
    """
    moved: Matrix = target.copy() if push.step == 1.0 else codes + push.step * (target - codes)
    gradient = (codes @ push.left) @ push.right
    gradient += codes.dtype.type(model.l1)
    if model.ridge:
        gradient += model.ridge * codes
    if pairs is not None:
        gradient[pairs[0]] += pairs[1]
    gradient *= push.step / model.penalty
    moved -= gradient
    return _feasible(model, moved)


def update_consensus(model: RowModel, first: Matrix, dual: Matrix, codes: Matrix) -> tuple[Matrix, Matrix]:
    """Return B⁺ and Y⁺, given B⁰, Y and Z⁺."""
    consensus = first + (model.penalty * (codes - dual)) @ model.inverse
    return consensus, dual + consensus - codes


def _feasible(model: RowModel, values: Matrix) -> Matrix:
    np.clip(values, 0.0, model.upper, out=values)
    if model.normalise:
        values /= values.sum(axis=1, keepdims=True) + np.finfo(np.float64).eps
    return values


@dataclass(frozen=True)
class ReplayEncoder:
    """Codes of new rows: the iterations of the fit, run again for rows without labels.

    A row of the fit that had no label gets the code it got there, up to rounding.
    """

    model: RowModel
    pushes: tuple[Push, ...]

    def encode(self, cross: Matrix, present: Presence = None) -> sparse.csr_array:
        """Return the codes (rows×m) for some rows of E; ADMM has one Gram matrix, so they must have all views."""
        if present is not None and not present.all():
            raise ValueError(
                'solver="admm" needs rows that have all views; use solver="active_set" or drop the others.'
            )
        first = first_consensus(self.model, cross)
        codes = first_codes(self.model, first)
        consensus, dual = first, np.zeros_like(first)
        for push in self.pushes:
            codes = update_codes(self.model, push, codes, consensus + dual)
            consensus, dual = update_consensus(self.model, first, dual, codes)
        return sparse.csr_array(codes)
