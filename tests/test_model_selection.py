"""Splits that hide labels and keep the unlabelled rows in every fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from anchorview import FSSMSC, LabelHidingKFold
from support.settled import CHOSEN


@given(st.lists(st.integers(-1, 3), min_size=6, max_size=60), st.integers(2, 5), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_hidden_labels_are_tested_and_the_rest_is_trained_on(y: list[int], n_splits: int, n_repeats: int) -> None:
    """How labels are dealt out is tested with `split_labels`; here, what becomes of all the rows."""
    labels = np.array([9, 9, *y])
    splits = list(LabelHidingKFold(n_splits, n_repeats, random_state=0).split(labels, labels))
    classes = set(labels.tolist()) - {-1}
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(labels)))
        assert (labels[test] >= 0).all()
        assert set(labels[train]) >= classes  # a class is never hidden as a whole
    counts = {label: int((labels == label).sum()) for label in classes}
    tested = np.concatenate([test for _, test in splits])
    assert len(tested) == n_repeats * sum(count for count in counts.values() if count > 1)


def test_no_label_can_be_hidden() -> None:
    with pytest.raises(ValueError, match="at most one labelled row"):
        list(LabelHidingKFold().split([0, 1, -1], [0, 1, -1]))


def test_label_hiding_in_a_grid_search(some_digits: Any) -> None:
    folds = LabelHidingKFold(3, random_state=0)
    grid = {"scaling": ["minmax", "l2"]}
    model = FSSMSC(**CHOSEN, n_landmarks=60, random_state=0)
    search = GridSearchCV(model, grid, cv=folds).fit(some_digits.views, some_digits.y)
    assert search.best_score_ > 0.8
    assert set(search.cv_results_) >= {"split2_test_score", "mean_test_score"}


@pytest.mark.parametrize(
    ("name", "value"), [("n_splits", 1), ("n_splits", 10**30), ("n_repeats", 0), ("n_splits", "3")]
)
def test_parameters_are_checked(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be an integer"):
        next(LabelHidingKFold(**{name: value}).split([0, 0], [0, 0]))


@pytest.mark.parametrize("y", [None, 3])
def test_labels_are_needed(y: Any) -> None:
    with pytest.raises(ValueError, match="y must hold a label for each row"):
        next(LabelHidingKFold().split([0, 0], y))


def test_folds_that_few_labels_allow_are_counted() -> None:
    """A number that is too high would stop GridSearchCV."""
    y = np.array([0, 0, 1, -1, -1])
    folds = LabelHidingKFold(2**31 - 1, n_repeats=2, random_state=0)
    assert folds.get_n_splits(y, y) == len(list(folds.split(y, y))) == 4
    assert LabelHidingKFold(3, 2).get_n_splits() == 6
