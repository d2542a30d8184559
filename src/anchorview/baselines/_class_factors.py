"""The steps of CONMF: bases U_p, weights of the views, and coefficients V that the views share, a column per class.

Labelled rows V_l are fixed; the others, V_u, minimise

    f(V_u) = Σ_p ‖X_p − V U_pᵀ‖_F / 2 + (σ/2) Tr(Vᵀ (D − S) V) + (μ/2) ‖V_uᵀ V_u − I/2‖²

together with the bases. With w_p = 1 / (2 ‖X_p − V U_pᵀ‖_F), w_p/2 · ‖·‖² + constant touches ‖·‖/2 from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, Matrix, Rows, squared_norms
from ..engine.blocks import map_blocks
from ._graphs import degrees
from ._matrix import inverse
from ._nmf import EPS, project_views, ratio, update_basis

_COEFFICIENT_STEPS = 5  # per round: a step for V is cheap next to the products with the views
_EXPONENTS = (1.0, 0.5, 0.25)


def fixed_coefficients(targets: Matrix) -> Matrix:
    """Return V_l: one-hot, with column j scaled so that V_lᵀ V_l = I/2; a class without rows keeps a column of zeros.

    Examples
    --------
    >>> fixed_coefficients(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    array([[0.5       , 0.        ],
           [0.        , 0.70710678],
           [0.5       , 0.        ]])
    """
    return targets * inverse(np.sqrt(2 * targets.sum(axis=0)))


@dataclass
class ClassFactors:
    """The factors and the steps."""

    views: list[AnyMatrix]  # X_p, (n, d_p)
    graph: sparse.csr_array  # S, the sum of the graphs of all views
    coefficients: Matrix  # V, (n, n_classes), with V_l in its place
    bases: list[Matrix]  # U_p, (d_p, n_classes)
    free: Rows  # numbers of the unlabelled rows
    graph_weight: float  # σ
    orthogonality: float  # μ

    def __post_init__(self) -> None:
        self._degree = degrees(self.graph)[:, None]
        self._free_degree = self._degree[self.free]
        self._smoothed = self.graph @ self.coefficients
        self._totals = [float(squared_norms(rows).sum()) for rows in self.views]

    def one_round(self, n_threads: int = 1) -> float:
        """Update all factors and return the objective."""
        self.update_bases(n_threads)
        products = project_views(self.views, self.bases, n_threads)
        grams: list[Matrix] = [basis.T @ basis for basis in self.bases]
        return self.update_coefficients(products, grams)

    def update_bases(self, n_threads: int = 1) -> None:
        """U_p ← U_p ∘ (X_pᵀ V) / (U_p Vᵀ V)."""
        gram = self.coefficients.T @ self.coefficients
        self.bases = map_blocks(
            lambda p: update_basis(self.views[p], self.coefficients, gram, self.bases[p]),
            range(len(self.views)),
            n_threads,
        )

    def update_coefficients(
        self, products: list[Matrix], grams: list[Matrix], n_steps: int = _COEFFICIENT_STEPS
    ) -> float:
        """Take steps of V_u, given X_p U_p and U_pᵀ U_p, and return the objective."""
        of_free = [product[self.free] for product in products]
        value, residuals = self.objective(products, grams)
        for _ in range(n_steps):
            weights = 0.5 / np.maximum(residuals, EPS)
            own, change = self._coefficient_step(of_free, grams, weights)
            before = value
            for exponent in _EXPONENTS:
                self.coefficients[self.free] = own * change**exponent
                value, residuals = self.objective(products, grams)
                if value <= before:
                    break
        return value

    def _coefficient_step(self, of_free: list[Matrix], grams: list[Matrix], weights: Matrix) -> tuple[Matrix, Matrix]:
        """Return V_u and (N + C) / (M + C) for the step V_u ∘ (…)^a; M − N is the gradient and C a damping.

        With G_u = Σ_p w_p (X_p U_p)_u and H = Σ_p w_p U_pᵀ U_p,

            N = G_u + σ S_u V + μ V_u,   M = V_u H + σ D_u V_u + 2 μ V_u V_uᵀ V_u,   C = 2 μ V_u³.

        a = 1 is the published step; it mostly lowers the objective, but need not. a = 1/4 always does, as
        Σ V'_ij (M_ij t⁴_ij / 4 − N_ij log t_ij) with t = V / V' bounds the objective from above (up to a constant).
        So a is halved, at most twice, if the objective has risen.
        """
        own = self.coefficients[self.free]
        damping = 2 * self.orthogonality * own**3
        wanted = self.graph_weight * self._smoothed[self.free] + self.orthogonality * own + damping
        curvature = 2 * self.orthogonality * (own.T @ own)
        for weight, product, gram in zip(weights, of_free, grams, strict=True):
            wanted += weight * product
            curvature += weight * gram
        current = own @ curvature + self.graph_weight * self._free_degree * own + damping
        return own, ratio(wanted, current)

    def objective(self, products: list[Matrix], grams: list[Matrix]) -> tuple[float, Matrix]:
        """Return the objective and ‖X_p − V U_pᵀ‖ of each view, given X_p U_p and U_pᵀ U_p."""
        self._smoothed = self.graph @ self.coefficients  # the next step needs it too
        own, gram = self.coefficients[self.free], self.coefficients.T @ self.coefficients
        squared = [
            total - 2 * np.vdot(self.coefficients, product) + np.vdot(gram, basis_gram)
            for total, product, basis_gram in zip(self._totals, products, grams, strict=True)
        ]
        residuals: Matrix = np.sqrt(np.maximum(squared, 0.0))
        rough = np.vdot(self.coefficients, self._degree * self.coefficients - self._smoothed)
        skew = own.T @ own - 0.5 * np.eye(own.shape[1])
        value = residuals.sum() + self.graph_weight * rough + self.orthogonality * np.vdot(skew, skew)
        return float(value) / 2, residuals
