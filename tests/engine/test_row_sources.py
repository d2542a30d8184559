"""Rows in stores: read and taken as from an array, in any kind of store and for any size of its chunks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anchorview.engine.sources.base import StoredRows, as_stored
from anchorview.engine.sources.derived import PlacedRows, SelectedColumns
from support.stores import DENSE, SPARSE, CountingRows

N_ROWS = 23
ROWS = np.random.default_rng(0).poisson(0.7, size=(N_ROWS, 5)).astype(np.float32)
KINDS = {name: make for name, make in {**DENSE, **SPARSE}.items() if name not in ("array", "memory map", "csr")}


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if hasattr(rows, "toarray") else rows


@pytest.fixture(scope="module", params=[(kind, chunk) for kind in KINDS for chunk in (1, 7, 100)], ids=str)
def source(request: Any, tmp_path_factory: Any) -> StoredRows:
    kind, chunk = request.param
    return KINDS[kind](ROWS, tmp_path_factory.mktemp("store") / "rows", chunk)


def test_a_store_has_the_shape_and_type_of_its_rows(source: StoredRows) -> None:
    assert (source.shape, source.dtype, len(source), source.size) == (ROWS.shape, ROWS.dtype, N_ROWS, ROWS.size)
    assert "rows" in source.name and "23 × 5" in repr(source)


def test_rows_are_read_and_taken_as_from_an_array(source: StoredRows) -> None:
    for start, stop in ((0, N_ROWS), (0, 1), (3, 17), (22, 23), (23, 23), (5, 5), (20, 99)):
        np.testing.assert_array_equal(dense(source.read(start, stop)), ROWS[start:stop])
    for rows in ([3], [], [22, 0, 7, 7, 3], list(range(N_ROWS)), [-1, 4]):
        np.testing.assert_array_equal(dense(source.take(np.array(rows, dtype=int))), ROWS[rows].reshape(-1, 5))
    np.testing.assert_array_equal(dense(source[::4]), ROWS[::4])
    np.testing.assert_array_equal(dense(source[np.arange(N_ROWS) % 3 == 0]), ROWS[::3])
    with pytest.raises(IndexError, match="has 23 rows; row 23 was asked for"):
        source.take(np.array([0, 23]))


def test_a_store_is_opened_again_in_another_process(source: StoredRows) -> None:
    source.read(0, 2)
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(dense(again.take(np.array([4, 1]))), ROWS[[4, 1]])
    again.check_unchanged()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, N_ROWS - 1), max_size=30), st.integers(0, N_ROWS), st.integers(0, N_ROWS))
def test_derived_rows(rows: list[int], start: int, stop: int) -> None:
    source = as_stored(CountingRows(ROWS), "rows")
    columns = SelectedColumns(source, np.array([4, 0]))
    np.testing.assert_array_equal(columns.take(np.array(rows, dtype=int)), ROWS[rows][:, [4, 0]].reshape(-1, 2))
    np.testing.assert_array_equal(columns.read(start, stop), ROWS[start:stop, [4, 0]])
    place = np.array([*rows, -1, 3], dtype=int)
    expected = np.where(place[:, None] < 0, 0, ROWS[place])
    np.testing.assert_array_equal(PlacedRows(source, place)[:], expected)


def test_paths_that_are_no_store(tmp_path: Path) -> None:
    from anchorview import open_rows

    (tmp_path / "rows.txt").write_text("1 2")
    np.save(tmp_path / "line.npy", np.ones(3))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    (tmp_path / "empty").mkdir()
    for name, error, message in (
        ("nothing.npy", FileNotFoundError, "There is no file or folder .*nothing.npy"),
        ("rows.txt", ValueError, r"rows.txt is of no kind that can be opened: .npy"),
        ("line.npy", ValueError, r"line.npy has shape \(3,\); a view needs two dimensions"),
        ("text.npy", ValueError, "text.npy holds <U1; a view needs real numbers"),
        ("empty", ValueError, "The folder .*empty has no .parquet files"),
    ):
        with pytest.raises(error, match=message):
            open_rows(tmp_path / name)
    with pytest.raises(TypeError, match="Cannot open list"):
        open_rows([1, 2])
