"""Neighbour graphs over the rows of one view, and their Laplacians, all sparse.

Neighbours are exact. Rows at the same distance (to working precision) are taken in the order of their numbers, and a
row is never its own neighbour, also among duplicates; so the graph does not depend on threads or blocks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.parallel import map_blocks
from ._matrix import Dense, Index, Matrix, as_dense, diagonal, inverse, is_sparse, multiply, squared_norms, unit_rows

_BLOCK_ENTRIES = 2**22  # distances of one block: 32 MB


def nearest_rows(rows: Matrix, n_neighbors: int, metric: str = "euclidean", n_threads: int = 1) -> tuple[Index, Dense]:
    """Return each row's nearest other rows, nearest first.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Finite rows; of unit length or zero for "cosine".
    n_neighbors : int
        How many; all other rows if there are fewer.
    metric : {"euclidean", "cosine"}
        Squared Euclidean distance, or 1 − inner product.

    Returns
    -------
    index, distances : ndarrays of shape (n, n_neighbors)

    Examples
    --------
    >>> nearest_rows(np.array([[0.0], [1.0], [5.0], [1.0]]), 2)[0].tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    n = rows.shape[0]
    count = min(n_neighbors, n - 1)
    if count < 1:
        return np.zeros((n, 0), dtype=np.intp), np.zeros((n, 0))
    if metric == "euclidean" and not is_sparse(rows):
        rows = rows - rows.mean(axis=0)  # far from the origin the products would round small distances away
    step = max(1, _BLOCK_ENTRIES // max(rows.shape))
    transposed, squared = rows.T, squared_norms(rows)
    # Rounding of the products below: distances closer than that are ties.
    noise = np.finfo(np.float64).eps * (8 + np.sqrt(rows.shape[1])) * (squared + squared.max())

    def of_block(block: slice) -> tuple[Index, Dense]:
        distances = multiply(rows[block], transposed)
        distances *= -1.0
        if metric == "euclidean":
            distances += squared / 2  # half the squared distance, but for the row's own square: the same order
        distances[np.arange(len(distances)), np.arange(block.start, block.stop)] = np.inf
        index = _smallest(distances, count, noise[block])
        exact = _exact_distances(rows, block, index, metric)
        return _in_order(index, exact, np.sqrt(squared[block] + squared.max()))

    parts = map_blocks(of_block, [slice(s, min(s + step, n)) for s in range(0, n, step)], n_threads)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _smallest(distances: Dense, count: int, noise: Dense) -> Index:
    """Columns of the smallest entries of each row, ascending; of tied entries those with the lowest columns."""
    last = np.partition(distances, count - 1, axis=1)[:, count - 1]
    near = distances <= (last + noise)[:, None]
    for row in np.flatnonzero(np.count_nonzero(near, axis=1) > count):
        surely = distances[row] < last[row] - noise[row]
        ties = np.flatnonzero(near[row] & ~surely)
        near[row, ties[count - np.count_nonzero(surely) :]] = False
    result: Index = near.nonzero()[1].reshape(len(distances), count)
    return result


def _in_order(index: Index, distances: Dense, size: Dense) -> tuple[Index, Dense]:
    """Sort by distance; distances that only rounding tells apart are ties, and go by row number."""
    order = np.argsort(distances, axis=1, kind="stable")
    index, distances = np.take_along_axis(index, order, axis=1), np.take_along_axis(distances, order, axis=1)
    noise = 8 * np.finfo(np.float64).eps * size[:, None] * np.sqrt(np.abs(distances[:, 1:]))
    rank = np.cumsum(np.diff(distances, axis=1) > noise, axis=1)
    rank = np.concatenate([np.zeros((len(rank), 1), dtype=rank.dtype), rank], axis=1)
    return np.take_along_axis(index, np.lexsort((index, rank), axis=1), axis=1), distances


def _exact_distances(rows: Matrix, block: slice, index: Index, metric: str) -> Dense:
    """Distances to the neighbours, from differences: those of the products lose the small ones to rounding."""
    own = rows[block]
    result = np.empty(index.shape)
    for rank in range(index.shape[1]):
        other = rows[index[:, rank]]
        if metric == "euclidean":
            result[:, rank] = squared_norms(own - other)
        elif is_sparse(rows):
            result[:, rank] = 1.0 - np.asarray(own.multiply(other).sum(axis=1)).ravel()
        else:
            result[:, rank] = 1.0 - np.einsum("ij,ij->i", own, other)
    return result


def pkn_graph(rows: Matrix, n_neighbors: int = 5, n_threads: int = 1, *, symmetric: bool = True) -> sparse.csr_array:
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
    graph = _to_csr(index[:, :count], weights, rows.shape[0])
    return sparse.csr_array((graph + graph.T) / 2) if symmetric else graph


def pkn_weights(distances: Dense) -> Dense:
    """Return the weights of the first k of k + 1 ascending distances per row."""
    if distances.shape[1] < 2:
        return np.ones_like(distances)
    gaps = distances[:, -1:] - distances[:, :-1]
    total = gaps.sum(axis=1, keepdims=True)
    even = total <= 1e-12 * gaps.shape[1] * distances[:, -1:]
    result: Dense = np.where(even, 1.0 / gaps.shape[1], gaps / np.where(even, 1.0, total))
    return result


def knn_graph(
    rows: Matrix, n_neighbors: int = 5, weight: str = "binary", n_threads: int = 1, *, self_loops: bool = False
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
        rows = unit_rows(rows)
        index, distances = nearest_rows(rows, n_neighbors, "cosine", n_threads)
        weights = np.maximum(1.0 - distances, 0.0)
    else:
        index, distances = nearest_rows(rows, n_neighbors, n_threads=n_threads)
        weights = np.ones_like(distances)
    graph = _to_csr(index, weights, n)
    graph = sparse.csr_array(graph.maximum(graph.T))
    if self_loops:
        own = (squared_norms(rows) > 0).astype(np.float64) if weight == "cosine" else np.ones(n)
        graph = sparse.csr_array(graph + diagonal(own))
    return graph


def _to_csr(index: Index, weights: Dense, n: int) -> sparse.csr_array:
    starts = np.arange(0, index.size + 1, index.shape[1]) if index.size else np.zeros(n + 1, dtype=np.intp)
    # flatten copies, ravel would not: the two calls below work in place
    graph = sparse.csr_array((weights.flatten(), index.flatten(), starts), shape=(n, n))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def degrees(graph: sparse.csr_array) -> npt.NDArray[np.float64]:
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
