"""The steps of GPSNMF: bases U_p, regression W and coefficients V, of which view p uses the columns V_p.

The objective is quadratic in V: Tr(V H Vᵀ) − 2 ⟨V, A⟩ for the views, where H adds up U_pᵀ U_p / P and A adds up
X_p U_p / P at the columns of each view; μ Σ_p Tr(V_pᵀ (D_p − S_p) V_p) for the graphs; β ‖V_l W − Y‖² for the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from ..core.arrays import AnyMatrix, Matrix, Rows, squared_norms
from ..engine.blocks import map_blocks
from ._graphs import degrees
from ._matrix import inverse
from ._nmf import EPS, project_views, ratio, update_basis

_RIDGE = 1e-4  # on the regression, as in the released code: with few labels V_lᵀ V_l has no full rank


def split_components(n_components: int, n_views: int, common_ratio: float) -> list[Rows]:
    """Return the components of each view, and last the shared ones.

    With n_s components of its own and n_c shared ones in each view, c = n_c / (n_c + n_s) and K = P n_s + n_c give
    n_s, which is rounded.

    Examples
    --------
    >>> [block.tolist() for block in split_components(5, 2, 0.5)]
    [[0, 1], [2, 3], [4]]
    """
    own = round(n_components * (1 - common_ratio) / (common_ratio + n_views * (1 - common_ratio)))
    own = min(own, n_components // n_views)
    return np.split(np.arange(n_components), own * np.arange(1, n_views + 1))


@dataclass
class PartlyShared:
    """The factors, and what is computed from them once and used by several steps."""

    views: list[AnyMatrix]  # X_p, (n, d_p)
    graphs: list[sparse.csr_array]  # S_p, (n, n)
    blocks: list[Rows]  # from `split_components`
    coefficients: Matrix  # V, (n, n_components)
    bases: list[Matrix]  # U_p, (d_p, number of components of the view)
    labelled: Rows
    targets: Matrix  # Y, of the labelled rows
    label_weight: float  # β
    graph_weight: float  # μ
    sparsity: float  # γ

    def __post_init__(self) -> None:
        n_components = self.coefficients.shape[1]
        self.columns = [np.concatenate([block, self.blocks[-1]]) for block in self.blocks[:-1]]
        # Σ_p Tr(V_pᵀ L_p V_p): components of a view are smooth on its graph, shared ones on the sum of all graphs.
        self._block_graphs = [*self.graphs, sum(self.graphs[1:], start=self.graphs[0])]
        self._degree = np.empty_like(self.coefficients)
        for block, graph in zip(self.blocks, self._block_graphs, strict=True):
            self._degree[:, block] = degrees(graph)[:, None]
        self._total = sum(float(squared_norms(rows).sum()) for rows in self.views) / len(self.views)
        self.weights = np.zeros((n_components, self.targets.shape[1]))
        self._row_penalty = np.ones(n_components)
        self._set_coefficients(self.coefficients)

    def _set_coefficients(self, coefficients: Matrix) -> None:
        """Keep V with Vᵀ V and S V, which both the objective and the next round need."""
        self.coefficients = coefficients
        self._gram = coefficients.T @ coefficients
        self._smoothed = np.empty_like(coefficients)
        for block, graph in zip(self.blocks, self._block_graphs, strict=True):
            self._smoothed[:, block] = graph @ coefficients[:, block]

    def one_round(self, n_threads: int = 1) -> float:
        """Update all factors once and return the objective."""
        self.update_bases(n_threads)
        self.rescale_bases()
        self.update_regression()
        return self.update_coefficients(n_threads)

    def update_bases(self, n_threads: int = 1) -> None:
        """U_p ← U_p ∘ (X_pᵀ V_p) / (U_p V_pᵀ V_p)."""

        def of_view(number: int) -> Matrix:
            columns = self.columns[number]
            gram = self._gram[np.ix_(columns, columns)]
            return update_basis(self.views[number], self.coefficients[:, columns], gram, self.bases[number])

        self.bases = map_blocks(of_view, range(len(self.views)), n_threads)

    def rescale_bases(self) -> None:
        """Scale the columns of U_p to sum 1; V stays, as in the released code, since views share its columns."""
        self.bases = [basis * inverse(basis.sum(axis=0)) for basis in self.bases]

    def update_regression(self) -> None:
        """W = (V_lᵀ V_l + γ D)⁻¹ V_lᵀ Y with D_ii = 1 / (2 ‖w_i‖) of the W before: a bound of ‖W‖₂,₁ is minimised."""
        known = self.coefficients[self.labelled]
        matrix = known.T @ known + np.diag(self.sparsity * self._row_penalty + _RIDGE)
        self.weights = linalg.solve(matrix, known.T @ self.targets, assume_a="pos")
        self._row_penalty = 0.5 / np.sqrt(squared_norms(self.weights) + EPS)

    def update_coefficients(self, n_threads: int = 1) -> float:
        """V ← V ∘ √(N / M), where M − N is half the gradient and both are ≥ 0; return the objective after it.

        N = A + μ S V and M = V H + μ D V; in labelled rows β (V_l Q⁻ + Y W⁺ᵀ) and β (V_l Q⁺ + Y W⁻ᵀ) are added, with
        the positive and negative parts of W and of Q = W Wᵀ.
        """
        linear, quadratic = self._data_terms(n_threads)
        wanted = self.graph_weight * self._smoothed
        wanted += linear
        current = self.graph_weight * self._degree * self.coefficients
        current += self.coefficients @ quadratic
        known, weights, gram = self.coefficients[self.labelled], self.weights, self.weights @ self.weights.T
        wanted[self.labelled] += self.label_weight * (known @ _negative(gram) + self.targets @ _positive(weights).T)
        current[self.labelled] += self.label_weight * (known @ _positive(gram) + self.targets @ _negative(weights).T)
        self._set_coefficients(self.coefficients * np.sqrt(ratio(wanted, current)))
        return self._objective(linear, quadratic)

    def objective(self, n_threads: int = 1) -> float:
        """Return the objective, with the ridge on W."""
        return self._objective(*self._data_terms(n_threads))

    def _data_terms(self, n_threads: int) -> tuple[Matrix, Matrix]:
        """Return A and H."""
        linear, quadratic = np.zeros_like(self.coefficients), np.zeros_like(self._gram)
        products = project_views(self.views, self.bases, n_threads)
        for columns, basis, product in zip(self.columns, self.bases, products, strict=True):
            linear[:, columns] += product
            quadratic[np.ix_(columns, columns)] += basis.T @ basis
        linear /= len(self.views)
        quadratic /= len(self.views)
        return linear, quadratic

    def _objective(self, linear: Matrix, quadratic: Matrix) -> float:
        data = self._total - 2 * np.vdot(self.coefficients, linear) + np.vdot(self._gram, quadratic)
        v = self.coefficients
        rough = np.einsum("ij,ij,ij->", v, self._degree, v) - np.vdot(v, self._smoothed)
        misfit = self.coefficients[self.labelled] @ self.weights - self.targets
        squared = squared_norms(self.weights)
        penalty = self.sparsity * np.sqrt(squared + EPS).sum() + _RIDGE * squared.sum()
        label = np.vdot(misfit, misfit) + penalty
        return float(data + self.graph_weight * rough + self.label_weight * label)


def _positive(matrix: Matrix) -> Matrix:
    return np.maximum(matrix, 0.0)


def _negative(matrix: Matrix) -> Matrix:
    return np.maximum(-matrix, 0.0)
