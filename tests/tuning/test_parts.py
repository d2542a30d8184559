"""Nearest rows, votes that become probabilities, numbers of landmarks, and rows the tuner asks about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from anchorview import FSSMSCCV, Views, datasets
from anchorview.tuning import task
from anchorview.features.neighbours import nearest
from anchorview.tuning.voting import average_temperature, settle, temper

DIGITS = datasets.load_handwritten()
X, TRUTH = DIGITS.views[::8], DIGITS.target[::8]
Y = datasets.hide_labels(TRUTH, 0.12, random_state=0)


def quick(**parameters: Any) -> FSSMSCCV:
    return FSSMSCCV(**{"n_landmarks": 60, "n_repeats": 1, "scaling": "minmax", "random_state": 0} | parameters)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 80),
    st.integers(0, 40),
    st.integers(0, 6),
    st.integers(1, 12),
    st.sampled_from([1, 2]),
    st.integers(0, 99),
)
def test_nearest_rows_are_those_of_all_distances(
    n_points: int, n_queries: int, width: int, count: int, n_threads: int, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    points, queries = rng.normal(size=(n_points, width)) + 3, rng.normal(size=(n_queries, width)) + 3
    distances, index = nearest(points.astype(np.float32), queries.astype(np.float32), count, n_threads)
    expected = np.sort(cdist(queries, points), axis=1)[:, :count] if width else np.zeros((n_queries, count))
    assert distances.shape == index.shape == (n_queries, min(count, n_points))
    np.testing.assert_allclose(distances, expected[:, : distances.shape[1]], atol=1e-4)
    assert all(len(set(row)) == len(row) for row in index)
    for query, row, found in zip(queries, index, distances, strict=True):
        np.testing.assert_allclose(np.linalg.norm(points[row] - query, axis=1), found, atol=1e-4)


def test_a_row_is_its_own_nearest_even_far_from_the_origin() -> None:
    points = (np.random.RandomState(0).normal(size=(300, 20)) + 30).astype(np.float32)
    distances, index = nearest(points, points, 1, 1)
    np.testing.assert_array_equal(index[:, 0], np.arange(300))
    assert distances.max() == 0


def test_all_experts_choose_and_those_of_the_given_labels_say_how_likely() -> None:
    first = np.array([[6.0, 3.0, 1.0], [8.0, 1.0, 1.0]])
    second = np.array([[0.0, 9.0, 1.0], [9.0, 0.5, 0.5]])
    found = settle(np.stack([first, second]), 1.0)
    np.testing.assert_allclose(found, [[0.3, 0.6, 0.1], [0.8, 0.1, 0.1]])
    sharper = settle(np.stack([first, second]), 0.5)
    np.testing.assert_allclose(sharper.sum(axis=1), 1)
    assert (sharper.max(axis=1) > found.max(axis=1)).all()


def test_the_temperature_of_an_average_makes_it_as_sure_as_it_is_right() -> None:
    rng = np.random.RandomState(0)
    logits = rng.normal(size=(3000, 4)) * 1.5
    truth = np.array([rng.choice(4, p=row) for row in temper(np.exp(logits), 1.0)])
    too_careful = temper(np.exp(logits), 2.0)
    assert average_temperature(too_careful, truth) == pytest.approx(0.5, abs=0.06)
    assert average_temperature(temper(np.exp(logits), 1.0), truth) == pytest.approx(1.0, abs=0.1)
    few = average_temperature(too_careful[:5], truth[:5])
    assert 0.7 < few < 1.3  # five rows prove nothing


def test_several_numbers_of_landmarks() -> None:
    model = quick(n_landmarks=[60, 40]).fit(X, Y)
    tried = {(p["n_landmarks"], p["head"]) for p in model.cv_results_["params"]}
    assert {number for number, _ in tried} == {60, 40}
    assert (40, "nearest") in tried
    assert (40, "graph") not in tried
    assert (model.labels_ == TRUTH)[Y == -1].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X)[Y == -1], model.labels_[Y == -1])


def test_dense_codes_are_not_made_denser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "DENSE_CODES", 1)
    tried = {(p["ridge"], p["l1"]) for p in quick().fit(X, Y).cv_results_["params"]}
    assert tried == {(1.0, 0.2), (0.3, 0.2)}


@pytest.mark.parametrize("number", [0, [], [50, 0], 2.5, "many"])
def test_a_bad_number_of_landmarks_is_named(number: Any) -> None:
    with pytest.raises(ValueError, match="n_landmarks"):
        quick(n_landmarks=number).fit(X, Y)


def test_the_tuner_suggests_rows_without_label() -> None:
    names = np.array([f"row{i}" for i in range(len(Y))])
    model = quick().fit(Views(X.arrays, ids=names), Y)
    rows = model.suggest_labels(12)
    assert len(set(rows)) == 12
    numbers = np.array([int(name[3:]) for name in rows])
    assert (Y[numbers] == -1).all()
    doubt = 1 - model.confidence_
    assert doubt[numbers].mean() > doubt[Y == -1].mean()
    assert set(model.suggest_labels(2, among=names[:40])) <= set(names[:40])
    with pytest.raises(ValueError, match="n must be"):
        model.suggest_labels(0)
