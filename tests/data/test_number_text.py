"""Numbers as people write them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anchorview.data.column_kinds import recognise
from anchorview.data.columns import Column
from anchorview.data.number_text import decimal_mark, read_number


@pytest.mark.parametrize(
    ("cells", "mark", "numbers"),
    [
        (["3,5", "12", "0,25"], ",", [3.5, 12, 0.25]),
        (["1.234,5", "2.000", "7,1"], ",", [1234.5, 2000, 7.1]),
        (["1,234", "56", "1,234,567.5"], ".", [1234, 56, 1234567.5]),
        (["1,250", "2,500"], ",", [1.25, 2.5]),  # three digits in every cell: prices of petrol, weights
        (["0,125", "1"], ",", [0.125, 1]),
        (["1.5", "2"], ".", [1.5, 2]),
        (["-3,5", "+4,25"], ",", [-3.5, 4.25]),
    ],
)
def test_marks(cells: list[str], mark: str, numbers: list[float]) -> None:
    assert decimal_mark(cells) == mark
    assert [read_number(cell, mark) for cell in cells] == numbers
    found = recognise(Column("n", np.array(cells * 10, dtype=object)))
    assert (found.kind, found.decimal) == ("number", mark)


@pytest.mark.parametrize("cell", ["n/a", "1_000", "inf", "NaN", "1,2,3", "", "12,34,567"])
def test_what_is_no_number(cell: str) -> None:
    assert math.isnan(read_number(cell))
    assert math.isnan(read_number(cell, ","))
