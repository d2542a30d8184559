"""Rows that lack a view: told by a mask or by ids, and kept through every selection."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import train_test_split

from anchorview import Views
from anchorview.data.validation import match_views

A = np.arange(8.0).reshape(4, 2) + 1
B = np.arange(12, dtype=np.int16).reshape(4, 3) + 50
MASK = np.array([[True, True], [False, True], [True, False], [False, True]])


def gaps() -> Views:
    return Views({"image": A, "text": B}, mask=MASK, ids=["ann", "bob", "cid", "dee"])


# Masks


@pytest.mark.parametrize(
    "mask",
    [
        MASK,
        MASK.tolist(),
        {"text": MASK[:, 1], "image": MASK[:, 0].tolist()},
        pd.DataFrame({"text": MASK[:, 1], "image": MASK[:, 0]}),
    ],
)
def test_every_form_of_a_mask(mask: Any) -> None:
    views = Views({"image": A, "text": B}, mask=mask)
    assert views.present is not None and views.present.dtype == bool
    np.testing.assert_array_equal(views.present, MASK)
    assert views.arrays[0] is A and views.arrays[1] is B
    assert repr(views) == "Views(4 rows; image: 2 (missing in 2), text: 3 (missing in 1))"


def test_views_a_mapping_does_not_name_are_complete() -> None:
    views = Views({"image": A, "text": B}, mask={"text": MASK[:, 1]})
    np.testing.assert_array_equal(views.present, np.column_stack([np.ones(4, dtype=bool), MASK[:, 1]]))


def test_a_mask_that_is_true_throughout_says_nothing() -> None:
    assert Views([A, B]).present is None
    assert Views([A, B], mask=np.ones((4, 2), dtype=bool)).present is None
    assert Views([A, B], ids=range(4)).present is None


def test_the_mask_is_the_users_own() -> None:
    mask = MASK.copy()
    views = Views([A, B], mask=mask)
    mask[:] = True
    np.testing.assert_array_equal(views.present, MASK)


def test_a_second_mask_adds_to_the_first() -> None:
    other = np.array([[True, True], [True, True], [True, True], [True, False]])
    again = Views(gaps(), mask=other)
    np.testing.assert_array_equal(again.present, MASK & other)
    assert again.ids.tolist() == ["ann", "bob", "cid", "dee"]
    np.testing.assert_array_equal(gaps().present, MASK)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (MASK.T, r"The mask has shape \(2, 4\) but needs \(4, 2\): one row per sample and one column per view"),
        (MASK[:, 0], r"The mask has shape \(4,\) but needs \(4, 2\)"),
        (MASK.astype(int), r"The mask must hold True and False, not int64; convert it with .astype\(bool\)"),
        (MASK.astype(float), "must hold True and False, not float64"),
        ({"text": MASK[:3, 1]}, r"The mask of view 'text' has shape \(3,\) but needs \(4,\)"),
        ({"text": [1, 0, 1, 0]}, "The mask of view 'text' must hold True and False"),
        ({"sound": MASK[:, 0]}, r"mask names views that are not there: \['sound'\]; the views are \['image', 'text'\]"),
        (pd.DataFrame(MASK), r"mask names views that are not there: \['0', '1'\]"),
    ],
)
def test_masks_that_cannot_work(mask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Views({"image": A, "text": B}, mask=mask)


# Ids of the rows


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["a", "b", "c", "d"], "U"),
        (("a", "b", "c", "d"), "U"),
        (np.array(["a", "b", "c", "d"]), "U"),
        (pd.Index(["a", "b", "c", "d"]), "U"),
        (pd.Series(["a", "b", "c", "d"]), "U"),
        ([3, 1, 2, 0], "i"),
        (range(4), "i"),
        (np.arange(4, dtype=np.int32), "i"),
        (["a", 1, "b", 2], "O"),
        ([("a", 1), ("a", 2), ("b", 1), ("b", 2)], "O"),
        (pd.MultiIndex.from_product([["a", "b"], [1, 2]]), "O"),
        (pd.date_range("2024-05-01", periods=4), "O"),
    ],
)
def test_ids_keep_their_type(ids: Any, kind: str) -> None:
    views = Views([A, B], ids=ids)
    assert isinstance(views.ids, np.ndarray) and views.ids.shape == (4,) and views.ids.dtype.kind == kind
    assert views.ids.tolist() == list(ids)
    assert views.known_ids is views.ids and views.present is None


def test_tables_in_different_orders_are_brought_to_the_rows_of_the_first() -> None:
    """By their indexes; and an error says where rows cannot be told apart."""
    first = pd.DataFrame(A, index=["ann", "bob", "cid", "dee"])
    second = pd.DataFrame(B, index=["ann", "bob", "cid", "dee"]).loc[["dee", "ann", "cid", "bob"]]
    views = Views([first, second])
    assert views.ids.tolist() == ["ann", "bob", "cid", "dee"]
    np.testing.assert_array_equal(views.arrays[0], A)
    np.testing.assert_array_equal(views.arrays[1], B)
    known = Views([second], mask=np.array([[True], [False], [True], [True]]), ids=second.index)
    np.testing.assert_array_equal(Views([first, known]).present[:, 1], [False, True, True, True])
    with pytest.raises(ValueError, match="'ann' are in one only"):
        Views([first, second.rename(index={"ann": "eve"})])


def test_ids_come_from_an_index_that_does_not_just_count_the_rows() -> None:
    table = pd.DataFrame(A, index=["a", "b", "c", "d"])
    assert Views([table, table]).ids.tolist() == Views(table).known_ids.tolist() == ["a", "b", "c", "d"]
    assert Views([A, B]).known_ids is None and Views(pd.DataFrame(A)).ids is None
    assert Views(pd.DataFrame(A, index=["a", "a", "b", "c"])).ids is None  # a name that repeats is no id


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["a", "b", "c"], ValueError, "X has 4 rows but 3 ids; give one id for each row"),
        (["a", "b", "a", "b"], ValueError, r"X repeats 2 of its ids: 'a' \(rows 0, 2\); 'b' \(rows 1, 3\)"),
        (["a", None, "b", "c"], ValueError, "X has no id in row 1"),
        ([0.5, np.nan, 1.5, np.nan], ValueError, "X has no id in rows 1, 3"),
        (pd.array([1, 2, None, 4], dtype="Int64"), ValueError, "X has no id in row 2"),
        (np.zeros((4, 1)), ValueError, r"ids of shape \(4, 1\); give a one-dimensional sequence"),
        ("abcd", TypeError, "X has 'abcd' as ids; give a sequence"),
        (4, TypeError, "X has 4 as ids; give a sequence"),
    ],
)
def test_ids_that_cannot_work(ids: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Views([A, B], ids=ids)


# Ids of each view's rows


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("form", [list, np.array, pd.Index])
def test_views_are_aligned_by_their_ids(named: bool, form: Any) -> None:
    first, second = form(["b", "a", "d", "x"]), form(["a", "c", "b"])
    ids = {"text": second, "image": first} if named else [first, second]
    views = Views({"image": A, "text": B[:3]}, ids=ids)
    assert views.ids.tolist() == ["b", "a", "d", "x", "c"]
    assert views.ids.dtype.kind == "U" and views.known_ids is views.ids
    np.testing.assert_array_equal(views.present.T, [[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]])
    np.testing.assert_array_equal(views.arrays[0], [*A, [0, 0]])
    np.testing.assert_array_equal(views.arrays[1], [B[2], B[0], [0, 0, 0], [0, 0, 0], B[1]])
    assert [array.dtype for array in views.arrays] == [A.dtype, B.dtype]


@pytest.mark.parametrize("dtype", [float, np.int8, bool])
def test_sparse_views_stay_sparse_when_aligned(dtype: type) -> None:
    values = sparse.csr_array((np.arange(12).reshape(4, 3) % 5 * (np.arange(4)[:, None] != 1)).astype(dtype))
    before = values.copy()
    ids = [[7, 5, 1, 0], [1, 9, 5, 2]]
    views, dense = Views([A, values], ids=ids), Views([A, values.toarray()], ids=ids)
    assert isinstance(views.arrays[1], sparse.csr_array) and views.arrays[1].dtype == dtype
    np.testing.assert_array_equal(views.arrays[1].toarray(), dense.arrays[1])
    np.testing.assert_array_equal(views.present, dense.present)
    np.testing.assert_array_equal(values.toarray(), before.toarray())


def test_views_that_have_all_rows_in_order_are_not_copied() -> None:
    views = Views([A, B], ids=[["a", "b", "c", "d"]] * 2)
    assert views.arrays[0] is A and views.arrays[1] is B and views.present is None
    assert Views([A, B[:2]], ids=[["a", "b", "c", "d"], ["d", "c"]]).arrays[0] is A


@given(st.lists(st.lists(st.integers(0, 12), unique=True, min_size=1), min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_each_row_keeps_its_values_whatever_the_ids(ids: list[list[int]]) -> None:
    arrays = [np.array([[10.0 * view + 1, item + 1] for item in part]) for view, part in enumerate(ids)]
    views = Views(arrays, ids=ids)
    assert set(views.ids.tolist()) == set().union(*ids) and len(views) == len(set().union(*ids))
    present = np.ones((len(views), len(ids)), dtype=bool) if views.present is None else views.present
    for row, item in enumerate(views.ids.tolist()):
        for view, part in enumerate(ids):
            assert present[row, view] == (item in part)
            expected = [10.0 * view + 1, item + 1] if item in part else [0, 0]
            assert views.arrays[view][row].tolist() == expected


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([["a", "b", "c", "d"]], r"ids lists the ids of 1 views, but there are 2: \['image', 'text'\]"),
        ([["a", "b", "c", "d"], ["a", "b", "c"]], "View 'text' has 4 rows but 3 ids"),
        ([["a", "b", "c", "d"], ["a", "b", "b", "c"]], r"View 'text' repeats 1 of its ids: 'b' \(rows 1, 2\)"),
        ([["a", "b", "c", "d"], [1, 2, 3, 4]], "of view 'text' and of view 'image' are text in one and numbers in"),
        ({"image": ["a", "b", "c", "d"]}, r"ids has no entry for the views \['text'\]"),
        ({"sound": ["a", "b", "c", "d"]}, r"ids names views that are not there: \['sound'\]"),
    ],
)
def test_ids_of_views_that_cannot_work(ids: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Views({"image": A, "text": B}, ids=ids)


def test_a_mask_beside_ids_of_each_view_is_refused() -> None:
    ids = [["a", "b", "c", "d"], ["d", "c", "b", "a"]]
    with pytest.raises(ValueError, match="a mask cannot be given beside them"):
        Views([A, B], mask=MASK, ids=ids)
    with pytest.raises(ValueError, match="a mask cannot be given beside them"):
        Views(gaps(), ids=ids)
    aligned = Views(Views([A, B], ids=ids), mask=MASK)
    np.testing.assert_array_equal(aligned.present, MASK)


def test_different_numbers_of_rows_suggest_ids() -> None:
    with pytest.raises(ValueError, match="View 'view1' has 3 rows but view 'view0' has 4.*ids= aligns views"):
        Views([A, B[:3]])


# Selections


@pytest.mark.parametrize(
    "key", [slice(1, 3), [3, 0, 0], np.array([False, True, False, True]), -1, slice(None, None, -1)]
)
def test_presence_and_ids_follow_the_rows(key: Any) -> None:
    chosen = gaps()[key]
    rows = np.arange(4)[key].reshape(-1)
    np.testing.assert_array_equal(chosen.present, MASK[rows])
    assert chosen.ids.tolist() == np.array(["ann", "bob", "cid", "dee"])[rows].tolist()
    assert chosen[:1].known_ids.tolist() == chosen.known_ids.tolist() == ["ann", "bob", "cid", "dee"]


def test_a_selection_of_complete_rows_is_complete() -> None:
    assert gaps()[[0, 0]].present is None and gaps()[:0].present is None


def test_presence_and_ids_follow_the_views() -> None:
    chosen = gaps().select(["text", "image"])
    assert chosen.names == ["text", "image"] and chosen.arrays[0] is B
    np.testing.assert_array_equal(chosen.present, MASK[:, ::-1])
    assert chosen.ids.tolist() == ["ann", "bob", "cid", "dee"]
    assert gaps()[1:2].select(["text"]).present is None
    assert gaps()[1:2].select(["text"]).known_ids.tolist() == ["ann", "bob", "cid", "dee"]
    with pytest.raises(ValueError, match=r"There are no views \['sound'\]; the views are \['image', 'text'\]"):
        gaps().select(["sound"])
    with pytest.raises(ValueError, match="the views are"):
        gaps().select([])


def test_matching_views_by_name_keeps_presence_and_ids() -> None:
    matched = match_views(gaps()[1:], SimpleNamespace(view_names_=["text", "image"]))
    assert matched.names == ["text", "image"]
    np.testing.assert_array_equal(matched.present, MASK[1:, ::-1])
    assert matched.ids.tolist() == ["bob", "cid", "dee"] and len(matched.known_ids) == 4


def test_renaming_splitting_and_pickling_keep_presence_and_ids() -> None:
    renamed = Views(gaps(), names=["u", "v"])
    back = pickle.loads(pickle.dumps(gaps()[1:]))
    train, _ = train_test_split(gaps(), test_size=1, random_state=0)
    for views in (renamed, back, train):
        rows = [["ann", "bob", "cid", "dee"].index(item) for item in views.ids.tolist()]
        np.testing.assert_array_equal(views.present, MASK[rows])
        assert views.known_ids.tolist() == ["ann", "bob", "cid", "dee"]


def test_new_ids_replace_the_old() -> None:
    views = Views(gaps()[1:], ids=[7, 8, 9])
    assert views.ids.tolist() == views.known_ids.tolist() == [7, 8, 9]
