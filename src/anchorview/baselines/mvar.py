"""MVAR: regressions on the views that agree on one label per row (Tao, Hou, Nie, Zhu and Yi, IEEE TIP 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, ClassIds, Matrix, Rows, is_sparse, squared_norms
from ..core.checks import COUNT, POSITIVE, WEIGHT, Names, Number
from ..engine.blocks import map_blocks
from ._base import Labels, Task
from ._inductive import InductiveMultiView
from ._matrix import multiply, one_hot
from ._parameters import method, parameter
from ._ridge import weighted_ridge

_SMOOTHING = 1e-10  # ε in √(‖e‖² + ε), which keeps the weights of perfectly fitted rows finite
_WINDOW = 6  # the rounds whose objectives have to agree


@method
class MVAR(InductiveMultiView):
    """Multi-view semi-supervised classification via adaptive regression.

    Every view predicts the one-hot labels F by a linear regression with an unsquared, and so robust, loss; the labels
    of the unlabelled rows and the weights α of the views are learned together with the regressions:

    min Σ_v α_vʳ [ Σ_i s_i ‖x_i W_v + b_v − f_i‖ + λ(‖W_v‖² + ‖b_v‖²) ],  Σ_v α_v = 1, α ≥ 0, f_i one-hot, F_l = Y_l.

    A round updates F, the regressions (one reweighted least squares step) and α in turn; none of them raises the
    objective.

    Parameters
    ----------
    ridge : float, default=1.0
        Weight of the squared coefficients (λ), intercepts included.
    labelled_weight : float, default=100.0
        Weight of a labelled row (s_i) beside an unlabelled one, which has weight 1. The released code has 1e4. Small
        weights make the unlabelled rows count more: better where classes are easy to tell apart (1 is best on
        handwritten digits), but all rows can end in a few classes where they are not.
    view_exponent : float, default=2.0
        How evenly views are weighted (r), above 1: near 1 only the best view counts, large values make all equal.
    tol : float, default=1e-3
        Stop when the objectives of six rounds lie within this part of their largest.
    scaling : str or sequence of str, default="standard"
        Scaling of the features, one for all views or one per view: "none", "l2", "sum", "standard", "minmax" or
        "row_standard". One `ridge` for all views wants features of one scale. For sparse text "l2" is the better
        choice: "standard" blows up rare words.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Labels of all rows: the last F, in which the views that fit a row well count more for its label. This is
        why `predict` on the same rows can differ.
    coef_ : list of ndarrays of shape (n_features of the view, n_classes)
        W_v, for scaled features.
    intercept_ : ndarray of shape (n_views, n_classes)
        b_v.
    view_weights_ : ndarray of shape (n_views,)
        α.
    objective_history_ : ndarray
        Objective after each round.

    Notes
    -----
    Different from the authors' released program:

    - Row weights are brought up to date before labels are chosen (there they lag one round behind), without which the
      objective could rise.
    - The rule by which the rounds end, which never applies there (29 rounds are made, always), does.
    - ε in √(‖e‖² + ε), which keeps the weights of perfectly fitted rows finite, is 1e-10; there it is 2.2e-16, and
      the recorded objective leaves it out. A row fitted to better than 1e-5 weighs less here.
    - Features are standardised, λ is 1 and labelled rows weigh 100; there features are left as they are, and the
      demonstration has 1e3 and 1e4.

    References
    ----------
    H. Tao, C. Hou, F. Nie, J. Zhu, D. Yi: Scalable multi-view semi-supervised classification via adaptive regression.
    IEEE Transactions on Image Processing 26 (2017).

    Examples
    --------
    >>> from anchorview.baselines import MVAR
    >>> from anchorview.datasets import hide_labels, make_multiview_subspaces
    >>> data = make_multiview_subspaces(300, 3, noise=0.1, random_state=0)
    >>> y = hide_labels(data.target, 0.1, random_state=0)
    >>> model = MVAR().fit(data.views, y)
    >>> bool((model.labels_ == data.target).mean() > 0.9)
    True
    >>> model.predict(data.views[:2]).shape
    (2,)
    """

    _: KW_ONLY
    ridge: float = parameter(1.0, POSITIVE)
    labelled_weight: float = parameter(100.0, POSITIVE)
    view_exponent: float = parameter(2.0, Number(1, strict=True))
    max_iter: int = parameter(30, COUNT)
    tol: float = parameter(1e-3, WEIGHT)
    scaling: str | Sequence[str] = parameter("standard", Names())

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        sizes = np.where(labels.class_ids >= 0, float(self.labelled_weight), 1.0)
        regressions = [_Regression.start(rows, sizes, labels, self.ridge) for rows in task.views]
        alpha = np.full(len(regressions), 1.0 / len(regressions))
        targets = np.zeros((task.n_rows, labels.n_classes))
        targets[labels.labelled] = labels.targets
        history: list[float] = []
        for number in range(1, self.max_iter + 1):
            targets[labels.unlabelled] = _choose_labels(regressions, alpha**self.view_exponent, labels.unlabelled)
            losses = np.array(map_blocks(lambda view: view.fit(targets), regressions, task.n_threads))
            alpha = view_weights(losses, self.view_exponent)
            history.append(float(alpha**self.view_exponent @ losses))
            spread = _spread(history)
            if task.report(number, history[-1], spread) or spread < self.tol:
                break
        self.coef_ = [view.coefficients[:-1] for view in regressions]
        self.intercept_ = np.array([view.coefficients[-1] for view in regressions])
        self.view_weights_ = alpha
        self._record(history, converged=number < self.max_iter or spread < self.tol)
        class_ids: ClassIds = targets.argmax(axis=1)
        return class_ids

    def _choose(self, views: list[AnyMatrix]) -> ClassIds:
        """Return the largest entry of Σ_v α_vʳ (x W_v + b_v)."""
        weights = self.view_weights_**self.view_exponent
        parts = zip(views, self.coef_, self.intercept_, weights, strict=True)
        scores = sum(weight * (multiply(rows, coef) + intercept) for rows, coef, intercept, weight in parts)
        class_ids: ClassIds = np.argmax(scores, axis=1)
        return class_ids


@dataclass
class _Regression:
    """The regression of one view: W̃ = [W; b] on the rows with a column of ones."""

    rows: AnyMatrix
    sizes: Matrix  # s
    ridge: float
    coefficients: Matrix
    scores: Matrix  # X̃ W̃
    row_weights: Matrix  # the diagonal of B

    @classmethod
    def start(cls, rows: AnyMatrix, sizes: Matrix, labels: Labels, ridge: float) -> _Regression:
        """Fit the labelled rows by plain ridge regression with a free intercept; every row has weight 1 in F then."""
        # A column of c instead of ones divides the penalty of the intercept by c²: with c² = 10⁶ λ it is free.
        large = 1e3 * np.sqrt(ridge)
        known = labels.labelled
        first = weighted_ridge(_append_column(rows[known], large), np.ones(len(known)), labels.targets, ridge)
        first[-1] *= large
        rows = _append_column(rows, 1.0)
        return cls(rows, sizes, ridge, first, multiply(rows, first), np.ones(len(sizes)))

    def fit(self, targets: Matrix) -> float:
        """Take a step towards the best regression for these targets; return its loss, Σ s‖e‖ + λ‖W̃‖²."""
        self._weigh(targets)
        self.coefficients = weighted_ridge(self.rows, self.row_weights, targets, self.ridge, self.coefficients)
        self.scores = multiply(self.rows, self.coefficients)
        lengths = self._weigh(targets)
        return float(self.sizes @ lengths + self.ridge * (self.coefficients**2).sum())

    def _weigh(self, targets: Matrix) -> Matrix:
        """Set B = diag(s / 2‖e‖), for which Σ B‖e‖² touches Σ s‖e‖ from above (but for a constant)."""
        lengths: Matrix = np.sqrt(squared_norms(self.scores - targets) + _SMOOTHING)
        self.row_weights = self.sizes / (2 * lengths)
        return lengths


def _append_column(rows: AnyMatrix, value: float) -> AnyMatrix:
    column = np.full((rows.shape[0], 1), value)
    if is_sparse(rows):
        return sparse.csr_array(sparse.hstack([rows, sparse.csr_array(column)]))
    return np.hstack([rows, column])


def _choose_labels(regressions: list[_Regression], weights: Matrix, unlabelled: Rows) -> Matrix:
    """Return the one-hot rows F_u that minimise Σ_v α_vʳ Σ_i B_ii ‖x̃_i W̃_v − f_i‖²."""
    scores = sum(
        weight * view.row_weights[unlabelled, None] * view.scores[unlabelled]
        for weight, view in zip(weights, regressions, strict=True)
    )
    return one_hot(np.argmax(scores, axis=1), regressions[0].scores.shape[1])


def view_weights(losses: Matrix, exponent: float) -> Matrix:
    """Return α on the simplex that minimises Σ_v α_vʳ e_v: α_v ∝ e_v^(1/(1−r)).

    Examples
    --------
    >>> view_weights(np.array([1.0, 3.0]), 2.0)
    array([0.75, 0.25])
    """
    power = np.log(losses) / (1.0 - exponent)
    alpha: Matrix = np.exp(power - power.max())  # at most 1: nothing overflows near r = 1
    return alpha / float(alpha.sum())


def _spread(history: list[float]) -> float:
    """(max − min) / max of the last objectives; infinity if there are too few."""
    last = history[-_WINDOW:]
    return (max(last) - min(last)) / max(last) if len(last) == _WINDOW else np.inf
