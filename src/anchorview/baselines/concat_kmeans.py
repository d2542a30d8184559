"""k-means on the views side by side: what a multi-view clustering has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans

from ..core.arrays import ClassIds
from ..core.checks import COUNT, Flag, Number, Rule
from ..data.reading import ColumnGroups
from ._base import MultiViewClusterer, Task
from ._concat import side_by_side, view_factors


class ConcatKMeans(MultiViewClusterer):
    """k-means on the concatenated views.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_init : int, default=10
        Runs from different centres, of which the one with the smallest sum of squares is kept.
    max_iter : int, default=300
        Iterations of a run at most.
    equal_views : bool, default=True
        Divide each view, after `scaling`, by the root of its total variance, so that all views count the same.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see `anchorview.Views`.
    scaling : str or sequence of str, default="minmax"
        Scaling of the features, one for all views or one per view: "none", "l2", "sum", "standard", "minmax" or
        "row_standard".
    random_state : int, RandomState or None, default=None
        Seed of the first centres.
    n_jobs : int, optional
        Not used: scikit-learn's k-means takes the threads of OpenMP.
    verbose : bool, default=False
        Write a line to the logger "anchorview".

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    inertia_ : float
        Sum of squared distances to the centres.
    n_iter_ : int
        Iterations of the run that was kept.

    Examples
    --------
    >>> from anchorview.baselines import ConcatKMeans
    >>> from anchorview.datasets import make_multiview_subspaces
    >>> data = make_multiview_subspaces(200, 3, random_state=0)
    >>> len(set(ConcatKMeans(n_clusters=3, random_state=0).fit_predict(data.views)))
    3
    """

    inertia_: float

    _rules: ClassVar[dict[str, Rule]] = {
        **MultiViewClusterer._rules,
        "n_init": Number(1, 10_000, integer=True),
        "max_iter": COUNT,
        "equal_views": Flag(),
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        equal_views: bool = True,
        views: ColumnGroups | None = None,
        scaling: str | Sequence[str] = "minmax",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.equal_views = equal_views
        self.views = views
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _max_rounds(self, n_views: int) -> int:
        return 1

    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        model = KMeans(n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=task.rng)
        rows = side_by_side(task.views, view_factors(task.views, self.equal_views))
        labels: ClassIds = model.fit_predict(rows).astype(np.intp)
        task.report(1, float(model.inertia_), 0.0)
        self._record([float(model.inertia_)])
        self.inertia_, self.n_iter_ = float(model.inertia_), int(model.n_iter_)
        return labels
