"""The neighbour search against all pairs, in any number of blocks and threads."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from anchorview.features.neighbours import joint_neighbours, nearest_points, nearest_rows
from support.slow_ways import FORMS, made_rows, slow_distances, slow_neighbours


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_neighbours_are_those_of_all_pairs(form: Any, n_threads: int) -> None:
    rows = made_rows()
    index, distances = nearest_rows(form(rows), 6, n_threads=n_threads, block_entries=500)
    expected = slow_neighbours(rows, 6)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-2, 2)), st.integers(1, 5)
)
def test_ties_go_by_row_number_and_no_row_is_its_own_neighbour(rows: Any, count: int) -> None:
    count = min(count, len(rows) - 1)
    for form in FORMS:
        index, distances = nearest_rows(form(rows / 3.0 + 1.0), count)
        expected = slow_neighbours(rows, count)
        np.testing.assert_array_equal(index, expected[0])
        np.testing.assert_allclose(distances, expected[1] / 9.0, atol=1e-12)


def test_far_from_the_origin_small_distances_are_kept() -> None:
    rows = 1e5 + np.arange(8.0)[:, None] ** 2 * 1e-3
    index, distances = nearest_rows(rows, 2)
    expected = slow_neighbours(rows, 2)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-6)


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-3])
def test_neighbours_that_single_precision_cannot_tell_apart_are_exact(spread: float) -> None:
    """Two tight clusters far apart: their own distances are below the rounding of single precision."""
    rows = made_rows(400, 20) * spread
    rows[::2] += 30.0
    index, distances = nearest_rows(rows, 6)
    expected = slow_neighbours(rows, 6)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-6)


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_neighbours_of_tiny_and_huge_rows(size: float) -> None:
    rows = made_rows(100)
    np.testing.assert_array_equal(nearest_rows(rows * size, 6)[0], slow_neighbours(rows, 6)[0])


def test_few_rows_have_few_neighbours() -> None:
    assert nearest_rows(np.ones((1, 2)), 3)[0].shape == (1, 0)
    assert nearest_rows(np.ones((3, 2)), 9)[0].tolist() == [[1, 2], [0, 2], [0, 1]]


def test_neighbours_need_little_memory() -> None:
    rows = np.random.RandomState(0).randn(8000, 5)
    tracemalloc.start()
    nearest_rows(rows, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5e8  # all distances would be 5e8


# Several views


@pytest.mark.parametrize("centred", [False, True])
def test_joint_neighbours_are_those_of_all_pairs(centred: bool) -> None:
    views = [made_rows(80, 9), made_rows(80, 14, seed=3)]
    shifted = [rows - rows.mean(axis=1, keepdims=True) if centred else rows for rows in views]
    each = np.stack([slow_distances(rows) for rows in shifted])
    total = each.sum(axis=0)
    np.fill_diagonal(total, np.inf)
    order = np.argsort(total, axis=1, kind="stable")[:, :7]
    for form in FORMS:
        index, distances = joint_neighbours([form(rows) for rows in views], 7, [centred] * 2, 2, block_entries=900)
        np.testing.assert_array_equal(index, order)
        np.testing.assert_allclose(distances, np.take_along_axis(each, order[None], axis=2), atol=1e-12)


def test_joint_neighbours_of_duplicates_go_by_row_number() -> None:
    rows = np.repeat([[0.0, 1.0], [2.0, 5.0]], [5, 3], axis=0) / 3
    for form in FORMS:
        index, distances = joint_neighbours([form(rows), form(rows)], 4, [False, False])
        assert index[:2].tolist() == [[1, 2, 3, 4], [0, 2, 3, 4]]
        assert index[5].tolist() == [6, 7, 0, 1]
        np.testing.assert_allclose(distances[0, 5], [0, 0, 20 / 9, 20 / 9])


def test_distances_do_not_lose_their_digits_to_the_mean_of_a_row() -> None:
    rows = 1e4 + np.random.RandomState(0).randn(30, 6)
    rows[:, 0] = 0.0
    index, distances = joint_neighbours([sparse.csr_array(rows)], 5, [True])
    centred = slow_distances(rows - rows.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(distances[0], np.take_along_axis(centred, index, axis=1), rtol=1e-6)


# Points and queries


def test_of_equal_points_the_first_are_nearest_and_a_point_is_its_own_neighbour() -> None:
    points = np.repeat(np.array([[0.0], [2.0]], np.float32), [4, 3], axis=0)
    index, distances = nearest_points(points, points, 5)
    assert index[0].tolist() == [0, 1, 2, 3, 4] and index[6].tolist() == [4, 5, 6, 0, 1]
    assert distances[0].tolist() == [0, 0, 0, 0, 2]


@pytest.mark.parametrize(("n_points", "n_queries"), [(3, 2), (0, 2), (3, 0)])
def test_few_points_or_queries(n_points: int, n_queries: int) -> None:
    points, queries = np.zeros((n_points, 2), np.float32), np.ones((n_queries, 2), np.float32)
    index, distances = nearest_points(points, queries, 5)
    assert index.shape == distances.shape == (n_queries, n_points)
