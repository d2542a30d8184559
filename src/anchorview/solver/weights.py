"""The weights of the model: as the paper has them, and in units of the data.

λ_Z, μ, λ_M and β stand beside a data term whose size depends on the number of views, on their scaling and on how alike
rows are, so the same numbers mean something else for one view than for six. In units of the data they do not:

    λ_Z = l1 · ē                     ē:  mean, over rows, of the largest entry of the row in E
    μ   = ridge · s²                 s²: mean squared distance of the landmarks from their mean
    λ_M = must_link_weight · m / ζ   ζ:  mean, over rows, of ‖z‖²
    β   = coupling · ζ / (m · max(1, must_link_weight))

λ_Z is what a landmark's correlation with a row must exceed to be in its code: here a share of what the best landmark
has. μ decides how a code spreads over landmarks that are alike, and what tells these apart is their distance; the part
that all landmarks have in common can be a hundred times larger and says nothing. φ_M is a mean of squared differences
of F = Z Aᵀ with orthonormal A, so of the size of ‖z‖² k / m, while φ_s does not know how long codes are. β weighs what
grows with λ_M. With l1 = 0.1 and ridge = 1 to 3, codes over 500 landmarks mostly have 15 to 100 non-zeros whatever the
features are (docs/method.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Weights

UNITS = ("data", "paper")


@dataclass(frozen=True)
class ModelWeights:
    """λ_Z, μ, λ_M and β, in one of the units."""

    l1: float
    ridge: float
    must_link_weight: float
    coupling: float


# What "auto" stands for where labels do not decide; "paper": constants that suit the sets of the paper.
DEFAULTS = {"data": ModelWeights(0.1, 3.0, 3.0, 0.03), "paper": ModelWeights(0.2, 1.0, 1e4, 1e-4)}


@dataclass(frozen=True)
class DataUnits:
    """What λ_Z and μ are measured by."""

    correlation: float  # ē
    distance: float  # s²


def measure_units(gram: Matrix, cross: Matrix, weights: Weights = None) -> DataUnits:
    """Return ē of some rows of E, and s² of the landmarks with Gram matrix G.

    Examples
    --------
    >>> measure_units(np.eye(2), np.array([[0.5, 0.1], [0.2, 0.3]]))
    DataUnits(correlation=0.4, distance=0.5)
    """
    largest = cross.max(axis=1).astype(np.float64)
    mean = float(np.average(largest, weights=weights)) if len(largest) else 0.0
    return DataUnits(max(mean, 0.0), max(float(np.diagonal(gram).mean() - gram.mean()), 0.0))


@dataclass(frozen=True)
class CodeSizes:
    """What some codes are like."""

    nonzeros: float  # mean number of them
    squares: float  # ζ


def measure_codes(codes: sparse.csr_array, weights: Weights = None) -> CodeSizes:
    """Return the mean number of non-zeros of codes and their mean squared length."""
    if codes.shape[0] == 0:
        return CodeSizes(0.0, 0.0)
    squares = np.asarray(codes.power(2).sum(axis=1), dtype=np.float64).ravel()
    return CodeSizes(codes.nnz / codes.shape[0], float(np.average(squares, weights=weights)))


def for_codes(l1: float, ridge: float, units: DataUnits) -> tuple[float, float]:
    """Return λ_Z and μ as the paper has them."""
    return l1 * units.correlation, ridge * units.distance


def for_labels(must_link_weight: float, coupling: float, n_landmarks: int, squares: float) -> tuple[float, float]:
    """Return λ_M and β as the paper has them; of codes that are all zero, as if they had length 1."""
    share = (squares if squares > 0 else 1.0) / n_landmarks
    return must_link_weight / share, coupling * share / max(1.0, must_link_weight)
