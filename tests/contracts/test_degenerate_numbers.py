"""Features that leave factorisations little to hold on to: few directions, equal rows, tight classes, any scale."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import ADMM, FSSMSC, AnchorViewClassifier, baselines
from anchorview.features.text import _orthonormal
from anchorview.readers.code_space import code_coordinates
from anchorview.readers.graph import make_space
from anchorview.readers.plane import map_to_plane
from anchorview.solver.spectrum import largest_curvature
from anchorview.solver.trace_ratio import solve_trace_ratio

KINDS = (
    "rank 1",
    "rank 2",
    "rank 3",
    "rank 5",
    "classes of equal rows",
    "tight classes",
    "constant",
    "every row twice",
)
N_CLASSES = 4


def features(kind: str, n_rows: int = 96, n_features: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of one kind, and their classes."""
    rng, target = np.random.default_rng(0), np.arange(n_rows) % N_CLASSES
    if kind.startswith("rank"):
        rank = int(kind[5:])
        places = 3 * rng.normal(size=(N_CLASSES, rank))[target] + 0.3 * rng.normal(size=(n_rows, rank))
        return places @ rng.normal(size=(rank, n_features)), target
    if kind == "constant":
        return np.ones((n_rows, n_features)), target
    if kind == "every row twice":
        return np.repeat(rng.random((n_rows // 2, n_features)), 2, axis=0), target
    noise = 0.0 if kind == "classes of equal rows" else 1e-3
    return rng.random((N_CLASSES, n_features))[target] + noise * rng.random((n_rows, n_features)), target


def answers_are_finite(model: Any, rows: np.ndarray, target: np.ndarray, share: float) -> None:
    y = np.where(np.random.default_rng(1).random(len(target)) < share, target, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # LinAlgWarning is one
        model.fit([rows], y)
        probabilities = model.predict_proba([rows[:7]])
    assert np.isfinite(model.embedding_).all() and np.isfinite(model.confidence_).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_factorisation_fails(kind: str, dtype: Any) -> None:
    rows, target = features(kind, 60, 16)
    for scale in (1e-6, 1e6):
        scaled = (scale * rows).astype(dtype)
        answers_are_finite(FSSMSC(n_landmarks=30, random_state=0), scaled, target, 0.3)
        reads_all = FSSMSC(n_landmarks=30, readers=("nearest", "linear", "poisson"), relabel=0.9, random_state=0)
        answers_are_finite(reads_all, scaled, target, 0.9)
        paper = FSSMSC(n_landmarks=30, scaling="none", solver=ADMM(max_iter=3, units="data"), random_state=0)
        answers_are_finite(paper, scaled, target, 0.9)
    answers_are_finite(AnchorViewClassifier(n_landmarks=30, random_state=0), (1e3 * rows).astype(dtype), target, 0.9)


def tight(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return float32 rows of tight classes, their classes, and some hundred labels."""
    rng = np.random.default_rng(number)
    n_rows, n_features = 1500, (40, 10, 120)[number % 3]
    target = np.arange(n_rows) % 5
    width = (0.2, 0.02, 0.002, 2e-4)[number // 3 % 4]
    rows = rng.random((5, n_features))[target] + width * rng.random((n_rows, n_features))
    return rows.astype(np.float32), target, np.where(np.arange(n_rows) < (450, 650)[number // 12], target, -1)


@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 24))])
def test_tight_classes_in_single_precision_are_found(number: int) -> None:
    rows, target, y = tight(number)
    model = AnchorViewClassifier(random_state=0).fit([rows], y)
    assert (model.labels_ == target).mean() > 0.99
    assert (model.predict([rows[:50]]) == target[:50]).mean() > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_take_such_rows_too(kind: str) -> None:
    for dtype in (np.float32, np.float64):
        rows = features(kind)[0].astype(dtype)
        points = make_space(rows[:20]).coordinates(rows @ rows[:20].T)
        assert np.isfinite(points).all()
        wide = rows.astype(np.float64)
        turned = _orthonormal(wide.T @ wide)
        assert np.isfinite(turned).all() and np.isfinite(code_coordinates(sparse.csr_array(np.abs(rows)))).all()
        assert np.isfinite(map_to_plane(rows, np.zeros(len(rows), dtype=np.intp))).all()
        gram = wide.T @ wide
        for between, within in ((gram, gram), (gram, np.zeros_like(gram)), (np.zeros_like(gram), gram)):
            assert np.isfinite(solve_trace_ratio(between, within, 3).embedding).all()
        assert np.isfinite(largest_curvature(lambda v, m=gram: m @ v, np.ones(len(gram)), lambda: 1e9))


@pytest.mark.parametrize("name", baselines.__all__)
def test_the_rivals_take_such_rows_too(name: str) -> None:
    method = getattr(baselines, name)
    known = {"random_state": 0, "n_clusters": N_CLASSES, "max_iter": 5}
    model = method(**{key: value for key, value in known.items() if key in inspect.signature(method).parameters})
    for kind in ("rank 1", "constant", "tight classes"):
        rows, target = features(kind, 60, 12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(model.fit([1e6 * rows], np.where(np.arange(60) < 20, target, -1)).labels_) == 60
