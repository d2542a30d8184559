"""Directions of a latent semantic analysis in one byte a number, each term once: what makes a model of text small.

A row of the matrix says where a term points to. Its numbers are whole steps, from −127 to 127, of the row's own scale:
what is lost is half a step at most, 0.4 % of the largest of them, and the terms of a text err in different directions.
A fit uses the very numbers that its model file holds. N-grams that are in the same texts, as often, point to the same
place, and share a row: of those of 5,000 descriptions a third does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix

_MOST_STEPS = 127
_SCALE_BITS = 8  # of a scale; rounding in the last bits must not tell rows apart that are the same
LANDMARK_BITS = 10  # of a coordinate of a landmark in such a space: three digits, as many as mean something there


@dataclass(frozen=True, eq=False)
class Directions:
    """A matrix of directions (terms × directions), rows that are the same kept once."""

    steps: npt.NDArray[np.int8]  # different rows, in steps of their scale
    scale: Matrix  # size of a step, of each of them
    row_of: npt.NDArray[np.int32]  # which of them each term has

    @cached_property
    def matrix(self) -> Matrix:
        """The matrix, one row for each term."""
        return (self.steps * self.scale[:, None])[self.row_of]


def keep_directions(matrix: Matrix) -> Directions:
    """Return a matrix of directions in whole steps.

    Examples
    --------
    >>> kept = keep_directions(np.array([[1.27, -0.5], [0.0, 0.0], [1.27, -0.5]]))
    >>> len(kept.steps), kept.matrix.round(2).tolist()
    (2, [[1.27, -0.5], [0.0, 0.0], [1.27, -0.5]])
    """
    fraction, exponent = np.frexp(np.abs(matrix).max(axis=1, initial=0.0) / _MOST_STEPS)
    size = 2.0**_SCALE_BITS
    scale = np.ldexp(np.ceil(np.round(fraction * size, 3)) / size, exponent).astype(matrix.dtype)
    steps = np.rint(matrix / np.where(scale > 0, scale, 1)[:, None]).astype(np.int8)
    together = np.ascontiguousarray(np.hstack([scale[:, None].view(np.int8).reshape(len(scale), -1), steps]))
    _, first, row_of = np.unique(together.view(f"V{together.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return Directions(np.ascontiguousarray(steps[first]), scale[first], row_of.astype(np.int32))
