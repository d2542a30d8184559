"""Small problems that several tests share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from anchorview.landmarks import choose_landmarks
from anchorview.scaling import fit_scaling
from anchorview.solver.codes import code_gram
from anchorview.solver.objective import CodeSums, sum_codes
from anchorview.solver.problem import MemoryCrossProducts, Problem
from anchorview.supervision import label_laplacians
from anchorview.views import Views


@dataclass
class Case:
    """Scaled views, landmarks and labels, as the solvers see them."""

    views: list[npt.NDArray[np.float64]]  # scaled, one row per sample
    landmarks: list[npt.NDArray[np.float64]]
    classes: npt.NDArray[np.intp]  # of the labelled rows, which come first
    n_classes: int

    @property
    def gram(self) -> npt.NDArray[np.float64]:
        return sum(u @ u.T for u in self.landmarks)

    @property
    def cross(self) -> npt.NDArray[np.float64]:
        return sum(x @ u.T for x, u in zip(self.views, self.landmarks, strict=True))

    def problem(self, **parameters: float) -> Problem:
        must, cannot = label_laplacians(self.classes, self.n_classes)
        values = {"l1": 0.2, "ridge": 1.0, "coupling": 1e-4, "must_link_weight": 1e4} | parameters
        return Problem(
            gram=self.gram,
            n_components=self.n_classes,
            labelled=np.arange(len(self.classes)),
            must=must,
            cannot=cannot,
            squared_norm=float(sum((x**2).sum() for x in self.views)),
            **values,
        )

    def cross_products(self, block_size: int = 64) -> MemoryCrossProducts:
        return MemoryCrossProducts(self.cross, block_size)


def case_from(arrays: list[npt.NDArray], target: npt.NDArray, m: int, n_labelled: int, seed: int) -> Case:
    """Scale data as the estimator does and put some labelled rows first."""
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(target))
    views = Views([np.asarray(a, dtype=np.float64)[order] for a in arrays])
    scaler = fit_scaling(views, "minmax")
    scaled = scaler.rows(views, slice(0, len(views)))
    landmarks = choose_landmarks(views, scaler, "kmeans", m, rng)
    cuts = np.cumsum(views.sizes)[:-1]
    _, classes = np.unique(target[order][:n_labelled], return_inverse=True)
    return Case(np.split(scaled, cuts, axis=1), np.split(landmarks, cuts, axis=1), classes, int(classes.max()) + 1)


def random_case(seed: int, n: int = 150, m: int = 40, k: int = 4, n_labelled: int = 30) -> Case:
    """Noisy blobs in three views, one of them with fewer features than landmarks."""
    rng = np.random.default_rng(seed)
    target = rng.integers(k, size=n)
    target[:k] = np.arange(k)
    arrays = [rng.normal(size=(k, d))[target] + 0.7 * rng.normal(size=(n, d)) for d in (30, 12, 5)]
    return case_from(arrays, target, m, n_labelled, seed)


def sums_of(problem: Problem, codes: sparse.csr_array, cross: npt.NDArray[np.float64]) -> CodeSums:
    """All reductions of codes and cross products held in memory."""
    fit = float(codes.multiply(cross).sum())
    return sum_codes(problem, code_gram(codes), fit, float(codes.sum()), codes[problem.labelled])
