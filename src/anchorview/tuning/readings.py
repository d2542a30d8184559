"""Readings that stand beside that of the embedding, and their mean.

They read a row of E = X Uᵀ, which a fit and a prediction have at hand: no second look at the features. How they are
fitted is in `reading_fits`, which is loaded when a fit needs it.

Different readings make different mistakes: the mean of their probabilities is often better than each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

from ..core.arrays import Matrix
from ..readers.averaging import temper
from ..readers.nearest import LabelledNeighbours

if TYPE_CHECKING:
    from ..readers.graph import FittedRows, GraphSpace
    from ..readers.kept_neighbours import KeptNeighbours


@dataclass(frozen=True)
class LinearReading:
    """Class probabilities by a logistic regression, folded into one product with rows of E."""

    space: GraphSpace  # of as many columns as there are classes
    intercept: Matrix
    strength: float  # C of the regression
    temperature: float

    def read(self, products: Matrix) -> Matrix:
        """Return the class probabilities of rows of E."""
        result: Matrix = softmax((self.space.coordinates(products) + self.intercept) / self.temperature, axis=1)
        return result


@dataclass(frozen=True)
class GraphReading:
    """Class probabilities by the potential of the nearest rows of the graph."""

    rows: FittedRows
    potential: npt.NDArray[np.float32]
    temperature: float

    def read(self, products: Matrix) -> Matrix:
        """Return the class probabilities of rows of E."""
        return self.read_weights(self.rows.weights(products))

    def read_weights(self, weights: sparse.csr_array) -> Matrix:
        """Return the same for rows whose weights of the rows of the graph are known."""
        potential = np.asarray(weights @ self.potential, dtype=np.float64)
        result: Matrix = softmax(potential / self.temperature, axis=1)
        return result


def sum_votes(readings: Sequence[LinearReading | GraphReading], products: Matrix) -> Matrix:
    """Return the sum of the class probabilities that readings give to rows of E."""
    result: Matrix = np.sum([reading.read(products) for reading in readings], axis=0)
    return result


def sum_votes_of_block(
    readings: Sequence[LinearReading | GraphReading], neighbours: KeptNeighbours | None, block: slice, products: Matrix
) -> Matrix:
    """Return the same of a block of rows of the fit, whose neighbours in the graph are known, or kept."""
    votes = []
    for reading in readings:
        if neighbours is None or isinstance(reading, LinearReading):
            votes.append(reading.read(products))
            continue
        if not neighbours.has(block):
            neighbours.fill(block, reading.rows, products)
        votes.append(reading.read_weights(reading.rows.weigh(*neighbours.read(block))))
    result: Matrix = np.sum(votes, axis=0)
    return result


@dataclass(frozen=True)
class Readings:
    """The mean of several readings.

    Parameters
    ----------
    neighbours : LabelledNeighbours or None
        The reading of the embedding, where it takes part.
    on_products : tuple
        Readings of rows of E.
    temperature : float
        Of the mean.
    """

    neighbours: LabelledNeighbours | None
    on_products: tuple[LinearReading | GraphReading, ...]
    temperature: float = 1.0

    def votes(self, products: Matrix) -> Matrix:
        """Return the sum of the class probabilities that rows of E give."""
        return sum_votes(self.on_products, products)

    def settle(self, votes: Matrix, embedding: Matrix, n_threads: int = 1) -> Matrix:
        """Return class probabilities from votes and embedded rows; these are not looked at without neighbours."""
        if self.neighbours is not None:
            votes = votes + self.neighbours.read(embedding, n_threads)
        return temper(votes, self.temperature)
