"""Intervals of shares: they hold the true share as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from anchorview.core.intervals import share_interval


@pytest.mark.parametrize("truth", [0.02, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("count", [5, 40, 300])
def test_nine_of_ten_hold_the_true_share(truth: float, count: int) -> None:
    found = np.arange(count + 1)
    ends = np.array([share_interval(number / count, count) for number in found])
    holds = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert binom.pmf(found, count, truth)[holds].sum() >= 0.9


def test_the_ends_of_the_scale() -> None:
    assert share_interval(0.0, 10)[0] == 0 and share_interval(1.0, 10)[1] == 1
    assert share_interval(0.5, 0) == (0.0, 1.0)
    wide, narrow = share_interval(0.8, 20), share_interval(0.8, 2000)
    assert wide[0] < narrow[0] < 0.8 < narrow[1] < wide[1]
    assert share_interval(0.8, 20, level=0.5)[0] > wide[0]
