"""Labels and probabilities out of the embedding, against brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from anchorview.core.arrays import unit_rows
from anchorview.readers.base import RULES
from anchorview.readers.nearest import LabelledNeighbours, calibrate_on_seen, keep_labelled

Array = npt.NDArray[Any]


def fit(labelled: Array, class_ids: Array, rule: str, n_neighbors: int = 5) -> LabelledNeighbours:
    return calibrate_on_seen(keep_labelled(labelled, class_ids, rule, n_neighbors))


def problem(seed: int = 0, n_classes: int = 3, n_labelled: int = 30, n_rows: int = 200) -> tuple[Array, Array, Array]:
    """Return labelled rows, their classes and rows to label; classes overlap."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, 4))
    class_ids = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labelled - n_classes)])
    labelled = centres[class_ids] + rng.normal(size=(n_labelled, 4))
    rows = centres[rng.integers(n_classes, size=n_rows)] + rng.normal(size=(n_rows, 4))
    return labelled, class_ids, rows


def predict(labelled: Array, class_ids: Array, rows: Array, rule: str, n_neighbors: int = 5) -> Array:
    return keep_labelled(labelled, class_ids, rule, n_neighbors).evidence(rows).argmax(axis=1)


# Against brute force


@pytest.mark.parametrize("seed", range(3))
def test_nearest_by_angle(seed: int) -> None:
    labelled, class_ids, rows = problem(seed)
    expected = []
    for row in rows:
        cosines = [row @ other / (np.linalg.norm(row) * np.linalg.norm(other)) for other in labelled]
        expected.append(class_ids[int(np.argmax(cosines))])
    np.testing.assert_array_equal(predict(labelled, class_ids, rows, "nearest"), expected)
    np.testing.assert_array_equal(predict(labelled, class_ids, 1e-3 * rows, "nearest"), expected)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_by_plain_distance(seed: int) -> None:
    labelled, class_ids, rows = problem(seed)
    labelled = labelled * np.linspace(0.2, 3, len(labelled))[:, None]
    expected = [class_ids[int(np.argmin([np.linalg.norm(row - other) for other in labelled]))] for row in rows]
    np.testing.assert_array_equal(predict(labelled, class_ids, rows, "euclidean"), expected)
    assert (predict(labelled, class_ids, rows, "nearest") != expected).any()


@pytest.mark.parametrize("n_neighbors", [1, 3, 5, 30, 99])
def test_weighted_vote(n_neighbors: int) -> None:
    labelled, class_ids, rows = problem(1)
    reference = KNeighborsClassifier(min(n_neighbors, 30), weights="distance").fit(unit_rows(labelled), class_ids)
    model = fit(labelled, class_ids, "knn", n_neighbors)
    votes = np.exp(model.evidence(rows))
    shares = votes / votes.sum(axis=1, keepdims=True) * (1 + 3 * 1e-3) - 1e-3
    np.testing.assert_allclose(shares, reference.predict_proba(unit_rows(rows)), atol=1e-9)
    np.testing.assert_array_equal(
        predict(labelled, class_ids, rows, "knn", n_neighbors), reference.predict(unit_rows(rows))
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_labelled_row_is_nearest_to_itself(rule: str, dtype: type) -> None:
    labelled, class_ids, _ = problem(2)
    found = predict(labelled.astype(dtype), class_ids, labelled.astype(dtype), rule, n_neighbors=10)
    np.testing.assert_array_equal(found, class_ids)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_labelled_rows_does_not_matter(rule: str) -> None:
    labelled, class_ids, rows = problem(3)
    order = np.random.default_rng(0).permutation(len(class_ids))
    first, second = (fit(labelled[index], class_ids[index], rule, 5) for index in (np.arange(len(class_ids)), order))
    np.testing.assert_allclose(first.evidence(rows), second.evidence(rows), atol=1e-12)
    assert first.temperature == pytest.approx(second.temperature)


# Probabilities


@given(st.integers(0, 1000), st.sampled_from(RULES), st.integers(2, 5), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=40, deadline=None)
def test_probabilities_sum_to_one_and_peak_at_the_prediction(seed: int, rule: str, n_classes: int, dtype: type) -> None:
    labelled, class_ids, rows = problem(seed, n_classes, n_labelled=20, n_rows=30)
    model = fit(labelled.astype(dtype), class_ids, rule, 3)
    evidence = model.evidence(rows.astype(dtype))
    probabilities = model.probabilities(evidence)
    assert probabilities.shape == (30, n_classes)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    at_prediction = probabilities[np.arange(30), evidence.argmax(axis=1)]
    np.testing.assert_array_equal(at_prediction, probabilities.max(axis=1))


def test_the_temperature_fits_what_neighbours_tell() -> None:
    """Clear classes make sure predictions; labels without any relation to place make unsure ones."""
    rng = np.random.default_rng(0)
    class_ids = np.arange(200) % 2
    clear = np.eye(2)[class_ids] + 0.1 * rng.normal(size=(200, 2))
    noise = rng.normal(size=(200, 2))
    sure = fit(clear, class_ids, "nearest", 5)
    unsure = fit(noise, class_ids, "nearest", 5)
    assert sure.probabilities(sure.evidence(clear)).max(axis=1).mean() > 0.95
    fresh = rng.normal(size=(200, 2))
    assert unsure.probabilities(unsure.evidence(fresh)).max(axis=1).mean() < 0.6


@pytest.mark.parametrize("rule", RULES)
def test_confidence_is_about_right(rule: str) -> None:
    labelled, class_ids, _ = problem(5, n_labelled=400)
    held, kept = np.arange(400) % 2 == 0, np.arange(400) % 2 == 1
    model = fit(labelled[kept], class_ids[kept], rule, 5)
    evidence = model.evidence(labelled[held])
    accuracy = (evidence.argmax(axis=1) == class_ids[held]).mean()
    assert abs(model.probabilities(evidence).max(axis=1).mean() - accuracy) < 0.1


def test_logits_fall_with_the_root_of_the_distance() -> None:
    """−√d of the distance d, beside which the floor is small; at distance 0 the floor is what is left."""
    model = keep_labelled(np.eye(2), np.array([0, 1]), "euclidean", 1)
    distances = np.array([[9.0, 16.0], [25.0, 100.0]])
    np.testing.assert_allclose(model.logits(-(distances**2)), -np.sqrt(distances), rtol=1e-4)
    np.testing.assert_allclose(model.logits(np.zeros((1, 2))), -(1e-3**0.25))


def test_logits_of_votes_count_those_that_every_class_has() -> None:
    model = keep_labelled(np.eye(2), np.array([0, 1]), "knn", 1)
    votes = np.array([[0.3, 0.7]])
    np.testing.assert_allclose(model.logits(np.log(votes)), np.log(votes))
    np.testing.assert_allclose(replace(model, doubt=0.5).logits(np.log(votes)), np.log(votes + 0.5))


# Temperature and probabilities at the edges


def awkward() -> dict[str, tuple[Array, Array]]:
    rng = np.random.default_rng(0)
    return {
        "one label per class": (rng.normal(size=(3, 2)), np.arange(3)),
        "two rows": (np.eye(2), np.array([0, 1])),
        "two rows of one class": (np.eye(2), np.array([0, 0])),
        "one row": (np.ones((1, 2)), np.array([0])),
        "identical rows": (np.full((6, 2), 0.3), np.arange(6) % 2),
        "identical rows of zeros": (np.zeros((6, 2)), np.arange(6) % 2),
        "identical within classes": (np.repeat(np.eye(2), 4, axis=0), np.repeat([0, 1], 4)),
        "a class with one label": (rng.normal(size=(7, 2)), np.array([0, 0, 0, 1, 1, 1, 2])),
        "tiny": (1e-20 * rng.normal(size=(8, 2)), np.arange(8) % 2),
        "large": (1e6 * rng.normal(size=(8, 2)), np.arange(8) % 2),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", awkward())
def test_awkward_labels_give_finite_probabilities(case: str, rule: str, dtype: type) -> None:
    labelled, class_ids = awkward()[case]
    model = fit(labelled.astype(dtype), class_ids, rule, 5)
    assert np.isfinite(model.temperature) and model.temperature > 0
    rows = np.vstack([labelled, np.zeros((1, 2)), [[1.0, -1.0]], 1e3 * labelled[:1]]).astype(dtype)
    probabilities = model.probabilities(model.evidence(rows))
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_rows_of_zeros_are_unsure_not_wrong(rule: str) -> None:
    labelled, class_ids = unit_rows(problem(0)[0]), problem(0)[1]
    model = fit(labelled, class_ids, rule, 30)
    probabilities = model.probabilities(model.evidence(np.zeros((2, 4))))
    assert np.isfinite(probabilities).all()
    if rule != "knn":  # all labelled rows are as far as each other
        np.testing.assert_allclose(probabilities, 1 / 3, atol=1e-6)


# Blocks and threads


@pytest.mark.parametrize("rule", RULES)
def test_blocks_and_threads_do_not_change_the_result(rule: str) -> None:
    labelled, class_ids, rows = problem(4, n_rows=500)
    model = fit(labelled, class_ids, rule, 5)
    whole = model.evidence(rows)
    some = 70 * len(labelled)  # similarities of 70 rows
    np.testing.assert_array_equal(model.evidence(rows, 1, some), model.evidence(rows, 2, some))
    np.testing.assert_allclose(model.evidence(rows, 2, some), whole, atol=1e-12)
    np.testing.assert_allclose(model.evidence(rows, 2, block_entries=1), whole, atol=1e-12)  # one row at a time


def test_many_labelled_rows_are_judged_by_a_sample() -> None:
    labelled, class_ids, _ = problem(6, n_labelled=400)
    model = keep_labelled(labelled, class_ids, "nearest", 5)
    whole, part = (calibrate_on_seen(model, max_judged).temperature for max_judged in (2000, 100))
    assert part != whole
    assert part == pytest.approx(whole, rel=0.5)
