"""Late fusion: a regression on each view, and no word from views that a row lacks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from anchorview.readers.linear import fit_linear
from anchorview.readers.view_regressions import fit_view_regressions

SIZES = [3, 2]


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 5))


@pytest.fixture
def class_ids() -> np.ndarray:
    return np.arange(40) % 3


def test_it_is_the_mean_of_regressions_on_single_views(rows: np.ndarray, class_ids: np.ndarray) -> None:
    reader = fit_view_regressions(rows, SIZES, class_ids, 3, 10.0)
    alone = [fit_linear(part, class_ids, 3, 10.0).scores(part) for part in (rows[:, :3], rows[:, 3:])]
    expected = np.mean([softmax(scores, axis=1) for scores in alone], axis=0)
    np.testing.assert_allclose(np.exp(reader.scores(rows)), expected)
    np.testing.assert_allclose(reader.scores(sparse.csr_array(rows)), reader.scores(rows))


def test_a_view_that_a_row_lacks_has_no_say(rows: np.ndarray, class_ids: np.ndarray) -> None:
    reader = fit_view_regressions(rows, SIZES, class_ids, 3, 10.0)
    without = rows.copy()
    without[:, 3:] = 0.0
    np.testing.assert_allclose(np.exp(reader.scores(without)), softmax(reader.views[0].scores(rows[:, :3]), axis=1))
    assert np.isfinite(reader.scores(np.zeros((2, 5)))).all()  # a row of no view at all


def test_classes_without_a_label_are_the_least_likely(rows: np.ndarray, class_ids: np.ndarray) -> None:
    shown = class_ids < 2
    scores = fit_view_regressions(rows[shown], SIZES, class_ids[shown], 3, 10.0).scores(rows)
    assert scores.shape == (40, 3)
    assert (scores.argmin(axis=1) == 2).all()
