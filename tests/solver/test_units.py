"""Codes that would be dense are kept sparse where weights are free, and named where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, ActiveSet, Views
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.solver.weights import DEFAULTS, DENSE, ModelWeights, to_paper_weights


@pytest.fixture(scope="module")
def dense() -> Any:
    """Rows of many features and next to nothing in common, and a ridge beside which they are all alike."""
    rows = np.random.default_rng(0).normal(size=(600, 400))
    views = Views([rows])
    return represent(views, fit_scaling(views, "symmetric"), "random", 200, np.random.RandomState(0))


def test_free_weights_are_changed_until_codes_are_sparse(dense: Any) -> None:
    asked = ModelWeights(0.0, 1e3, 3.0, 0.1)
    kept = to_paper_weights(dense.cross, dense.grams.complete, asked, "data")
    assert kept.was_dense and kept.nonzeros > DENSE and kept.asked == asked
    changed = to_paper_weights(dense.cross, dense.grams.complete, asked, "data", is_free=True)
    assert changed.was_dense and changed.nonzeros <= DENSE
    assert changed.asked.ridge < 1e3 and changed.weights.ridge < kept.weights.ridge


def test_sparse_codes_are_left_alone(dense: Any) -> None:
    settled = to_paper_weights(dense.cross, dense.grams.complete, DEFAULTS["data"], "data", is_free=True)
    assert not settled.was_dense and settled.asked == DEFAULTS["data"]


def test_rows_of_weight_zero_do_not_count(dense: Any) -> None:
    weights = np.where(np.arange(600) < 300, 1.0, 0.0)
    half = represent(
        Views([np.random.default_rng(0).normal(size=(600, 400))[:300]]),
        dense.scaler,
        dense.landmarks,
        200,
        np.random.RandomState(0),
    )
    found, expected = (
        to_paper_weights(dense.cross, dense.grams.complete, DEFAULTS["data"], "data", weights),
        to_paper_weights(half.cross, half.grams.complete, DEFAULTS["data"], "data"),
    )
    assert found.weights.l1 == pytest.approx(expected.weights.l1, rel=1e-5)
    assert found.weights.must_link_weight == pytest.approx(expected.weights.must_link_weight, rel=1e-4)


def signed(n_rows: int = 500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    target = rng.integers(3, size=n_rows)
    rows = rng.normal(size=(n_rows, 300)) + 0.3 * rng.normal(size=(3, 300))[target]
    return rows, np.where(rng.random(n_rows) < 0.1, target, -1)


def test_an_explicit_setting_is_obeyed_and_its_cost_named() -> None:
    rows, y = signed()
    with pytest.warns(UserWarning, match=r"about 1\d\d non-zeros.* slow: about \d+ times .*\"auto\" for both"):
        model = FSSMSC(ridge=1e4, n_landmarks=160, scaling="minmax", solver=ActiveSet(max_iter=2), random_state=0).fit(
            [rows], y
        )
    assert model.nonzeros_ > DENSE and model.chosen_["ridge"] == 1e4


def test_the_status_says_that_weights_were_changed() -> None:
    """Mostly zeros, which this scaling puts at the far end of the range: rows are all alike but for a few features."""
    rng = np.random.default_rng(0)
    target = rng.integers(3, size=1500)
    chances = 0.01 + 0.04 * (rng.random((3, 50)) < 0.3)[target]
    rows = np.where(rng.random((1500, 50)) < chances, rng.exponential(size=(1500, 50)), 0.0)
    y = np.where(rng.random(1500) < 0.1, target, -1)
    model = FSSMSC(n_landmarks=400, scaling="symmetric", solver=ActiveSet(max_iter=3), random_state=0).fit([rows], y)
    assert "codes would have had more than 120 non-zeros: ridge was lowered" in model.status_
    assert model.chosen_["ridge"] <= 1 and model.nonzeros_ <= 1.1 * DENSE
