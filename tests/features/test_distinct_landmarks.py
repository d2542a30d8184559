"""Landmarks are different: as many as there are different rows, so that copies do not make codes long and fits slow."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.core.arrays import group_equal
from anchorview.features.landmarks import Sample, _cluster_different, choose_landmarks
from anchorview.features.scaling import fit_scaling

Array = npt.NDArray[Any]


def drawn(n_rows: int = 3000, n_distinct: int = 10, seed: int = 0) -> tuple[list[Array], Array]:
    """Return two views of rows drawn from a few, and which one each is."""
    rng = np.random.default_rng(seed)
    which = np.concatenate([np.arange(n_distinct), rng.integers(n_distinct, size=n_rows - n_distinct)])
    return [rng.random((n_distinct, width))[which] for width in (20, 30)], which


def labels(which: Array) -> Array:
    """Return classes of one row in ten, and of the first of each kind."""
    y = np.where(np.arange(len(which)) % 10 == 0, which % 10, -1)
    y[:10] = which[:10] % 10
    return y


def choose(arrays: Any, n_landmarks: int, how: str = "kmeans", **options: Any) -> Array:
    views = Views(arrays)
    scaler = fit_scaling(views, options.pop("scaling", "l2"), present=options.get("present"))
    return choose_landmarks(views, scaler, how, n_landmarks, np.random.RandomState(0), **options)


# A fit takes no longer than its different rows would


@pytest.mark.parametrize("jitter", [0.0, 1e-9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_three_thousand_rows_of_ten_kinds(jitter: float, dtype: type) -> None:
    """500 landmarks on ten points: 100 to 350 seconds, when each point had some fifty copies."""
    arrays, which = drawn()
    rng = np.random.default_rng(1)
    noisy = [(array * (1 + jitter * rng.normal(size=array.shape))).astype(dtype) for array in arrays]
    start = time.process_time()
    model = FSSMSC(random_state=0, n_jobs=1).fit(noisy, labels(which))
    assert time.process_time() - start < 15  # half a second, but for what has to be compiled
    assert len(model.landmarks_) == 10 and model.codes_.shape == (3000, 10)
    assert "n_landmarks was lowered: there are not so many rows that are different." in model.status_
    np.testing.assert_array_equal(model.labels_, which)
    np.testing.assert_array_equal(model.predict(noisy), which)


def test_an_ordinary_fit_is_not_told_of_it(digits_model: FSSMSC) -> None:
    assert len(digits_model.landmarks_) == 500
    assert "different" not in digits_model.status_


def test_the_tuned_model_too() -> None:
    arrays, which = drawn(400)
    model = AnchorViewClassifier(scaling="minmax", n_averaged=2, n_repeats=1, random_state=0).fit(arrays, labels(which))
    assert model.codes_.shape == (400, 10)
    assert (model.labels_ == which).all()


# How many, and which


@pytest.mark.parametrize("how", ["kmeans", "random"])
@pytest.mark.parametrize(("n_distinct", "expected"), [(1, 1), (10, 10), (90, 90), (100, 100), (170, 100)])
def test_as_many_as_there_are(how: str, n_distinct: int, expected: int) -> None:
    arrays, _ = drawn(1200, n_distinct)
    for given_rows in (arrays, [a.astype(np.float32) for a in arrays], [sparse.csr_array(a) for a in arrays]):
        landmarks = choose(given_rows, 100, how)
        assert len(landmarks) == expected
        assert pdist(landmarks).min(initial=1.0) > 1e-3
        assert np.isfinite(landmarks).all()


def test_they_are_the_rows_themselves() -> None:
    arrays, _ = drawn(300)
    unit = np.hstack([array / np.linalg.norm(array, axis=1, keepdims=True) for array in arrays])
    nearest = np.abs(choose(arrays, 100)[:, None] - unit[None, :10]).max(axis=2).min(axis=0)
    np.testing.assert_allclose(nearest, 0, atol=1e-12)


def test_rows_are_different_if_one_view_is() -> None:
    one, other = np.repeat(np.eye(3), 20, axis=0), np.tile(np.eye(4), (15, 1))
    assert len(choose([one, other], 20)) == 12


def test_rows_that_lack_views() -> None:
    arrays, which = drawn(600)
    present = np.ones((600, 2), dtype=bool)
    present[::3, 0] = False
    arrays[0][::3] = np.nan
    landmarks = choose([np.nan_to_num(arrays[0]), arrays[1]], 100, present=present)
    assert len(landmarks) == 20  # ten with both views, ten with the mean in place of the first
    model = FSSMSC(random_state=0, n_jobs=1).fit(arrays, labels(which))
    np.testing.assert_array_equal(model.labels_, which)


def test_never_fewer_than_the_embedding_has_dimensions() -> None:
    arrays, _ = drawn(300, 2)
    y = np.full(300, -1)
    y[:6] = [0, 1, 2, 0, 1, 2]  # three classes on two points
    model = FSSMSC(random_state=0, n_jobs=1).fit(arrays, y)
    assert len(model.landmarks_) == 3
    assert np.isfinite(model.predict_proba(arrays)).all()
    assert len(choose(arrays, 100, least=7)) == 7


def test_weights_stay() -> None:
    """A few doubles among rows of weight: k-means on one of each, with the weight of all."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(30, 3)), 10, axis=0)
    weights = rng.uniform(0.5, 2, size=300)
    landmarks = choose([rows], 25, scaling="none", weights=weights)
    assert len(landmarks) == 25 and pdist(landmarks).min() > 1e-3
    np.testing.assert_allclose(landmarks.min(axis=0), rows.min(axis=0), atol=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_rows_that_are_alike_are_those_of_all_rows(seed: int) -> None:
    """Each row is nearest to the mean of its cluster, where a row that is there often counts as often."""
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(12), rng.integers(1, 60, size=12))
    rows = rng.normal(size=(12, 2))[which]
    found = _cluster_different(Sample(rows), 4, np.random.RandomState(seed), 1)
    means = np.array([rows[found == number].mean(axis=0) for number in range(4)])
    np.testing.assert_array_equal(cdist(rows, means).argmin(axis=1), found)


@pytest.mark.parametrize("how", ["kmeans", "random"])
def test_threads_do_not_matter(how: str) -> None:
    arrays, _ = drawn(1200, 130)
    np.testing.assert_array_equal(choose(arrays, 100, how, n_threads=1), choose(arrays, 100, how, n_threads=2))


# Rows that are the same


@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([np.float32, np.float64]), st.floats(0, 6))
@settings(max_examples=40, deadline=None)
def test_equal_rows_have_the_same_number(seed: int, n_distinct: int, dtype: type, log_scale: float) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(0, log_scale, size=(n_distinct, 1))  # rows of different sizes
    which = rng.integers(n_distinct, size=60)
    rows = (scale * rng.normal(size=(n_distinct, 4)))[which].astype(dtype)
    jitter = np.finfo(dtype).eps * rng.uniform(-1, 1, size=rows.shape)
    expected = np.unique(which, return_inverse=True)[1]
    for found in (group_equal(rows), group_equal((rows * (1 + jitter)).astype(dtype))):
        assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == found.max() + 1 == expected.max() + 1


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3])
def test_far_from_the_origin_rows_are_still_told_apart(offset: float) -> None:
    rows = offset + np.random.default_rng(0).normal(size=(500, 3))
    assert group_equal(rows).max() == 499


def test_an_outlier_does_not_make_the_others_the_same() -> None:
    rows = np.vstack([np.random.default_rng(0).normal(size=(99, 3)), [[1e12, 0, 0]]])
    assert group_equal(rows).max() == 99
