"""Views: every input form, row selection, and scikit-learn's tools that slice rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from anchorview import FSSMSC, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import CHOSEN

A = np.arange(12.0).reshape(6, 2)
B = np.arange(100, 118, dtype=np.int16).reshape(6, 3)
AB = np.hstack([A, B])


def frame() -> pd.DataFrame:
    return pd.DataFrame(AB, columns=["a0", "a1", "b0", "b1", "b2"])


def memmap(path: Any, array: np.ndarray) -> np.memmap:
    np.save(path, array)
    return np.load(path, mmap_mode="r")


# Input forms


@pytest.mark.parametrize("data", [[A, B], (A, B), {"view0": A, "view1": B}, Views([A, B])])
def test_several_arrays_stay_the_users_own(data: Any) -> None:
    views = Views(data)
    assert views.names == ["view0", "view1"]
    assert views.sizes == [2, 3]
    assert views.shape == (6, 5) and len(views) == 6 and views.ndim == 2
    assert views.arrays[0] is A and views.arrays[1] is B
    assert views.arrays[1].dtype == np.int16


def test_names_come_from_keys_or_from_names() -> None:
    assert Views({"image": A, "text": B}).names == ["image", "text"]
    assert Views([A, B], names=["image", "text"]).names == ["image", "text"]
    assert Views(Views([A, B]), names=["u", "v"]).names == ["u", "v"]
    assert repr(Views({"image": A, "text": B})) == "Views(6 rows; image: 2, text: 3)"
    assert [name for name, _ in Views({"image": A, "text": B}).items()] == ["image", "text"]


@pytest.mark.parametrize(
    "groups",
    [
        [2, 3],
        [np.int64(2), np.int64(3)],
        [slice(0, 2), slice(2, 5)],
        [slice(None, 2), slice(-3, None)],
        [[0, 1], [2, 3, 4]],
        [range(2), range(2, 5)],
        [np.array([0, 1]), [-3, -2, -1]],
    ],
)
def test_one_array_cut_into_views(groups: Any) -> None:
    views = Views(AB, views=groups)
    assert views.names == ["view0", "view1"]
    np.testing.assert_array_equal(views.arrays[0], A)
    np.testing.assert_array_equal(views.arrays[1], B)


def test_mapping_names_the_groups_and_may_overlap_or_leave_columns_out() -> None:
    views = Views(AB, views={"late": [4, 3], "early": slice(0, 1), "again": [4]})
    assert views.names == ["late", "early", "again"]
    np.testing.assert_array_equal(views.arrays[0], AB[:, [4, 3]])
    np.testing.assert_array_equal(views.arrays[1], AB[:, :1])
    np.testing.assert_array_equal(views.arrays[2], AB[:, [4]])
    assert Views(AB, views={"a": 2, "b": 3}).sizes == [2, 3]


def test_one_array_without_groups_is_one_view() -> None:
    assert Views(AB).names == ["view0"]
    assert Views(AB).arrays[0] is AB


def test_sizes_and_slices_do_not_copy() -> None:
    for groups in ([2, 3], [slice(0, 2), slice(2, 5)]):
        assert all(np.shares_memory(array, AB) for array in Views(AB, views=groups).arrays)


@pytest.mark.parametrize(
    "groups", [[["a0", "a1"], ["b0", "b1", "b2"]], [2, 3], [slice(0, 2), slice(2, 5)], [[0, 1], [2, 3, 4]]]
)
def test_data_frame_cut_by_names_or_numbers(groups: Any) -> None:
    views = Views(frame(), views=groups)
    np.testing.assert_array_equal(views.arrays[0], A)
    np.testing.assert_array_equal(views.arrays[1], B)


def test_data_frame_with_a_mapping_of_names() -> None:
    views = Views(frame(), views={"text": ["b2", "b0"], "number": "a1"})
    assert views.names == ["text", "number"]
    np.testing.assert_array_equal(views.arrays[0], AB[:, [4, 2]])
    np.testing.assert_array_equal(views.arrays[1], AB[:, [1]])


def test_data_frame_whose_columns_are_numbers_is_cut_by_those_names() -> None:
    table = pd.DataFrame(AB, columns=[4, 3, 2, 1, 0])
    np.testing.assert_array_equal(Views(table, views=[[4, 3], [0]]).arrays[0], A)


def test_data_frames_as_views() -> None:
    views = Views({"a": frame()[["a0", "a1"]], "b": frame()[["b0"]]})
    assert all(isinstance(array, np.ndarray) for array in views.arrays)
    np.testing.assert_array_equal(views.arrays[0], A)


def test_data_frame_of_several_numeric_types() -> None:
    table = pd.DataFrame({"x": [1, 2], "y": [0.5, 1.5], "z": [True, False]})
    np.testing.assert_array_equal(Views(table).arrays[0], [[1, 0.5, 1], [2, 1.5, 0]])


def test_data_frame_whose_columns_have_two_levels_is_cut_by_the_first() -> None:
    columns = pd.MultiIndex.from_tuples([("b", "x"), ("a", "x"), ("b", "y"), ("a", "y"), (3, "x")])
    table = pd.DataFrame(AB, columns=columns)
    views = Views(table)
    assert views.names == ["b", "a", "3"]
    np.testing.assert_array_equal(views.arrays[0], AB[:, [0, 2]])
    np.testing.assert_array_equal(views.arrays[1], AB[:, [1, 3]])
    np.testing.assert_array_equal(Views(table, views=[2, 3]).arrays[0], AB[:, :2])
    np.testing.assert_array_equal(Views(table, views={"one": [("b", "y")]}).arrays[0], AB[:, [2]])


def test_nested_lists() -> None:
    rows = Views([[1, 2, 3], [4, 5, 6]], views=[1, 2])  # one table
    np.testing.assert_array_equal(rows.arrays[1], [[2, 3], [5, 6]])
    several = Views([[[1, 2], [3, 4]], [[5], [6]]])  # two views
    assert several.sizes == [2, 1]


def test_objects_that_are_numbers_are_taken() -> None:
    np.testing.assert_array_equal(Views([A.astype(object)]).arrays[0], A)


# Rows


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 4),
        slice(None, None, -2),
        slice(4, 2),
        [3, 1, 1],
        np.array([5, -6]),
        np.array([True, False, True, False, False, True]),
        [False] * 6,
        [],
        np.array([], dtype=float),  # what an empty list of rows becomes
        pd.Series([2, 0]),
    ],
)
def test_rows_are_selected_as_from_an_array(key: Any) -> None:
    chosen = Views({"a": A, "b": B})[key]
    expected = np.asarray(key) if not isinstance(key, slice) else key
    if not isinstance(key, slice) and expected.size == 0:
        expected = np.array([], dtype=int)
    assert isinstance(chosen, Views) and chosen.names == ["a", "b"]
    np.testing.assert_array_equal(chosen.arrays[0], A[expected])
    np.testing.assert_array_equal(chosen.arrays[1], B[expected])
    assert chosen.arrays[1].dtype == B.dtype
    assert chosen.shape == (len(A[expected]), 5)


@pytest.mark.parametrize("number", [0, 5, -1, -6, np.int64(2), np.int32(-1)])
def test_an_integer_gives_one_row(number: Any) -> None:
    row = Views([A, B])[number]
    assert row.shape == (1, 5)
    np.testing.assert_array_equal(row.arrays[0], A[[number]])


@pytest.mark.parametrize("number", [6, -7])
def test_a_row_out_of_range_is_an_error(number: int) -> None:
    with pytest.raises(IndexError, match=f"Row {number} is out of range for 6 rows"):
        Views([A, B])[number]


def test_only_rows_can_be_selected() -> None:
    views = Views([A, B])
    assert views[:2, ...].shape == (2, 5)
    assert views[[1, 2], :].shape == (2, 5)
    for columns in (0, slice(0, 1), np.array([0, 1])):
        with pytest.raises(IndexError, match="selects rows only"):
            views[:2, columns]


def test_iteration_ends_and_gives_rows() -> None:
    assert [row.shape for row in Views([A, B])] == [(1, 5)] * 6


@given(st.lists(st.integers(-6, 5), max_size=12))
@settings(max_examples=50, deadline=None)
def test_any_rows_in_any_order(rows: list[int]) -> None:
    chosen = Views([A, B])[rows]
    np.testing.assert_array_equal(chosen.to_array(), AB[np.array(rows, dtype=int)])


def test_slices_share_memory() -> None:
    chosen = Views([A, B])[1:5]
    assert np.shares_memory(chosen.arrays[0], A) and np.shares_memory(chosen.arrays[1], B)


def test_memory_maps_stay_maps(tmp_path: Any) -> None:
    mapped = memmap(tmp_path / "a.npy", A)
    views = Views([mapped, B])
    assert views.arrays[0] is mapped
    assert isinstance(views[2:4].arrays[0], np.memmap)
    np.testing.assert_array_equal(views[[4, 0]].arrays[0], A[[4, 0]])


# Sparse views

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
GAPS = np.where(B % 3 == 0, 0, B)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_csr_views_are_not_copied(make: Any) -> None:
    stored = make(GAPS)
    array = Views([A, stored]).arrays[1]
    assert isinstance(array, sparse.csr_array) and array.dtype == np.int16
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(array, part), getattr(stored, part))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_any_sparse_format_becomes_csr(form: str, kind: str) -> None:
    stored = getattr(sparse, f"{form}_{kind}")(GAPS)
    for views in (Views([A, stored]), Views({"a": A, "b": stored})):
        assert isinstance(views.arrays[1], sparse.csr_array)
        assert views.shape == (6, 5) and views.sizes == [2, 3] and len(views) == 6
        np.testing.assert_array_equal(views.arrays[1].toarray(), GAPS)
    assert Views(stored).sizes == [3]
    assert stored.format == form


def test_repeated_and_unsorted_entries_are_put_right_in_a_copy() -> None:
    parts = (np.array([1.0, 2.0, 4.0, 8.0]), np.array([1, 0, 0, 2]), np.array([0, 2, 4]))
    unsorted = sparse.csr_array(parts, shape=(2, 3))
    repeated = sparse.csr_array((parts[0], np.array([1, 1, 0, 2]), parts[2]), shape=(2, 3))
    for stored, expected in ((unsorted, [[2, 1, 0], [4, 0, 8]]), (repeated, [[0, 3, 0], [4, 0, 8]])):
        before = [getattr(stored, part).copy() for part in ("data", "indices", "indptr")]
        array = Views([stored]).arrays[0]
        assert array.has_canonical_format
        np.testing.assert_array_equal(array.toarray(), expected)
        for part, old in zip(("data", "indices", "indptr"), before, strict=True):
            np.testing.assert_array_equal(getattr(stored, part), old)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize(
    "groups", [[2, 3], [slice(None, 2), slice(-3, None)], [[0, 1], [-3, -2, -1]], [[1, 0], [4, 2]]]
)
def test_one_sparse_table_cut_into_views(make: Any, groups: Any) -> None:
    views, dense = Views(make(AB), views=groups), Views(AB, views=groups)
    assert views.names == dense.names and views.sizes == dense.sizes
    for array, expected in zip(views.arrays, dense.arrays, strict=True):
        assert array.has_sorted_indices
        np.testing.assert_array_equal(array.toarray(), expected)


@pytest.mark.parametrize("first", [A, sparse.csr_array(A)])
@pytest.mark.parametrize(
    "key",
    [
        2,
        -1,
        slice(1, 4),
        slice(None, None, -2),
        slice(4, 2),
        [3, 1, 1],
        np.array([5, -6]),
        np.array([True, False, True, False, False, True]),
        [False] * 6,
        [],
    ],
)
def test_rows_of_sparse_views(first: Any, key: Any) -> None:
    chosen, expected = Views([first, sparse.csc_matrix(GAPS)])[key], Views([A, GAPS])[key]
    assert chosen.shape == expected.shape and len(chosen) == len(expected)
    assert isinstance(chosen.arrays[1], sparse.csr_array)
    np.testing.assert_array_equal(chosen.to_array(), expected.to_array())


@pytest.mark.parametrize("key", [[0.5], [[0, 1]], np.array(1), ["a"], [True, False], [6]])
@pytest.mark.parametrize("array", [A, sparse.csr_array(A)])
def test_rows_that_cannot_be_selected(array: Any, key: Any) -> None:
    with pytest.raises(IndexError):
        Views([array])[key]


def test_sparse_views_are_shown_and_become_dense_as_an_array() -> None:
    views = Views({"image": A, "text": sparse.csr_array(GAPS)})
    assert repr(views) == "Views(6 rows; image: 2, text: 3 sparse)"
    np.testing.assert_array_equal(views.to_array(), np.hstack([A, GAPS]))
    assert views.to_array(np.float32).dtype == np.float32
    back = pickle.loads(pickle.dumps(views))
    np.testing.assert_array_equal(back.to_array(), views.to_array())


def test_data_frames_with_sparse_columns_are_dense() -> None:
    table = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(GAPS.astype(float)))
    np.testing.assert_array_equal(Views([table]).arrays[0], GAPS)


def test_sparse_views_are_split_by_scikit_learn() -> None:
    train, test = train_test_split(Views([A, sparse.csr_array(GAPS)]), test_size=2, random_state=0)
    assert train.shape == (4, 5) and test.shape == (2, 5)
    both = np.vstack([train.to_array(), test.to_array()])
    np.testing.assert_array_equal(both[np.argsort(both[:, 0])], np.hstack([A, GAPS]))


# As an array, and pickled


def test_as_an_array_the_views_are_side_by_side() -> None:
    with pytest.warns(UserWarning, match=r"was turned into one array.*Views.map.*views=\[2, 3\]"):
        np.testing.assert_array_equal(np.asarray(Views([A, B])), AB)
    assert Views([A, B]).to_array(np.float32).dtype == np.float32
    gaps = Views([A, B], mask={"view1": np.arange(6) != 2}).to_array()
    assert np.isnan(gaps[2, 2:]).all() and np.isnan(gaps).sum() == 3  # what is missing comes out as NaN
    assert np.array(Views([B])).dtype == np.int16


def test_pickling_keeps_arrays_and_names() -> None:
    back = pickle.loads(pickle.dumps(Views({"image": A, "text": B})))
    assert back.names == ["image", "text"]
    np.testing.assert_array_equal(back.arrays[0], A)
    assert back.arrays[1].dtype == np.int16


# scikit-learn's tools


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(90, 3, (6, 5), noise=0.05, random_state=3)
    made.y = hide_labels(made.target, 0.5, stratified=True, random_state=0)
    return made


def model(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 20, "random_state": 0, **parameters})


def test_train_test_split(data: Any) -> None:
    train, test, y_train, y_test = train_test_split(
        data.views, data.target, test_size=30, random_state=0, stratify=data.target
    )
    assert isinstance(train, Views) and train.shape == (60, 11) and test.shape == (30, 11)
    rows = data.views.to_array()
    for part, target in ((train, y_train), (test, y_test)):
        for row, label in zip(part.to_array(), target, strict=True):
            assert label == data.target[np.flatnonzero((rows == row).all(axis=1))[0]]
    assert model().fit(train, y_train).score(test, y_test) > 0.9


def test_cross_validation_leaves_unlabelled_rows_out_of_the_score(data: Any) -> None:
    scores = cross_val_score(model(), data.views, data.y, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.9
    assert (cross_val_predict(model(), data.views, data.y, cv=3) == data.target).mean() > 0.9


def test_grid_search_in_two_processes(data: Any) -> None:
    search = GridSearchCV(model(n_jobs=1), {"scaling": ["minmax", "standard"], "l1": [0.2]}, cv=2, n_jobs=2)
    search.fit(data.views, data.y)
    assert search.best_score_ > 0.9
    assert (search.predict(data.views) == data.target).mean() > 0.9


def test_pipelines(data: Any) -> None:
    first = make_pipeline(FunctionTransformer(), model()).fit(data.views, data.y)
    assert (first.predict(data.views[:9]) == data.target[:9]).all()
    scaled = make_pipeline(StandardScaler(), model(views=[6, 5], scaling="l2"))
    scaled.fit(data.views.to_array(), data.y)
    assert scaled.score(data.views.to_array(), data.target) > 0.9
    embedded = make_pipeline(model(), LogisticRegression()).fit(data.views, data.target)
    assert embedded.score(data.views, data.target) > 0.9


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "No view was given"),
        (({},), ValueError, "No view was given"),
        (({"image": A, "text": B[:5]},), ValueError, "View 'text' has 5 rows but view 'image' has 6"),
        (([A, B], None, ["one"]), ValueError, "1 names were given for 2 views"),
        (([A, B], None, ["same", "same"]), ValueError, "View names must differ"),
        (([A, B], [2, 3]), ValueError, "a list of views is cut already"),
        ((Views([A, B]), [2, 3]), ValueError, "cut into views already"),
        ((AB, [2, 2]), ValueError, "adds up to 4 features, but X has 5"),
        ((AB, [5, 0]), ValueError, "but X has 5 features"),
        ((AB, []), ValueError, "views= is empty"),
        ((AB, {"far": [0, 5]}), ValueError, "View 'far' names column 5, but X has 5 features"),
        ((AB, {"far": [0, -6]}), ValueError, "View 'far' names column -6, but X has 5 features"),
        ((AB, {"none": []}), ValueError, "View 'none': columns of an array are given as"),
        ((AB, {"name": ["a0"]}), ValueError, "View 'name': columns of an array are given as"),
        (
            (frame(), {"text": ["a0", "zz"]}),
            ValueError,
            r"View 'text' names columns that are not in the DataFrame: \['zz'\]",
        ),
        (("text",), TypeError, "Cannot read views from str"),
        ((iter([A, B]),), TypeError, "pass a list of 2-D arrays"),
        (([A, B[:, 0]],), ValueError, "View 'view1' is one-dimensional"),
        (([A, AB.reshape(6, 5, 1)],), ValueError, "View 'view1' has 3 dimensions"),
        (([A, B * 1j],), ValueError, "view 'view1' is complex"),
        (([A, B.astype(str)],), ValueError, "View 'view1' is not numeric"),
        (([A, B[:, :0]],), ValueError, r"View 'view1' has 0 feature\(s\)"),
        (({"image": A}, [2]), ValueError, "a dict of views is cut already"),
        ((AB, {"none": slice(5, 9)}), ValueError, r"View 'none' has 0 feature\(s\)"),
        (([A, sparse.csr_array((6, 0))],), ValueError, r"View 'view1' has 0 feature\(s\)"),
        ((sparse.csr_array(AB), {"none": slice(5, 9)}), ValueError, r"View 'none' has 0 feature\(s\)"),
        ((sparse.csr_array(AB), [2, 2]), ValueError, "adds up to 4 features, but X has 5"),
        ((sparse.csr_array(AB), {"far": [0, 5]}), ValueError, "View 'far' names column 5, but X has 5 features"),
        (([A, sparse.csr_array(B * 1j)],), ValueError, "view 'view1' is complex"),
        (([A, sparse.coo_array(AB[0])],), ValueError, "View 'view1' is one-dimensional"),
        (([A, sparse.csr_array(B[:5])],), ValueError, "View 'view1' has 5 rows but view 'view0' has 6"),
        (([sparse.csr_array(B), A[:5]],), ValueError, "View 'view1' has 5 rows but view 'view0' has 6"),
        (([np.array([[1, "x"]], dtype=object)],), ValueError, "View 'view0'.*column 1, row 0 holds 'x'"),
    ],
)
def test_errors_name_the_view_and_the_remedy(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Views(*arguments)


def test_errors_name_the_column_of_a_data_frame() -> None:
    table = frame().assign(day=pd.Timestamp("2024-05-01"))
    with pytest.raises(ValueError, match="View 'when': column 'day' is not numeric"):
        Views(table, views={"when": ["a0", "day"]})
    table = frame().assign(word="blue")
    with pytest.raises(ValueError, match="View 'words' is not numeric: column 'word', row 0 holds 'blue'"):
        Views(table, views={"words": ["a0", "word"]})


def test_a_numpy_matrix_is_read_as_an_array() -> None:
    """Its rows have two dimensions, which no formula of ours expects."""
    values = np.arange(6.0).reshape(3, 2)
    read = Views([np.matrix(values), values]).arrays[0]  # type: ignore[list-item]
    assert type(read) is np.ndarray and np.array_equal(read, values)
