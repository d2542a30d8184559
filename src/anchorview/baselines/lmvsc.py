"""LMVSC: anchors and codes for each view on its own, one spectral embedding of all codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np

from ..core.arrays import AnyMatrix, ClassIds, Matrix, is_sparse, squared_norms
from ..core.checks import POSITIVE, Names, Number
from ..data.views import Views
from ._base import MultiViewClusterer, Task, check_anchors
from ._kmeans import litekmeans
from ._matrix import leading_vectors, multiply
from ._parameters import method, parameter
from ._simplex_qp import minimize_on_simplex, simplex_residual


@method
class LMVSC(MultiViewClusterer):
    """Large-scale multi-view subspace clustering in linear time, a method without labels.

    In each view, k-means gives m anchors H, and each row x is written as a convex combination z of them that minimises
    ‖x − Hᵀz‖² + α‖z‖². The codes of all views side by side are reduced to their leading singular vectors, on which
    k-means finds the clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_anchors : int, optional
        Anchors of each view, at least `n_clusters`; by default as many. The authors try 50 and 100 too.
    alpha : float, default=0.01
        Weight of ‖z‖², above 0: the larger, the more anchors share a row. It has the unit of a squared feature.
    n_init : int, default=10
        Runs of each k-means, of which the best is kept.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_rows, n_clusters)
        Left singular vectors of the codes; fewer columns if the codes have a lower rank.
    n_iter_ : int
        Rounds made: one per view, as nothing alternates.
    objective_history_ : ndarray
        Σ ‖x − Hᵀz‖² + α‖z‖² of each view.

    Notes
    -----
    Z. Kang, W. Zhou, Z. Zhao, J. Shao, M. Han, Z. Xu, "Large-scale multi-view subspace clustering in linear time",
    AAAI 2020.

    Different from the released code:

    - Codes come from an exact solver that all rows share, instead of an interior-point run for each row.
    - `random_state` seeds k-means; there, one fixed seed is set again before each run.
    - Features are centred before anchors are chosen, which changes no distance and no code but rounding.

    As there, the features are not scaled, views have equal weights, and neither codes nor embedding are normalised.

    Examples
    --------
    >>> from anchorview import datasets, metrics
    >>> from anchorview.baselines import LMVSC
    >>> data = datasets.make_multiview_subspaces(300, 3, random_state=0)
    >>> model = LMVSC(n_clusters=3, n_anchors=30, random_state=0).fit(data.views)
    >>> metrics.clustering_accuracy(data.target, model.labels_) > 0.9
    True
    """

    n_anchors: int | None = parameter(None, Number(1, integer=True, optional=True))
    _: KW_ONLY
    alpha: float = parameter(0.01, POSITIVE)
    scaling: str | Sequence[str] = parameter("none", Names())
    n_init: int = parameter(10, Number(1, 10_000, integer=True))

    def _max_rounds(self, n_views: int) -> int:
        return n_views

    def _check_sizes(self, views: Views, n_clusters: int) -> None:
        check_anchors(self.n_anchors, n_clusters, len(views))

    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        n_anchors = check_anchors(self.n_anchors, n_clusters, task.n_rows)
        codes: list[Matrix] = []
        history: list[float] = []
        for number, rows in enumerate(task.views, start=1):
            code, objective, residual = self._encode(rows, n_anchors, task)
            codes.append(code)
            history.append(objective)
            if task.report(number, objective, residual):
                break
        self._record(history)
        self.embedding_ = leading_vectors(np.hstack(codes) / np.sqrt(len(codes)), n_clusters)
        return litekmeans(
            self.embedding_, n_clusters, task.rng, n_replicates=self.n_init, n_threads=task.n_threads
        ).labels

    def _encode(self, rows: AnyMatrix, n_anchors: int, task: Task) -> tuple[Matrix, float, float]:
        """Choose a view's anchors; return the codes, their objective and their distance from optimality."""
        centre = np.asarray(rows.mean(axis=0)).ravel()
        if not is_sparse(rows):
            rows, centre = rows - centre, np.zeros_like(centre)
        clusters = litekmeans(rows, n_anchors, task.rng, n_replicates=self.n_init, n_threads=task.n_threads)
        # Codes add up to 1, so they are the same for rows and anchors with `centre` subtracted from both; around
        # the centre the Hessian is better conditioned.
        anchors = clusters.centres - centre
        hessian = anchors @ anchors.T + self.alpha * np.eye(n_anchors)
        cross = multiply(rows, anchors.T) - anchors @ centre
        codes = minimize_on_simplex(hessian, cross, task.n_threads)
        squares = squared_norms(rows).sum() - len(codes) * (centre @ centre)
        objective = squares + np.vdot(codes, codes @ hessian - 2 * cross)
        return codes, float(objective), simplex_residual(hessian, cross, codes)
