"""Rows of unit length, whatever their size, and the columns of views side by side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anchorview.core.arrays import column_slices, unit_rows

ROWS = np.array([[3.0, 4.0], [-1.0, 0.0], [0.0, 0.0]])
UNIT = np.array([[0.6, 0.8], [-1.0, 0.0], [0.0, 0.0]])


def test_rows_get_unit_length_and_zeros_stay() -> None:
    before = ROWS.copy()
    np.testing.assert_allclose(unit_rows(ROWS), UNIT)
    np.testing.assert_array_equal(ROWS, before)
    np.testing.assert_allclose(unit_rows(np.array([[3, 4]])), [[0.6, 0.8]])
    assert unit_rows(np.empty((0, 3))).shape == (0, 3)
    assert unit_rows(np.empty((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float64, 1e200), (np.float64, 1e-200), (np.float64, 1e307), (np.float32, 1e30), (np.float32, 1e-30)],
)
def test_squares_that_overflow_or_vanish_do_no_harm(dtype: type, scale: float) -> None:
    """One such row among others, and alone; the others come out as if it were not there, bit by bit."""
    rows = ROWS.astype(dtype)
    mixed = np.vstack([rows, rows * dtype(scale)])
    found = unit_rows(mixed)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.vstack([UNIT, UNIT]), rtol=1e-6)
    np.testing.assert_array_equal(found[:3], unit_rows(rows))
    np.testing.assert_allclose(unit_rows(rows * dtype(scale)), UNIT, rtol=1e-6)


def test_a_row_that_is_not_finite_spoils_no_other() -> None:
    with np.errstate(invalid="ignore"):
        found = unit_rows(np.array([[np.nan, 1.0], [np.inf, 1.0], [3.0, 4.0], [3e200, 4e200]]))
    np.testing.assert_allclose(found[2:], [[0.6, 0.8], [0.6, 0.8]])
    assert np.isnan(found[0]).any()


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-1e308, 1e308, width=64))
)
@settings(max_examples=100, deadline=None)
def test_any_finite_rows(rows: np.ndarray) -> None:
    lengths = np.linalg.norm(unit_rows(rows), axis=1)
    normal = np.abs(rows).max(axis=1) >= np.finfo(np.float64).tiny  # numbers below have fewer digits
    np.testing.assert_allclose(lengths[normal], 1, atol=1e-12)
    assert (lengths[~rows.any(axis=1)] == 0).all()


def test_columns_of_views() -> None:
    rows = np.arange(12).reshape(2, 6)
    parts = [rows[:, columns] for columns in column_slices([1, 3, 2])]
    assert [part.shape[1] for part in parts] == [1, 3, 2]
    np.testing.assert_array_equal(np.hstack(parts), rows)
