"""Weights of rows and of classes in the estimator: a row of weight 2 is the row twice, one of weight 0 is not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import Bunch

from anchorview import FSSMSC, AnchorViewClassifier, Constraints, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.features.landmarks import Sample, choose_landmarks, kmeans_labels
from anchorview.features.scaling import fit_scaling
from support.settled import settle


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 30, "random_state": 0, "n_jobs": 1, "solver__max_iter": 20, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    """Three overlapping clusters in two views, weights 1 to 3, and every row as often as its weight says."""
    made = make_multiview_subspaces(150, 3, (8, 6), noise=0.5, dtype="float64", random_state=1)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, size=150).astype(float)
    return Bunch(
        data=made.data,
        views=made.views,
        target=made.target,
        y=hide_labels(made.target, 0.2, stratified=True, random_state=0),
        weights=weights,
        repeated=np.repeat(np.arange(150), weights.astype(int)),
        first=np.concatenate([[0], np.cumsum(weights).astype(int)[:-1]]),  # place of each row among the repeated ones
        landmarks=build().fit(made.views, made.target).landmarks_,
    )


# A weight of 2 is the row twice

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
@pytest.mark.parametrize("coupling", [0.0, 1e-4, 1e-2])
def test_whole_weights_are_repeated_rows(data: Any, scaling: str, coupling: float) -> None:
    landmarks = build(scaling=scaling).fit(data.views, data.target).landmarks_
    model = build(landmarks=landmarks, scaling=scaling, coupling=coupling, solver__tol=1e-5)
    weighted = model.fit(data.views, data.y, sample_weight=data.weights)
    found = {name: getattr(weighted, name) for name in ("objective_history_", "landmark_embedding_", "embedding_")}
    labels = weighted.labels_
    repeated = model.fit(data.views[data.repeated], data.y[data.repeated])
    assert found["objective_history_"][-1] == pytest.approx(repeated.objective_history_[-1], rel=1e-8)
    np.testing.assert_allclose(found["landmark_embedding_"], repeated.landmark_embedding_, atol=1e-5)
    np.testing.assert_allclose(found["embedding_"], repeated.embedding_[data.first], atol=1e-5)
    np.testing.assert_array_equal(labels, repeated.labels_[data.first])


def test_also_where_views_are_missing_or_sparse(data: Any) -> None:
    mask = np.random.default_rng(0).random((150, 2)) > 0.3
    mask[:, 0] |= ~mask.any(axis=1)
    views = Views([data.data[0], sparse.csr_array(np.abs(data.data[1]).round())], mask=mask)
    model = build(landmarks=data.landmarks, scaling=["minmax", "tfidf"], solver__tol=1e-5)
    weighted = model.fit(views, data.y, sample_weight=data.weights)
    objective, embedding = weighted.objective_history_[-1], weighted.embedding_
    repeated = model.fit(views[data.repeated], data.y[data.repeated])
    assert objective == pytest.approx(repeated.objective_history_[-1], rel=1e-8)
    np.testing.assert_allclose(embedding, repeated.embedding_[data.first], atol=1e-5)


@pytest.mark.parametrize("class_balance", [None, "balanced"])
def test_also_with_constraints_and_balanced_classes(data: Any, class_balance: str | None) -> None:
    groups = np.where(np.arange(150) % 3 == 0, data.target, -1)
    constraints = Constraints.from_groups(must=groups) + Constraints.from_pairs(
        cannot=[(a, b) for a in range(6) for b in range(a) if data.target[a] != data.target[b]], n_rows=150
    )
    model = build(landmarks=data.landmarks, class_balance=class_balance, solver__tol=1e-5)
    weighted = model.fit(data.views, data.y, sample_weight=data.weights, constraints=constraints).landmark_embedding_
    repeated = model.fit(data.views[data.repeated], data.y[data.repeated], constraints=constraints[data.repeated])
    # The steps differ a little: how long they may be is found by iteration, to a percent.
    np.testing.assert_allclose(weighted, repeated.landmark_embedding_, atol=2e-4)


@pytest.mark.parametrize("kind", ["standard", "minmax", "symmetric", "tfidf"])
def test_scaling_of_weighted_rows_is_that_of_repeated_ones(data: Any, kind: str) -> None:
    views = Views([np.abs(array) for array in data.data])
    weighted = fit_scaling(views, kind, weights=data.weights)
    repeated = fit_scaling(views[data.repeated], kind)
    scaled, expected = (scaler.read(views, slice(0, 150)).dense() for scaler in (weighted, repeated))
    np.testing.assert_allclose(scaled, expected, atol=1e-10)


def test_lsa_of_weighted_rows_spans_that_of_repeated_ones(data: Any) -> None:
    views = Views([np.abs(data.data[0])])
    weighted, repeated = (
        fit_scaling(X, "lsa", weights=w).read(views, slice(0, 150)).dense()
        for X, w in ((views, data.weights), (views[data.repeated], None))
    )
    np.testing.assert_allclose(weighted @ weighted.T, repeated @ repeated.T, atol=1e-3)


def test_weights_of_one_or_any_equal_number_without_other_terms(data: Any) -> None:
    plain = build().fit(data.views, data.y)
    for weights in (1, np.ones(150), [1] * 150):
        same = build().fit(data.views, data.y, sample_weight=weights)
        np.testing.assert_array_equal(same.embedding_, plain.embedding_)
    # Equal weights scale the data term; the embedding depends on them through the weak coupling only.
    scaled = build(coupling=0).fit(data.views, data.y, sample_weight=np.full(150, 7.0))
    reference = build(coupling=0, landmarks=scaled.landmarks_).fit(data.views, data.y)
    np.testing.assert_allclose(scaled.landmark_embedding_, reference.landmark_embedding_, atol=1e-5)


# A weight of 0 is a row that is not there


def test_rows_of_weight_zero_have_no_say_but_get_a_label(data: Any) -> None:
    gone = np.arange(150) % 5 == 2
    changed = [array.copy() for array in data.data]
    for array in changed:
        array[gone] = np.random.default_rng(3).normal(scale=5, size=(gone.sum(), array.shape[1]))
    y = np.where(gone, (data.y + 1) % 3, data.y)  # wrong labels, most where there was none
    model = build(landmarks=data.landmarks)
    weighted = model.fit(changed, y, sample_weight=~gone)
    embedding, rows, labels = weighted.landmark_embedding_, weighted.embedding_, weighted.labels_
    assert set(labels[gone]) <= {0, 1, 2} and np.isfinite(rows).all()
    without = model.fit(data.views[~gone], data.y[~gone])
    np.testing.assert_allclose(embedding, without.landmark_embedding_, atol=1e-5)
    np.testing.assert_allclose(rows[~gone], without.embedding_, atol=1e-5)
    np.testing.assert_array_equal(labels[~gone], without.labels_)


def test_a_class_that_only_rows_of_weight_zero_have(data: Any) -> None:
    """Their labels are all that is known of it."""
    model = build().fit(data.views, data.y, sample_weight=data.y != 1)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(data.views).shape == (150, 3)
    assert (model.labels_[data.target == 1] == 1).mean() > 0.5


@pytest.mark.parametrize("landmarks", ["kmeans", "random"])
def test_rows_of_weight_zero_are_no_landmarks(data: Any, landmarks: str) -> None:
    far = [array.copy() for array in data.data]
    far[0][100:] = 50.0
    model = build(landmarks=landmarks, scaling="none").fit(far, data.y, sample_weight=np.arange(150) < 100)
    assert np.abs(model.landmarks_[:, :8]).max() < 25


def test_values_of_rows_of_weight_zero_must_be_finite(data: Any) -> None:
    for form in (np.asarray, sparse.csr_array):
        broken = data.data[0].copy()
        broken[3, 1] = np.inf
        with pytest.raises(ValueError, match="View 'view0' contains .*infinity.* in row 3"):
            build(scaling="l2").fit([form(broken), data.data[1]], data.y, sample_weight=np.arange(150) != 3)


@pytest.mark.parametrize(
    "options", [{}, {"landmarks": "random"}, {"n_landmarks": 6}, {"readers": ("linear", "poisson")}], ids=str
)
def test_weights_of_zero_and_one_are_rows_left_out_whatever_is_drawn(options: dict[str, Any]) -> None:
    """Settings, samples and landmarks are drawn as without the rows: the same seed gives the same fit."""
    made = make_multiview_subspaces(420, 3, (8, 6), noise=0.5, random_state=2)
    y = hide_labels(made.target, 0.2, stratified=True, random_state=0)
    kept = np.random.default_rng(1).random(420) > 0.3
    model = FSSMSC(**{"n_landmarks": 30, "random_state": 0, **options})
    weighted = model.fit(made.views, y, sample_weight=kept)
    landmarks, chosen, found = weighted.landmarks_, weighted.chosen_, weighted.predict_proba(made.views)
    without = model.fit(made.views[kept], y[kept])
    assert chosen == without.chosen_
    np.testing.assert_allclose(landmarks, without.landmarks_, atol=1e-6)
    np.testing.assert_allclose(found, without.predict_proba(made.views), atol=1e-4)


def test_also_in_the_average_of_many_settings() -> None:
    made = make_multiview_subspaces(420, 3, (8, 6), noise=0.5, random_state=2)
    y = hide_labels(made.target, 0.2, stratified=True, random_state=0)
    kept = np.random.default_rng(1).random(420) > 0.3
    model = AnchorViewClassifier(n_landmarks=30, n_averaged=3, n_splits=2, n_repeats=1, random_state=0)
    weighted = model.fit(made.views, y, sample_weight=kept)
    landmarks, found = weighted.landmarks_, weighted.predict_proba(made.views)
    without = model.fit(made.views[kept], y[kept])
    np.testing.assert_allclose(landmarks, without.landmarks_, atol=1e-6)
    np.testing.assert_allclose(found, without.predict_proba(made.views), atol=1e-3)  # regressions stop at 1e-3


# Draws follow the weights


def test_random_landmarks_are_drawn_as_from_repeated_rows() -> None:
    """How often each row is a landmark, over many seeds: the same for weights and for copies."""
    rows, weights = np.arange(12.0)[:, None], np.array([6.0, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1])
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    share = np.zeros((2, 12))
    for number, (array, of_rows) in enumerate([(rows, weights), (repeated, None)]):
        views = Views([array])
        scaler = fit_scaling(views, "none")
        for seed in range(1500):
            found = choose_landmarks(views, scaler, "random", 4, np.random.RandomState(seed), weights=of_rows)
            share[number, found.ravel().astype(int)] += 1 / 1500
    np.testing.assert_allclose(share[0], share[1], atol=0.06)  # a share spreads by 0.013 at most
    assert share[0, 0] > 2 * share[0, 5:].max()


def test_a_heavy_row_is_never_missed() -> None:
    """k-means sees a sample; a row that weighs as much as all others is in it, whatever the seed."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2))
    rows[1234] = [6.0, 6.0]
    views, weights = Views([rows]), np.ones(3000)
    weights[1234] = 3000.0
    scaler = fit_scaling(views, "none")
    for seed in range(12):
        centres = choose_landmarks(views, scaler, "kmeans", 4, np.random.RandomState(seed), weights=weights)
        assert np.abs(centres - rows[1234]).max(axis=1).min() < 0.1


def test_landmarks_of_weighted_and_repeated_rows_agree_in_the_mean() -> None:
    """What share of the landmarks lies in a heavy group, over many seeds, of a sample of the rows."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(300, 2)), 20 + rng.normal(size=(900, 2))])
    weights = np.repeat([4.0, 1.0], [300, 900])
    cases = [(Views([rows]), weights), (Views([np.repeat(rows, weights.astype(int), axis=0)]), None)]
    shares = []
    for views, of_rows in cases:
        scaler = fit_scaling(views, "none")
        found = [
            choose_landmarks(views, scaler, "kmeans", 12, np.random.RandomState(seed), weights=of_rows)
            for seed in range(60)
        ]
        shares.append(np.mean([(centres.mean(axis=1) < 10).mean() for centres in found]))
    assert shares[0] == pytest.approx(shares[1], abs=0.06)  # the group has 0.25 of the rows, 0.57 of the weight
    assert shares[0] > 0.45


# Larger weights pull


def test_weights_pull_the_centres_of_k_means() -> None:
    rows = np.array([[0.0], [1.0], [10.0], [11.0]])
    views = Views([rows])
    scaler = fit_scaling(views, "none")
    weights = np.array([9.0, 1.0, 1.0, 3.0])
    centres = choose_landmarks(views, scaler, "kmeans", 2, np.random.RandomState(0), weights=weights)
    np.testing.assert_allclose(np.sort(centres.ravel()), [0.1, 10.75], atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_weighted_k_means_ends_at_the_weighted_means(seed: int) -> None:
    """Every row is nearest to its own cluster's weighted mean: what repeated rows would end at."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 2)) + 8 * rng.integers(3, size=(60, 1))
    weights = rng.integers(1, 5, size=60).astype(float)
    labels = kmeans_labels(Sample(rows, weights=weights), 3, np.random.RandomState(seed % 7), max_iter=100)
    centres = np.array([np.average(rows[labels == c], axis=0, weights=weights[labels == c]) for c in range(3)])
    distances = ((rows[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances.min(axis=1), distances[np.arange(60), labels], atol=1e-9)


def test_a_heavy_group_gets_more_landmarks() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(300, 4)), 20 + rng.normal(size=(300, 4))])
    weights = np.where(np.arange(600) < 300, 50.0, 1.0)
    views = Views([rows])
    scaler = fit_scaling(views, "none")
    centres = choose_landmarks(views, scaler, "kmeans", 30, np.random.RandomState(0), weights=weights)
    assert (centres.mean(axis=1) < 10).sum() > 22


def test_clusters_follow_the_weights(data: Any) -> None:
    heavy = np.where(data.target == 2, 0.0, 1.0)  # the third cluster does not count
    model = build(n_clusters=2).fit(data.views, sample_weight=heavy)
    kept = data.target < 2
    assert adjusted_rand_score(data.target[kept], model.labels_[kept]) > 0.9
    assert set(model.labels_) <= {0, 1}


# Bad weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(150, -1.0), "must be finite and not negative; row 0 has -1.0 .150 such rows"),
        (np.where(np.arange(150) == 7, np.nan, 1.0), "row 7 has nan"),
        (np.where(np.arange(150) == 7, np.inf, 1.0), "row 7 has inf"),
        (np.zeros(150), "zero for every row"),
        (np.ones(149), r"sample_weight.shape == \(149,\), expected \(150,\)"),
        (np.ones((150, 1)), "must be 1D"),
        (["a"] * 150, "sample_weight must be numbers, one per row; got"),
    ],
)
def test_weights_that_cannot_work(data: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build().fit(data.views, data.y, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(150, -1.0), "must be finite and not negative; row 0"),
        (np.where(np.arange(150) == 7, np.nan, 1.0), "row 7 has nan"),
        (np.ones(149), "one weight per row"),
        (["a"] * 150, "sample_weight must be numbers"),
        (np.zeros(150), "zero for every row"),
        (np.full(150, 1e300), "sample_weight must be at most 1e[+]15"),
    ],
)
def test_weights_of_a_score_are_checked(data: Any, weights: Any, message: str) -> None:
    model = build().fit(data.views, data.y)
    with pytest.raises(ValueError, match=message):
        model.score(data.views, data.target, sample_weight=weights)


def test_a_score_needs_weight_where_a_label_is(data: Any) -> None:
    model = build().fit(data.views, data.y)
    y = np.where(np.arange(150) < 5, data.target, -1)
    with pytest.raises(ValueError, match="zero for every row of y that has a label"):
        model.score(data.views, y, sample_weight=np.arange(150) >= 5)


def test_the_paper_s_solver_does_not_take_weights(data: Any) -> None:
    with pytest.raises(ValueError, match="solver='admm' does not support sample_weight; use solver='active_set'"):
        build(solver="admm").fit(data.views, data.y, sample_weight=data.weights)
    build(solver="admm", solver__max_iter=5).fit(data.views, data.y, sample_weight=np.ones(150))


def test_too_few_rows_of_positive_weight(data: Any) -> None:
    few = build(n_landmarks=30).fit(data.views, data.target, sample_weight=np.arange(150) < 24)
    assert len(few.landmarks_) == 8  # a third of the rows that count
    assert "n_landmarks was lowered" in few.status_


def test_the_user_s_weights_are_not_changed(data: Any) -> None:
    weights = data.weights.copy()
    weights.flags.writeable = False
    build().fit(data.views, data.y, sample_weight=weights)
    np.testing.assert_array_equal(weights, data.weights)


# Balanced classes


def test_balancing_balanced_classes_changes_nothing(data: Any) -> None:
    y = np.full(150, -1)
    for number in range(3):
        y[np.flatnonzero(data.target == number)[:8]] = number
    plain, balanced = (build(class_balance=choice).fit(data.views, y) for choice in (None, "balanced"))
    np.testing.assert_allclose(balanced.landmark_embedding_, plain.landmark_embedding_, atol=1e-5)
    np.testing.assert_array_equal(balanced.labels_, plain.labels_)


def test_balancing_is_repeating_the_rows_of_small_classes(data: Any) -> None:
    """Without unlabelled rows and smoothness, only the labels' terms are left: repeats balance them too."""
    y = np.full(150, -1)
    for number, count in enumerate((36, 18, 12)):
        y[np.flatnonzero(data.target == number)[:count]] = number
    rows = np.flatnonzero(y >= 0)
    repeated_rows = np.repeat(rows, np.array([1, 2, 3])[y[rows]])
    # So few landmarks that every one is used: the embedding of others would be arbitrary.
    landmarks = build(n_landmarks=10, scaling="l2").fit(data.views, data.target).landmarks_
    parameters = {"landmarks": landmarks, "solver__omit": ("smoothness", "coupling"), "scaling": "l2"}
    balanced = build(class_balance="balanced", **parameters).fit(data.views[rows], y[rows])
    repeated = build(**parameters).fit(data.views[repeated_rows], y[repeated_rows])
    plain = build(**parameters).fit(data.views[rows], y[rows])
    np.testing.assert_allclose(balanced.landmark_embedding_, repeated.landmark_embedding_, atol=1e-8)
    assert np.abs(plain.landmark_embedding_ - repeated.landmark_embedding_).max() > 0.1


def test_balancing_very_unequal_classes(data: Any) -> None:
    y = np.where((data.target == 0) | (np.arange(150) % 10 == 0), data.target, -1)
    model = build(class_balance="balanced").fit(data.views, y)
    assert (model.labels_ == data.target).mean() > 0.9


@pytest.mark.parametrize("value", ["yes", True, {0: 2.0}])
def test_bad_values_of_class_balance(data: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="class_balance=.* is not known"):
        build(class_balance=value).fit(data.views, data.y)
