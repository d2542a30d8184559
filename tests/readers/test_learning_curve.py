"""How many more labels an accuracy takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.readers.learning_curve import fit_learning_curve

SEEN, JUDGED = np.array([50.0, 100.0, 150.0]), np.full(3, 300.0)


def test_a_power_law_is_found_again_and_the_interval_holds_it() -> None:
    curve = fit_learning_curve(SEEN, 1 - 2 * SEEN**-0.5, 100 * JUDGED, 200)
    found = curve.labels_needed(0.9)
    assert curve.accuracy(400) == pytest.approx(0.9, abs=0.01)
    assert found.more == pytest.approx(200, abs=40)
    assert found.low is not None and found.low <= 200 and (found.high is None or found.high >= 200)
    assert "more labels should be enough for 90 % accuracy" in found.describe()


def test_far_beyond_the_labels_it_cannot_be_told() -> None:
    flat = fit_learning_curve(SEEN, np.full(3, 0.7), JUDGED, 200)
    assert flat.labels_needed(0.95).more is None and "cannot be estimated" in flat.labels_needed(0.95).describe()


def test_what_is_reached_takes_no_more() -> None:
    curve = fit_learning_curve(SEEN, np.array([0.97, 0.98, 0.99]), JUDGED, 200)
    assert curve.labels_needed(0.9).more == 0


@pytest.mark.parametrize("target", [0, 1, 1.5, "high"])
def test_bad_targets(target: Any) -> None:
    with pytest.raises(ValueError, match="target must be"):
        fit_learning_curve(SEEN, np.full(3, 0.9), JUDGED, 200).labels_needed(target)


def test_one_number_of_labels_makes_no_curve() -> None:
    with pytest.raises(ValueError, match="two different numbers"):
        fit_learning_curve(np.full(3, 50.0), np.full(3, 0.9), JUDGED, 200)


def test_the_present_accuracy_moves_the_curve_and_not_its_slope() -> None:
    hidden = 1 - 2 * SEEN**-0.5
    plain, higher = (fit_learning_curve(SEEN, hidden, JUDGED, 200, now) for now in (None, 0.95))
    assert plain.power == higher.power
    assert plain.accuracy(200) < higher.accuracy(200) < 0.95
    # both weigh the same: the error lies between those of the two
    assert 1 - higher.accuracy(200) == pytest.approx((1 - plain.accuracy(200)) / 2 + 0.025, abs=0.01)
    assert fit_learning_curve(SEEN, np.ones(3), JUDGED, 200, 1.0).labels_needed(0.98).more == 0
