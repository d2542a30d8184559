"""Landmarks: k-means as good as scikit-learn's, awkward rows, the same for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from anchorview import FSSMSC, ActiveSet, Views
from anchorview.features.landmarks import (
    FULL_SPACE_ENTRIES,
    ROWS_PER_LANDMARK,
    Sample,
    _assign,
    _cluster_means,
    _squared_distances,
    choose_landmarks,
    fill_empty,
    kmeans_labels,
)
from anchorview.features.scaling import fit_scaling


def seeded(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


def inertia(rows: npt.NDArray[Any], centres: npt.NDArray[Any]) -> float:
    return float((pairwise_distances(rows, centres).min(axis=1) ** 2).sum())


def centres_of(rows: npt.NDArray[Any], labels: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    return np.array([rows[labels == number].mean(axis=0) for number in range(labels.max() + 1)])


def kmeans_centres(rows: npt.NDArray[Any], n_clusters: int, seed: int = 0, **options: Any) -> npt.NDArray[Any]:
    return centres_of(rows, kmeans_labels(rows, n_clusters, seeded(seed), **options))


@pytest.fixture(scope="module")
def blobs() -> npt.NDArray[np.float64]:
    return make_blobs(1500, 6, centers=8, random_state=0)[0]


# k-means


def test_inertia_is_that_of_scikit_learn(blobs: npt.NDArray[np.float64]) -> None:
    ours = [inertia(blobs, kmeans_centres(blobs, 40, seed)) for seed in range(5)]
    theirs = [KMeans(40, init="random", n_init=1, random_state=seed).fit(blobs).inertia_ for seed in range(5)]
    assert np.mean(ours) < 1.05 * np.mean(theirs)


def test_from_the_same_rows_it_ends_where_scikit_learn_does(blobs: npt.NDArray[np.float64]) -> None:
    start = blobs[seeded(3).choice(len(blobs), 30, replace=False)]
    theirs = KMeans(30, init=start, n_init=1, max_iter=500, tol=0).fit(blobs)
    np.testing.assert_array_equal(kmeans_labels(blobs, 30, seeded(3), max_iter=500), theirs.labels_)


def test_rows_belong_to_the_nearest_centre(blobs: npt.NDArray[np.float64]) -> None:
    labels = kmeans_labels(blobs, 12, seeded(), max_iter=500)
    np.testing.assert_array_equal(pairwise_distances(blobs, centres_of(blobs, labels)).argmin(axis=1), labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_label(dtype: type) -> None:
    rows = seeded().normal(size=(5000, 12)).astype(dtype)
    one, two = (kmeans_labels(rows, 60, seeded(), n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_fewer_distinct_rows_than_clusters() -> None:
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 20, axis=0)
    labels = kmeans_labels(rows, 7, seeded())
    assert set(labels) == set(range(7))
    assert inertia(rows, centres_of(rows, labels)) == pytest.approx(0)


def test_identical_rows() -> None:
    assert set(kmeans_labels(np.full((10, 3), 2.5), 4, seeded())) == {0, 1, 2, 3}


def test_as_many_clusters_as_rows_or_one() -> None:
    rows = seeded().normal(size=(9, 2))
    assert sorted(kmeans_labels(rows, 9, seeded())) == list(range(9))
    assert (kmeans_labels(rows, 1, seeded()) == 0).all()


def test_an_emptied_cluster_is_given_a_far_row() -> None:
    """Ten copies and two other rows: however many centres start at the copies, none may stay there."""
    rows = np.vstack([np.zeros((10, 1)), [[1.0]], [[100.0]]])
    for seed in range(10):
        assert inertia(rows, kmeans_centres(rows, 3, seed)) == pytest.approx(0)


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.integers(-3, 3)), st.data())
@settings(max_examples=60, deadline=None)
def test_no_cluster_is_empty(rows: npt.NDArray[np.float64], data: Any) -> None:
    n_clusters = data.draw(st.integers(1, len(rows)))
    labels = kmeans_labels(rows, n_clusters, seeded())
    assert (np.bincount(labels, minlength=n_clusters) > 0).all() and len(labels) == len(rows)


def test_empty_clusters_take_the_farthest_rows_but_no_last_one() -> None:
    labels = np.array([0, 0, 0, 1, 0])
    rows, centres = np.sqrt([[1.0], [4.0], [3.0], [9.0], [2.0]]), np.zeros((4, 1))  # squared distances 1, 4, 3, 9, 2
    fill_empty(labels, len(centres), _squared_distances(Sample(rows), np.arange(len(rows)), centres, labels))
    assert labels.tolist() == [0, 2, 3, 1, 0]


def test_the_rows_are_not_changed(blobs: npt.NDArray[np.float64]) -> None:
    before = blobs.copy()
    kmeans_labels(blobs, 20, seeded())
    np.testing.assert_array_equal(blobs, before)


def test_distances_are_over_the_views_that_a_row_has() -> None:
    """By the literal sum; a centre far away in a view that the row lacks is near all the same."""
    rng = np.random.default_rng(0)
    columns = (slice(0, 3), slice(3, 5), slice(5, 9))
    present = rng.random((40, 3)) < 0.6
    present[~present.any(axis=1), 0] = True
    rows, centres = rng.normal(size=(40, 9)), 3 * rng.normal(size=(6, 9))
    expected = np.zeros((40, 6))
    for number, view in enumerate(columns):
        rows[~present[:, number], view] = 0.0
        squares = ((rows[:, None, view] - centres[None, :, view]) ** 2).sum(axis=2)
        expected += present[:, [number]] * squares
    squared = (rows**2).sum(axis=1)
    sample = Sample(rows, present, columns)
    labels = _assign(sample, squared, centres, 1)
    np.testing.assert_array_equal(labels, expected.argmin(axis=1))
    distances = _squared_distances(sample, np.arange(40), centres, labels)
    np.testing.assert_allclose(distances, expected.min(axis=1), atol=1e-12)
    whole = ((rows[:, None] - centres) ** 2).sum(axis=2)
    assert (labels != whole.argmin(axis=1)).any()
    np.testing.assert_array_equal(_assign(Sample(rows), squared, centres, 1), whole.argmin(axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_means_are_over_the_rows_that_have_a_view(weighted: bool) -> None:
    """A cluster none of whose rows has it takes the mean of all rows that do."""
    rng = np.random.default_rng(1)
    columns = (slice(0, 2), slice(2, 5))
    labels, present = np.repeat(np.arange(4), 6), rng.random((24, 2)) < 0.6
    present[labels == 2, 1] = False
    weights = rng.uniform(0.5, 2.0, size=24) if weighted else None
    each, rows = (np.ones(24) if weights is None else weights), rng.normal(size=(24, 5))
    expected = np.empty((4, 5))
    for number, view in enumerate(columns):
        rows[~present[:, number], view] = 0.0
        for cluster in range(4):
            members = present[:, number] & (labels == cluster)
            members = members if members.any() else present[:, number]
            expected[cluster, view] = np.average(rows[members, view], axis=0, weights=each[members])
    np.testing.assert_allclose(_cluster_means(Sample(rows, present, columns, weights), labels, 4), expected)


# The choice


@pytest.fixture(scope="module")
def views(blobs: npt.NDArray[np.float64]) -> Views:
    return Views([blobs[:, :4], blobs[:, 4:]])


def test_random_landmarks_are_different_scaled_rows(views: Views) -> None:
    scaler = fit_scaling(views, "minmax")
    landmarks = choose_landmarks(views, scaler, "random", 50, seeded())
    rows = scaler.read(views, slice(0, len(views))).dense()
    found = [int(np.flatnonzero((rows == landmark).all(axis=1))[0]) for landmark in landmarks]
    assert len(set(found)) == 50
    assert (choose_landmarks(views, scaler, "random", 50, seeded(1)) != landmarks).any()


def test_given_landmarks_are_used_as_they_are(views: Views) -> None:
    given = seeded().normal(size=(25, 6))
    np.testing.assert_array_equal(choose_landmarks(views, fit_scaling(views, "l2"), given, 25, seeded()), given)


@pytest.mark.parametrize("how", ["kmeans", "random"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_seed_decides_and_threads_do_not(how: str, dtype: type) -> None:
    rows = seeded().normal(size=(1300, 140)).astype(dtype)
    views = Views([rows[:, :100], rows[:, 100:]])
    scaler = fit_scaling(views, "minmax")
    found = [choose_landmarks(views, scaler, how, 40, seeded(), n_threads) for n_threads in (1, 1, 2)]
    assert found[0].dtype == dtype
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_landmarks_are_the_means_of_the_scaled_rows(views: Views) -> None:
    scaler = fit_scaling(views, "minmax")
    rows = scaler.read(views, slice(0, len(views))).dense()
    enough = len(views) // ROWS_PER_LANDMARK + 1  # so that all rows are in the sample
    landmarks = choose_landmarks(views, scaler, "kmeans", enough, seeded())
    np.testing.assert_allclose(landmarks, kmeans_centres(rows, enough), atol=1e-12)


def topics(n_rows: int, n_words: int) -> sparse.csr_array:
    """Rows of five topics that share no word."""
    rng, topic = seeded(), np.arange(n_rows) % 5
    words = topic[:, None] * (n_words // 5) + rng.randint(0, 60, size=(n_rows, 30))
    rows = sparse.coo_array((np.ones(words.size), (np.repeat(np.arange(n_rows), 30), words.ravel())), (n_rows, n_words))
    return sparse.csr_array(rows)


def test_rows_of_very_many_features_are_assigned_in_a_projection_and_averaged_as_they_are() -> None:
    n_landmarks = 32
    rows = topics(n_landmarks * ROWS_PER_LANDMARK, 28_000)
    assert rows.shape[0] * rows.shape[1] > FULL_SPACE_ENTRIES
    views = Views([rows])
    scaler = fit_scaling(views, "l2")
    landmarks, again = (choose_landmarks(views, scaler, "kmeans", n_landmarks, seeded(), n) for n in (1, 2))
    np.testing.assert_array_equal(landmarks, again)
    assert landmarks.shape == (n_landmarks, 28_000)
    used = np.array([landmarks[:, part * 5600 : (part + 1) * 5600].any(axis=1) for part in range(5)])
    assert (used.sum(axis=0) == 1).all()  # each the mean of rows of one topic
    unit = rows[:, rows.sum(axis=0) > 0].toarray() / sparse.linalg.norm(rows, axis=1)[:, None]
    ours = inertia(unit, landmarks[:, rows.sum(axis=0) > 0])
    assert ours < 1.05 * KMeans(n_landmarks, init="random", n_init=1, random_state=0).fit(unit).inertia_


@pytest.mark.parametrize("n_rows", [40, 3000])
def test_duplicate_rows(n_rows: int) -> None:
    views = Views([np.repeat(np.eye(4), n_rows // 4, axis=0)])
    landmarks = choose_landmarks(views, fit_scaling(views, "l2"), "kmeans", 10, seeded(), 2)
    np.testing.assert_allclose(np.sort(landmarks, axis=1)[:, -1], 1, atol=1e-9)  # each a row, none left at zero


class WatchedRows:
    """A view kept elsewhere, which notes the rows it is asked for."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.asked: list[int] = []

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        self.asked.extend(range(start, stop))
        return self.values[start:stop]

    def take(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        self.asked.extend(rows.tolist())
        return self.values[rows]


def test_kmeans_of_many_rows_sees_a_sample_only() -> None:
    rows = seeded().normal(size=(1000, 2))
    views = Views([rows])
    scaler = fit_scaling(views, "minmax")
    views.arrays[0] = watched = WatchedRows(rows)
    choose_landmarks(views, scaler, "kmeans", 5, seeded())
    assert len(set(watched.asked)) == 5 * ROWS_PER_LANDMARK


def test_the_estimator_uses_and_keeps_given_landmarks(views: Views) -> None:
    given = np.abs(seeded().normal(size=(30, 6)))
    before = given.copy()
    y = np.where(np.arange(1500) < 100, np.arange(1500) % 2, -1)
    model = FSSMSC(landmarks=given, n_landmarks=7, random_state=0, solver=ActiveSet(max_iter=3, tol=1)).fit(views, y)
    np.testing.assert_array_equal(model.landmarks_, before)
    np.testing.assert_array_equal(given, before)
    assert model.codes_.shape == (1500, 30)
    assert model.landmark_embedding_.shape == (2, 30)


def test_rounding_of_products_does_not_move_rows_between_clusters() -> None:
    """Kernels of BLAS add products up in different orders; so does the same one, given the columns in another order."""
    rng = np.random.default_rng(0)
    rows = (30 + rng.normal(size=(600, 300))).astype(np.float32)  # the rounding of products is large beside distances
    expected = kmeans_labels(rows, 40, seeded())
    for _ in range(5):
        order = rng.permutation(rows.shape[1])
        np.testing.assert_array_equal(kmeans_labels(rows[:, order], 40, seeded()), expected)
