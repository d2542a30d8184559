"""The reliability curve: groups of equal size, honest confidence on the diagonal, bad input named."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.metrics import reliability_curve


def test_honest_confidence_lies_on_the_diagonal() -> None:
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.4, 1, 20_000)
    curve = reliability_curve(rng.uniform(size=20_000) < sure, sure)
    assert len(curve) == 10 and curve.count.sum() == 20_000 and np.ptp(curve.count) <= 1
    assert (np.diff(curve.confidence) > 0).all()
    np.testing.assert_allclose(curve.accuracy, curve.confidence, atol=0.03)
    assert ((curve.low < curve.accuracy) & (curve.accuracy < curve.high)).all()


def test_a_boaster_lies_below_it() -> None:
    curve = reliability_curve(np.tile([True, False], 100), np.full(200, 0.95))
    assert (curve.high < 0.95).all()


@pytest.mark.parametrize(("n_samples", "n_bins"), [(1, 1), (29, 1), (30, 2), (1000, 10)])
def test_few_samples_make_few_groups(n_samples: int, n_bins: int) -> None:
    assert len(reliability_curve(np.ones(n_samples), np.linspace(0, 1, n_samples))) == n_bins


def test_groups_that_are_equally_sure_are_one() -> None:
    curve = reliability_curve(np.ones(300), np.repeat([0.5, 0.97, 0.98], 100))
    assert curve.count.tolist() == [90, 30, 180] and curve.confidence[2] == pytest.approx(0.9756, abs=1e-4)
    assert reliability_curve(np.ones(300), np.full(300, 0.97), 5).count.tolist() == [60] * 5


@pytest.mark.parametrize(
    ("correct", "confidence", "n_bins", "message"),
    [
        ([], [], None, "are empty"),
        ([1, 0], [0.5], None, "both need one number per sample"),
        ([1, 2], [0.5, 0.5], None, "booleans"),
        ([1, 0], [0.5, 1.5], None, "between 0 and 1"),
        ([1, 0], [0.5, 0.5], 0, "n_bins"),
    ],
)
def test_bad_input_is_named(correct: list[int], confidence: list[float], n_bins: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reliability_curve(correct, confidence, n_bins)
