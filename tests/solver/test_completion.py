"""Rows that lack views, completed by their codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

from anchorview.solver.elastic_net import ElasticNetEncoder, complete_products
from anchorview.solver.grams import PatternGrams

SIZES = [6, 5, 7]


def encoder_of(landmarks: np.ndarray, ridge: float, l1: float) -> ElasticNetEncoder:
    gram = landmarks @ landmarks.T
    return ElasticNetEncoder(gram, ridge, l1, PatternGrams(landmarks, SIZES, gram))


def products(rows: np.ndarray, landmarks: np.ndarray, present: np.ndarray) -> np.ndarray:
    """E of rows over the views that they have, times V / |p|."""
    has = np.repeat(present, SIZES, axis=1)
    return (rows * has) @ landmarks.T * (3 / np.maximum(present.sum(axis=1, keepdims=True), 1))


@pytest.fixture(scope="module")
def data() -> Any:
    rng = np.random.default_rng(0)
    landmarks = rng.random((4, 18))
    mix = np.abs(rng.normal(size=(40, 4))) * 0.2
    present = rng.random((40, 3)) > 0.5
    present[np.arange(40), rng.integers(3, size=40)] = True
    assert not present.all() and present.all(axis=1).any()
    return Bunch(landmarks=landmarks, rows=mix @ landmarks, mix=mix, present=present)


def test_rows_made_of_landmarks_are_completed_to_what_they_are(data: Any) -> None:
    encoder = encoder_of(data.landmarks, 0.0, 0.0)
    completed = complete_products(products(data.rows, data.landmarks, data.present), data.present, encoder)
    np.testing.assert_allclose(completed, data.rows @ data.landmarks.T, atol=1e-6)


def test_what_is_filled_in_is_as_long_as_the_rest(data: Any) -> None:
    """The ridge and λ_Z make codes short; of one landmark alone, that must not show."""
    landmarks = np.tile(np.eye(4, 6), (1, 3))[:, :18]
    rows, present = 0.8 * landmarks, data.present[~data.present.all(axis=1)][:4]
    landmarks[:, 11], rows[:, 11] = 0.0, 0.0  # views of different lengths
    encoder = encoder_of(landmarks, 0.5, 0.05)
    completed = complete_products(products(rows, landmarks, present), present, encoder)
    np.testing.assert_allclose(completed, rows @ landmarks.T, atol=1e-9)


def test_complete_rows_and_rows_without_a_code_stay_as_they_are(data: Any) -> None:
    cross = products(data.rows, data.landmarks, data.present)
    whole = data.present.all(axis=1)
    completed = complete_products(cross, data.present, encoder_of(data.landmarks, 0.1, 0.01))
    np.testing.assert_array_equal(completed[whole], cross[whole])
    assert (np.abs(completed - cross)[~whole].max(axis=1) > 1e-3).all()
    assert complete_products(cross, None, encoder_of(data.landmarks, 0.1, 0.01)) is cross
    empty = complete_products(cross, data.present, encoder_of(data.landmarks, 0.1, 1e6))  # no landmark is good enough
    np.testing.assert_array_equal(empty, cross)
    nothing = complete_products(np.zeros((1, 4)), np.zeros((1, 3), dtype=bool), encoder_of(data.landmarks, 0.1, 0.0))
    np.testing.assert_array_equal(nothing, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_is_completed_as_among_others(data: Any, dtype: Any) -> None:
    cross = products(data.rows, data.landmarks, data.present).astype(dtype)
    encoder = encoder_of(data.landmarks, 0.1, 0.01)
    together = complete_products(cross, data.present, encoder)
    assert together.dtype == dtype
    for row in range(len(cross)):
        alone = complete_products(cross[[row]], data.present[[row]], encoder)
        np.testing.assert_array_equal(alone[0], together[row])
    known = complete_products(cross, data.present, encoder, encoder.encode(cross, data.present))
    np.testing.assert_array_equal(known, together)
