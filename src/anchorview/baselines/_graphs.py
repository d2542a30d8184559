"""Graphs of exact nearest neighbours over the rows of one view, and their Laplacians, all sparse."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, Matrix, Rows, as_dense, squared_norms
from ..features.neighbours import nearest_rows
from ._matrix import diagonal, inverse, unit_length


def pkn_graph(rows: AnyMatrix, n_neighbors: int = 5, n_threads: int = 1, *, symmetric: bool = True) -> sparse.csr_array:
    """Return the parameter-free graph of Nie et al.: weights fall linearly to 0 at neighbour k + 1.

    w_ij = (d_(k+1) − d_j) / Σ_h (d_(k+1) − d_h) over the k nearest, which adds up to 1 in each row; then the mean of W
    and Wᵀ. Where all k + 1 distances are equal (duplicate rows) the formula is 0/0, and its limit 1/k is taken.

    Examples
    --------
    >>> pkn_graph(np.array([[0.0], [1.0], [2.0], [4.0]]), 2, symmetric=False).toarray().round(2)
    array([[0.  , 0.56, 0.44, 0.  ],
           [0.5 , 0.  , 0.5 , 0.  ],
           [0.  , 1.  , 0.  , 0.  ],
           [0.  , 0.37, 0.63, 0.  ]])
    """
    index, distances = nearest_rows(rows, n_neighbors + 1, n_threads=n_threads)
    count = max(1, index.shape[1] - 1)  # with two rows there is no neighbour k + 1
    weights = pkn_weights(distances)
    graph = to_csr(index[:, :count], weights, rows.shape[0])
    return sparse.csr_array((graph + graph.T) / 2) if symmetric else graph


def pkn_weights(distances: Matrix) -> Matrix:
    """Return the weights of the first k of k + 1 distances per row, which ascend but for rounding."""
    if distances.shape[1] < 2:
        return np.ones_like(distances)
    gaps = np.maximum(distances[:, -1:] - distances[:, :-1], 0.0)  # a weight below 0 would leave no graph
    total = gaps.sum(axis=1, keepdims=True)
    even = total <= 1e-12 * gaps.shape[1] * distances[:, -1:]
    return np.where(even, 1.0 / gaps.shape[1], gaps / np.where(even, 1.0, total))


def knn_graph(
    rows: AnyMatrix, n_neighbors: int = 5, weight: str = "binary", n_threads: int = 1, *, self_loops: bool = False
) -> sparse.csr_array:
    """Return the graph that joins two rows if either is among the other's k nearest: max(W, Wᵀ).

    Parameters
    ----------
    weight : {"binary", "cosine"}
        1 between Euclidean neighbours; or the cosine between neighbours by angle, not below 0.
    self_loops : bool
        Put the row's own weight, 1 (0 for the cosine of a row of zeros), on the diagonal.

    Examples
    --------
    >>> knn_graph(np.array([[0.0], [1.0], [5.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    n = rows.shape[0]
    if weight == "cosine":
        rows = unit_length(rows)
        index, distances = nearest_rows(rows, n_neighbors, "cosine", n_threads)
        weights = np.maximum(1.0 - distances, 0.0)
    else:
        index, distances = nearest_rows(rows, n_neighbors, n_threads=n_threads)
        weights = np.ones_like(distances)
    graph = to_csr(index, weights, n)
    graph = sparse.csr_array(graph.maximum(graph.T))
    if self_loops:
        own = (squared_norms(rows) > 0).astype(np.float64) if weight == "cosine" else np.ones(n)
        graph = sparse.csr_array(graph + diagonal(own))
    return graph


def to_csr(index: Rows, weights: Matrix, n: int) -> sparse.csr_array:
    """Return the graph whose row i holds `weights[i]` at the columns `index[i]`; both arrays stay as they are."""
    starts = np.arange(0, index.size + 1, index.shape[1]) if index.size else np.zeros(n + 1, dtype=np.intp)
    # flatten copies, ravel would not: the two calls below work in place
    graph = sparse.csr_array((weights.flatten(), index.flatten(), starts), shape=(n, n))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def degrees(graph: sparse.csr_array) -> Matrix:
    """Return the row sums."""
    return as_dense(graph.sum(axis=1)).ravel()


def laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Return D − W.

    Examples
    --------
    >>> laplacian(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return sparse.csr_array(diagonal(degrees(graph)) - graph)


def normalized_laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Return I − D^{−1/2} W D^{−1/2}, with 0 instead of 1 on the diagonal of rows without neighbours.

    Examples
    --------
    >>> normalized_laplacian(sparse.csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    degree = degrees(graph)
    root = diagonal(inverse(np.sqrt(degree)))
    return sparse.csr_array(diagonal((degree > 0).astype(np.float64)) - root @ graph @ root)
