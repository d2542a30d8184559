"""E = X Uᵀ by blocks and by rows: the same numbers whatever is asked for first, and the sum of squares at any time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from anchorview import Views
from anchorview.features import products as products_module
from anchorview.features.products import ViewCrossProducts
from anchorview.features.scaling import fit_scaling

RNG = np.random.default_rng(3)
N_ROWS = 512 + 300  # more than one block
ARRAYS = [RNG.normal(size=(N_ROWS, 4)), RNG.normal(size=(N_ROWS, 3))]
LANDMARKS = RNG.normal(size=(6, 7))
PRESENT = np.column_stack([np.arange(N_ROWS) % 3 > 0, np.arange(N_ROWS) % 3 < 2])
WEIGHTS = RNG.integers(0, 3, size=N_ROWS).astype(float)


def products(arrays: Any = ARRAYS, scaling: Any = "minmax", **options: Any) -> tuple[ViewCrossProducts, npt.NDArray]:
    """Return E, and the scaled rows of all views side by side; zero where a view is missing."""
    views, present = Views(arrays), options.get("present")
    scaler = fit_scaling(views, scaling, present=present, weights=options.get("weights"))
    rows = scaler.read(views, slice(0, N_ROWS), present).dense()
    return ViewCrossProducts(views, scaler, LANDMARKS, **options), rows


def by_blocks(cross: ViewCrossProducts) -> npt.NDArray:
    return np.concatenate([cross.read(block) for block in cross.blocks])


@pytest.mark.parametrize("cache_bytes", [0, 2**20])
def test_products_of_blocks_and_of_rows(cache_bytes: int) -> None:
    cross, rows = products(cache_bytes=cache_bytes)
    some = np.array([5, 512 + 2, 5])
    np.testing.assert_allclose(cross.take(some), rows[some] @ LANDMARKS.T, atol=1e-12)
    for _ in range(2):  # computed, then perhaps kept
        np.testing.assert_allclose(by_blocks(cross), rows @ LANDMARKS.T, atol=1e-12)
    np.testing.assert_allclose(cross.take(some), rows[some] @ LANDMARKS.T, atol=1e-12)


@pytest.mark.parametrize("cache_bytes", [0, 2**20])
def test_the_blocks_hold_each_row_once(cache_bytes: int) -> None:
    cross, _ = products(cache_bytes=cache_bytes)
    assert len(cross.blocks) > 1
    np.testing.assert_array_equal(
        np.concatenate([np.arange(N_ROWS)[block] for block in cross.blocks]), np.arange(N_ROWS)
    )
    assert cross.n_rows == N_ROWS
    assert cross.dtype == np.float64


@pytest.mark.parametrize("present", [None, PRESENT])
def test_rows_that_are_taken_are_those_of_the_blocks(present: Any) -> None:
    order = np.random.default_rng(0).permutation(N_ROWS)
    whole, _ = products(present=present)
    expected = by_blocks(whole)
    fresh, _ = products(present=present)
    np.testing.assert_allclose(fresh.take(order), expected[order], atol=1e-12)  # before any block is read
    np.testing.assert_array_equal(whole.take(order), expected[order])


def test_rows_may_be_taken_when_some_blocks_have_been_read() -> None:
    cross, rows = products()
    cross.read(cross.blocks[1])
    np.testing.assert_allclose(cross.take(np.array([5, 600])), rows[[5, 600]] @ LANDMARKS.T, atol=1e-12)


def test_a_row_that_lacks_a_view_counts_for_what_it_has() -> None:
    """Its products are those of its own views, times the number of views over those it has."""
    cross, rows = products(present=PRESENT)
    shares = 2 / PRESENT.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(by_blocks(cross), shares * (rows @ LANDMARKS.T), atol=1e-12)
    np.testing.assert_array_equal(cross.present_in(slice(3, 9)), PRESENT[3:9])
    np.testing.assert_array_equal(cross.present_in(np.array([7, 1])), PRESENT[[7, 1]])
    assert products()[0].present_in(slice(3, 9)) is None


@pytest.mark.parametrize("cache_bytes", [0, 2**20])
@pytest.mark.parametrize("present", [None, PRESENT])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_sum_of_squares_is_right_at_any_time(cache_bytes: int, present: Any, weights: Any) -> None:
    cross, rows = products(cache_bytes=cache_bytes, present=present, weights=weights)
    shares = np.ones(N_ROWS) if present is None else 2 / present.sum(axis=1)
    each = np.ones(N_ROWS) if weights is None else weights
    expected = float((each * shares) @ (rows**2).sum(axis=1))
    cross.read(cross.blocks[1])
    cross.take(np.array([3, 4]))
    partly = cross.squared_norm()  # with one block read, the other not
    assert partly == pytest.approx(expected, rel=1e-12)
    by_blocks(cross)
    by_blocks(cross)
    assert cross.squared_norm() == partly
    fresh, _ = products(cache_bytes=cache_bytes, present=present, weights=weights)
    assert fresh.squared_norm() == partly  # before anything is read


def test_prediction_gives_the_same_products() -> None:
    fitting, _ = products()
    predicting, _ = products(for_prediction=True)
    np.testing.assert_allclose(by_blocks(predicting), by_blocks(fitting), atol=1e-12)


def test_sparse_views_give_the_products_of_their_dense_copies() -> None:
    counts = RNG.poisson(0.5, size=(N_ROWS, 3)).astype(float)
    dense, _ = products([ARRAYS[0], counts], ["minmax", "l2"])
    mixed, _ = products([ARRAYS[0], sparse.csr_array(counts)], ["minmax", "l2"])
    np.testing.assert_allclose(by_blocks(mixed), by_blocks(dense), atol=1e-12)
    assert mixed.squared_norm() == pytest.approx(dense.squared_norm(), rel=1e-12)


def test_what_landmarks_need_is_prepared_once_and_goes_with_them() -> None:
    views, landmarks = Views(ARRAYS), LANDMARKS.copy()
    scaler = fit_scaling(views, "minmax")
    first = ViewCrossProducts(views, scaler, landmarks, cache_bytes=0)
    again = ViewCrossProducts(views, scaler, landmarks, cache_bytes=0)
    other = ViewCrossProducts(views, scaler, landmarks + 1.0, cache_bytes=0)
    assert first._landmarks is again._landmarks and first._landmarks is not other._landmarks
    np.testing.assert_array_equal(by_blocks(first), by_blocks(again))
    n_kept = len(products_module._recent)
    del landmarks
    assert len(products_module._recent) < n_kept
