"""Rows of no known class: which they are, and the groups they form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from anchorview.core.arrays import unit_rows
from anchorview.readers.base import HeldOutLabels
from anchorview.readers.novel_groups import group_novel_rows
from anchorview.readers.novelty import fit_novelty
from anchorview.readers.scattered import fit_scattered


@pytest.fixture(scope="module")
def part() -> Any:
    """Six places, of which two have no label; five labels in each of the others."""
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(6), 80)
    rows = unit_rows(3 * np.eye(8)[target] + 0.8 * rng.normal(size=(480, 8)))
    class_ids = np.full(480, -1)
    for number in range(4):
        class_ids[number * 80 : number * 80 + 5] = number
    labelled = np.flatnonzero(class_ids >= 0)
    probabilities = np.full((len(labelled), 4), 0.02)
    probabilities[np.arange(len(labelled)), class_ids[labelled]] = 0.94
    held_out = HeldOutLabels(labelled, class_ids[labelled], probabilities)
    confidence = np.where(class_ids >= 0, 1.0, rng.uniform(0.6, 1.0, size=480))  # of no use
    return rows, class_ids, confidence, held_out, target


def test_rows_of_unlabelled_classes_are_novel(part: Any) -> None:
    rows, class_ids, confidence, held_out, target = part
    model = fit_novelty(rows, class_ids, confidence, held_out)
    assert model is not None
    novelty = model.novelty(rows, confidence)
    others = class_ids < 0
    assert novelty.min() >= 0 and novelty.max() <= 1
    assert roc_auc_score(target[others] >= 4, novelty[others]) > 0.9
    np.testing.assert_allclose(model.novelty(rows[100:110], confidence[100:110]), novelty[100:110])


def test_the_same_each_time_and_nothing_given_is_changed(part: Any) -> None:
    given = [array.copy() for array in part[:3]]
    first, second = (fit_novelty(*part[:4]) for _ in range(2))
    assert first is not None and second is not None
    np.testing.assert_array_equal(first.novelty(part[0], part[2]), second.novelty(part[0], part[2]))
    for before, after in zip(given, part[:3], strict=True):
        np.testing.assert_array_equal(before, after)


def test_without_two_classes_there_is_nothing_to_tell(part: Any) -> None:
    rows, class_ids, confidence = part[:3]
    assert fit_novelty(rows, np.where(class_ids == 0, 0, -1), confidence, None) is None
    assert fit_novelty(rows, part[4], confidence, None) is None


def test_one_label_per_class_does_not_make_everything_new(part: Any) -> None:
    rows, class_ids, confidence = part[:3]
    once = np.where(np.isin(np.arange(480), [0, 80, 160, 240]), class_ids, -1)
    model = fit_novelty(rows, once, confidence, None)
    assert model is not None and (model.novelty(rows, confidence) > 0.5).mean() < 0.5


def test_groups_of_novel_rows(part: Any) -> None:
    rows, class_ids, target = part[0], part[1], part[4]
    novelty = np.where(target >= 4, 0.9, 0.1)
    groups = group_novel_rows(rows, novelty, class_ids < 0, usual_size=80)
    assert sum(group.size for group in groups) == 160 and len(groups) == 2
    for group in groups:
        assert len(np.unique(target[group.rows])) == 1 and np.isin(group.central, group.rows).all()
    assert group_novel_rows(rows, np.zeros(480), class_ids < 0, 80) == []


def test_rows_whose_novelty_leaves_it_open_go_to_the_nearer_centre(part: Any) -> None:
    rows, class_ids, target = part[0], part[1], part[4]
    novelty = np.where(target >= 4, 0.9, 0.1)
    novelty[[330, 20]] = 0.45, 0.55  # a new row and a known one, both in doubt
    found = np.where(target >= 4, 0, target)
    plain = group_novel_rows(rows, novelty, class_ids < 0, 80)
    assert not any(330 in group.rows for group in plain) and any(20 in group.rows for group in plain)
    moved = group_novel_rows(rows, novelty, class_ids < 0, 80, class_ids=found)
    assert any(330 in group.rows for group in moved) and not any(20 in group.rows for group in moved)
    assert sum(group.size for group in moved) == 160


def test_a_row_between_two_known_classes_is_in_doubt_but_not_new(part: Any) -> None:
    rows, class_ids, confidence, held_out, target = part
    between = unit_rows(np.concatenate([rows, rows[10:40] + rows[90:120]]))
    class_ids, confidence = np.append(class_ids, np.full(30, -1)), np.append(confidence, np.full(30, 0.7))
    model = fit_novelty(between, class_ids, confidence, held_out)
    assert model is not None
    novelty = model.novelty(between, confidence)
    assert np.median(novelty[480:]) < np.median(novelty[:480][target >= 4])


def test_scattered_rows_are_novel_where_there_are_some(part: Any) -> None:
    rows, class_ids, confidence, held_out, target = part
    rng = np.random.default_rng(1)
    class_ids = np.where((target < 4) & (np.arange(480) % 8 == 0), target, -1)
    usual, is_odd = rng.normal(size=480), (class_ids < 0) & (np.arange(480) % 20 == 1)
    unlike = np.where(is_odd, usual + 8, usual)
    model = fit_novelty(rows, class_ids, confidence, held_out, unlikeness=unlike)
    assert model is not None and model.scattered.odds.max() > 10
    novelty = model.novelty(rows, confidence, unlike)
    assert (novelty[is_odd] > 0.9).all()
    none = fit_novelty(rows, class_ids, confidence, held_out, unlikeness=usual)
    assert none is not None
    assert ((none.novelty(rows, confidence, usual) > 0.5) != (none.novelty(rows, confidence) > 0.5)).mean() < 0.01
    chosen = fit_novelty(
        rows, class_ids, confidence, held_out, unlikeness=unlike, drawn_at_random=np.zeros(480, dtype=bool)
    )
    assert chosen is not None and not len(chosen.scattered.odds)  # rows that the model chose tell nothing of others


def test_where_labelled_rows_are_as_odd_nothing_is_scattered() -> None:
    values = np.random.default_rng(0).normal(size=2100)
    values[::20] += 8
    assert np.quantile(fit_scattered(values[:100], values[100:]).odds, 0.99) < 1
    assert not len(fit_scattered(values[:19], values[19:]).odds)  # too few to tell
