"""Sizes that nobody plans for: few landmarks, few rows, many classes, few and very many features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, datasets
from support.settled import CHOSEN


def check(model: FSSMSC, views: Any, y: Any) -> None:
    labels = model.fit(views, y).labels_
    known = y != -1
    np.testing.assert_array_equal(labels[known], y[known])
    assert set(labels) <= set(y[known])
    np.testing.assert_array_equal(model.predict(views)[~known], labels[~known])
    assert np.isfinite(model.embedding_).all()


def test_seven_landmarks() -> None:
    data = datasets.make_multiview_subspaces(400, 5, random_state=0)
    y = datasets.hide_labels(data.target, 0.1, random_state=0)
    model = FSSMSC(n_landmarks=7, random_state=0)
    check(model, data.views, y)
    assert (model.labels_ == data.target).mean() > 0.9


def test_fifty_rows() -> None:
    data = datasets.make_multiview_subspaces(50, 3, random_state=0)
    y = datasets.hide_labels(data.target, 0.2, random_state=0)
    model = FSSMSC(random_state=0)
    check(model, data.views, y)
    assert len(model.landmarks_) < 25


def test_a_hundred_classes() -> None:
    data = datasets.make_multiview_subspaces(1200, 100, (60, 40), random_state=0)
    y = np.full(1200, -1)
    for number in range(100):
        y[np.flatnonzero(data.target == number)[:2]] = number
    model = FSSMSC(n_landmarks=200, random_state=0)
    check(model, data.views, y)
    assert (model.labels_ == data.target).mean() > 0.6


def test_three_features_in_all() -> None:
    rng = np.random.RandomState(0)
    target = np.repeat([0, 1, 2], 100)
    wide = rng.normal(size=(300, 3)) * 0.1 + np.eye(3)[target]
    y = datasets.hide_labels(target, 0.05, random_state=0)
    model = FSSMSC(random_state=0, n_landmarks=50)
    check(model, [wide[:, :1], wide[:, 1:]], y)
    assert (model.labels_ == target).mean() > 0.6


@pytest.mark.parametrize("scaling", ["tfidf", "lsa"])
def test_fifty_thousand_sparse_features(scaling: str) -> None:
    rng = np.random.default_rng(0)
    target = np.arange(600) % 4
    words = rng.integers(0, 12_500, size=(600, 60)) * 4 + target[:, None]
    words[:, :40] = rng.integers(0, 50, size=(600, 40)) * 4 + target[:, None]  # words that rows of a topic share
    counts = sparse.csr_array((np.ones(36_000), words.ravel(), np.arange(0, 36_001, 60)), shape=(600, 50_000))
    y = datasets.hide_labels(target, 0.1, random_state=0)
    model = FSSMSC(**{**CHOSEN, "scaling": scaling}, n_landmarks=60, random_state=0)
    check(model, [counts], y)
    assert (model.labels_ == target).mean() > 0.5
