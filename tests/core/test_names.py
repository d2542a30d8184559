"""Names in pictures: short, and as many as there were."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.core.names import short_names

PAYMENTS = [f"customer asked for the {what} of payment {number}" for what in ("date", "sender") for number in range(9)]


def test_short_names_stay() -> None:
    assert short_names(["cat", 7, 1.5, True], 8) == ["cat", "7", "1.5", "True"]


def test_names_of_one_line_that_can_be_seen() -> None:
    assert short_names(["two\nlines\t", " "], 20) == ["two lines", "' '"]


def test_long_names_show_where_they_differ() -> None:
    assert short_names(PAYMENTS, 20)[:2] == ["…date…0", "…date…1"]
    same_ends = ["x" * 30 + middle + "y" * 30 for middle in "ab"]
    assert short_names(same_ends, 12) == ["…xxayyyyyyy…", "…xxbyyyyyyy…"]


@pytest.mark.parametrize("limit", [8, 14, 22])
def test_hundred_names_that_begin_and_end_alike(limit: int) -> None:
    names = [f"a class of leaves, species number {n // 10} variety {n % 10} of the collection" for n in range(100)]
    short = short_names(names, limit)
    assert len(set(short)) == 100
    assert max(map(len, short)) <= limit


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab _-", min_size=1, max_size=40), unique_by=lambda name: " ".join(name.split()), max_size=30))
def test_different_names_stay_different(names: list[str]) -> None:
    short = short_names(names, 10)
    assert len(set(short)) == len(names)
    assert all(len(name) <= 10 for name in short)
