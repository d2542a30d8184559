"""The weights of the model: as the paper has them, in units of the data, and turned from these; codes kept sparse.

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

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Weights
from .elastic_net import hessian_of, optimality_tol, solve_codes
from .problem import CrossProducts

UNITS = ("data", "paper")
_SOME_ROWS = 500  # that units are measured on: sizes of codes are then right to a few per cent
_FIRST_ROWS = 50  # of those, whose codes are counted first
DENSE = 120  # non-zeros above which codes are too dense: a row costs by their cube, fifteen times as much as with 50
_LIGHTER = 3.0  # by how much weights change at a time to make codes sparser
_LEAST_RIDGE = 0.1  # below this the ridge does nothing
_MOST_L1 = 0.8  # of the best correlation: fewer landmarks than one in ten come so near


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


@dataclass(frozen=True)
class PaperWeights:
    """The weights of a fit.

    Parameters
    ----------
    weights : ModelWeights
        As the paper has them.
    nonzeros : float
        Mean number of non-zeros of a code, counted on some rows.
    asked : ModelWeights
        In the units that were asked for; changed if codes would have been too dense and weights were free.
    was_dense : bool
        Whether they would have been.
    """

    weights: ModelWeights
    nonzeros: float
    asked: ModelWeights
    was_dense: bool


def measure_some(cross: CrossProducts, gram: Matrix, weights: Weights = None) -> tuple[DataUnits, Matrix, Weights]:
    """Return the units of all rows, measured on some, and these rows of E with their weights."""
    usable = np.arange(cross.n_rows) if weights is None else np.flatnonzero(weights > 0)
    places = np.unique(np.linspace(0, len(usable) - 1, _SOME_ROWS).astype(np.intp)) if len(usable) else usable
    rows = usable[places]
    products, some = cross.take(rows), None if weights is None else weights[rows]
    return measure_units(gram, products, some), products, some


def to_paper_weights(
    cross: CrossProducts,
    gram: Matrix,
    asked: ModelWeights,
    units: str,
    weights: Weights = None,
    *,
    is_free: bool = False,
) -> PaperWeights:
    """Turn weights into the paper's, and count the non-zeros of codes.

    Parameters
    ----------
    cross : CrossProducts
        E.
    gram : ndarray of shape (m, m)
        G, of the landmarks.
    asked : ModelWeights
        The weights that were asked for.
    units : {"data", "paper"}
        Their units.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.
    is_free : bool
        Whether l1 and ridge, in units of the data, may be changed where codes would be dense. Rows that are nearly
        parallel want a smaller ridge, others a larger l1.
    """
    measured, products, some = measure_some(cross, gram, weights)
    first = products[:: max(1, len(products) // _FIRST_ROWS)]

    def count(now: ModelWeights, rows: Matrix, of_rows: Weights = None) -> CodeSizes:
        l1, ridge = (now.l1, now.ridge) if units == "paper" else for_codes(now.l1, now.ridge, measured)
        return measure_codes(encode_some(gram, rows, l1, ridge), of_rows)

    sizes = count(asked, first)
    was_dense = sizes.nonzeros > DENSE
    while was_dense and is_free and sizes.nonzeros > DENSE:
        if asked.ridge > _LEAST_RIDGE:
            asked = replace(asked, ridge=max(asked.ridge / _LIGHTER, _LEAST_RIDGE))
        elif asked.l1 < _MOST_L1:
            asked = replace(asked, l1=min(max(asked.l1, 0.01) * _LIGHTER, _MOST_L1))
        else:
            break
        sizes = count(asked, first)
    if units == "paper":
        return PaperWeights(asked, sizes.nonzeros, asked, was_dense)
    if sizes.nonzeros <= DENSE:
        sizes = count(asked, products, some)
    l1, ridge = for_codes(asked.l1, asked.ridge, measured)
    must, coupling = for_labels(asked.must_link_weight, asked.coupling, len(gram), sizes.squares)
    return PaperWeights(ModelWeights(l1, ridge, must, coupling), sizes.nonzeros, asked, was_dense)


def encode_some(gram: Matrix, cross: Matrix, l1: float, ridge: float) -> sparse.csr_array:
    """Return the codes of a few rows of E; without what is worth preparing for many."""
    hessian = hessian_of(gram, ridge, cross.dtype)
    return solve_codes(hessian, cross - cross.dtype.type(l1), optimality_tol(gram, cross.dtype))
