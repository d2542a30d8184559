"""The views side by side, as a user without a multi-view method would take them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, Matrix, is_sparse, squared_norms
from ._matrix import inverse


def view_factors(views: list[AnyMatrix], equal_views: bool) -> Matrix:
    """Return one factor per view: all 1, or those that give every view a total variance of 1.

    A view then does not count more for having more features.

    Examples
    --------
    >>> view_factors([np.array([[3.0, 4.0], [3.0, 0.0]]), np.array([[1.0], [2.0]])], True)
    array([0.5, 2. ])
    """
    if not equal_views:
        return np.ones(len(views))
    return inverse(np.sqrt([_total_variance(rows) for rows in views]))


def _total_variance(rows: AnyMatrix) -> float:
    mean = np.asarray(rows.mean(axis=0)).ravel()
    if is_sparse(rows):
        total = float(squared_norms(rows).mean())
        return max(total - float(mean @ mean), 1e-15 * total)  # a constant view: only rounding is left
    return float(squared_norms(rows - mean).mean())


def concatenate_views(views: list[AnyMatrix], factors: Matrix) -> AnyMatrix:
    """Return all features, times the factors of their views, as one array; as csr_array if some view is sparse.

    Examples
    --------
    >>> concatenate_views([np.array([[3.0, 4.0]]), np.array([[2.0]])], np.array([1.0, 10.0]))
    array([[ 3.,  4., 20.]])
    """
    parts = [rows * factor for rows, factor in zip(views, factors, strict=True)]
    if any(is_sparse(rows) for rows in parts):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(rows) for rows in parts]))
    return np.hstack(parts)
