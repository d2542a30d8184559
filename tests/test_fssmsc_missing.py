"""Rows that lack views, from fit to predict."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import Bunch

from anchorview import FSSMSC, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import CHOSEN, settle


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 40, "random_state": 0, "n_jobs": 1, **parameters})


def draw_mask(n_rows: int, n_views: int, share: float, seed: int = 0) -> np.ndarray:
    """A share of the cells missing, no row without any view."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n_rows, n_views)) >= share
    bare = np.flatnonzero(~mask.any(axis=1))
    mask[bare, rng.integers(n_views, size=len(bare))] = True
    return mask


@pytest.fixture(scope="module")
def data() -> Any:
    """Three views of three clusters; the first is complete, a third of the other cells are missing."""
    made = make_multiview_subspaces(210, 3, (8, 6, 5), noise=0.4, random_state=1)
    mask = draw_mask(210, 3, 0.33)
    mask[:, 0] = True
    y = hide_labels(made.target, 0.15, stratified=True, random_state=0)
    parts = dict(zip(("a", "b", "c"), made.data, strict=True))
    model = build().fit(Views(parts, mask=mask), y)
    return Bunch(parts=parts, mask=mask, y=y, target=made.target, model=model)


def spoil(parts: dict[str, Any], mask: np.ndarray, value: float) -> dict[str, Any]:
    """Write a value where a view is missing."""
    return {
        name: np.where(mask[:, number, None], array, array.dtype.type(value))
        for number, (name, array) in enumerate(parts.items())
    }


# Three ways to say it


def test_what_stands_in_missing_rows_plays_no_part(data: Any) -> None:
    for value in (0.0, 1e9, np.nan, np.inf):
        model = build().fit(Views(spoil(data.parts, data.mask, value), mask=data.mask), data.y)
        np.testing.assert_array_equal(model.embedding_, data.model.embedding_)
        np.testing.assert_array_equal(model.labels_, data.model.labels_)


@pytest.mark.parametrize("scaling", ["minmax", "standard", "symmetric", "l2", "none"])
def test_nor_for_any_scaling_nor_in_new_rows(data: Any, scaling: str) -> None:
    views, bad = (Views(spoil(data.parts, data.mask, value), mask=data.mask) for value in (0.0, np.inf))
    model, same = (build(scaling=scaling).fit(X, data.y) for X in (views, bad))
    np.testing.assert_array_equal(same.landmarks_, model.landmarks_)
    np.testing.assert_array_equal(model.transform(bad), model.transform(views))


@pytest.mark.parametrize("scaling", ["minmax", "l2", "tfidf", "lsa", "none"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_nor_in_views_of_counts(data: Any, scaling: str, form: Any) -> None:
    counts = np.abs(data.parts["b"] * 3).round()
    has = data.mask[:, 1, None]
    good, bad = (
        Views({"a": data.parts["a"], "b": form(np.where(has, counts, value))}, mask=data.mask[:, :2])
        for value in (0.0, np.nan)
    )
    model, same = (build(scaling={"b": scaling}).fit(X, data.y) for X in (good, bad))
    np.testing.assert_array_equal(same.embedding_, model.embedding_)
    np.testing.assert_array_equal(model.predict(bad), model.predict(good))


def test_rows_of_nan_are_missing(data: Any) -> None:
    filled = spoil(data.parts, data.mask, np.nan)
    model = build().fit(filled, data.y)
    np.testing.assert_array_equal(model.embedding_, data.model.embedding_)
    np.testing.assert_array_equal(model.labels_, data.model.labels_)
    np.testing.assert_array_equal(data.model.predict(filled), data.model.predict(Views(data.parts, mask=data.mask)))


def test_ids_of_each_view(data: Any) -> None:
    ids = np.array([f"s{row}" for row in range(210)])
    own = [ids[data.mask[:, number]] for number in range(3)]
    parts = {name: array[data.mask[:, number]] for number, (name, array) in enumerate(data.parts.items())}
    views = Views(parts, ids=own)
    assert views.ids.tolist() == ids.tolist()  # the first view is complete, so the order is its own
    model = build().fit(views, data.y)
    np.testing.assert_array_equal(model.embedding_, data.model.embedding_)
    np.testing.assert_array_equal(model.labels_, data.model.labels_)


def test_partly_filled_rows_are_not_missing(data: Any) -> None:
    broken = {**data.parts, "b": data.parts["b"].copy()}
    broken["b"][3, 2] = np.nan
    with pytest.raises(ValueError, match="View 'b' contains NaN in row 3"):
        build().fit(broken, data.y)
    with pytest.raises(ValueError, match="View 'b' contains NaN in row 3"):
        data.model.predict(broken)


def test_a_complete_mask_is_no_mask(data: Any) -> None:
    complete = Views(data.parts, mask=np.ones((210, 3), dtype=bool))
    one, two = build().fit(complete, data.y), build().fit(data.parts, data.y)
    for name in ("landmarks_", "landmark_embedding_", "embedding_", "labels_", "objective_history_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


# Predictions


def test_predict_gives_the_labels_of_the_fit(data: Any) -> None:
    views, hidden = Views(data.parts, mask=data.mask), data.y < 0
    np.testing.assert_array_equal(data.model.predict(views)[hidden], data.model.labels_[hidden])
    np.testing.assert_allclose(data.model.transform(views), data.model.embedding_, atol=1e-6)
    probabilities = data.model.predict_proba(views)
    np.testing.assert_allclose(probabilities.max(axis=1)[hidden], data.model.confidence_[hidden], atol=1e-6)
    assert (data.model.labels_ == data.target).mean() > 0.9


def test_combinations_of_views_that_the_fit_has_not_seen(data: Any) -> None:
    """The first view is never missing in the fit; now it is, also beside others, and from a model of complete rows."""
    complete = build().fit(data.parts, data.y)
    for lacking in (["a"], ["a", "b"], ["a", "c"], ["b", "c"]):
        views = Views(data.parts, mask={name: np.zeros(210, dtype=bool) for name in lacking})
        for model in (data.model, complete):
            assert (model.predict(views) == data.target).mean() > 0.6
            assert np.isfinite(model.transform(views)).all()


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_a_row_depends_on_itself_only(data: Any, draw: st.DataObject) -> None:
    mask = draw_mask(210, 3, 0.4, seed=draw.draw(st.integers(0, 100)))
    rows = np.array(draw.draw(st.lists(st.integers(0, 209), min_size=1, max_size=8, unique=True)))
    views = Views(data.parts, mask=mask)
    np.testing.assert_allclose(data.model.transform(views[rows]), data.model.transform(views)[rows], atol=1e-5)


def test_a_row_without_a_view_is_as_in_a_model_of_the_other_views(data: Any) -> None:
    """Given landmarks, a row's code solves the problem of its own views, scaled up."""
    landmarks = data.model.landmarks_
    model = build(landmarks=landmarks).fit(data.parts, data.y)
    lacking = Views(data.parts, mask={"c": np.zeros(210, dtype=bool)})
    pair = {name: data.parts[name] for name in ("a", "b")}
    # 3/2 on both squares and products is 2/3 on the weights of the other terms.
    alone = build(landmarks=landmarks[:, :14], l1=0.2 * 2 / 3, ridge=2 / 3, coupling=0).fit(pair, data.y)
    found = alone.codes_ @ model.landmark_embedding_.T
    np.testing.assert_allclose(model.transform(lacking), found, atol=2e-4)


@pytest.mark.parametrize("readers", ["nearest", "knn"])
def test_threads_do_not_change_a_bit(data: Any, readers: str) -> None:
    views = Views(data.parts, mask=data.mask)
    one, two = (build(n_jobs=n_jobs, readers=readers).fit(views, data.y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.landmarks_, two.landmarks_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.predict_proba(views), two.predict_proba(views))


def test_pickling(data: Any) -> None:
    views = Views(data.parts, mask=data.mask)
    back = pickle.loads(pickle.dumps(data.model))
    np.testing.assert_array_equal(back.predict_proba(views), data.model.predict_proba(views))


def test_clusters_without_labels(data: Any) -> None:
    views = Views(data.parts, mask=data.mask)
    model = build(n_clusters=3).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_the_objective_never_rises(data: Any) -> None:
    views = Views(data.parts, mask=data.mask)
    with pytest.warns(Warning, match="stopped at max_iter"):
        model = build(coupling=1e-2, solver__tol=0, solver__max_iter=12).fit(views, data.y)
    assert (np.diff(model.objective_history_) <= 1e-10 * model.objective_history_[0]).all()
    assert (model.objective_history_ > 0).all()


def test_missing_sparse_views(data: Any) -> None:
    """Views without rows say the same as rows of zeros that are marked as missing, dense or sparse."""
    counts = np.abs(data.parts["b"] * 3).round()
    X = {
        name: Views({"a": data.parts["a"], "b": form(counts)}, mask=data.mask[:, :2])
        for name, form in (("dense", np.asarray), ("sparse", sparse.csr_array))
    }
    dense, copy = (build(scaling={"b": "l2"}).fit(X[form], data.y) for form in ("dense", "sparse"))
    np.testing.assert_allclose(copy.codes_.toarray(), dense.codes_.toarray(), atol=1e-5)
    has = data.mask[:, 1]
    ids = np.arange(210)
    aligned = Views({"a": data.parts["a"], "b": sparse.csr_array(counts)[has]}, ids=[ids, ids[has]])
    np.testing.assert_array_equal(build(scaling={"b": "l2"}).fit(aligned, data.y).labels_, copy.labels_)


def test_tuning_and_cross_validation(data: Any) -> None:
    views = Views(data.parts, mask=data.mask)
    assert cross_val_score(build(), views, data.target, cv=3, error_score="raise").min() > 0.8
    search = GridSearchCV(build(), {"l1": [0.1, 0.3]}, cv=2, error_score="raise").fit(views, data.target)
    assert (search.predict(views) == data.target).mean() > 0.9


# Rows and views with nothing in them


@pytest.fixture
def bare(data: Any) -> Views:
    mask = data.mask.copy()
    mask[[4, 7, 100]] = False
    return Views(data.parts, mask=mask, ids=[f"s{row}" for row in range(210)])


def test_rows_without_any_view_are_named(data: Any, bare: Views) -> None:
    message = r"3 rows have no view at all: 4, 7, 100 \(ids 's4', 's7', 's100'\); .*on_empty=\"drop\""
    with pytest.raises(ValueError, match=message):
        build().fit(bare, data.y)
    for method in (data.model.predict, data.model.transform, data.model.predict_proba):
        with pytest.raises(ValueError, match=message):
            method(bare)


def test_dropped_rows_get_no_label_and_change_nothing(data: Any, bare: Views) -> None:
    y = data.y.copy()
    y[4] = 2  # what is said of such a row cannot be used
    model = build(on_empty="drop", n_landmarks=len(data.model.landmarks_)).fit(bare, y)
    empty = np.array([4, 7, 100])
    rest = np.setdiff1d(np.arange(210), empty)
    assert (model.labels_[empty] == -1).all() and (model.confidence_[empty] == 0).all()
    assert (model.predict(bare)[empty] == -1).all()
    np.testing.assert_allclose(model.predict_proba(bare)[empty], 1 / 3)
    np.testing.assert_array_equal(model.embedding_[empty], 0)
    assert (model.labels_[rest] >= 0).all() and (model.confidence_[rest] > 0).all()
    # The same landmarks: then the rest is exactly the fit without those rows.
    given = model.landmarks_
    with_, without = (
        build(on_empty="drop", landmarks=given).fit(X, labels) for X, labels in ((bare, y), (bare[rest], y[rest]))
    )
    np.testing.assert_allclose(with_.embedding_[rest], without.embedding_, atol=1e-6)
    np.testing.assert_array_equal(with_.labels_[rest], without.labels_)


def test_rows_of_nan_throughout_are_dropped_too(data: Any) -> None:
    parts = {name: array.copy() for name, array in data.parts.items()}
    for array in parts.values():
        array[11] = np.nan
    with pytest.raises(ValueError, match="1 row has no view at all: 11"):
        build().fit(parts, data.y)
    assert build(on_empty="drop").fit(parts, data.y).labels_[11] == -1


@pytest.mark.parametrize("names", [np.array(["ash", "birch", "cedar"]), np.array([False, True, True])])
def test_the_mark_of_dropped_rows_fits_the_labels(data: Any, bare: Views, names: np.ndarray) -> None:
    model = build(on_empty="drop").fit(bare, names[data.target])
    blank = "" if names.dtype.kind == "U" else -1
    assert (model.labels_[[4, 7, 100]] == blank).all()
    assert (model.predict(bare)[[4, 7, 100]] == blank).all()
    assert (model.labels_ == blank).sum() == 3


def test_a_class_that_only_dropped_rows_have_is_no_class(data: Any, bare: Views) -> None:
    y = data.y.copy()
    y[[4, 7]] = 9
    model = build(on_empty="drop").fit(bare, y)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.embedding_.shape == (210, 3)


def test_dropped_rows_are_no_landmarks(data: Any) -> None:
    """Half of the rows are empty; none of them may become a landmark, nor count among the rows."""
    mask = np.ones((210, 3), dtype=bool)
    mask[::2] = False
    views = Views(data.parts, mask=mask)
    model = build(on_empty="drop", landmarks="random", n_landmarks=30).fit(views, data.target)
    full = model._model.embedder.scaler.take(views, np.arange(1, 210, 2)).dense()
    for landmark in model.landmarks_:
        assert np.abs(full - landmark).max(axis=1).min() < 1e-6


def test_bad_values_of_on_empty(data: Any) -> None:
    with pytest.raises(ValueError, match="on_empty='skip' is not known"):
        build(on_empty="skip").fit(data.parts, data.y)


def test_a_view_that_no_row_has(data: Any) -> None:
    with pytest.raises(ValueError, match="View 'b' is missing in every row"):
        build().fit(Views(data.parts, mask={"b": np.zeros(210, dtype=bool)}), data.y)
    with pytest.raises(ValueError, match="View 'c' is missing in every row"):
        build().fit({**data.parts, "c": np.full((210, 5), np.nan)}, data.y)
    with pytest.raises(ValueError, match="View 'b' is missing in every row of positive weight"):
        mask = {"b": np.arange(210) < 10}
        build().fit(Views(data.parts, mask=mask), data.y, sample_weight=np.arange(210) >= 10)
    # To predict rows without it is what missing views are about.
    assert len(data.model.predict(Views(data.parts, mask={"b": np.zeros(210, dtype=bool)}))) == 210


def test_values_that_are_not_finite_beside_a_missing_view(data: Any) -> None:
    broken = {**data.parts, "a": data.parts["a"].copy()}
    broken["a"][3, 2] = np.inf
    with pytest.raises(ValueError, match="View 'a' contains infinity"):
        data.model.predict(Views(broken, mask={"b": np.zeros(210, dtype=bool)}))


def test_the_paper_s_solver_needs_all_views(data: Any) -> None:
    with pytest.raises(ValueError, match="does not support rows that lack views; use solver='active_set'"):
        build(solver="admm").fit(Views(data.parts, mask=data.mask), data.y)
    model = build(solver="admm").fit(data.parts, data.y)
    with pytest.raises(ValueError, match="needs rows that have all views"):
        model.predict(Views(data.parts, mask=data.mask))


# It is worth it


def test_better_than_filling_in_the_mean(digits: Any, digits_y: np.ndarray) -> None:
    mask = draw_mask(2000, 6, 0.3)
    views = Views(digits.data, mask=mask)
    model = FSSMSC(**CHOSEN, n_landmarks=200, random_state=0).fit(views, digits_y)
    filled = [
        np.where(has[:, None], array, array[has].mean(axis=0)) for array, has in zip(digits.data, mask.T, strict=True)
    ]
    imputed = FSSMSC(**CHOSEN, n_landmarks=200, random_state=0).fit(filled, digits_y)
    hidden = digits_y < 0
    accuracy, other = ((found.labels_ == digits.target)[hidden].mean() for found in (model, imputed))
    assert accuracy > 0.92 and accuracy > other + 0.02  # 0.94 and 0.89 when this was written
    np.testing.assert_array_equal(model.predict(views)[hidden], model.labels_[hidden])
