"""Projection on the probability simplex {z ≥ 0, Σ z = 1}."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Matrix


def project_rows(points: Matrix) -> Matrix:
    """Return the nearest point of the simplex to each row.

    The solution is max(u − θ, 0); with the entries of u in descending order, θ is settled by the largest j for which
    the j-th entry stays positive.

    Examples
    --------
    >>> project_rows(np.array([[0.5, 0.7, -1.0], [9.0, 0.0, 0.0]]))
    array([[0.4, 0.6, 0. ],
           [1. , 0. , 0. ]])
    """
    shifted = points - points.max(axis=1, keepdims=True)  # moves θ only, and keeps huge entries exact
    descending = -np.sort(-shifted, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    ranks = np.arange(1, points.shape[1] + 1)
    n_positive = np.count_nonzero(descending * ranks > excess, axis=1)
    theta = excess[np.arange(len(points)), n_positive - 1] / n_positive
    result: Matrix = np.maximum(shifted - theta[:, None], 0.0)
    return result
