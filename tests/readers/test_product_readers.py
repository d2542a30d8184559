"""Readings of E beside that of the embedding: what they are, their mean, and that a fit and a prediction agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from anchorview import FSSMSC, Constraints, Views
from anchorview.core.arrays import temper
from anchorview.datasets import hide_labels
from anchorview.features.products import ViewCrossProducts
from anchorview.fitting import learning
from anchorview.readers.base import COMBINATIONS, OF_PRODUCTS, READ_GRAPH, class_probabilities
from anchorview.readers.graph import PoissonReader
from anchorview.readers.linear import FoldedReader
from anchorview.readers.nearest import LabelledNeighbours
from anchorview.readers.product_readers import draw_graph_rows, keep_labels, thin
from anchorview.view_importance import measure_views

WEIGHTS: dict[str, Any] = {"view_weights": None, "ridge": 3.0, "must_link_weight": 3.0}
GIVEN: dict[str, Any] = {"scaling": "standard", **WEIGHTS, "random_state": 0}
ALL = ("nearest", "linear", "poisson")


def fit(views: Any, y: Any, readers: Any, *, n_landmarks: int = 40, **changes: Any) -> FSSMSC:
    given = {name: changes.pop(name) for name in ("sample_weight", "constraints") if name in changes}
    return FSSMSC(n_landmarks=n_landmarks, readers=readers, **{**GIVEN, **changes}).fit(views, y, **given)


@pytest.fixture(scope="module")
def tilted() -> Any:
    """Two classes on both sides of a plane, among many features of noise."""
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=600)
    rows = rng.normal(size=(600, 20))
    rows[:, 0] += 3.0 * target
    return Bunch(rows=rows, target=target, y=hide_labels(target, 0.2, random_state=0))


@pytest.fixture(scope="module")
def rings() -> Any:
    """Two rings, one inside the other: neighbours know the class, no plane does."""
    rng = np.random.default_rng(1)
    target, angle = np.arange(500) % 2, rng.uniform(0, 2 * np.pi, size=500)
    radius = np.where(target == 1, 3.0, 1.0) + 0.1 * rng.normal(size=500)
    rows = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(500, 1.0)])
    return Bunch(rows=rows, target=target, y=hide_labels(target, 0.04, random_state=0))


def accuracy(model: FSSMSC, data: Any) -> float:
    hidden = data.y == -1
    return float((model.labels_ == data.target)[hidden].mean())


def test_the_linear_reading_is_a_logistic_regression_on_the_scaled_features(tilted: Any) -> None:
    """There are fewer features than landmarks, so that these span all of them."""
    model = fit([tilted.rows], tilted.y, "linear")
    reading = model._model.members[0].reader
    scaled = model._model.embedder.scaler.take(Views([tilted.rows]), np.arange(600)).dense().astype(np.float64)
    labelled = tilted.y >= 0
    expected = LogisticRegression(C=reading.strength, tol=1e-6).fit(scaled[labelled], tilted.y[labelled])
    logit = expected.decision_function(scaled) / reading.temperature
    expected_probabilities = softmax(np.column_stack([-logit / 2, logit / 2]), axis=1)
    np.testing.assert_allclose(model.predict_proba([tilted.rows]), expected_probabilities, atol=0.03)


def test_hidden_labels_choose_the_strength_of_the_regression() -> None:
    """A small feature tells the classes apart: a weak regression cannot reach it, a strong one follows it."""
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=400)
    rows = rng.normal(size=(400, 5))
    rows[:, 0] = 0.1 * (2 * target - 1) + 0.02 * rng.normal(size=400)
    y = hide_labels(target, 0.3, random_state=0)
    model = fit([rows], y, "linear", scaling="none")
    assert model._model.members[0].reader.strength == 100.0
    assert (model.labels_ == target).mean() > 0.95


def test_each_reading_knows_what_the_others_do_not(tilted: Any, rings: Any) -> None:
    assert accuracy(fit([tilted.rows], tilted.y, "linear"), tilted) > 0.87
    assert accuracy(fit([tilted.rows], tilted.y, "poisson"), tilted) < 0.85
    assert accuracy(fit([rings.rows], rings.y, "poisson", scaling="none"), rings) > 0.95
    assert accuracy(fit([rings.rows], rings.y, "linear", scaling="none"), rings) < 0.7


def test_a_mean_is_the_mean_of_its_readings(tilted: Any) -> None:
    model = fit([tilted.rows], tilted.y, ALL)
    found = model._model
    linear, poisson, nearest = (member.reader for member in found.members)
    assert (type(linear), type(poisson), type(nearest)) == (FoldedReader, PoissonReader, LabelledNeighbours)
    cross = ViewCrossProducts(Views([tilted.rows]), found.embedder.scaler, found.embedder.landmarks)
    products, graph = cross.take(np.arange(600)), found.members[1].graph
    read = ((linear, products), (poisson, graph.weights(products)), (nearest, model.embedding_))
    parts = [class_probabilities(reader, rows) for reader, rows in read]
    expected = temper(np.mean(parts, axis=0), found.temperature)
    np.testing.assert_allclose(model.predict_proba([tilted.rows]), expected, atol=1e-6)
    assert found.temperature != 1.0 and max(np.abs(part - expected).max() for part in parts) > 0.05


@pytest.mark.parametrize("readers", [names for names in COMBINATIONS if set(names) & set(OF_PRODUCTS)])
def test_labels_are_what_predict_gives_and_the_embedding_is_the_same(tilted: Any, readers: Any) -> None:
    model = fit([tilted.rows], tilted.y, readers)
    hidden = tilted.y == -1
    np.testing.assert_array_equal(model.labels_[hidden], model.predict([tilted.rows])[hidden])
    probabilities = model.predict_proba([tilted.rows])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.confidence_[hidden], probabilities.max(axis=1)[hidden], atol=1e-5)
    few = model.predict_proba([tilted.rows[5:8]])  # a row depends on that row only
    np.testing.assert_allclose(few, probabilities[5:8], atol=1e-5)
    plain = fit([tilted.rows], tilted.y, "nearest")
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    assert model.chosen_["readers"] == readers and "readers (" not in model.status_


def test_confidence_is_calibrated_on_held_out_labels(tilted: Any) -> None:
    """A label is held out with a third of them, so that what is stated may be somewhat too little."""
    for readers in ("linear", "poisson", ALL):
        model, hidden = fit([tilted.rows], tilted.y, readers), tilted.y == -1
        assert -0.09 < model.confidence_[hidden].mean() - accuracy(model, tilted) < 0.06


def test_weights_pairs_missing_views_balance_and_relabelling_go_along(tilted: Any) -> None:
    rng = np.random.default_rng(0)
    mask = rng.random((600, 2)) > 0.2
    mask[:, 0] |= ~mask.any(axis=1)
    views = Views([tilted.rows[:, :10], tilted.rows[:, 10:]], mask=mask)
    same = np.flatnonzero(tilted.target == tilted.target[0])[:4]
    pairs = Constraints.from_pairs(must=[(int(same[0]), int(row)) for row in same[1:]], n_rows=600)
    weights = np.where(np.arange(600) % 7 == 0, 0.0, rng.integers(1, 3, size=600))
    changes: dict[str, Any] = {"class_balance": "balanced", "relabel": 0.95}
    model = fit(views, tilted.y, ALL, sample_weight=weights, constraints=pairs, **changes)
    hidden = tilted.y == -1
    np.testing.assert_array_equal(model.labels_[hidden], model.predict(views)[hidden])
    assert (model.labels_ == tilted.target)[hidden].mean() > 0.75
    changed = measure_views(model, views).changed
    assert changed[0] > changed[1]


def test_rows_of_weight_zero_teach_nothing(tilted: Any) -> None:
    """Their labels may be anything."""
    weights = np.where(np.arange(600) % 3 == 0, 0.0, 1.0)
    wrong = np.where((weights == 0) & (tilted.y >= 0), 1 - tilted.y, tilted.y)
    found = [
        fit([tilted.rows], y, ("linear", "poisson"), sample_weight=weights).predict_proba([tilted.rows])
        for y in (tilted.y, wrong)
    ]
    np.testing.assert_allclose(*found, atol=1e-6)


def test_a_class_known_by_rows_of_weight_zero_only_is_not_lost() -> None:
    kept = keep_labels(np.array([0, 2, 3]), np.array([0, 0, 1]), np.array([2.0, 1.0, 3.0, 0.0]), None)
    assert kept.weights() is not None
    np.testing.assert_array_equal(kept.weights(), [2.0, 3.0, 1.0])


def test_balance_gives_every_class_the_same_weight() -> None:
    class_ids = np.array([0, 0, 0, 1])
    balanced = keep_labels(np.arange(4), class_ids, None, "balanced").weights()
    np.testing.assert_allclose(np.bincount(class_ids, balanced), [2.0, 2.0])
    weighted = keep_labels(np.arange(4), class_ids, np.array([1.0, 2.0, 1.0, 4.0]), "balanced").weights()
    np.testing.assert_allclose(np.bincount(class_ids, weighted), [4.0, 4.0])
    assert keep_labels(np.arange(4), class_ids, None, None).weights() is None


def test_the_graph_has_a_bounded_number_of_rows_and_a_label_of_each_class() -> None:
    n_rows = 4 * READ_GRAPH
    class_ids = np.where(np.arange(n_rows // 2) == 17, 1, 0)
    labelled = keep_labels(np.arange(0, n_rows, 2), class_ids, None, None)
    rows = draw_graph_rows(n_rows, labelled, np.random.RandomState(0))
    assert len(rows) == READ_GRAPH == len(np.unique(rows)) and (np.diff(rows) > 0).all()
    assert 34 in rows and np.count_nonzero(rows % 2) == READ_GRAPH // 2
    few = keep_labels(np.arange(10), np.arange(10) % 2, np.where(np.arange(60) < 50, 1.0, 0.0), None)
    np.testing.assert_array_equal(draw_graph_rows(60, few, np.random.RandomState(0)), np.arange(50))


def test_many_rows_are_thinned_evenly_and_no_class_is_lost() -> None:
    class_ids = np.where(np.arange(1000) == 3, 1, 0)
    np.testing.assert_array_equal(thin(np.arange(10), class_ids, 10), np.arange(10))
    np.testing.assert_array_equal(thin(np.arange(1000), class_ids, 10), [0, 3, *range(100, 1000, 100)])


@pytest.mark.parametrize("readers", ["linear", "poisson", ALL])
def test_where_no_label_can_be_hidden(tilted: Any, readers: Any) -> None:
    y = np.full(600, -1)
    y[[np.flatnonzero(tilted.target == number)[0] for number in range(2)]] = [0, 1]
    model = fit([tilted.rows], y, readers)
    assert np.isfinite(model.confidence_).all() and set(model.labels_) == {0, 1}


@pytest.mark.parametrize("readers", ["linear", ALL])
def test_without_labels_rows_are_clustered(tilted: Any, readers: Any) -> None:
    model = fit([tilted.rows], None, readers, n_clusters=2)
    assert set(model.labels_) == {0, 1} and model._model.temperature is None
    one = np.where(np.arange(600) == 0, 0, -1)
    with pytest.warns(UserWarning, match="fewer classes"):
        assert set(fit([tilted.rows], one, readers, n_clusters=2).labels_) == {0}


@pytest.mark.parametrize("readers", ["linear", "poisson"])
def test_rows_that_are_all_the_same(readers: Any) -> None:
    y = np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
    model = fit([np.ones((60, 3))], y, readers, n_landmarks=10, scaling="none")
    assert np.isfinite(model.predict_proba([np.ones((4, 3))])).all()


def test_the_number_of_threads_changes_nothing(tilted: Any) -> None:
    found = [fit([tilted.rows], tilted.y, ALL, n_jobs=n).confidence_ for n in (1, 2)]
    np.testing.assert_array_equal(*found)


def test_an_unknown_reading_is_refused(tilted: Any) -> None:
    for wrong in (
        "nearest+linear",
        ("euclidean", "linear"),
        (),
        ("nearest", "linear", "linear"),
        ("auto",),
        ("knn", 3),
    ):
        with pytest.raises(
            ValueError, match=r"readers=.* is not known; choose 'auto', .*'nearest' or 'knn' with 'linear'"
        ):
            fit([tilted.rows], tilted.y, wrong)


def test_the_order_of_readers_does_not_matter(tilted: Any) -> None:
    found = [fit([tilted.rows], tilted.y, readers) for readers in (ALL, [ALL[2], ALL[0], ALL[1]])]
    np.testing.assert_array_equal(found[0].confidence_, found[1].confidence_)
    assert found[1].chosen_["readers"] == ALL


@pytest.mark.parametrize("readers", [("nearest", "linear"), ("knn", "poisson"), "linear"])
def test_labels_read_in_several_parts_are_those_of_one(readers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(3, size=1700)
    rows = rng.normal(size=(1700, 8)) + 2.0 * rng.normal(size=(3, 8))[target]
    y = hide_labels(target, 0.05, random_state=0)
    whole = fit(rows, y, readers, n_jobs=1)
    monkeypatch.setattr(learning, "READ_ROWS", 1000)  # one block of 512 rows at a time
    for n_jobs in (1, 2):
        parts = fit(rows, y, readers, n_jobs=n_jobs)
        np.testing.assert_array_equal(parts.labels_, whole.labels_)
        np.testing.assert_allclose(parts.confidence_, whole.confidence_, rtol=1e-6)
