"""Weights in units of the data turned into the paper's, once rows are represented; codes kept from getting dense."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Weights
from ..features.representation import Representation
from ..solver.elastic_net import hessian_of, optimality_tol, solve_codes
from ..solver.weights import CodeSizes, DataUnits, ModelWeights, for_codes, for_labels, measure_codes, measure_units

_SOME_ROWS = 500  # that units are measured on: sizes of codes are then right to a few per cent
_FIRST_ROWS = 50  # of those, whose codes are counted first
DENSE = 120  # non-zeros above which codes are too dense: a row costs by their cube, fifteen times as much as with 50
_LIGHTER = 3.0  # by how much weights change at a time to make codes sparser
_LEAST_RIDGE = 0.1  # below this the ridge does nothing
_MOST_L1 = 0.8  # of the best correlation: fewer landmarks than one in ten come so near


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


def measure_source(source: Representation, weights: Weights = None) -> tuple[DataUnits, Matrix, Weights]:
    """Return the units of represented rows, and the rows of E that they were measured on with their weights."""
    usable = np.arange(source.cross.n_rows) if weights is None else np.flatnonzero(weights > 0)
    places = np.unique(np.linspace(0, len(usable) - 1, _SOME_ROWS).astype(np.intp)) if len(usable) else usable
    rows = usable[places]
    cross, some = source.cross.take(rows), None if weights is None else weights[rows]
    return measure_units(source.grams.complete, cross, some), cross, some


def to_paper_weights(
    source: Representation, asked: ModelWeights, units: str, weights: Weights = None, *, is_free: bool = False
) -> PaperWeights:
    """Turn weights into the paper's, and count the non-zeros of codes.

    Parameters
    ----------
    source : Representation
        The rows and their landmarks.
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
    measured, cross, some = measure_source(source, weights)
    gram = source.grams.complete
    first = cross[:: max(1, len(cross) // _FIRST_ROWS)]

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
        sizes = count(asked, cross, some)
    l1, ridge = for_codes(asked.l1, asked.ridge, measured)
    must, coupling = for_labels(asked.must_link_weight, asked.coupling, len(source.landmarks), sizes.squares)
    return PaperWeights(ModelWeights(l1, ridge, must, coupling), sizes.nonzeros, asked, was_dense)


def encode_some(gram: Matrix, cross: Matrix, l1: float, ridge: float) -> sparse.csr_array:
    """Return the codes of a few rows of E; without what is worth preparing for many."""
    hessian = hessian_of(gram, ridge, cross.dtype)
    return solve_codes(hessian, cross - cross.dtype.type(l1), optimality_tol(gram, cross.dtype))
