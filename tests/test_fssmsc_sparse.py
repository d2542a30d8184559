"""Sparse views from fit to predict: the same as dense copies, and never filled in."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score

from anchorview import ADMM, FSSMSC, Views
from anchorview.core.arrays import unit_rows
from anchorview.datasets import hide_labels
from anchorview.features.landmarks import FULL_SPACE_ENTRIES
from anchorview.features.scaled import ViewsScaler
from anchorview.features.scaling import fit_scaling
from anchorview.features.text import leading_directions, products_of
from support.settled import CHOSEN

FOR_BOTH = ["minmax", "l2", "tfidf", "lsa", "none"]
FORMS: dict[str, Any] = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
}


def draw_counts(n_rows: int, sizes: tuple[int, ...], seed: int, n_topics: int = 3) -> tuple[list[Any], np.ndarray]:
    """Word counts of three topics; every word is absent from some row."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(n_topics, size=n_rows)
    topics[:n_topics] = np.arange(n_topics)
    views = []
    for size in sizes:
        rates = rng.gamma(0.3, 1.0, size=(n_topics, size)) + 0.02
        counts = rng.poisson(rates[topics]).astype(np.float64)
        counts[0] = 0
        counts[0, 0] = 1
        counts[1, 0] = 0
        views.append(counts)
    return views, topics


def build(**parameters: Any) -> FSSMSC:
    """A fit that chooses nothing but the scaling."""
    return FSSMSC(**{**CHOSEN, "scaling": "auto", "n_landmarks": 30, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def text() -> Any:
    """Two views of word counts and a dense one, a sixth of the rows labelled."""
    from sklearn.utils import Bunch

    (left, right), topics = draw_counts(180, (40, 60), seed=0)
    dense = np.random.default_rng(1).normal(size=(180, 6)) + topics[:, None]
    y = hide_labels(topics, 0.15, stratified=True, random_state=0)
    return Bunch(left=left, right=right, dense=dense, target=topics, y=y)


def rows_of(scaler: ViewsScaler, views: Views) -> np.ndarray:
    """All rows, scaled."""
    return scaler.read(views, slice(0, len(views))).dense()


def mixed(text: Any, form: Any) -> dict[str, Any]:
    return {"left": form(text.left), "dense": text.dense, "right": form(text.right)}


# Sparse views are views


@pytest.fixture(scope="module")
def reference(text: Any) -> FSSMSC:
    return build().fit(mixed(text, sparse.csr_array), text.y)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_goes_through_every_method(text: Any, reference: FSSMSC, form: str) -> None:
    X = mixed(text, FORMS[form])
    model = build().fit(X, text.y)
    assert (model.labels_ == text.target).mean() > 0.9
    hidden = text.y < 0
    np.testing.assert_array_equal(model.predict(X)[hidden], model.labels_[hidden])
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    np.testing.assert_array_equal(build().fit_predict(X, text.y), model.labels_)
    np.testing.assert_allclose(build().fit_transform(X, text.y), model.embedding_, atol=1e-9)
    np.testing.assert_array_equal(model.embedding_, reference.embedding_)


@pytest.mark.parametrize("form", FORMS)
def test_one_sparse_table_cut_into_views(text: Any, form: str) -> None:
    table = FORMS[form](np.hstack([text.left, text.right]))
    model = build(views=[40, 60], scaling="l2").fit(table, text.y)
    reference = build(scaling="l2").fit([sparse.csr_array(text.left), sparse.csr_array(text.right)], text.y)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_array_equal(model.predict(table), reference.predict([text.left, text.right]))


def test_without_labels(text: Any) -> None:
    model = build(n_clusters=3).fit(mixed(text, sparse.csr_array))
    np.testing.assert_array_equal(model.predict(mixed(text, sparse.csc_array)), model.labels_)


def test_the_paper_s_solver_takes_sparse_views_too(text: Any) -> None:
    dense, sparse_ = (
        build(solver=ADMM(units="data"), scaling="l2").fit([form(text.left), form(text.right)], text.y)
        for form in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(dense.embedding_, sparse_.embedding_, atol=1e-5)


# Dense and sparse copies agree


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("scaling", FOR_BOTH)
def test_dense_and_sparse_copies_have_the_same_codes(text: Any, scaling: str, dtype: str) -> None:
    parts = [text.left.astype(dtype), text.right.astype(dtype)]
    dense, copy = (
        build(scaling=[scaling, scaling, "auto"]).fit([*map(form, parts), text.dense.astype("float32")], text.y)
        for form in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(copy.landmarks_, dense.landmarks_, atol=1e-5)
    np.testing.assert_allclose(copy.codes_.toarray(), dense.codes_.toarray(), atol=1e-5)
    np.testing.assert_array_equal(copy.labels_, dense.labels_)
    new = [part[::3] for part in parts]
    swapped = dense.transform([*map(sparse.csr_array, new), text.dense[::3]])
    np.testing.assert_allclose(swapped, copy.transform([*new, text.dense[::3]]), atol=1e-5)


@pytest.mark.parametrize("scaling", ["l2", "minmax", "tfidf"])
def test_the_same_for_views_wide_enough_to_be_projected(scaling: str) -> None:
    """More cells than k-means may fill in."""
    assert FULL_SPACE_ENTRIES < 600 * 28_200
    rng = np.random.default_rng(3)
    topics = np.arange(600) % 3
    words = rng.integers(0, 9_400, size=(600, 60)) * 3 + topics[:, None]
    words[:, :40] = rng.integers(0, 30, size=(600, 40)) * 3 + topics[:, None]  # words that rows of a topic share
    entries = (np.ones(36_000, dtype=np.float32), words.ravel(), np.arange(0, 36_001, 60))
    counts = Views([sparse.csr_array(entries, shape=(600, 28_200))])
    filled = Views([counts.arrays[0].toarray()])
    copy, dense = (build(scaling=scaling).fit(X, topics) for X in (counts, filled))
    np.testing.assert_allclose(copy.codes_.toarray(), dense.codes_.toarray(), atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["minmax", "l2", "tfidf", "none"]), st.floats(0.02, 0.9))
def test_dense_and_sparse_rows_are_scaled_alike(seed: int, scaling: str, density: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, 3.0, size=(20, 7)) * (rng.random((20, 7)) < density)
    rows[rng.integers(20)] = 0  # an empty row, and so a zero in each column
    views, copy = Views([rows]), Views([sparse.csr_array(rows)])
    new = rng.gamma(1.0, 3.0, size=(5, 7))
    scaled, same = fit_scaling(views, scaling), fit_scaling(copy, scaling)
    np.testing.assert_allclose(rows_of(same, copy), rows_of(scaled, views), atol=1e-12)
    np.testing.assert_allclose(rows_of(same, Views([sparse.csr_array(new)])), rows_of(scaled, Views([new])), atol=1e-12)


# Each scaling is its formula


def test_tfidf_is_that_of_scikit_learn(text: Any) -> None:
    views, new = Views([sparse.csr_array(text.left[:100])]), Views([sparse.csr_array(text.left[100:])])
    reference = TfidfTransformer().fit(text.left[:100])
    scaler = fit_scaling(views, "tfidf")
    for rows in (views, new):
        expected = reference.transform(rows.arrays[0]).toarray()
        np.testing.assert_allclose(rows_of(scaler, rows), expected, atol=1e-12)


def test_lsa_is_the_leading_directions_of_tfidf() -> None:
    """Of few words the SVD is exact, and all directions but the last are kept."""
    (counts,), _ = draw_counts(300, (6,), seed=2, n_topics=6)
    views = Views([sparse.csr_array(counts)])
    tfidf = TfidfTransformer().fit_transform(counts).toarray()
    _, _, right = np.linalg.svd(tfidf, full_matrices=False)
    coordinates = unit_rows(tfidf @ right[:5].T)
    found = rows_of(fit_scaling(views, "lsa", rng=np.random.RandomState(0)), views)
    assert found.shape == (300, 5)
    np.testing.assert_allclose(
        found @ found.T, coordinates @ coordinates.T, atol=0.01
    )  # directions are kept in steps of 0.8 % of the largest


def test_leading_directions_are_the_singular_vectors() -> None:
    (counts,), _ = draw_counts(300, (80,), seed=2, n_topics=6)
    tfidf = TfidfTransformer().fit_transform(counts)
    _, _, right = np.linalg.svd(tfidf.toarray(), full_matrices=False)
    products = partial(products_of, sparse.csr_array(tfidf))
    directions = leading_directions(products, tfidf.shape, tfidf.dtype, 5, np.random.RandomState(0))
    assert directions.shape == (80, 5)
    assert np.degrees(linalg.subspace_angles(directions, right[:5].T)).max() < 0.5


@pytest.mark.parametrize("shape", [(40, 1), (40, 2), (3, 30)])
def test_lsa_of_few_features_or_rows(shape: tuple[int, int]) -> None:
    counts = np.random.default_rng(0).poisson(1.0, size=shape).astype(float)
    views = Views([sparse.csr_array(counts)])
    found = rows_of(fit_scaling(views, "lsa"), views)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths[counts.any(axis=1)], 1, atol=1e-6)


def test_auto_is_lsa_for_sparse_views_and_minmax_for_dense_ones(text: Any) -> None:
    X = mixed(text, sparse.csr_array)
    build = partial(FSSMSC, n_landmarks=30, random_state=0, n_jobs=1)  # with nothing settled
    auto = build(n_clusters=3).fit(X)  # no labels, which could choose another scaling of the dense view
    named = build(n_clusters=3, scaling={"left": "lsa", "dense": "minmax", "right": "lsa"}).fit(X)
    np.testing.assert_array_equal(auto.embedding_, named.embedding_)
    defaults = build().fit(X, text.y)
    assert (defaults.labels_ == text.target).mean() > 0.9
    chosen = defaults.chosen_["scaling"]
    assert [kind for name, kind in zip(X, chosen, strict=True) if name != "dense"] == ["lsa", "lsa"]


# What may go wrong


@pytest.mark.parametrize("scaling", ["l2", "tfidf", "lsa", "none", "minmax"])
def test_empty_rows_and_empty_columns(text: Any, scaling: str) -> None:
    left = sparse.csr_array(text.left * (np.arange(180) % 9 > 0)[:, None] * (np.arange(40) > 3))
    model = build(scaling=["minmax", scaling]).fit([text.dense, left], text.y)
    assert np.isfinite(model.embedding_).all()
    empty = [text.dense[:2], sparse.csr_array((2, 40))]
    assert np.isfinite(model.predict_proba(empty)).all()
    alone = build(scaling=scaling).fit(left, text.y)
    assert np.isfinite(alone.predict_proba(sparse.csr_array((2, 40)))).all()


@pytest.mark.parametrize("scaling", ["standard", "symmetric"])
def test_scalings_that_would_fill_in_the_zeros(text: Any, scaling: str) -> None:
    X = mixed(text, sparse.csr_array)
    with pytest.raises(ValueError, match=f"scaling='{scaling}' would fill in the zeros of the sparse view 'left'"):
        build(scaling={"left": scaling}).fit(X, text.y)
    build(scaling={"dense": scaling}).fit(X, text.y)


@pytest.mark.parametrize("scaling", ["tfidf", "lsa"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_values_are_no_counts(text: Any, scaling: str, form: Any) -> None:
    counts = text.left.copy()
    counts[17, 4], counts[33, 2] = -1, -5
    message = rf"View 'words' has negative values \(first seen in row 17\), so scaling='{scaling}' makes no sense"
    with pytest.raises(ValueError, match=message):
        build(scaling={"words": scaling}).fit({"dense": text.dense, "words": form(counts)}, text.y)
    missing = np.ones((180, 2), dtype=bool)
    missing[:10, 1] = False
    with pytest.raises(ValueError, match="first seen in row 17"):
        views = Views({"dense": text.dense, "words": form(counts)}, mask=missing)
        build(scaling={"words": scaling}).fit(views, text.y)


@pytest.mark.parametrize("scaling", ["l2", "lsa"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(text: Any, scaling: str, bad: float) -> None:
    model = build(scaling=scaling).fit(sparse.csr_array(text.left), text.y)
    broken = text.left.copy()
    broken[[5, 8], 3] = bad
    with pytest.raises(
        ValueError, match=f"View 'view0' contains {'NaN' if np.isnan(bad) else 'infinity'} in rows 5, 8"
    ):
        build(scaling=scaling).fit(sparse.csr_array(broken), text.y)
    with pytest.raises(
        ValueError, match=f"View 'view0' contains {'NaN' if np.isnan(bad) else 'infinity'} in rows 5, 8"
    ):
        model.predict(sparse.csr_array(broken))


def test_the_user_s_matrices_are_not_changed(text: Any) -> None:
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        X = mixed(text, form)
        for array in (X["left"], X["right"]):
            array.data.flags.writeable = array.indices.flags.writeable = array.indptr.flags.writeable = False
        before = {name: array.copy() for name, array in X.items()}
        for scaling in ("auto", "l2", "tfidf", "none"):
            build(scaling={"left": scaling, "dense": "minmax", "right": scaling}).fit(X, text.y).predict(X)
        for name in ("left", "right"):
            assert type(X[name]) is type(before[name])
            np.testing.assert_array_equal(X[name].toarray(), before[name].toarray())
            np.testing.assert_array_equal(X[name].indices, before[name].indices)


# Size


def test_a_large_sparse_view_is_never_filled_in() -> None:
    """5,000 × 50,000 numbers would be 1 GB in single precision."""
    rng = np.random.default_rng(0)
    topics = np.arange(5_000) % 4
    words = (rng.integers(0, 50_000 // 4, size=(5_000, 25)) * 4 + topics[:, None]).astype(np.int32)
    indptr = np.arange(0, 25 * 5_000 + 1, 25, dtype=np.int32)
    wide = sparse.csr_array((np.ones(125_000, dtype=np.float32), words.ravel(), indptr), shape=(5_000, 50_000))
    y = hide_labels(topics, 0.05, random_state=0)
    for scaling in ("tfidf", "lsa"):
        tracemalloc.start()
        model = build(n_landmarks=20, scaling=scaling).fit(wide, y)
        model.predict(wide[:1000])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 400e6, scaling
        assert model.landmarks_.shape == (20, 50_000 if scaling == "tfidf" else 150)


# The rest of the library


def test_grid_search_and_cross_validation(text: Any) -> None:
    views = Views(mixed(text, sparse.csr_array))
    search = GridSearchCV(build(), {"scaling": ["auto", "l2"], "l1": [0.1, 0.3]}, cv=3, error_score="raise")
    search.fit(views, text.target)
    assert search.best_score_ > 0.8
    assert (search.predict(views) == text.target).mean() > 0.9
    assert cross_val_score(build(), views, text.target, cv=3, error_score="raise").min() > 0.7


@pytest.mark.parametrize("scaling", ["lsa", "tfidf"])
def test_pickling(text: Any, scaling: str) -> None:
    X = mixed(text, sparse.csr_array)
    model = build(scaling={"left": scaling}).fit(X, text.y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("scaling", ["lsa", "tfidf", "l2"])
def test_threads_do_not_change_a_bit(scaling: str) -> None:
    views, topics = draw_counts(1500, (60, 50), seed=5)
    X = [sparse.csr_array(view) for view in views]
    y = hide_labels(topics, 0.05, stratified=True, random_state=0)
    one, two = (build(scaling=scaling, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.landmarks_, two.landmarks_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_rows_do_not_depend_on_one_another(text: Any) -> None:
    views = Views(mixed(text, sparse.csr_array))
    model = build().fit(views[:120], text.y[:120])
    whole, order = model.transform(views), np.random.default_rng(0).permutation(180)
    np.testing.assert_allclose(model.transform(views[order]), whole[order], atol=1e-9)
    np.testing.assert_allclose(model.transform(views[7]), whole[7:8], atol=1e-9)
