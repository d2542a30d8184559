"""AMGL: labels that are smooth on the graphs of all views, with weights that need no parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix
from ..core.checks import COUNT, WEIGHT, Names
from ._base import Labels, SemiSupervisedMultiView, Task
from ._graphs import normalized_laplacian, pkn_graph
from ._parameters import method, parameter
from ._propagation import harmonic

_FLOOR = 1e-10  # of Tr(Fᵀ L_v F) / n: keeps the weight of a view on which F is perfectly smooth finite


@method
class AMGL(SemiSupervisedMultiView):
    """Auto-weighted multiple graph learning, the semi-supervised version.

    Each view gives a neighbour graph with normalised Laplacian L_v. The class scores F minimise Σ_v √Tr(Fᵀ L_v F)
    with the labelled rows fixed. That is label propagation on the sum of the graphs, weighted by
    1 / (2 √Tr(Fᵀ L_v F)), repeated until the weights converge: views on which the labels are smooth count more.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of a row in each graph.
    tol : float, default=1e-8
        Relative change of the objective at which to stop, from the third round on.

    Attributes
    ----------
    view_weights_ : ndarray of shape (n_views,)
        Weights of the graphs, which add up to 1.
    objective_history_ : ndarray
        Σ_v √Tr(Fᵀ L_v F) after each round; it never rises.

    Notes
    -----
    F. Nie, J. Li, X. Li, "Parameter-free auto-weighted multiple graph learning: a framework for multiview clustering
    and semi-supervised classification", IJCAI 2016.

    Different from the released code:

    - It halves the scores of the unlabelled rows in every round, which no equation of the method does; here they
      solve L_uu F_u = −L_ul F_l.
    - It leaves the features as they are; published comparisons are met with scaled ones, so features are standardised
      by default.
    - Graphs are sparse and the system is solved by conjugate gradients: memory grows linearly with the rows, not with
      their square.
    - A row is not its own neighbour. There each row's distances are sorted and the first dropped, which among
      duplicates need not be the row itself: it can then be its own neighbour, in place of one of the five.
    - Any rows can be labelled; there, the same number of each class, with rows sorted by class.
    - Rows that no path through the graphs joins to a labelled row, whose system is singular, take the class with the
      most labelled rows.
    - Among more duplicates than neighbours, where the weights are 0/0, they are 1 / `n_neighbors`.
    - Tr(Fᵀ L_v F) is taken as at least 1e-10 per row in the weights, so none is infinite.
    - Equal scores go to the first class; there they count as errors.

    Rows of zeros, such as texts without a word in one view, are nearer to most rows of sparse views than any other row
    is, and so become everyone's neighbours in that view's graph. Leave such rows out where they are many.

    Examples
    --------
    >>> from anchorview import datasets, metrics
    >>> from anchorview.baselines import AMGL
    >>> data = datasets.make_multiview_subspaces(300, 3, random_state=0)
    >>> y = datasets.hide_labels(data.target, 0.05, random_state=0)
    >>> model = AMGL().fit(data.views, y)
    >>> metrics.clustering_accuracy(data.target[y == -1], model.labels_[y == -1]) > 0.9
    True
    """

    n_neighbors: int = parameter(5, COUNT)
    _: KW_ONLY
    scaling: str | Sequence[str] = parameter("standard", Names())
    max_iter: int = parameter(100, COUNT)
    tol: float = parameter(1e-8, WEIGHT)

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        task.progress.stage("graphs", "neighbours in each view")
        graphs = [self._graphs.build(pkn_graph, rows, self.n_neighbors, task.n_threads) for rows in task.views]
        laplacians = [normalized_laplacian(graph) for graph in graphs]
        task.progress.stage("solver", "label propagation")
        model = Propagation(laplacians, labels)
        self._iterate(task, model.one_round, first_check=3)
        self.view_weights_ = model.weights / model.weights.sum()
        class_ids: ClassIds = model.scores.argmax(axis=1)
        return class_ids


class Propagation:
    """Class scores F that minimise Σ_v √Tr(Fᵀ L_v F) with the labelled rows given, and the weights of the graphs.

    √t ≤ √s + (t − s) / (2√s), with equality at t = s. So F of the next round, which minimises Σ_v α_v Tr(Fᵀ L_v F) for
    α_v = 1 / (2√Tr(Fᵀ L_v F)) of this one, cannot have a larger objective.
    """

    scores: Matrix

    def __init__(self, laplacians: Sequence[sparse.csr_array], labels: Labels) -> None:
        self._laplacians, self._labels = laplacians, labels
        self._start: Matrix | None = None
        self.weights: Matrix = np.full(len(laplacians), 1.0 / len(laplacians))

    def one_round(self) -> float:
        """Propagate the labels, weigh the graphs anew and return the objective."""
        # F depends on the ratios of the weights alone; with sum 1 the system keeps its scale.
        shares = self.weights / self.weights.sum()
        total = sparse.csr_array(sum(w * matrix for w, matrix in zip(shares, self._laplacians, strict=True)))
        self.scores = self._start = harmonic(total, self._labels.labelled, self._labels.targets, self._start)
        traces = np.array([max(float(np.vdot(self.scores, matrix @ self.scores)), 0.0) for matrix in self._laplacians])
        self.weights = 0.5 / np.sqrt(np.maximum(traces, _FLOOR * len(self.scores)))
        return float(np.sqrt(traces).sum())
