"""Input that cannot work is refused at once and in words; odd input that can work does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from anchorview import ADMM, FSSMSC, ActiveSet, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import settle

MADE = make_multiview_subspaces(60, 3, (6, 4), noise=0.2, random_state=0)
A, B = MADE.data
AB = np.hstack([A, B])
TRUTH = MADE.target
Y = hide_labels(TRUTH, 0.4, stratified=True, random_state=0)


LONG_WORK = "choosing "


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 20, "random_state": 0, "n_jobs": 1, **parameters})


Refuses = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def refuses(caplog: pytest.LogCaptureFixture) -> Refuses:
    """Expect an error that comes before landmarks are chosen: the log of a verbose fit says when that begins."""

    @contextmanager
    def refuses(message: str, error: type[Exception] = ValueError) -> Iterator[None]:
        with caplog.at_level(logging.INFO, logger="anchorview"), pytest.raises(error, match=message):
            yield
        assert LONG_WORK not in caplog.text

    return refuses


@pytest.fixture(scope="module")
def fitted() -> FSSMSC:
    return build().fit({"image": A, "text": B}, Y)


def spoilt(array: np.ndarray, value: Any, row: int = 7) -> np.ndarray:
    result = array.astype(np.result_type(array, type(value)))
    result[row, 1] = value
    return result


def frame() -> pd.DataFrame:
    return pd.DataFrame(AB, columns=[f"c{i}" for i in range(10)])


# Features that cannot work


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ({"image": A, "text": B[:50]}, ValueError, "View 'text' has 50 rows but view 'image' has 60; every view needs"),
        ([A, B[:50]], ValueError, "View 'view1' has 50 rows but view 'view0' has 60"),
        ([], ValueError, "No view was given; pass at least one 2-D array"),
        ({}, ValueError, "No view was given; pass at least one 2-D array"),
        ({"image": A, "text": spoilt(B, np.nan)}, ValueError, "View 'text' contains NaN.* in row 7; remove or impute"),
        ([A, spoilt(B, np.inf)], ValueError, "View 'view1' contains infinity.* in row 7; remove or impute"),
        ([spoilt(A, -np.inf), B], ValueError, "View 'view0' contains infinity.* in row 7; remove or impute"),
        (spoilt(AB, np.nan), ValueError, "View 'view0' contains NaN.* in row 7"),
        (spoilt(A, np.nan).astype(object), ValueError, "View 'view0' contains NaN.* in row 7"),
        (frame().mask(np.arange(600).reshape(60, 10) == 32), ValueError, "View 'view0' contains NaN.* in row 3"),
        ([A, B.astype(str)], ValueError, "View 'view1' is not numeric.*encode its columns as numbers"),
        (B.astype(str), ValueError, "View 'view0' is not numeric"),
        (frame().assign(c3="blue"), ValueError, "View 'view0' is not numeric: column 'c3', row 0 holds 'blue'"),
        ([A, frame().assign(c3="blue")], ValueError, "View 'view1' is not numeric: column 'c3', row 0 holds 'blue'"),
        (frame().assign(c3=pd.Timestamp("2024-05-01")), ValueError, "column 'c3' is not numeric .datetime64"),
        (frame().assign(c3=pd.array([1, None] * 30, dtype="Int64")), ValueError, "NaN.* row 1, column 'c3'"),
        (A[:, 0], ValueError, "Expected 2D array, got 1D array instead"),
        ([A, B[:, 0]], ValueError, r"View 'view1' is one-dimensional.*use array.reshape\(-1, 1\) for one feature"),
        (A.reshape(60, 2, 3), ValueError, "dim 3"),
        ([A, B.reshape(60, 2, 2)], ValueError, "View 'view1' has 3 dimensions; every view must be 2-D"),
        (A * 1j, ValueError, "Complex data not supported"),
        ([A, B * 1j], ValueError, "Complex data not supported: view 'view1' is complex"),
        (A[:0], ValueError, r"Found array with 0 sample\(s\)"),
        ([A[:0], B[:0]], ValueError, r"Found array with 0 sample\(s\)"),
        (A[:, :0], ValueError, r"Found array with 0 feature\(s\)"),
        ([A, B[:, :0]], ValueError, r"View 'view1' has 0 feature\(s\)"),
        (
            [A, sparse.csr_array(np.where(B > 0.5, np.nan, B))],
            ValueError,
            r"View 'view1' contains NaN in row",
        ),
        ("a path", FileNotFoundError, "X is .a path., but there is no file or folder"),
        (None, ValueError, "Expected 2D array"),
    ],
)
def test_views_that_cannot_work(X: Any, error: type[Exception], message: str, refuses: Refuses) -> None:
    with refuses(message, error):
        build(verbose=True).fit(X, Y)


def test_the_log_says_when_long_work_begins(caplog: pytest.LogCaptureFixture) -> None:
    """Which the tests here rely on."""
    with caplog.at_level(logging.INFO, logger="anchorview"):
        build(verbose=True).fit([A, B], Y)
    assert LONG_WORK in caplog.text


def test_groups_of_columns_that_cannot_work(refuses: Refuses) -> None:
    for groups, message in (
        ([6, 5], "adds up to 11 features, but X has 10 features"),
        ({"image": [0, 10]}, "View 'image' names column 10, but X has 10 features"),
        ({"image": ["c0"]}, "View 'image': columns of an array are given as a size, a slice or a list of numbers"),
        ([], "views= is empty"),
    ):
        with refuses(message):
            build(views=groups, verbose=True).fit(AB, Y)
    with refuses(r"View 'image' names columns that are not in the DataFrame: \['c77'\]"):
        build(views={"image": ["c0", "c77"]}, verbose=True).fit(frame(), Y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([A, B[:, :3]], "expecting 10 features as input: view 'text' has 3 and was fitted with 4"),
        ([A], r"X has 6 features, but FSSMSC is expecting 10 features as input \(2 views: {'image': 6, 'text': 4}"),
        ([A, B, B], "X has 14 features, but FSSMSC is expecting 10 features"),
        ([AB], r"X has 1 view, but FSSMSC was fitted with 2: {'image': 6, 'text': 4}. Cut it: Views\(X, views="),
        ({"image": A, "sound": B}, r"views that were not in the fit: \['sound'\]; the fit had \['image', 'text'\]"),
        ([A, spoilt(B, np.nan, row=2)], "View 'view1' contains NaN.* in row 2"),
        ({"image": spoilt(A, np.inf, row=2), "text": B}, "View 'image' contains infinity.* in row 2"),
        ([A, B[:9]], "View 'view1' has 9 rows but view 'view0' has 60"),
        ([A, B.astype(str)], "View 'view1' is not numeric"),
        ([A[:0], B[:0]], r"Found array with 0 sample\(s\)"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform"])
def test_rows_to_predict_that_cannot_work(fitted: FSSMSC, X: Any, message: str, method: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(X)


def test_the_table_to_predict_needs_the_columns_of_the_fit() -> None:
    model = build(views=[6, 4]).fit(AB, Y)
    with pytest.raises(ValueError, match="X has 9 features, but FSSMSC is expecting 10 features"):
        model.predict(AB[:, :9])
    with pytest.raises(ValueError, match="row 5"):
        model.predict(spoilt(AB, np.nan, row=5))


def test_predict_before_fit() -> None:
    for method in ("predict", "predict_proba", "transform"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(build(), method)(A)


# Labels that cannot work


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:50], "y has 50 labels but X has 60 rows; give -1 to rows without a label"),
        (np.column_stack([Y, Y]), "y should be a 1d array"),
        (["oak", 3] * 30, "y mixes text and numbers; use one kind of label"),
        (np.array(["oak", 3] * 30, dtype=object), "y mixes text and numbers"),
        (np.where(Y >= 0, Y, np.inf), "y contains infinity; give -1 to rows without a label"),
        (TRUTH + 0.5, "Unknown label type: continuous"),
        (np.array(TRUTH + 0.5, dtype=object), "Unknown label type: continuous"),
        (TRUTH * 1j, "Complex data not supported"),
        (None, 'Without labels the number of clusters is needed: pass n_clusters, a number or "auto"'),
        (np.full(60, -1), "Without labels the number of clusters is needed"),
        ([""] * 60, "Without labels the number of clusters is needed"),
        (
            np.where(TRUTH == 0, 0, -1),
            "Only one class is labelled.*label rows of at least two classes, or pass n_clusters",
        ),
        (np.zeros(60), "Only one class is labelled"),
    ],
)
def test_labels_that_cannot_work(y: Any, message: str, refuses: Refuses) -> None:
    with refuses(message):
        build(verbose=True).fit([A, B], y)


def test_labels_that_are_sequences(refuses: Refuses) -> None:
    y = np.empty(60, dtype=object)
    y[:] = [(1, 2)] * 60
    with refuses("labels are integers or text"):
        build(verbose=True).fit([A, B], y)


# Parameters that cannot work


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 2}, "n_landmarks=2 is below the 3 clusters; it must be at least as large"),
        ({"n_clusters": 30, "n_landmarks": 20}, "n_landmarks=20 is below the 30 clusters"),
        ({"n_clusters": 61, "n_landmarks": 100}, "n_samples=60 should be >= n_clusters=61"),
        (
            {"scaling": "zscore"},
            "scaling='zscore'.*choose one of auto, minmax, symmetric, standard, l2, tfidf, lsa, none",
        ),
        ({"scaling": ["l2", "zscore"]}, "scaling='zscore' .view 'view1'. is not known"),
        ({"scaling": ["l2"]}, "scaling lists 1 choices for 2 views"),
        ({"scaling": {"text": "l2"}}, r"scaling names views that are not there: \['text'\]"),
        ({"scaling": None}, "scaling=None.*is not known"),
        ({"solver": "sgd"}, "solver='sgd' is not known; choose one of 'active_set', 'admm'"),
        (
            {"readers": "svm"},
            "readers='svm' is not known; choose 'auto', one of 'nearest', 'euclidean', 'knn', 'paper', 'linear', '",
        ),
        ({"landmarks": "grid"}, "landmarks='grid' is not known; choose one of 'kmeans', 'random'"),
        ({"solver__omit": ("ridge",)}, "solver.omit='ridge' is not known; choose one of 'l1', 'must_link'"),
        ({"solver__omit": "l1"}, r"solver.omit is a sequence of names, such as solver.omit=\('l1',\); got 'l1'"),
        ({"solver__omit": None}, "solver.omit is a sequence of names.* got None"),
        ({"solver__omit": ("smoothness", "must_link")}, "leaves no distance to make small"),
        ({"solver": ADMM(mode="printed")}, "solver.mode='printed' is not known; choose one of 'paper', 'released'"),
        ({"solver": ADMM(dtype="float16")}, "solver.dtype='float16' is not known; choose one of 'auto', 'float32'"),
        ({"solver": ActiveSet}, "solver=<class 'anchorv.* is not known; choose one of .*give an ActiveSet"),
        (
            {"readers": ("nearest", "paper")},
            "is not known; .* or several: 'nearest' or 'knn' with 'linear', 'poisson' or",
        ),
        ({"landmarks": np.ones((20, 9))}, r"landmarks must be an m×10 array; got shape \(20, 9\)"),
        ({"landmarks": np.ones(10)}, r"landmarks must be a 2-D array .*; got shape \(10,\)"),
        ({"landmarks": np.ones((2, 10))}, "2 landmarks are fewer than the 3 clusters"),
        ({"landmarks": np.full((20, 10), np.nan)}, "landmarks contains NaN or infinity"),
        ({"landmarks": None}, "landmarks=None is not known; choose one of 'kmeans', 'random' or give an array"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning; use None for all cores or a positive number"),
        ({"random_state": "seed"}, "random_state must be an integer from 0 .*; got 'seed'"),
    ],
)
def test_parameters_that_cannot_work(parameters: dict[str, Any], message: str, refuses: Refuses) -> None:
    with refuses(message):
        build(**parameters, verbose=True).fit([A, B], Y)


@pytest.mark.parametrize("value", [-1, -0.5, np.nan, np.inf, True, "1", None])
@pytest.mark.parametrize("name", ["l1", "ridge", "must_link_weight", "coupling", "solver__tol"])
def test_weights_are_numbers_from_zero(name: str, value: Any, refuses: Refuses) -> None:
    with refuses(f"{name.replace('__', '.')} must be a number of at least 0(, or 'auto')?; got {value!r}"):
        build(**{name: value}, verbose=True).fit([A, B], Y)


@pytest.mark.parametrize("value", [0, -3, 2.5, np.nan, True, "3"])
@pytest.mark.parametrize("name", ["n_clusters", "n_landmarks", "solver__max_iter", "n_neighbors"])
def test_counts_are_integers_from_one(name: str, value: Any, refuses: Refuses) -> None:
    others = "(, or 'auto')?(, or None)?"
    with refuses(f"{name.replace('__', '.')} must be an integer of at least 1{others}; got {value!r}"):
        build(**{name: value}, verbose=True).fit([A, B], Y)


def test_an_estimator_is_built_with_anything() -> None:
    """Parameters are checked in fit only, so that tools can set them in any order."""
    assert FSSMSC(n_clusters=-1, scaling="zscore", l1="much").l1 == "much"


# Odd input that works


def check(X: Any, y: Any = Y, **parameters: Any) -> FSSMSC:
    """Fit, and check that everything that comes out is finite and consistent."""
    model = build(**parameters).fit(X, y)
    n_rows = len(model.labels_)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.codes_.data).all()
    assert np.isfinite(model.objective_history_).all()
    assert ((model.confidence_ > 0) & (model.confidence_ <= 1)).all()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (n_rows, len(model.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    unlabelled = np.full(n_rows, True) if y is None else np.asarray(y) == -1
    np.testing.assert_array_equal(model.predict(X)[unlabelled], model.labels_[unlabelled])
    if y is not None:
        np.testing.assert_array_equal(model.labels_[~unlabelled], np.asarray(y)[~unlabelled])
    assert set(model.labels_) <= set(model.classes_)
    return model


def accuracy(model: FSSMSC) -> float:
    return float((model.labels_ == TRUTH).mean())


SCALINGS = ["minmax", "symmetric", "standard", "l2", "none"]


@pytest.mark.parametrize("scaling", SCALINGS)
def test_constant_features(scaling: str) -> None:
    model = check([np.column_stack([A, np.full(60, 0.5)]), B], scaling=scaling)
    assert accuracy(model) > 0.8
    check([A, np.ones((60, 3))], scaling=scaling)  # a view that says nothing


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_rows_of_zeros(scaling: str, solver: str) -> None:
    first, second = A.copy(), B.copy()
    first[[5, 9]] = 0
    second[[9, 30]] = 0
    check([first, second], scaling=scaling, solver=solver)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_identical_rows(scaling: str, value: float) -> None:
    rows = [np.full((60, 3), value), np.full((60, 2), value)]
    check(rows, scaling=scaling)
    check(rows, scaling=scaling, ridge=0, l1=0)
    check(rows, None, scaling=scaling, n_clusters=2)


def test_duplicate_rows() -> None:
    rows = np.repeat(np.arange(6), 10)
    check([A[rows], B[rows]], np.where(np.arange(60) % 10 < 3, TRUTH[rows], -1))
    one = np.zeros(60, dtype=int)
    check([A[one], B[one]])


def test_fewer_rows_than_landmarks() -> None:
    model = check([A, B], n_landmarks=500)
    assert len(model.landmarks_) == 20 and "n_landmarks was lowered" in model.status_
    assert accuracy(model) > 0.8


@pytest.mark.parametrize("n_rows", [3, 4, 6, 7])
@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_a_handful_of_rows(n_rows: int, solver: str) -> None:
    y = TRUTH[:n_rows].copy()  # the first three rows show each cluster once
    check([A[:n_rows], B[:n_rows]], y, solver=solver)
    y[3:] = -1
    check([A[:n_rows], B[:n_rows]], y, solver=solver)
    check([A[:n_rows], B[:n_rows]], None, n_clusters=2)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_huge_scale_in_one_view(scaling: str) -> None:
    model = check([A * 1e8, B], scaling=scaling)
    if scaling != "none":
        np.testing.assert_array_equal(model.labels_, check([A, B], scaling=scaling).labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scaling", SCALINGS)
def test_one_feature(scaling: str) -> None:
    """All rows of one feature scaled to length one are equal up to sign: nothing to learn, yet no failure."""
    model = build(scaling=scaling).fit(A[:, :1], Y)
    assert np.isfinite(model.predict_proba(A[:, :1])).all()
    check([A[:, :1], B[:, :1]], scaling=scaling)


def test_one_view() -> None:
    assert accuracy(check([A])) > 0.7
    np.testing.assert_array_equal(check(A).labels_, check({"only": A}).labels_)


@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_more_clusters_than_labelled_classes(solver: str) -> None:
    y = np.where(TRUTH == 2, -1, Y)
    with pytest.warns(UserWarning, match="fewer classes are labelled than clusters"):
        model = check([A, B], y, n_clusters=3, solver=solver)
    assert "rows can only get a labelled class" in model.status_
    with pytest.warns(UserWarning, match="fewer classes are labelled than clusters"):
        one = check([A, B], np.where(TRUTH == 0, 0, -1), n_clusters=3, solver=solver)
    assert (one.labels_ == 0).all()


def test_a_class_with_a_single_label() -> None:
    y = Y.copy()
    y[np.flatnonzero(Y == 2)[1:]] = -1
    assert (y == 2).sum() == 1
    for readers in ("nearest", "euclidean", "knn"):
        assert (check([A, B], y, readers=readers).labels_ == 2).sum() >= 1
    single = np.full(60, -1)
    single[:3] = TRUTH[:3]
    assert accuracy(check([A, B], single)) > 0.6


@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_every_row_labelled(solver: str) -> None:
    model = check([A, B], TRUTH, solver=solver)
    assert (model.confidence_ == 1).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_classes_than_a_third_of_the_landmarks() -> None:
    check([A, B], np.where(np.arange(60) < 45, np.arange(60) % 15, -1))
    model = check([A, B], np.arange(60), n_landmarks=60)  # every row a class
    assert len(model.landmarks_) == 60


def test_read_only_arrays_and_memory_maps(tmp_path: Any) -> None:
    expected = build().fit([A, B], Y)
    frozen = [A.copy(), B.copy()]
    for array in frozen:
        array.flags.writeable = False
    labels = Y.copy()
    labels.flags.writeable = False
    np.testing.assert_array_equal(check(frozen, labels).embedding_, expected.embedding_)
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B)
    mapped = Views([np.load(tmp_path / name, mmap_mode="r") for name in ("a.npy", "b.npy")])
    np.testing.assert_array_equal(check(mapped).embedding_, expected.embedding_)


def test_any_memory_layout() -> None:
    expected = build().fit([A, B], Y)
    wide = np.zeros((120, 12), dtype=A.dtype)
    wide[::2, ::2] = A
    for first in (np.asfortranarray(A), wide[::2, ::2], A[::-1][::-1], A[:, ::-1][:, ::-1]):
        np.testing.assert_allclose(check([first, B]).embedding_, expected.embedding_, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int64", "bool", ">f8", "longdouble"])
@pytest.mark.parametrize("scaling", ["minmax", "l2"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_numeric_type(dtype: str, scaling: str) -> None:
    low = min(A.min(), B.min())
    arrays = [(array > 0 if dtype == "bool" else (array - low) * 8).astype(dtype) for array in (A, B)]
    model = build(scaling=scaling).fit(arrays, Y)
    assert accuracy(model) > 0.6
    np.testing.assert_array_equal(model.predict(arrays)[Y == -1], model.labels_[Y == -1])


def test_predictions_for_another_type_than_the_fit(fitted: FSSMSC) -> None:
    wide = [A.astype(np.float64), B.astype(np.float64)]
    np.testing.assert_array_equal(fitted.predict(wide), fitted.predict([A, B]))
    assert fitted.predict([np.round(A).astype(np.int32), np.round(B).astype(np.int8)]).shape == (60,)


def test_rows_far_outside_the_range_of_the_fit(fitted: FSSMSC) -> None:
    far = [np.vstack([A[:2] * 1e6, A[:2] - 1e6]), np.vstack([B[:2] * 1e6, B[:2] - 1e6])]
    assert np.isfinite(fitted.predict_proba(far)).all()
