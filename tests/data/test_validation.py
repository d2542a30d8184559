"""Which rows have which view, as far as the values tell; and what nothing can be done with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import Views
from anchorview.data.validation import find_present
from anchorview.data.view_errors import check_no_empty, check_no_empty_view

A = np.arange(8.0).reshape(4, 2) + 1
B = np.arange(12, dtype=np.int16).reshape(4, 3) + 50
MASK = np.array([[True, True], [False, True], [True, False], [False, True]])


# Rows of NaN


def test_rows_of_nan_are_missing() -> None:
    first, second = A.astype(np.float32), B.astype(float)
    first[[1, 3]] = np.nan
    first[0, 0] = np.nan  # in part
    second[2] = np.nan
    second[0, 1:] = np.nan
    np.testing.assert_array_equal(find_present(Views([first, second])), MASK)
    told = Views([first, second], mask=np.array([[1, 1], [1, 1], [1, 1], [1, 0]], dtype=bool))
    np.testing.assert_array_equal(find_present(told), MASK & told.present)
    assert told.present.sum() == 7


def test_rows_of_nan_in_views_so_wide_that_few_rows_are_read_at_a_time() -> None:
    wide = np.ones((5, 2**21), dtype=np.float16)
    wide[[1, 4]] = np.nan
    wide[2, 0] = wide[3, 1:] = np.nan  # in part
    assert find_present(Views([wide, np.ones((5, 1))])).T.tolist() == [[True, False, True, True, False], [True] * 5]


def test_nothing_missing() -> None:
    part = A.copy()
    part[1, 0] = np.nan
    assert find_present(Views([A, B])) is None
    assert find_present(Views([part, B, sparse.csr_array(A), A > 2])) is None
    np.testing.assert_array_equal(find_present(Views([A, B], mask=MASK)), MASK)


def test_rows_of_nan_in_a_memory_map(tmp_path: Any) -> None:
    array = A.copy()
    array[2] = np.nan
    np.save(tmp_path / "a.npy", array)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert find_present(Views([mapped, B])).tolist() == [[True, True], [True, True], [False, True], [True, True]]


# What nothing can be done with


def test_rows_without_any_view_are_named() -> None:
    present = np.ones((12, 2), dtype=bool)
    check_no_empty(None)
    check_no_empty(present)
    present[3] = False
    with pytest.raises(ValueError, match='1 row has no view at all: 3; remove such rows, or pass on_empty="drop"'):
        check_no_empty(present)
    present[[4, 5, 6, 8, 11]] = False
    ids = np.array([f"p{row}" for row in range(12)])
    with pytest.raises(
        ValueError, match=r"6 rows have no view at all: 3, 4, 5, 6, 8, … \(ids 'p3', 'p4', 'p5', 'p6', 'p8', …\);"
    ):
        check_no_empty(present, ids)


def test_views_missing_in_every_row_are_named() -> None:
    check_no_empty_view(MASK, ["image", "text"])
    with pytest.raises(ValueError, match="View 'text' is missing in every row; leave it out"):
        check_no_empty_view(MASK & [True, False], ["image", "text"])
