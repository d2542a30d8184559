"""k-means on the views side by side: what a multi-view clustering has to beat."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from sklearn.cluster import KMeans

from ..core.arrays import ClassIds
from ..core.checks import COUNT, Flag, Number
from ._base import MultiViewClusterer, Task
from ._concat import concatenate_views, view_factors
from ._parameters import method, parameter


@method
class ConcatKMeans(MultiViewClusterer):
    """k-means on the concatenated views.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    max_iter : int, default=300
        Iterations of a run at most.

    Attributes
    ----------
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

    _: KW_ONLY
    n_init: int = parameter(10, Number(1, 10_000, integer=True))
    max_iter: int = parameter(300, COUNT)
    equal_views: bool = parameter(True, Flag())

    def _max_rounds(self, n_views: int) -> int:
        return 1

    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        model = KMeans(n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=task.rng)
        rows = concatenate_views(task.views, view_factors(task.views, self.equal_views))
        labels: ClassIds = model.fit_predict(rows).astype(np.intp)
        task.report(1, float(model.inertia_), 0.0)
        self._record([float(model.inertia_)])
        self.inertia_, self.n_iter_ = float(model.inertia_), int(model.n_iter_)
        return labels
