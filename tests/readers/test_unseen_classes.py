"""Confidence where classes have no label: the share of such rows, and which rows they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from anchorview.core.arrays import unit_rows
from anchorview.metrics import expected_calibration_error
from anchorview.readers.base import HeldOutLabels
from anchorview.readers.unseen_classes import correct_confidence, fit_density_ratio, left_out_distances


@pytest.fixture
def part() -> Any:
    """Thirty places, one a class; some twenty of them have a label, and the model is sure of all rows."""
    rng = np.random.default_rng(0)
    target = rng.integers(30, size=900)
    rows = unit_rows(rng.normal(size=(30, 12))[target] + 0.15 * rng.normal(size=(900, 12)))
    is_labelled = np.zeros(900, dtype=bool)
    is_labelled[rng.choice(900, 32, replace=False)] = True
    classes, ids = np.unique(target[is_labelled], return_inverse=True)
    class_ids = np.full(900, -1)
    class_ids[is_labelled] = ids
    labelled = np.flatnonzero(is_labelled)
    nearest = labelled[np.argmax(rows @ rows[labelled].T, axis=1)]
    right = target == target[nearest]
    counts = np.bincount(ids)
    judged = labelled[counts[ids] > 1]
    probabilities = np.full((len(judged), len(classes)), 0.05 / (len(classes) - 1))
    probabilities[np.arange(len(judged)), class_ids[judged]] = 0.95  # as sure as of rows without a label
    held_out = HeldOutLabels(judged, class_ids[judged], probabilities)
    confidence = np.where(is_labelled, 1.0, 0.95)
    return confidence, is_labelled, class_ids, rows, held_out, right, np.isin(target, classes)


def test_rows_of_classes_without_a_label_lose_their_confidence(part: Any) -> None:
    confidence, is_labelled, class_ids, rows, held_out, right, named = part
    corrected, share = correct_confidence(confidence, class_ids, rows, held_out)
    others = ~is_labelled
    assert share == pytest.approx(1 - named.mean(), abs=0.12)
    assert corrected[others & ~named].mean() < 0.5 < corrected[others & named].mean()
    before, after = (expected_calibration_error(right[others], sure[others]) for sure in (confidence, corrected))
    assert after < 0.75 * before
    np.testing.assert_array_equal(corrected[is_labelled], 1.0)
    assert (corrected <= confidence).all() and (confidence[others] == 0.95).all()  # a copy


def test_nothing_changes_where_nothing_can_be_told(part: Any) -> None:
    confidence, is_labelled, class_ids, rows, held_out = part[:5]
    counts = np.bincount(class_ids[is_labelled])
    several = is_labelled & (np.append(counts, 0)[class_ids] > 1)
    alone = np.zeros(900, dtype=bool)
    alone[[np.flatnonzero(class_ids == number)[0] for number in range(len(counts))]] = True
    for labelled in (several, alone):
        assert correct_confidence(confidence, np.where(labelled, class_ids, -1), rows, held_out)[0] is confidence
    assert correct_confidence(confidence, class_ids, rows, None)[0] is confidence


def test_only_labels_drawn_at_random_tell_the_share_of_classes_without_one(part: Any) -> None:
    """A class that was searched for has one label, and says nothing of how many classes have none."""
    confidence, _, class_ids, rows, held_out = part[:5]
    counts = np.bincount(class_ids[class_ids >= 0])
    is_alone = (class_ids >= 0) & (np.append(counts, 0)[class_ids] == 1)
    few = np.flatnonzero(is_alone)[:1]
    counted = ~is_alone
    counted[few] = True
    whole = correct_confidence(confidence, class_ids, rows, held_out)[1]
    assert 0 < correct_confidence(confidence, class_ids, rows, held_out, counted=counted)[1] < whole


def test_the_ratio_is_the_least_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    known, new = rng.beta(2, 4, size=30), rng.beta(4, 2, size=50)

    def loss(values: Any) -> float:
        logits = [values[0] + values[1] * (signs - 0.5) for signs in (known, new)]
        fit = 80 / 60 * np.log1p(np.exp(logits[0])).sum() + 80 / 100 * np.log1p(np.exp(-logits[1])).sum()
        return float(fit + (values[1] - 8) ** 2 / 32 + values[0] ** 2 / 18)

    found = fit_density_ratio(known, new)
    np.testing.assert_allclose([found.offset, found.slope], minimize(loss, [0.0, 8.0]).x, atol=1e-4)


def test_without_known_rows_half_of_the_new_ones_are_told() -> None:
    ratio = fit_density_ratio(np.empty(0), np.array([0.6, 0.8, 1.0]))
    assert ratio.log(np.array([0.8]))[0] == pytest.approx(0) and ratio.slope > 0


def test_left_out_distances() -> None:
    rows = unit_rows(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]))
    found = left_out_distances(rows, np.array([0, 0, 1]))
    cosine = rows @ rows.T
    np.testing.assert_allclose(found.known, 1 - np.array([cosine[0, 1], cosine[0, 1], cosine[1, 2]]))
    np.testing.assert_allclose(found.new, 1 - np.array([cosine[0, 2], cosine[1, 2], cosine[1, 2]]))
