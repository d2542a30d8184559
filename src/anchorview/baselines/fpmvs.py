"""FPMVS: one set of orthogonal anchors for all views, learned together with the codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..core.arrays import AnyMatrix, ClassIds, Matrix, squared_norms, unit_rows
from ..core.checks import COUNT, WEIGHT, Choice, Number, Rule
from ..data.reading import ColumnGroups
from ..data.views import Views
from ._base import MultiViewClusterer, Task, check_anchors
from ._kmeans import litekmeans
from ._matrix import leading_vectors, multiply
from ._simplex import project_rows

__all__ = ["FPMVS"]

_FIRST_CHECK = 10  # rounds made before the stop rule applies


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
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`anchorview.Views`. Without it a 2-D `X` is one view.
    scaling : {"standard", "minmax", "l2", "sum", "row_standard", "none"} or sequence, default="standard"
        Scaling for all views, or one per view: features of mean 0 and deviation 1 (sparse views are divided by the
        deviation only); features from 0 to 1; rows of unit length; rows whose absolute values add up to 1; rows of
        mean 0 and deviation 1; none.
    max_iter : int, default=50
        Rounds at most.
    tol : float, default=1e-6
        Relative change of the objective at which to stop, from the tenth round on.
    n_init : int, default=50
        Runs of k-means, of which the best is kept.
    random_state : int, RandomState or None, default=None
        Starts of k-means.
    n_jobs : int, optional
        Threads; by default as many as BLAS uses. The result does not depend on it.
    verbose : bool, default=False
        Log each round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster number of each row.
    codes_ : ndarray of shape (n_rows, n_anchors)
        The codes; almost every row is close to a single anchor.
    view_weights_ : ndarray of shape (n_views,)
        α, which adds up to 1.
    n_iter_ : int
        Rounds made.
    objective_history_ : ndarray
        Objective after each round. With ``z_weighting="exact"`` and no view of fewer than d features it never rises.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

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

    codes_: Matrix
    view_weights_: Matrix

    _rules: ClassVar[dict[str, Rule]] = {
        **MultiViewClusterer._rules,
        "n_anchors": Number(1, integer=True, optional=True),
        "n_dims": Number(1, integer=True, optional=True),
        "z_weighting": Choice(("released", "exact")),
        "n_init": Number(1, 10_000, integer=True),
        "max_iter": COUNT,
        "tol": WEIGHT,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        n_anchors: int | None = None,
        n_dims: int | None = None,
        *,
        z_weighting: str = "released",
        views: ColumnGroups | None = None,
        scaling: str | Sequence[str] = "standard",
        max_iter: int = 50,
        tol: float = 1e-6,
        n_init: int = 50,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.n_dims = n_dims
        self.z_weighting = z_weighting
        self.views = views
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
