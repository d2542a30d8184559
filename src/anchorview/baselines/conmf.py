"""CONMF: a factorisation whose coefficients are shared by the views and nearly orthogonal: a column per class."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from ..core.arrays import ClassIds
from ..core.checks import WEIGHT
from ._base import Labels, Task
from ._class_factors import ClassFactors, fixed_coefficients
from ._graphs import knn_graph
from ._matrix import inverse, scale_each_row
from ._nmf import NonnegativeFactorization
from ._parameters import method, parameter


@method
class CONMF(NonnegativeFactorization):
    """Semi-supervised multi-view clustering by factorisation with orthogonal coefficients, a column per class.

    Each view is written as X_p ≈ V U_pᵀ with non-negative factors and the same coefficients V, which have a column per
    class. Labelled rows V_l hold their class; the others, V_u, minimise, together with the U_p, ::

        Σ_p ‖X_p − V U_pᵀ‖_F / 2 + (σ/2) Tr(Vᵀ (D − S) V) + (μ/2) ‖V_uᵀ V_u − I/2‖²

    where S adds up the neighbour graphs of all views. The norms are not squared, so views that fit badly count less.
    A row takes the class with its largest coefficient. Time per round grows linearly with the number of rows (the
    search for neighbours, made once, takes quadratic time); graphs are sparse, and sparse views stay sparse.

    Parameters
    ----------
    graph_weight : float, default=0.01
        Weight σ of the neighbour graphs.
    orthogonality : float, default=5.0
        Weight μ of the orthogonality of the coefficients.
    n_neighbors : int, default=5
        Neighbours of a row, by angle, in the graph of a view.
    scaling : {"minmax", "none", "l2", ...} or sequence, default="minmax"
        Scaling of all views or of each; the result must not be negative. "minmax" maps every feature to 0 … 1 (sparse
        views are divided by the largest value). Then each row is divided by its sum.

    Attributes
    ----------
    objective_history_ : ndarray
        Objective after each round; it never rises.

    Notes
    -----
    Written after the paper and the code its authors released (``liangnaiyao/CONMF``). Other than there:

    - features are mapped to 0 … 1 before rows are divided by their sums, so negative features are welcome;
      ``scaling="none"`` leaves that out;
    - a round has five steps for V instead of one: they are slow, and cheap next to the step for the bases;
    - a step for V that raises the objective is taken again with the square root, then the fourth root of its factors,
      which cannot raise it;
    - the weights of the views are those of the current factors, not of the round before;
    - rounds end by the change of the objective; there they are always 200. At a large μ that is too early.

    References
    ----------
    N. Liang, Z. Yang, Z. Li, S. Xie: Co-consensus semi-supervised multi-view learning with orthogonal non-negative
    matrix factorization. Information Processing & Management 59 (2022) 103054.

    Examples
    --------
    >>> from anchorview.baselines import CONMF
    >>> from anchorview import datasets, metrics
    >>> data = datasets.make_multiview_subspaces(300, 3, random_state=0)
    >>> y = datasets.hide_labels(data.target, 0.1, random_state=0)
    >>> model = CONMF(random_state=0).fit(data.views, y)
    >>> metrics.clustering_accuracy(data.target[y == -1], model.labels_[y == -1]) > 0.95
    True
    """

    _: KW_ONLY
    graph_weight: float = parameter(0.01, WEIGHT)
    orthogonality: float = parameter(5.0, WEIGHT)
    tol: float = parameter(1e-6, WEIGHT)

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        self._check_views(task)
        graphs = [
            self._graphs.build(knn_graph, rows, self.n_neighbors, "cosine", task.n_threads, self_loops=True)
            for rows in task.views
        ]
        task.views[:] = [scale_each_row(rows, inverse(np.asarray(rows.sum(axis=1)).ravel())) for rows in task.views]
        coefficients = task.rng.random_sample((task.n_rows, labels.n_classes))
        coefficients[labels.labelled] = fixed_coefficients(labels.targets)
        model = ClassFactors(
            task.views,
            sum(graphs[1:], start=graphs[0]),
            coefficients,
            [task.rng.random_sample((rows.shape[1], labels.n_classes)) for rows in task.views],
            labels.unlabelled,
            self.graph_weight,
            self.orthogonality,
        )
        # Rounds that tol=0 asks for are no surprise.
        self._iterate(task, lambda: model.one_round(task.n_threads), expected=self.tol == 0)
        result: ClassIds = model.coefficients.argmax(axis=1)
        return result
