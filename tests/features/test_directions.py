"""Directions in whole steps: near what they were, and each row once."""

import numpy as np
import pytest

from anchorview.core.arrays import fewer_digits
from anchorview.features.directions import keep_directions

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_errs_by_half_a_step(dtype: type) -> None:
    matrix = (RNG.normal(size=(200, 15)) * 10.0 ** RNG.integers(-6, 6, size=(200, 1))).astype(dtype)
    kept = keep_directions(matrix)
    assert kept.matrix.dtype == dtype
    error = np.abs(kept.matrix - matrix).max(axis=1) / np.abs(matrix).max(axis=1)
    assert error.max() <= 0.5 / 127 * 1.01


def test_rows_that_are_the_same_but_for_rounding_are_kept_once() -> None:
    rows = RNG.normal(size=(50, 8))
    rows[0] = 0.0
    matrix = np.repeat(rows, 3, axis=0)
    matrix[::3] *= 1 + 1e-13
    kept = keep_directions(matrix)
    assert len(kept.steps) == 50
    np.testing.assert_allclose(kept.matrix, matrix, atol=0.02)
    assert not kept.matrix[:3].any()


def test_fewer_digits_err_by_a_thousandth() -> None:
    numbers = np.concatenate([RNG.normal(size=100), [0.0, 1e300, 5e-324]])
    np.testing.assert_allclose(fewer_digits(numbers, 10)[:-1], numbers[:-1], rtol=1e-3)
    assert fewer_digits(numbers[:100].astype(np.float32), 10).dtype == np.float32
