"""MLAN: one neighbour graph for all views, learned together with the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows, is_sparse
from ..core.checks import COUNT, WEIGHT, Names
from ..features.neighbours import joint_neighbours
from ._base import Labels, SemiSupervisedMultiView, Task
from ._graphs import laplacian, pkn_weights, to_csr
from ._matrix import inverse
from ._parameters import method, parameter
from ._propagation import harmonic
from ._simplex import project_rows

_FLOOR = 1e-12  # of a view's distances: keeps the weight of a view whose neighbours in the graph coincide finite


@method
class MLAN(SemiSupervisedMultiView):
    """Multi-view learning with adaptive neighbours, the semi-supervised version.

    One graph S, whose rows are shares over the row's neighbours, and class scores F minimise

        Σ_v √(Σ_ij D^v_ij s_ij) + α ‖S‖² + 2 λ Tr(Fᵀ L_S F)

    with the labelled rows of F fixed; D^v are the squared distances in view v and L_S is the Laplacian of
    (S + Sᵀ) / 2. A row's neighbours are those with the smallest mean of D^v over the views, and stay the same.

    Parameters
    ----------
    n_neighbors : int, default=9
        Neighbours of a row in the graph.
    coupling : float, default=10.0
        Weight λ of the term that joins graph and labels.
    tol : float, default=1e-8
        Relative change of the objective at which to stop, from the third round on.

    Attributes
    ----------
    graph_ : csr_array of shape (n_rows, n_rows)
        The learned graph (S + Sᵀ) / 2.
    view_weights_ : ndarray of shape (n_views,)
        Weights of the views' distances, which add up to 1. They go with the scale of the distances: a view with small
        ones has a large weight. A view in which all neighbours coincide has weight 0.
    objective_history_ : ndarray
        Objective after each round; it never rises.

    Notes
    -----
    F. Nie, G. Cai, X. Li, "Multi-view clustering and semi-supervised classification with adaptive neighbours", AAAI
    2017; F. Nie, G. Cai, J. Li, X. Li, "Auto-weighted multi-view learning for image clustering and semi-supervised
    classification", IEEE Transactions on Image Processing 27, 2018.

    The authors' file for the semi-supervised version was not at hand; the steps are those of the papers and of a public
    derivative of that file. Different from the latter:

    - Only the distances to a row's fixed neighbours are kept, and the system for F is solved by conjugate gradients:
      memory grows linearly with the rows, not with their square. Neighbours are exact.
    - Distances are weighted by the weights of the round; there the weights of all rounds multiply up.
    - F starts as the propagation of the labels on the first graph; there, as eigenvectors of its Laplacian, which are
      so small that the first round goes by the distances alone.
    - Sparse views are centred within the distances and never filled; the result is that of the dense view.
    - Up to 100 rounds instead of 30.
    - A row is never its own neighbour, also among duplicates. Constant rows, which have no deviation, become zeros.
    - α is the mean over the rows of ½ Σ_h (d_(k+1) − d_h), as there; where that is 0, because each row has all its
      neighbours at one distance, of ½ k d_(k+1), or 1 where that is 0 too.
    - Rows that no path through the graph joins to a labelled row, whose system is singular, take the class with the
      most labelled rows. Equal scores go to the first class.

    Constant rows, such as texts without a word in one view, are nearer to most rows of sparse views than any other row
    is, and so become everyone's neighbours. Leave such rows out where they are many.

    Examples
    --------
    >>> from anchorview import datasets, metrics
    >>> from anchorview.baselines import MLAN
    >>> data = datasets.make_multiview_subspaces(300, 3, random_state=0)
    >>> y = datasets.hide_labels(data.target, 0.05, random_state=0)
    >>> model = MLAN().fit(data.views, y)
    >>> metrics.clustering_accuracy(data.target[y == -1], model.labels_[y == -1]) > 0.9
    True
    """

    n_neighbors: int = parameter(9, COUNT)
    _: KW_ONLY
    coupling: float = parameter(10.0, WEIGHT)
    scaling: str | Sequence[str] = parameter("row_standard", Names())
    max_iter: int = parameter(100, COUNT)
    tol: float = parameter(1e-8, WEIGHT)

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        task.progress.stage("graphs", "neighbours in all views together")
        kinds = [self.scaling] * len(task.views) if isinstance(self.scaling, str) else self.scaling
        # Dense views come centred; sparse ones were only divided, and are centred within the distances.
        centred = [is_sparse(rows) and kind == "row_standard" for rows, kind in zip(task.views, kinds, strict=True)]
        count = self.n_neighbors + 1
        pairs = _Pairs(*self._graphs.build(joint_neighbours, task.views, count, centred, task.n_threads))
        task.progress.stage("solver", "graph and label propagation")
        model = _GraphAndScores(pairs, labels, self.coupling)
        self._iterate(task, model.one_round, first_check=3)
        total = model.weights.sum()
        self.view_weights_ = model.weights / total if total > 0 else np.full(len(task.views), 1.0 / len(task.views))
        self.graph_ = pairs.to_matrix(model.graph)
        class_ids: ClassIds = model.scores.argmax(axis=1)
        return class_ids


class _Pairs:
    """Each row and its k fixed neighbours: all that the rounds need of the distances."""

    def __init__(self, index: Rows, distances: Matrix) -> None:
        mean = distances.mean(axis=0)
        count = max(1, index.shape[1] - 1)  # with two rows there is no neighbour k + 1
        self.index = index[:, :count]
        self.distances = distances[:, :, :count]
        self.start = pkn_weights(mean)
        self.ridge = float((mean[:, -1:] - mean[:, :-1]).sum(axis=1).mean() / 2)  # α
        largest = float(count * mean[:, -1].mean() / 2)
        if self.ridge <= 1e-12 * largest:
            self.ridge = largest or 1.0

    def spreads(self, graph: Matrix) -> Matrix:
        """Σ_ij D^v_ij s_ij of each view."""
        result: Matrix = np.einsum("vij,ij->v", self.distances, graph)
        return result

    def gaps(self, scores: Matrix) -> Matrix:
        """‖f_i − f_j‖² of each pair."""
        result = np.empty(self.index.shape)
        for rank in range(self.index.shape[1]):
            step = scores - scores[self.index[:, rank]]
            result[:, rank] = np.einsum("ij,ij->i", step, step)
        return result

    def to_matrix(self, graph: Matrix) -> sparse.csr_array:
        """Return (S + Sᵀ) / 2."""
        matrix = to_csr(self.index, graph, len(self.index))
        return sparse.csr_array((matrix + matrix.T) / 2)


class _GraphAndScores:
    """The graph and the scores, which minimise the objective in turn.

    √t ≤ √s + (t − s) / (2√s), with equality at t = s. So with w_v = 1 / (2√(Σ_ij D^v_ij s_ij)) of the graph before, the
    graph that minimises Σ_ij (Σ_v w_v D^v_ij + λ ‖f_i − f_j‖²) s_ij + α ‖S‖² cannot have a larger objective; nor can
    the scores that minimise 2 Tr(Fᵀ L_S F) = Σ_ij ‖f_i − f_j‖² s_ij after it.
    """

    weights: Matrix

    def __init__(self, pairs: _Pairs, labels: Labels, coupling: float) -> None:
        self._pairs, self._labels, self._coupling = pairs, labels, coupling
        self._floor = _FLOOR * pairs.distances.sum(axis=(1, 2))
        self._set_graph(pairs.start, None)

    def one_round(self) -> float:
        """Update weights, graph and scores, and return the objective."""
        pairs = self._pairs
        self.weights = 0.5 * inverse(np.sqrt(np.maximum(self._spreads, self._floor)))
        costs = np.einsum("v,vij->ij", self.weights, pairs.distances) + self._coupling * self._gaps
        self._set_graph(project_rows(-costs / (2 * pairs.ridge)), self.scores)
        penalty = pairs.ridge * np.vdot(self.graph, self.graph) + self._coupling * np.vdot(self.graph, self._gaps)
        return float(np.sqrt(self._spreads).sum() + penalty)

    def _set_graph(self, graph: Matrix, start: Matrix | None) -> None:
        """Keep a graph, the scores that are smoothest on it, and what the next round needs of both."""
        self.graph = graph
        matrix = laplacian(self._pairs.to_matrix(graph))
        self.scores = harmonic(matrix, self._labels.labelled, self._labels.targets, start)
        self._spreads, self._gaps = self._pairs.spreads(graph), self._pairs.gaps(self.scores)
