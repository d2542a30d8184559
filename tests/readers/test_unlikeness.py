"""How unlike all others rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.readers.unlikeness import drawn_rows, fit_unlikeness


@pytest.fixture(scope="module")
def rows() -> Any:
    """Rows of four numbers that depend on two; in the first five each number is taken from another row."""
    rng = np.random.default_rng(0)
    made = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(400, 4))
    made[:5] = np.column_stack([rng.choice(column, 5) for column in made[5:].T])
    return made.astype(np.float32)


def fit(blocks: Any, usable: Any = None) -> Any:
    whole = np.concatenate(blocks)
    usable = np.full(len(whole), True) if usable is None else usable
    return fit_unlikeness(whole[drawn_rows(usable)], drawn_rows(usable), iter(blocks), usable)


def test_rows_whose_numbers_do_not_belong_together_are_unlike_others(rows: Any) -> None:
    unlike = fit([rows[:150], rows[150:]]).of_rows
    assert np.median(unlike[:5]) > np.quantile(unlike[5:], 0.98)
    lengths = np.linalg.norm(rows, axis=1)  # which do not tell
    assert np.median(lengths[:5]) < np.quantile(lengths[5:], 0.9)


def test_blocks_do_not_matter(rows: Any) -> None:
    one, other = fit([rows]), fit([rows[:7], rows[7:]])
    np.testing.assert_allclose(one.of_rows, other.of_rows, rtol=1e-6)


def test_a_row_of_the_fit_is_as_unlike_as_if_it_had_not_been_there(rows: Any) -> None:
    whole, without = fit([rows]), fit([rows[1:]])
    assert whole.of_rows[0] == pytest.approx(without.of(rows[:1])[0], abs=0.02)
    assert whole.of(rows[:1])[0] < whole.of_rows[0]  # a new row is not told apart from itself


def test_rows_without_any_view_are_as_others(rows: Any) -> None:
    empty = np.arange(len(rows)) >= 300
    blank = np.where(empty[:, None], 0, rows)
    unlike = fit([blank], ~empty)
    np.testing.assert_allclose(unlike.of_rows[:300], fit([rows[:300]]).of_rows, rtol=1e-6)
    assert (unlike.of_rows[300:] == np.median(unlike.of_rows[:300])).all()


def test_columns_that_never_vary_and_equal_rows_do_no_harm() -> None:
    assert np.isfinite(fit([np.ones((9, 3), dtype=np.float32)]).of_rows).all()


def test_of_many_rows_some_tell_how_they_vary() -> None:
    rows = drawn_rows(np.arange(50_001) % 2 == 0)
    assert len(rows) <= 20_000 and len(np.unique(np.diff(rows))) == 1 and (rows % 2 == 0).all()
