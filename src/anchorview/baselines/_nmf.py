"""What the two factorisations X_p ≈ V_p U_pᵀ with U_p, V_p ≥ 0 share; the rows of X_p are the rows of view p."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from ..core.arrays import AnyMatrix, Matrix
from ..core.checks import COUNT
from ..engine.blocks import map_blocks
from ._base import SemiSupervisedMultiView, Task
from ._matrix import multiply
from ._parameters import method, parameter
from ._scaling import check_nonnegative

EPS = float(np.finfo(np.float64).eps)


@method
class NonnegativeFactorization(SemiSupervisedMultiView):
    """A semi-supervised method on non-negative views, dense or sparse, in rounds until the objective converges.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of a row in the graph of a view.
    """

    _: KW_ONLY
    n_neighbors: int = parameter(5, COUNT)
    max_iter: int = parameter(500, COUNT)

    def _check_views(self, task: Task) -> None:
        check_nonnegative(task.views, task.names, type(self).__name__)


def ratio(wanted: Matrix, current: Matrix) -> Matrix:
    """Return a / b with both at least the machine's epsilon, so that 0 / 0 is 1: no reason to change."""
    return np.maximum(wanted, EPS) / np.maximum(current, EPS)


def update_basis(rows: AnyMatrix, coefficients: Matrix, gram: Matrix, basis: Matrix) -> Matrix:
    """Return U ∘ (Xᵀ V) / (U Vᵀ V), the step of Lee and Seung, after which ‖X − V Uᵀ‖ is not larger; Vᵀ V is given."""
    return basis * ratio(multiply(rows.T, coefficients), basis @ gram)


def project_views(views: list[AnyMatrix], bases: list[Matrix], n_threads: int) -> list[Matrix]:
    """Return X_p U_p of each view."""
    return map_blocks(lambda pair: multiply(*pair), list(zip(views, bases, strict=True)), n_threads)
