"""GPSNMF: components of each view and components shared by all views; labels by regression on their coefficients."""

from __future__ import annotations

from dataclasses import KW_ONLY

from ..core.arrays import ClassIds
from ..core.checks import WEIGHT, Number
from ._base import Labels, Task
from ._graphs import knn_graph
from ._matrix import unit_length
from ._nmf import NonnegativeFactorization
from ._parameters import method, parameter
from ._partly_shared import PartlyShared, split_components


@method
class GPSNMF(NonnegativeFactorization):
    """Semi-supervised multi-view clustering by graph-regularised, partially shared non-negative matrix factorisation.

    Each view is written as X_p ≈ V_p U_pᵀ with non-negative factors. Some components belong to one view, the others
    are shared, so V_p holds the columns of one matrix of coefficients V that view p uses. Those of neighbouring rows
    are drawn together, and a sparse linear regression W on the rows V_l that are labelled must give their labels Y::

        Σ_p ‖X_p − V_p U_pᵀ‖² / P + μ Σ_p Tr(V_pᵀ L_p V_p) + β (‖V_l W − Y‖² + γ ‖W‖₂,₁)

    A row takes the class with the largest entry of V W. Time per round grows linearly with the number of rows (the
    search for neighbours, made once, takes quadratic time); graphs are sparse, and sparse views stay sparse.

    Parameters
    ----------
    n_components : int, default=100
        Components in all (K of the paper): those of each view and the shared ones.
    label_weight : float, default=0.03
        Weight β of the regression on the labels.
    graph_weight : float, default=0.01
        Weight μ of the neighbour graphs, as it stands above. The released code multiplies by its parameter twice:
        its μ is the square root of this one.
    sparsity : float, default=0.03
        Weight γ of ‖W‖₂,₁: larger leaves more components out of the regression.
    common_ratio : float, default=0.4
        Share of shared components among those that a view uses (c of the paper), from 0 to 1.
    scaling : {"minmax", "none", "l2", "sum", ...} or sequence, default="minmax"
        Scaling of all views or of each, before the neighbours are sought; the result must not be negative. "minmax"
        maps every feature to 0 … 1 (sparse views are divided by the largest value). Then rows get unit length.

    Attributes
    ----------
    objective_history_ : ndarray
        Objective after each round.

    Notes
    -----
    Written after the paper and the code its authors released (``liangnaiyao/GPSNMF``), of which this keeps the order
    of the steps, the bases scaled to columns of sum 1 in every round and the ridge of 1e-4 on W. Other than there:

    - μ enters the objective once, and the recorded objective is the one above (theirs also multiplies the graph by β);
    - rounds end by the relative change of the objective, and more of them are made: their limits of 50 and 100 end
      them early when 5 % of the rows are labelled;
    - two rows are never joined in the graph because of rounding: ties go by row number;
    - the default weights suit 5 % of labels; theirs (β = 0.01, μ = 0.01², γ = 1), set for 50 %, do not.

    Scaling the bases shifts the objective, so that it can rise in a round; without it no step can raise it.

    References
    ----------
    N. Liang, Z. Yang, Z. Li, S. Xie, C.-Y. Su: Semi-supervised multi-view clustering with graph-regularized partially
    shared non-negative matrix factorization. Knowledge-Based Systems 190 (2020) 105185.

    Examples
    --------
    >>> from anchorview.baselines import GPSNMF
    >>> from anchorview import datasets, metrics
    >>> data = datasets.make_multiview_subspaces(300, 3, random_state=0)
    >>> y = datasets.hide_labels(data.target, 0.1, random_state=0)
    >>> model = GPSNMF(30, random_state=0).fit(data.views, y)
    >>> metrics.clustering_accuracy(data.target[y == -1], model.labels_[y == -1]) > 0.95
    True
    """

    n_components: int = parameter(100, Number(1, 10_000, integer=True))
    _: KW_ONLY
    label_weight: float = parameter(0.03, WEIGHT)
    graph_weight: float = parameter(0.01, WEIGHT)
    sparsity: float = parameter(0.03, WEIGHT)
    common_ratio: float = parameter(0.4, Number(0, 1))
    tol: float = parameter(3e-4, WEIGHT)

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        self._check_views(task)
        graphs = [
            self._graphs.build(knn_graph, rows, self.n_neighbors, n_threads=task.n_threads) for rows in task.views
        ]
        task.views[:] = [unit_length(rows) for rows in task.views]
        blocks = split_components(self.n_components, len(graphs), self.common_ratio)
        model = PartlyShared(
            task.views,
            graphs,
            blocks,
            task.rng.random_sample((task.n_rows, self.n_components)),
            [task.rng.random_sample((rows.shape[1], len(blocks[0]) + len(blocks[-1]))) for rows in task.views],
            labels.labelled,
            labels.targets,
            self.label_weight,
            self.graph_weight,
            self.sparsity,
        )
        model.rescale_bases()
        # Rounds that tol=0 asks for are no surprise.
        self._iterate(task, lambda: model.one_round(task.n_threads), expected=self.tol == 0)
        result: ClassIds = (model.coefficients @ model.weights).argmax(axis=1)
        return result
