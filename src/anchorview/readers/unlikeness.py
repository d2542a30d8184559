"""How unlike all others a row is: how far from the middle of all rows, in directions in which rows seldom differ.

Products with the landmarks vary together, because the features do: a row whose features do not belong together is far
out where others hardly vary at all, however usual each feature is by itself. That is the distance of Mahalanobis. It
knows no label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Mask, Matrix, Rows
from ..engine.blocks import one_blas_thread, row_blocks

_MOST_ROWS = 20_000  # by which is known how rows vary
_BLOCK = 8192  # rows in double precision at a time
# Of the mean variance: less than this is the rounding of products in single precision as much as a way to vary.
_LEAST_VARIANCE = 1e-4
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Unlikeness:
    """What tells how unlike the rows of a fit any row is.

    Attributes
    ----------
    middle : ndarray of shape (n_landmarks,)
        Mean products with the landmarks.
    directions : ndarray of shape (n_landmarks, n_landmarks)
        In which rows vary as much in each.
    of_rows : ndarray of shape (n_rows,)
        Of the rows of the fit, as if none of them had been there to tell its own.
    """

    middle: Matrix
    directions: Matrix
    of_rows: Matrix

    def of(self, products: Matrix) -> Matrix:
        """Return the logarithm of the distance of rows, by their products with the landmarks."""
        return _logarithm(_squares(products, self.middle, self.directions))


def drawn_rows(usable: Mask) -> Rows:
    """Return rows, spread over all that something is known of, by which is known how rows vary."""
    rows = np.flatnonzero(usable)
    return rows[:: max(-(-len(rows) // _MOST_ROWS), 1)]


def fit_unlikeness(drawn: Matrix, rows: Rows, products: Iterable[Matrix], usable: Mask) -> Unlikeness:
    """Learn how rows vary.

    Parameters
    ----------
    drawn : ndarray of shape (n_drawn, n_landmarks)
        Products with the landmarks of some rows.
    rows : ndarray of shape (n_drawn,)
        Their numbers: `drawn_rows`.
    products : iterable of ndarray
        Of all rows, some rows after the other.
    usable : ndarray of bool of shape (n_rows,)
        Rows of which something is known; the others are as these usually are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 2))
    >>> both[0] = 1.5, -1.5  # neither is unusual
    >>> int(fit_unlikeness(both, np.arange(200), [both], np.full(200, True)).of_rows.argmax())
    0
    """
    used = drawn.astype(np.float64)
    middle = used.mean(axis=0)
    used -= middle
    with one_blas_thread():  # several round otherwise
        variances, vectors = np.linalg.eigh(used.T @ used / len(used))
    floor = max(_LEAST_VARIANCE * float(variances.mean()), _LEAST)
    directions = vectors / np.sqrt(np.maximum(variances, 0.0) + floor)
    squares = np.concatenate([_squares(part, middle, directions) for part in products])
    # What a row adds to the variances makes it less far; without it, it would be as far as this.
    squares[rows] /= np.maximum(1 - squares[rows] / len(rows), 1 / len(rows))
    of_rows = _logarithm(squares)
    of_rows[~usable] = np.median(of_rows[usable])
    return Unlikeness(middle.astype(np.float32), directions.astype(np.float32), of_rows.astype(np.float32))


def _squares(products: Matrix, middle: Matrix, directions: Matrix) -> Matrix:
    parts = [np.empty(0)]
    with one_blas_thread():
        for block in row_blocks(len(products), _BLOCK):
            placed = (products[block].astype(np.float64) - middle) @ directions
            parts.append(np.einsum("ij,ij->i", placed, placed))
    return np.concatenate(parts)


def _logarithm(squares: Matrix) -> Matrix:
    result: Matrix = 0.5 * np.log(np.maximum(squares, _LEAST))
    return result
