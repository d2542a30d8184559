"""GPSNMF: components of each view and components shared by all views; labels by regression on their coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..core.arrays import ClassIds
from ..core.checks import WEIGHT, Number, Rule
from ..data.reading import ColumnGroups
from ._base import Labels, Task
from ._graphs import knn_graph
from ._matrix import unit_length
from ._nmf import NonnegativeFactorization
from ._partly_shared import PartlyShared, split_components

__all__ = ["GPSNMF"]


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
    n_neighbors : int, default=5
        Neighbours of a row in the graph of a view.
    max_iter : int, default=500
        Rounds at most.
    tol : float, default=3e-4
        Relative change of the objective at which to stop.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`Views`. Without it a 2-D `X` is one view.
    scaling : {"minmax", "none", "l2", "sum", ...} or sequence, default="minmax"
        Scaling of all views or of each, before the neighbours are sought; the result must not be negative. "minmax"
        maps every feature to 0 … 1 (sparse views are divided by the largest value). Then rows get unit length.
    random_state : int, RandomState or None, default=None
        Draws the first factors.
    n_jobs : int, optional
        Threads; by default as many as BLAS uses. The result does not depend on it.
    verbose : bool, default=False
        Log each round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class of each row; labelled rows keep theirs.
    classes_ : ndarray
        The labelled classes, sorted.
    n_iter_ : int
        Rounds made.
    objective_history_ : ndarray
        Objective after each round.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

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

    _rules: ClassVar[dict[str, Rule]] = {
        **NonnegativeFactorization._rules,
        "n_components": Number(1, 10_000, integer=True),
        "label_weight": WEIGHT,
        "graph_weight": WEIGHT,
        "sparsity": WEIGHT,
        "common_ratio": Number(0, 1),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        label_weight: float = 0.03,
        graph_weight: float = 0.01,
        sparsity: float = 0.03,
        common_ratio: float = 0.4,
        n_neighbors: int = 5,
        max_iter: int = 500,
        tol: float = 3e-4,
        views: ColumnGroups | None = None,
        scaling: str | Sequence[str] = "minmax",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.label_weight = label_weight
        self.graph_weight = graph_weight
        self.sparsity = sparsity
        self.common_ratio = common_ratio
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.views = views
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
