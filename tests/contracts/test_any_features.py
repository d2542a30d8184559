"""Features as people have them: columns that hold nothing, scales far apart, rows that are all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.datasets import hide_labels
from anchorview.features.scaling import fit_scaling
from support.settled import CHOSEN

TARGET = np.random.default_rng(0).integers(4, size=500)
Y = hide_labels(TARGET, 0.1, stratified=True, random_state=0)


def embedding(n_features: int = 40, seed: int = 0) -> np.ndarray:
    """Signed rows of unit length, as sentence encoders give."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(500, n_features)) + 2 * rng.normal(size=(4, n_features))[TARGET]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def build(scaling: str = "auto", n_landmarks: int = 80) -> FSSMSC:
    """A fit that chooses everything, or with a scaling given nothing."""
    settled = {} if scaling == "auto" else {**CHOSEN, "scaling": scaling}
    return FSSMSC(n_landmarks=n_landmarks, random_state=0, **settled)


def accuracy(views: Any, scaling: str = "auto") -> float:
    model = build(scaling).fit(views, Y)
    assert np.isfinite(model.embedding_).all() and np.isfinite(model.confidence_).all()
    assert 0 < model.nonzeros_ <= 150
    return float((model.labels_ == TARGET)[Y == -1].mean())


@pytest.mark.parametrize("scaling", ["auto", "minmax", "symmetric", "standard", "l2"])
def test_embeddings_with_columns_that_hold_nothing(scaling: str) -> None:
    rng = np.random.default_rng(1)
    rows = embedding()
    rounding = (6e-8 * rng.integers(-1, 2, size=(500, 3))).astype(np.float32)
    tiny = (1e-32 * rng.normal(size=(500, 3))).astype(np.float32)
    spoilt = np.hstack([rows, np.zeros((500, 2), np.float32), np.full((500, 1), 0.01, np.float32), rounding, tiny])
    assert accuracy([np.hstack([spoilt, rows[:, :3], rows[:, :3]])], scaling=scaling) > 0.9  # some columns twice
    assert accuracy([spoilt], scaling=scaling) > accuracy([rows], scaling=scaling) - 0.03


@pytest.mark.parametrize("kind", ["minmax", "symmetric", "standard"])
def test_rounding_is_not_scaled_up(kind: str) -> None:
    rng = np.random.default_rng(1)
    noise = (6e-8 * rng.integers(-1, 2, size=(500, 2))).astype(np.float32)
    views = Views([np.hstack([embedding(), noise])])
    scaled = fit_scaling(views, kind).read(views, slice(0, 500)).dense()
    assert not scaled[:, -2:].any() and np.ptp(scaled[:, :-2], axis=0).min() > 0.1
    # Where columns have units of their own, small values may mean something.
    own = Views([np.hstack([np.abs(embedding()), noise])])
    assert np.ptp(fit_scaling(own, kind).read(own, slice(0, 500)).dense()[:, -1]) > 0


def test_one_view_of_one_feature() -> None:
    """Of a single feature rows of unit length keep the sign: the user is told, and what to do instead."""
    single = TARGET[:, None] + 0.05 * np.random.default_rng(0).normal(size=(500, 1))
    with pytest.warns(UserWarning, match="a single feature keeps only its sign.*scaling='none'"):
        FSSMSC(n_landmarks=80, random_state=0).fit([single], Y)
    assert accuracy([np.hstack([single, np.ones((500, 1))])], scaling="none") > 0.9


@pytest.mark.parametrize("scaling", ["auto", "none", "standard", "l2"])
def test_rows_that_are_all_the_same(scaling: str) -> None:
    model = build(scaling, n_landmarks=20).fit([np.ones((500, 3))], Y)
    assert set(model.labels_) <= set(TARGET) and np.isfinite(model.embedding_).all()


def test_scales_far_apart_in_different_views() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8)) + 3 * rng.normal(size=(4, 8))[TARGET]
    plain = accuracy([rows[:, :4], rows[:, 4:]])
    assert accuracy([1e8 * rows[:, :4], 1e-8 * rows[:, 4:]]) > plain - 0.03 > 0.8


def test_the_tuned_estimator_takes_them_too() -> None:
    rows = np.hstack([embedding(), np.zeros((500, 2), np.float32)])
    model = AnchorViewClassifier(n_landmarks=60, n_repeats=1, random_state=0).fit([rows, 1e8 * rows[:, :5]], Y)
    assert (model.labels_ == TARGET)[Y == -1].mean() > 0.9
