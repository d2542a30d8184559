"""Labels and probabilities out of the embedding, against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from anchorview.labelling import rule as inference
from anchorview.labelling.rule import RULES, fit_neighbours
from anchorview.labelling.clusters import ClusterCentres, fit_clusters
from anchorview.core.arrays import unit_rows

Array = npt.NDArray[Any]


def problem(seed: int = 0, n_classes: int = 3, n_labelled: int = 30, n_rows: int = 200) -> tuple[Array, Array, Array]:
    """Return labelled rows, their classes and rows to label; classes overlap."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, 4))
    classes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labelled - n_classes)])
    labelled = centres[classes] + rng.normal(size=(n_labelled, 4))
    rows = centres[rng.integers(n_classes, size=n_rows)] + rng.normal(size=(n_rows, 4))
    return labelled, classes, rows


def predict(labelled: Array, classes: Array, rows: Array, rule: str, n_neighbors: int = 5) -> Array:
    return fit_neighbours(labelled, classes, rule, n_neighbors).evidence(rows).argmax(axis=1)


# Against brute force


@pytest.mark.parametrize("seed", range(3))
def test_nearest_by_angle(seed: int) -> None:
    labelled, classes, rows = problem(seed)
    expected = []
    for row in rows:
        cosines = [row @ other / (np.linalg.norm(row) * np.linalg.norm(other)) for other in labelled]
        expected.append(classes[int(np.argmax(cosines))])
    np.testing.assert_array_equal(predict(labelled, classes, rows, "nearest"), expected)
    np.testing.assert_array_equal(predict(labelled, classes, 1e-3 * rows, "nearest"), expected)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_by_plain_distance(seed: int) -> None:
    labelled, classes, rows = problem(seed)
    labelled = labelled * np.linspace(0.2, 3, len(labelled))[:, None]
    expected = [classes[int(np.argmin([np.linalg.norm(row - other) for other in labelled]))] for row in rows]
    np.testing.assert_array_equal(predict(labelled, classes, rows, "euclidean"), expected)
    assert (predict(labelled, classes, rows, "nearest") != expected).any()


@pytest.mark.parametrize("n_neighbors", [1, 3, 5, 30, 99])
def test_weighted_vote(n_neighbors: int) -> None:
    labelled, classes, rows = problem(1)
    reference = KNeighborsClassifier(min(n_neighbors, 30), weights="distance").fit(unit_rows(labelled), classes)
    model = fit_neighbours(labelled, classes, "knn", n_neighbors)
    shares = np.exp(model.evidence(rows)) - 1e-3
    np.testing.assert_allclose(shares, reference.predict_proba(unit_rows(rows)), atol=1e-9)
    np.testing.assert_array_equal(
        predict(labelled, classes, rows, "knn", n_neighbors), reference.predict(unit_rows(rows))
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_labelled_row_is_nearest_to_itself(rule: str, dtype: type) -> None:
    labelled, classes, _ = problem(2)
    found = predict(labelled.astype(dtype), classes, labelled.astype(dtype), rule, n_neighbors=10)
    np.testing.assert_array_equal(found, classes)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_labelled_rows_does_not_matter(rule: str) -> None:
    labelled, classes, rows = problem(3)
    order = np.random.default_rng(0).permutation(len(classes))
    first, second = (
        fit_neighbours(labelled[index], classes[index], rule, 5) for index in (np.arange(len(classes)), order)
    )
    np.testing.assert_allclose(first.evidence(rows), second.evidence(rows), atol=1e-12)
    assert first.temperature == pytest.approx(second.temperature)


# Probabilities


@given(st.integers(0, 1000), st.sampled_from(RULES), st.integers(2, 5), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=40, deadline=None)
def test_probabilities_sum_to_one_and_peak_at_the_prediction(seed: int, rule: str, n_classes: int, dtype: type) -> None:
    labelled, classes, rows = problem(seed, n_classes, n_labelled=20, n_rows=30)
    model = fit_neighbours(labelled.astype(dtype), classes, rule, 3)
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
    classes = np.arange(200) % 2
    clear = np.eye(2)[classes] + 0.1 * rng.normal(size=(200, 2))
    noise = rng.normal(size=(200, 2))
    sure = fit_neighbours(clear, classes, "nearest", 5)
    unsure = fit_neighbours(noise, classes, "nearest", 5)
    assert sure.probabilities(sure.evidence(clear)).max(axis=1).mean() > 0.95
    fresh = rng.normal(size=(200, 2))
    assert unsure.probabilities(unsure.evidence(fresh)).max(axis=1).mean() < 0.6


@pytest.mark.parametrize("rule", RULES)
def test_confidence_is_about_right(rule: str) -> None:
    labelled, classes, _ = problem(5, n_labelled=400)
    held, kept = np.arange(400) % 2 == 0, np.arange(400) % 2 == 1
    model = fit_neighbours(labelled[kept], classes[kept], rule, 5)
    evidence = model.evidence(labelled[held])
    accuracy = (evidence.argmax(axis=1) == classes[held]).mean()
    assert abs(model.probabilities(evidence).max(axis=1).mean() - accuracy) < 0.1


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
    labelled, classes = awkward()[case]
    model = fit_neighbours(labelled.astype(dtype), classes, rule, 5)
    assert np.isfinite(model.temperature) and model.temperature > 0
    rows = np.vstack([labelled, np.zeros((1, 2)), [[1.0, -1.0]], 1e3 * labelled[:1]]).astype(dtype)
    probabilities = model.probabilities(model.evidence(rows))
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_rows_of_zeros_are_unsure_not_wrong(rule: str) -> None:
    labelled, classes = unit_rows(problem(0)[0]), problem(0)[1]
    model = fit_neighbours(labelled, classes, rule, 30)
    probabilities = model.probabilities(model.evidence(np.zeros((2, 4))))
    assert np.isfinite(probabilities).all()
    if rule != "knn":  # all labelled rows are as far as each other
        np.testing.assert_allclose(probabilities, 1 / 3, atol=1e-6)


def test_unit_rows_leave_zeros() -> None:
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])


# Blocks and threads


@pytest.mark.parametrize("rule", RULES)
def test_blocks_and_threads_do_not_change_the_result(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled, classes, rows = problem(4, n_rows=500)
    model = fit_neighbours(labelled, classes, rule, 5)
    whole = model.evidence(rows, 1)
    monkeypatch.setattr(inference, "_BLOCK_ENTRIES", 70 * len(labelled))
    np.testing.assert_array_equal(model.evidence(rows, 1), model.evidence(rows, 2))
    np.testing.assert_allclose(model.evidence(rows, 2), whole, atol=1e-12)
    monkeypatch.setattr(inference, "_BLOCK_ENTRIES", 1)  # one row at a time
    np.testing.assert_allclose(model.evidence(rows, 2), whole, atol=1e-12)


def test_many_labelled_rows_are_judged_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled, classes, _ = problem(6, n_labelled=400)
    whole = fit_neighbours(labelled, classes, "nearest", 5).temperature
    monkeypatch.setattr(inference, "_MAX_JUDGED", 100)
    assert fit_neighbours(labelled, classes, "nearest", 5).temperature == pytest.approx(whole, rel=1.0)


# Without labels


def clustered(n_rows: int = 90) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % 3
    return (np.eye(3)[truth] + 0.05 * rng.normal(size=(n_rows, 3))) * rng.uniform(0.1, 9, (n_rows, 1)), truth


def test_clusters_by_angle() -> None:
    rows, truth = clustered()
    model = fit_clusters(rows, 3, np.random.RandomState(0))
    found = model.evidence(rows).argmax(axis=1)
    assert len({(a, b) for a, b in zip(truth, found, strict=True)}) == 3
    probabilities = model.probabilities(model.evidence(rows))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities.max(axis=1).mean() > 0.95


def test_evidence_of_clusters_is_minus_the_squared_distance() -> None:
    rng = np.random.default_rng(0)
    model = ClusterCentres(rng.normal(size=(4, 3)), 1.0)
    rows = rng.normal(size=(20, 3))
    expected = -((unit_rows(rows)[:, None] - model.centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.evidence(rows), expected, atol=1e-12)


def test_clusters_do_not_depend_on_anything_but_the_seed() -> None:
    rows, _ = clustered()
    first, second = (fit_clusters(rows, 3, np.random.RandomState(1)) for _ in range(2))
    np.testing.assert_array_equal(first.centres, second.centres)
    assert first.temperature == second.temperature


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_clusters_of_identical_rows_and_of_zeros_are_finite() -> None:
    for rows in (np.ones((5, 2)), np.zeros((5, 2)), np.vstack([np.zeros((2, 2)), np.eye(2)])):
        model = fit_clusters(rows, 2, np.random.RandomState(0))
        assert np.isfinite(model.probabilities(model.evidence(rows))).all()
        assert model.temperature > 0
