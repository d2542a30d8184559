"""AMGL: labels that are smooth on the graphs of all views, with weights that need no parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix
from ..core.checks import COUNT, WEIGHT, Rule
from ..data.reading import ColumnGroups
from ._base import Labels, SemiSupervisedMultiView, Task
from ._graphs import normalized_laplacian, pkn_graph
from ._propagation import harmonic

__all__ = ["AMGL"]

_FLOOR = 1e-10  # of Tr(Fᵀ L_v F) / n: keeps the weight of a view on which F is perfectly smooth finite


class AMGL(SemiSupervisedMultiView):
    """Auto-weighted multiple graph learning, the semi-supervised version.

    Each view gives a neighbour graph with normalised Laplacian L_v. The class scores F minimise Σ_v √Tr(Fᵀ L_v F)
    with the labelled rows fixed. That is label propagation on the sum of the graphs, weighted by
    1 / (2 √Tr(Fᵀ L_v F)), repeated until the weights settle: views on which the labels are smooth count more.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of a row in each graph.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`anchorview.Views`. Without it a 2-D `X` is one view.
    scaling : {"standard", "l2", "minmax", "sum", "row_standard", "none"} or sequence, default="standard"
        Scaling for all views, or one per view: features of mean 0 and deviation 1; rows of unit length; features from
        0 to 1; rows whose absolute values add up to 1; rows of mean 0 and deviation 1 (sparse views are divided by the
        deviation only); none.
    max_iter : int, default=100
        Rounds at most.
    tol : float, default=1e-8
        Relative change of the objective at which to stop, from the third round on.
    random_state : int, RandomState or None, default=None
        Not used: the method draws no random numbers.
    n_jobs : int, optional
        Threads; by default as many as BLAS uses. The result does not depend on it.
    verbose : bool, default=False
        Log each stage and round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class of each row; labelled rows keep theirs.
    classes_ : ndarray
        The labelled classes, sorted.
    view_weights_ : ndarray of shape (n_views,)
        Weights of the graphs, which add up to 1.
    n_iter_ : int
        Rounds made.
    objective_history_ : ndarray
        Σ_v √Tr(Fᵀ L_v F) after each round; it never rises.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

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

    view_weights_: Matrix

    _rules: ClassVar[dict[str, Rule]] = {
        **SemiSupervisedMultiView._rules,
        "n_neighbors": COUNT,
        "max_iter": COUNT,
        "tol": WEIGHT,
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        views: ColumnGroups | None = None,
        scaling: str | Sequence[str] = "standard",
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.views = views
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
