"""Small problems that several tests share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from anchorview import Views
from anchorview.engine.blocks import row_blocks
from anchorview.features.landmarks import choose_landmarks
from anchorview.features.products import landmark_gram
from anchorview.features.scaling import fit_scaling
from anchorview.solver.codes import code_gram
from anchorview.solver.grams import PatternGrams, row_grams
from anchorview.solver.objective import CodeSums
from anchorview.solver.problem import Problem
from anchorview.supervision.known import supervision_laplacians


class MemoryCrossProducts:
    """E held in memory, as `solver.problem.CrossProducts`; with no ‖X‖² given, the data term lacks its constant."""

    def __init__(
        self,
        values: npt.NDArray,
        block_size: int,
        present: npt.NDArray[np.bool_] | None = None,
        squared_norm: float = 0.0,
    ) -> None:
        self.values, self.present, self._squared_norm = values, present, squared_norm
        self.n_rows = len(values)
        self.blocks = row_blocks(self.n_rows, block_size)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    def read(self, block: slice) -> npt.NDArray:
        return self.values[block]

    def take(self, rows: npt.NDArray[np.intp]) -> npt.NDArray:
        return self.values[rows]

    def squared_norm(self) -> float:
        return self._squared_norm

    def present_in(self, index: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
        return None if self.present is None else self.present[index]


@dataclass
class Case:
    """Scaled views, landmarks and labels, as the solvers see them."""

    views: list[npt.NDArray[np.float64]]  # scaled, one row per sample
    landmarks: list[npt.NDArray[np.float64]]
    classes: npt.NDArray[np.intp]  # of the labelled rows, which come first
    n_classes: int
    present: npt.NDArray[np.bool_] | None = None  # which rows have which view
    weights: npt.NDArray[np.float64] | None = None

    @property
    def gram(self) -> npt.NDArray[np.float64]:
        return sum(u @ u.T for u in self.landmarks)

    @property
    def factors(self) -> npt.NDArray[np.float64]:
        """V/|p| where a row has a view, 0 where it lacks it (rows×V)."""
        n_views = len(self.views)
        if self.present is None:
            return np.ones((len(self.views[0]), n_views))
        return n_views / self.present.sum(axis=1, keepdims=True) * self.present

    @property
    def cross(self) -> npt.NDArray[np.float64]:
        parts = zip(self.views, self.landmarks, self.factors.T, strict=True)
        return sum(factor[:, None] * (x @ u.T) for x, u, factor in parts)

    @property
    def grams(self) -> PatternGrams:
        landmarks = np.hstack(self.landmarks)
        return PatternGrams(landmarks, [u.shape[1] for u in self.landmarks], landmark_gram(landmarks))

    @property
    def each(self) -> npt.NDArray[np.float64]:
        """Weights of the rows."""
        return np.ones(len(self.views[0])) if self.weights is None else self.weights

    def problem(self, **parameters: float) -> Problem:
        labelled = np.arange(len(self.classes))
        weights = None if self.weights is None else self.weights[labelled]
        _, must, cannot = supervision_laplacians(self.classes, self.n_classes, weights=weights)
        values = {"l1": 0.2, "ridge": 1.0, "coupling": 1e-4, "must_link_weight": 1e4} | parameters
        return Problem(
            gram=self.gram,
            n_components=self.n_classes,
            labelled=labelled,
            must=must,
            cannot=cannot,
            grams=None if self.present is None else self.grams,
            weights=self.weights,
            **values,
        )

    @property
    def squared_norm(self) -> float:
        """Σ_v ‖X_v‖², weighted and with the factors of missing views."""
        squares = np.stack([(x**2).sum(axis=1) for x in self.views], axis=1)
        return float(self.each @ (self.factors * squares).sum(axis=1))

    def cross_products(self, block_size: int = 64) -> MemoryCrossProducts:
        return MemoryCrossProducts(self.cross, block_size, self.present, self.squared_norm)

    def take(self, rows: npt.NDArray[np.intp]) -> Case:
        """Return some rows, without weights; the labelled ones of them must come first."""
        labelled = rows[rows < len(self.classes)]
        assert (rows[: len(labelled)] == labelled).all()
        present = None if self.present is None else self.present[rows]
        return Case([x[rows] for x in self.views], self.landmarks, self.classes[labelled], self.n_classes, present)

    def literal_objective(
        self, problem: Problem, embedding: npt.NDArray[np.float64], codes: npt.NDArray[np.float64]
    ) -> float:
        """J as it is written: residuals of the present views, dense Laplacians of weighted pairs."""
        value = 0.0
        for x, u, factor in zip(self.views, self.landmarks, self.factors.T, strict=True):
            value += 0.5 * float((self.each * factor) @ ((x - codes @ u) ** 2).sum(axis=1))
        value += float(self.each @ (problem.l1 * codes.sum(axis=1) + problem.ridge / 2 * (codes**2).sum(axis=1)))
        n_labelled = len(self.classes)
        embedded, weights = codes[:n_labelled] @ embedding.T, self.each[:n_labelled]
        same = self.classes[:, None] == self.classes
        distances = ((embedded[:, None] - embedded) ** 2).sum(axis=2)
        must, cannot = same * np.outer(weights, weights), ~same * np.outer(weights, weights)
        within, between = (float((pairs * distances).sum() / (2 * pairs.sum())) for pairs in (must, cannot))
        graph = (codes * self.each[:, None]).T @ codes
        root = np.maximum(graph.sum(axis=1), 1e-5) ** -0.5
        smooth = np.trace(embedding @ (np.eye(len(graph)) - root[:, None] * graph * root) @ embedding.T)
        return value + problem.coupling * (smooth + problem.must_link_weight * within) / (between + 1e-5)


def case_from(arrays: list[npt.NDArray], target: npt.NDArray, m: int, n_labelled: int, seed: int) -> Case:
    """Scale data as the estimator does and put some labelled rows first."""
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(target))
    views = Views([np.asarray(a, dtype=np.float64)[order] for a in arrays])
    scaler = fit_scaling(views, "minmax")
    scaled = scaler.read(views, slice(0, len(views))).dense()
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


def drop_views(case: Case, seed: int, share: float = 0.4) -> Case:
    """Take views away at random, never the last one of a row."""
    rng = np.random.default_rng(seed)
    present = rng.random((len(case.views[0]), len(case.views))) > share
    present[np.arange(len(present)), rng.integers(len(case.views), size=len(present))] = True
    return replace(case, present=present)


def sums_of(problem: Problem, codes: sparse.csr_array, cross: MemoryCrossProducts | npt.NDArray) -> CodeSums:
    """All reductions, from codes and cross products held in memory, without the solver's kernels."""
    values, present = (cross.values, cross.present) if isinstance(cross, MemoryCrossProducts) else (cross, None)
    weights = np.ones(codes.shape[0]) if problem.weights is None else problem.weights
    dense = codes.toarray()
    quadratic = None
    if present is not None:
        grams = row_grams(problem.gram, problem.grams, present)
        quadratic = sum(weights[rows] @ ((dense[rows] @ gram) * dense[rows]).sum(axis=1) for gram, rows in grams)
    labelled = sparse.csr_array(codes[problem.labelled])
    return CodeSums(
        gram=code_gram(codes, weights),
        fit=float(weights @ (dense * values).sum(axis=1)),
        total=float(weights @ dense.sum(axis=1)),
        must=None if problem.must is None else problem.must.quadratic(labelled),
        cannot=None if problem.cannot is None else problem.cannot.quadratic(labelled),
        quadratic=quadratic,
    )
