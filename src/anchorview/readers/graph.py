"""Labels over a neighbour graph of all rows: the graph, labels spread over it, and Poisson learning.

Graphs of neighbours say something that codes over landmarks do not: with one or two labels per class they are
often the best of all. Rows are compared in the space of the leading principal directions of the landmarks. With
U_c the centred landmarks and U_c = P S Qᵀ, a row's coordinates are x Q = (x U_cᵀ) P S⁻¹, and x U_cᵀ is its row of
E = X Uᵀ less the mean of that row: no second look at the features.

Labels that spread along the edges fade with every step: Σ_t α^t S^t Y, a sum over walks.

Poisson learning (Calder et al., 2020) makes labels the sources and sinks of a potential. With the graph's weights W,
degrees D and labels Y of the labelled rows, the potential u solves (D − W) u = Y − ȳ, where ȳ is the mean label: a
class flows out of its own labelled rows and into those of the others. Unlike labels that spread and fade, it does not
forget how many labels there are of each class, and with one or two of each it is often the best that can be done. It
grows with the number of labels, so that a temperature chosen while some are hidden would be too sure with all of them:
it is scaled to a range of one between the classes of a row, on average. The equation is singular, and parts of the
graph need not be in balance; so u is damped a little:

    (I − α S) D^½ u = D^-½ (Y − ȳ),    S = D^-½ W D^-½.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows, Weights, squared_norms
from ..engine.blocks import map_blocks
from ..features.neighbours import nearest_others, nearest_points, rounding_of
from ..features.products import CompletedProducts, ViewCrossProducts
from .base import Space

Products = ViewCrossProducts | CompletedProducts  # E by rows
N_NEIGHBORS = 10
N_DIRECTIONS = 50
_LEFT = 1e-4  # part of the sum over walks that may be left out: far from labels there is little of it, and it decides
_LEFT_OF_POTENTIAL = 0.01  # part of the solution that may be missing


@dataclass(frozen=True)
class GraphSpace:
    """Coordinates of rows along the principal directions of the landmarks."""

    weights: Matrix  # P S⁻¹, of shape (m, directions)

    def coordinates(self, cross: Matrix) -> npt.NDArray[np.float32]:
        """Turn rows of E into coordinates."""
        centred = cross - cross.mean(axis=1, keepdims=True)
        # In single precision, a row's rounding would depend on the rows beside it.
        return np.ascontiguousarray(np.matmul(centred, self.weights, dtype=np.float64), dtype=np.float32)


def make_space(landmarks: Matrix, n_directions: int = N_DIRECTIONS) -> GraphSpace:
    """Return the space of the landmarks' leading principal directions, at most so many."""
    centred = landmarks - landmarks.mean(axis=0)
    values, vectors = np.linalg.eigh(np.asarray(centred @ centred.T, dtype=np.float64))
    # Along a direction of variance v the rounding of E is enlarged by 1/√v: shorter ones would hold nothing else.
    least = 10 * float(np.finfo(landmarks.dtype).eps)
    kept = np.flatnonzero(values > least * max(float(values[-1]), 1e-300))[-n_directions:]
    return GraphSpace((vectors[:, kept] / np.sqrt(values[kept])).astype(landmarks.dtype))


def make_graph(points: Matrix, n_threads: int = 1, row_weights: Weights = None) -> tuple[sparse.csr_array, Matrix]:
    """Return D^-½ W D^-½ of the graph that joins each row with its nearest ones, and the diagonal of D^-½.

    w_ij = exp(−d_ij² / (σ_i σ_j)), σ_i being the distance to the last of the neighbours; the larger of w_ij and w_ji
    counts. With weights s > 0 a row speaks as often as s says: W diag(s) takes the place of W, and D of its row sums.
    """
    n = len(points)
    index, distances = nearest_others(points, N_NEIGHBORS, n_threads)
    width = index.shape[1]
    reach = np.maximum(distances.max(axis=1, initial=0.0), 1e-12)
    weights = np.exp(-(distances**2) / (reach[:, None] * reach[index]))
    starts = np.arange(n + 1) * width
    directed = sparse.csr_array((weights.ravel(), index.ravel(), starts), shape=(n, n))
    graph = sparse.csr_array(directed.maximum(directed.T))
    if row_weights is None:
        inverse_root = 1 / np.sqrt(np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-12))
        root = sparse.diags_array(inverse_root)
        return sparse.csr_array((root @ graph @ root).astype(np.float32)), inverse_root
    inverse_root = 1 / np.sqrt(np.maximum(graph @ row_weights, 1e-12 * row_weights.max()))
    root = sparse.diags_array(inverse_root)
    weighted = root @ graph @ sparse.diags_array(row_weights) @ root
    return sparse.csr_array(weighted.astype(np.float32)), inverse_root


@dataclass(frozen=True)
class FittedRows:
    """The rows of the graph in their space: what new rows are compared with."""

    space: GraphSpace
    points: npt.NDArray[np.float32]

    @cached_property
    def _lengths(self) -> tuple[Matrix, float]:
        """Half the squares of the points, and what counts as no distance: computed once for many single rows."""
        return squared_norms(self.points) / 2, rounding_of(self.points)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def weights(self, cross: Matrix) -> sparse.csr_array:
        """Return weights of the nearest rows of the graph, for rows of E: each adds up to 1, near ones count more.

        A row of the graph is at distance 0, to rounding, of itself and decides alone.
        """
        return self.weights_at(np.nan_to_num(self.space.coordinates(cross)))

    def weights_at(self, queries: npt.NDArray[np.float32]) -> sparse.csr_array:
        """Return the same for rows given by their coordinates."""
        return self.weigh(*self.nearest(queries))

    def nearest(self, queries: npt.NDArray[np.float32]) -> tuple[Rows, Matrix]:
        """Return the nearest rows of the graph, and the distances to them, for rows given by their coordinates."""
        return nearest_points(self.points, queries, N_NEIGHBORS, half_squares=self._lengths[0])

    def weigh(self, index: Rows, distances: Matrix) -> sparse.csr_array:
        """Turn distances to the nearest rows into weights."""
        rounding = self._lengths[1]
        same = distances <= rounding
        found = np.where(same.any(axis=1, keepdims=True), same, 1 / np.maximum(distances, rounding))
        found /= found.sum(axis=1, keepdims=True)
        starts = np.arange(len(index) + 1) * index.shape[1]
        return sparse.csr_array((found.ravel(), index.ravel(), starts), shape=(len(index), len(self.points)))


@dataclass(frozen=True)
class Graph:
    """Neighbours among the rows of positive weight, in one scaling; the others are as new rows to them."""

    rows: FittedRows
    edges: sparse.csr_array
    inverse_root: Matrix  # of the degrees
    members: Rows  # numbers of the rows in the graph, ascending
    every: sparse.csr_array  # of each row of the fit, weights of the members

    def spread(self, labels: Sequence[tuple[Rows, ClassIds]], n_classes: int, alpha: float) -> npt.NDArray[np.float32]:
        """Spread several sets of labels; labels of rows outside the graph are left out. See `propagate`."""
        return propagate(self.edges, self._inside(labels), n_classes, alpha)

    def potential(
        self, labels: Sequence[tuple[Rows, ClassIds]], n_classes: int, alpha: float
    ) -> npt.NDArray[np.float32]:
        """Return the potentials of several sets of labels; see `solve_potential`."""
        return solve_potential(self.edges, self.inverse_root, self._inside(labels), n_classes, alpha)

    def _inside(self, labels: Sequence[tuple[Rows, ClassIds]]) -> list[tuple[Rows, ClassIds]]:
        inside = []
        for rows, class_ids in labels:
            kept = np.isin(rows, self.members)
            inside.append((np.searchsorted(self.members, rows[kept]), class_ids[kept]))
        return inside


def join_rows(points: npt.NDArray[np.float32], space: GraphSpace, weights: Weights, n_threads: int) -> Graph:
    """Make the graph of rows given by their coordinates."""
    if weights is None:
        everyone = np.arange(len(points))
        alone = sparse.eye_array(len(points), format="csr", dtype=np.float32)
        return Graph(FittedRows(space, points), *make_graph(points, n_threads), everyone, sparse.csr_array(alone))
    members, others = np.flatnonzero(weights > 0), np.flatnonzero(weights == 0)
    fitted = FittedRows(space, points[members])
    alone = sparse.eye_array(len(members), format="csr", dtype=np.float32)
    both = sparse.vstack([alone, fitted.weights_at(points[others])], format="csr")
    every = sparse.csr_array(both[np.argsort(np.concatenate([members, others]))])
    return Graph(fitted, *make_graph(fitted.points, n_threads, weights[members]), members, every)


def join_all_rows(landmarks: Matrix, products: Products, weights: Weights, n_threads: int) -> Graph:
    """Make the graph of all rows of E, read block by block."""
    space = make_space(landmarks)
    parts = map_blocks(lambda block: space.coordinates(products.read(block)), products.blocks, n_threads)
    return join_rows(np.concatenate(parts), space, weights, n_threads)


def propagate(
    graph: sparse.csr_array, labels: Sequence[tuple[ClassIds, ClassIds]], n_classes: int, alpha: float
) -> npt.NDArray[np.float32]:
    """Spread labels along the edges: Σ_t α^t S^t Y, as far as it matters.

    Parameters
    ----------
    labels : sequence of (rows, classes)
        Several sets of labels, spread together.

    Returns
    -------
    ndarray of shape (n_sets, n_rows, n_classes)
        Shares of the classes; equal where no label arrives.
    """
    n = graph.shape[0]
    seeds = np.zeros((n, len(labels), n_classes), np.float32)
    for number, (rows, classes) in enumerate(labels):
        seeds[rows, number, classes] = 1.0
    spread = sum_walks(graph, seeds.reshape(n, -1), alpha, _LEFT)
    shares = np.maximum(spread, 0, out=spread).reshape(n, len(labels), n_classes)  # below zero is what was left out
    total = shares.sum(axis=2, keepdims=True)
    shares = np.where(total > 0, shares / np.where(total > 0, total, 1), np.float32(1 / n_classes))
    return np.ascontiguousarray(shares.transpose(1, 0, 2))


def share_scores(shares: Matrix) -> Matrix:
    """Turn shares of the classes into scores for a softmax."""
    result: Matrix = np.log(shares + 1e-3)
    return result


@dataclass(frozen=True)
class SpreadReader:
    """Spread labels of the rows of a graph; a new row takes the weighted mean of its nearest ones."""

    shares: npt.NDArray[np.float32]
    temperature: float = 1.0
    reads: ClassVar[Space] = "graph"

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class, for weights of the rows of the graph."""
        return share_scores(rows @ self.shares)


def sum_walks(graph: sparse.csr_array, right: Matrix, alpha: float, left: float) -> Matrix:
    """Solve (I − α S) X = B by Chebyshev's iteration: a third to a tenth of the products that adding up walks takes.

    Parameters
    ----------
    graph : csr_array
        S, whose eigenvalues are real and lie in [−1, 1].
    right : ndarray of shape (n_rows, n_columns), float32
        B.
    alpha : float
        At least 0 and below 1.
    left : float
        Part of the solution that may be missing.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pair = sparse.csr_array(np.array([[0, 1], [1, 0]], np.float32))
    >>> sum_walks(pair, np.array([[1], [0]], np.float32), 0.5, 1e-4).ravel().astype(float).round(3).tolist()
    [1.333, 0.667]
    """
    condition = np.sqrt((1 + alpha) / (1 - alpha))
    n_steps = int(np.ceil(np.log(left / 2) / np.log((condition - 1) / (condition + 1)))) if alpha > 0 else 0
    solution, residual, step = np.zeros_like(right), right.copy(), right.copy()
    factor = alpha
    for _ in range(n_steps):
        solution += step
        residual -= step
        residual += np.float32(alpha) * (graph @ step)
        previous, factor = factor, 1 / (2 / alpha - factor)
        step *= np.float32(factor * previous)
        step += np.float32(2 * factor / alpha) * residual
    solution += step
    return solution


def solve_potential(
    graph: sparse.csr_array,
    inverse_root: Matrix,
    labels: Sequence[tuple[Rows, ClassIds]],
    n_classes: int,
    alpha: float,
) -> npt.NDArray[np.float32]:
    """Return the potential of each class at each row, for several sets of labels.

    Parameters
    ----------
    graph : csr_array
        S, whose eigenvalues lie in [−1, 1].
    inverse_root : ndarray of shape (n_rows,)
        The diagonal of D^-½.
    labels : sequence of (rows, classes)
        Several sets of labels.
    alpha : float
        How little it is damped, below 1.

    Returns
    -------
    ndarray of shape (n_sets, n_rows, n_classes)
        Zero where no label is felt; of a range, between classes, whose mean over the rows is one.
    """
    n = graph.shape[0]
    sources = np.zeros((n, len(labels), n_classes), np.float32)
    for number, (rows, classes) in enumerate(labels):
        if len(rows):
            own = np.eye(n_classes, dtype=np.float32)[classes]
            sources[rows, number] = own - own.mean(axis=0)
    root = inverse_root.astype(np.float32)[:, None]
    solved = root * sum_walks(graph, root * sources.reshape(n, -1), alpha, _LEFT_OF_POTENTIAL)
    by_set = solved.reshape(n, len(labels), n_classes).transpose(1, 0, 2)
    potential: npt.NDArray[np.float32] = np.ascontiguousarray(by_set)
    ranges = np.ptp(potential, axis=2).mean(axis=1)
    potential /= np.where(ranges > 0, ranges, 1)[:, None, None]
    return potential


@dataclass(frozen=True)
class PoissonReader:
    """Potentials of the rows of a graph; a new row takes the weighted mean of its nearest ones."""

    potential: npt.NDArray[np.float32]
    temperature: float = 1.0
    is_double: bool = False  # whether scores are in double precision
    reads: ClassVar[Space] = "graph"

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class, for weights of the rows of the graph."""
        result: Matrix = rows @ self.potential
        return np.asarray(result, dtype=np.float64) if self.is_double else result
