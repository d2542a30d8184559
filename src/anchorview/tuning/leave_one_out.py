"""A ridge regression on the classes of labelled rows, and what it says of each without its own label.

For a regression that is linear in the labels, hiding one of them needs no new fit: with h the weight that a row's own
label has in its fitted value, the value without it is (fitted − h · own) / (1 − h), exactly. One eigen-decomposition
serves all rows and all strengths of the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows, Weights

STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # of the penalty, in units of the mean square of the rows
_SLIGHT = 1e-10  # part of the largest variance below which a direction holds nothing but rounding


@dataclass(frozen=True)
class RidgeSpace:
    """Labelled rows along their principal directions.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Mean of the rows.
    directions : ndarray of shape (n_features, r)
        Principal directions.
    squares : ndarray of shape (r,)
        Sums of squares along them.
    total : float
        Number of rows, by weight.
    """

    mean: Matrix
    directions: Matrix
    squares: Matrix
    total: float

    def coordinates(self, rows: Matrix) -> Matrix:
        """Return rows along the directions."""
        return np.asarray((rows - self.mean) @ self.directions)

    def penalty(self, strength: float) -> float:
        """Return the penalty of a strength; positive even if all rows are the same."""
        return max(strength * float(self.squares.sum()) / self.total, 1e-300)


def make_ridge_space(rows: Matrix, weights: Weights) -> RidgeSpace:
    """Return the space of labelled rows, of which at least one has a positive weight."""
    wide = np.asarray(rows, dtype=np.float64)
    mean = np.average(wide, axis=0, weights=weights)
    centred = wide - mean
    if weights is not None:
        centred *= np.sqrt(weights)[:, None]
    n_rows, n_features = centred.shape
    values, vectors = np.linalg.eigh(centred @ centred.T if n_rows < n_features else centred.T @ centred)
    kept = values > _SLIGHT * max(float(values[-1]), 1e-300)
    values, vectors = values[kept], vectors[:, kept]
    directions = centred.T @ (vectors / np.sqrt(values)) if n_rows < n_features else vectors
    return RidgeSpace(mean, directions, values, float(n_rows if weights is None else weights.sum()))


@dataclass(frozen=True)
class LeaveOneOut:
    """A fitted regression of one strength: scores of rows without their own labels."""

    space: RidgeSpace
    moments: Matrix  # of shape (r, n_classes): what the labels say along the directions
    shares: Matrix  # of the classes
    penalty: float

    def scores(self, coordinates: Matrix, class_ids: ClassIds, weights: Matrix) -> Matrix:
        """Return one score per row and class.

        Parameters
        ----------
        coordinates : ndarray of shape (n_rows, r)
            Of the rows.
        class_ids : ndarray of shape (n_rows,)
            The labels that it was fitted with.
        weights : ndarray of shape (n_rows,)
            How much each row counted in the fit; 0 if it was not there.
        """
        shrunk = 1 / (self.space.squares + self.penalty)
        fitted = coordinates @ (shrunk[:, None] * self.moments) + self.shares
        own_weight = weights * (1 / self.space.total + np.square(coordinates) @ shrunk)
        fitted[np.arange(len(class_ids)), class_ids] -= own_weight
        return np.asarray(fitted / np.maximum(1 - own_weight, 1e-9)[:, None])


def fit_moments(
    space: RidgeSpace, coordinates: Matrix, class_ids: ClassIds, n_classes: int, weights: Matrix
) -> tuple[Matrix, Matrix]:
    """Return what labels say along the directions, and the share of each class: all that a regression needs of them."""
    shares = np.bincount(class_ids, weights, minlength=n_classes) / space.total
    moments = np.zeros((coordinates.shape[1], n_classes))
    for number in range(n_classes):
        rows: Rows = np.flatnonzero(class_ids == number)
        moments[:, number] = weights[rows] @ coordinates[rows]
    return moments - np.outer(weights @ coordinates, shares), shares
