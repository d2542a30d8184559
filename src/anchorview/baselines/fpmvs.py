"""FPMVS: one set of orthogonal anchors for all views, learned together with the codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np

from ..core.arrays import AnyMatrix, ClassIds, Matrix, squared_norms, unit_rows
from ..core.checks import COUNT, WEIGHT, Names, Number, OneOf
from ..data.views import Views
from ._base import MultiViewClusterer, Task, check_anchors
from ._kmeans import litekmeans
from ._matrix import leading_vectors, multiply
from ._parameters import method, parameter
from ._simplex import project_rows

_FIRST_CHECK = 10  # rounds made before the stop rule applies


@method
class FPMVS(MultiViewClusterer):
    """Fast parameter-free multi-view subspace clustering with consensus anchor guidance, a method without labels.

    All views share m anchors A in d dimensions and one code z on the simplex per row; a view's rows are
    reconstructed as W_v A z. Weights α_v, orthonormal W_v and A, and the codes minimise
    Σ_v α_v² Σ_i ‖x_i^v − W_v A z_i‖², each in turn in closed form. Clusters come from k-means on the singular vectors
    of the codes.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_anchors : int, optional
        m, at least `n_clusters`; by default as many.
    n_dims : int, optional
        d, at least m, so that anchors can be orthonormal; by default m.
    z_weighting : {"released", "exact"}, default="released"
        How views are added up in the update of the codes: without α_v², as in code that the authors published for the
        same model, and as it takes to meet published results; or with it, as the objective has it.
    tol : float, default=1e-6
        Relative change of the objective at which to stop, from the tenth round on.

    Attributes
    ----------
    codes_ : ndarray of shape (n_rows, n_anchors)
        The codes; almost every row is close to a single anchor.
    view_weights_ : ndarray of shape (n_views,)
        α, which adds up to 1.
    objective_history_ : ndarray
        Objective after each round. With ``z_weighting="exact"`` and no view of fewer than d features it never rises.

    Notes
    -----
    S. Wang, X. Liu, X. Zhu, P. Zhang, Y. Zhang, F. Gao, E. Zhu, "Fast parameter-free multi-view subspace clustering
    with consensus anchor guidance", IEEE Transactions on Image Processing 31, 2022.

    The core of the released code (``wangsiwei2010/FPMVS-CAG``) is not readable; this follows the paper, the source of
    the sister method SMVSC and the results that the authors saved. The tolerance is not known; 1e-6 meets published
    results, 1e-3 does not. A readable, seemingly older copy (``Qinghai-Zheng/FPMVS-CAG``) has the same steps but weighs
    views by α_v ∝ 1 / ‖X_v − W_v A Z‖, without the square, which does not minimise the objective, and makes 20
    rounds. Here α_v ∝ 1 / ‖X_v − W_v A Z‖², as in SMVSC, and as the weights that the authors saved suggest.

    - The first m rows are the first anchors, as there, so the result depends on the order of the rows.
    - The labels are those of the k-means run with the lowest cost; the authors' tables take, for each measure, the
      best of 50 runs by comparison with the true classes.
    - A view of fewer than d features has orthonormal rows instead of columns in W_v, as the decomposition gives it.
    - A view that is all zeros (constant features) gets no weight, where the formula divides by zero.

    Examples
    --------
    >>> from anchorview import datasets, metrics
    >>> from anchorview.baselines import FPMVS
    >>> data = datasets.load_handwritten()
    >>> model = FPMVS(n_clusters=10, random_state=0).fit(data.views)
    >>> metrics.clustering_accuracy(data.target, model.labels_) > 0.8
    True
    """

    n_anchors: int | None = parameter(None, Number(1, integer=True, optional=True))
    n_dims: int | None = parameter(None, Number(1, integer=True, optional=True))
    _: KW_ONLY
    z_weighting: str = parameter("released", OneOf(("released", "exact")))
    scaling: str | Sequence[str] = parameter("standard", Names())
    max_iter: int = parameter(50, COUNT)
    tol: float = parameter(1e-6, WEIGHT)
    n_init: int = parameter(50, Number(1, 10_000, integer=True))

    def _check_sizes(self, views: Views, n_clusters: int) -> None:
        n_anchors = check_anchors(self.n_anchors, n_clusters, len(views))
        if self.n_dims is not None:  # more dimensions than features would stay empty
            Number(n_anchors, max(n_anchors, *views.sizes), integer=True).check("n_dims", self.n_dims)

    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        n_anchors = check_anchors(self.n_anchors, n_clusters, task.n_rows)
        n_dims = n_anchors if self.n_dims is None else int(self.n_dims)
        model = _Alternation(task.views, n_anchors, n_dims, exact=self.z_weighting == "exact")
        self._iterate(task, model.one_round, first_check=_FIRST_CHECK)
        self.codes_, self.view_weights_ = model.codes, model.weights
        embedding = unit_rows(leading_vectors(self.codes_, n_clusters))
        return litekmeans(embedding, n_clusters, task.rng, n_replicates=self.n_init, n_threads=task.n_threads).labels


class _Alternation:
    """W, A, Z and α, updated in turn; Z has a row per sample here, so X_v Zᵀ of the paper is rowsᵀ @ codes."""

    def __init__(self, views: list[AnyMatrix], n_anchors: int, n_dims: int, *, exact: bool) -> None:
        self._views, self._exact = views, exact
        self._squares: Matrix = np.array([squared_norms(rows).sum() for rows in views])
        self._anchors: Matrix = np.zeros((n_dims, n_anchors))
        self.weights: Matrix = np.full(len(views), 1 / len(views))
        self.codes: Matrix = np.eye(views[0].shape[0], n_anchors)
        self._moments = [multiply(rows.T, self.codes) for rows in views]

    def one_round(self) -> float:
        """Update everything once and return the objective."""
        projections = [nearest_orthonormal(moment @ self._anchors.T) for moment in self._moments]
        self._anchors = update_anchors(self._moments, projections, self.weights)
        bases: list[Matrix] = [projection @ self._anchors for projection in projections]
        self.codes = update_anchor_codes(self._views, bases, self.weights, exact=self._exact)
        self._moments = [multiply(rows.T, self.codes) for rows in self._views]
        losses = measure_losses(self._squares, self._moments, bases, self.codes.T @ self.codes)
        self.weights = update_weights(losses, self._squares)
        return float(self.weights**2 @ losses)


def nearest_orthonormal(matrix: Matrix) -> Matrix:
    """Return U Qᵀ of the thin singular value decomposition U S Qᵀ: the best match with orthonormal columns (or rows).

    Examples
    --------
    >>> nearest_orthonormal(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    if not matrix.any():  # undetermined; the first round of the released code has the identity here
        return np.eye(*matrix.shape)
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    result: Matrix = left @ right
    return result


def update_anchors(moments: list[Matrix], projections: list[Matrix], weights: Matrix) -> Matrix:
    """Return the anchors that maximise Σ α² ⟨W A, X Zᵀ⟩."""
    parts = zip(moments, projections, weights**2, strict=True)
    target: Matrix = np.sum([weight * (projection.T @ moment) for moment, projection, weight in parts], axis=0)
    return nearest_orthonormal(target)


def update_anchor_codes(views: list[AnyMatrix], bases: list[Matrix], weights: Matrix, *, exact: bool) -> Matrix:
    """Return the codes; as A has orthonormal columns, their Hessian is a multiple of the identity."""
    factors = weights**2 if exact else np.ones_like(weights)
    total = (weights**2).sum()
    slopes = np.zeros((views[0].shape[0], bases[0].shape[1]))
    for rows, basis, factor in zip(views, bases, factors, strict=True):
        slopes += multiply(rows, basis * (factor / total))
    return project_rows(slopes)


def measure_losses(squares: Matrix, moments: list[Matrix], bases: list[Matrix], code_gram: Matrix) -> Matrix:
    """‖X − W A Z‖² of each view, from products that are needed anyway."""
    losses = [
        square - 2 * np.vdot(moment, basis) + np.vdot(basis.T @ basis, code_gram)
        for square, moment, basis in zip(squares, moments, bases, strict=True)
    ]
    return np.maximum(losses, 0.0)


def update_weights(losses: Matrix, squares: Matrix) -> Matrix:
    """Weights in inverse proportion to the losses; views of zeros get none."""
    used = squares > 0
    if not used.any():
        return np.full(len(losses), 1 / len(losses))
    inverse = np.where(used, 1.0 / np.maximum(losses, np.where(used, 1e-12 * squares, 1.0)), 0.0)
    result: Matrix = inverse / inverse.sum()
    return result
