"""The score that leaves out rows without a label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from anchorview import FSSMSC, LabelHidingKFold
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.metrics import labelled_accuracy, labelled_scorer
from support.settled import CHOSEN


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 40, "random_state": 0, "n_jobs": 1, **parameters})


def test_rows_without_label_do_not_count() -> None:
    assert labelled_accuracy([0, 1, 1, -1, -1], [0, 1, 0, 0, 1]) == pytest.approx(2 / 3)
    assert labelled_accuracy(["a", None, "", "b"], ["a", "b", "b", "b"]) == 1.0
    assert labelled_accuracy([1, -1, -1], [1, 5, 5]) == 1.0  # -1 is no class, also beside 1 alone
    assert labelled_accuracy([0, 1, -1], [0, 0, 0], sample_weight=[3, 1, 9]) == 0.75


def test_nothing_to_compare_with() -> None:
    with pytest.raises(ValueError, match="No row of y_true has a label"):
        labelled_accuracy([-1, -1], [0, 1])
    with pytest.raises(ValueError, match="y has 3 labels"):
        labelled_accuracy([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="one dimension"):
        labelled_accuracy([0, 1], [[0, 1]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scorer_in_searches() -> None:
    data = make_multiview_subspaces(300, 4, (8, 6), noise=0.3, random_state=1)
    data.y = hide_labels(data.target, 0.1, stratified=True, random_state=0)
    grid = {"ridge": [1.0, 1e6]}
    search = GridSearchCV(build(), grid, scoring=labelled_scorer, cv=LabelHidingKFold(2, random_state=0))
    search.fit(data.views, data.y)
    assert search.best_score_ > 0.5 and not np.isnan(search.cv_results_["mean_test_score"]).any()
    features = np.hstack(data.data)
    folds = KFold(3, shuffle=True, random_state=0)
    found = cross_val_score(build(views=[8, 6]), features, data.y, scoring=labelled_scorer, cv=folds)
    plain = cross_val_score(build(views=[8, 6]), features, data.y, scoring="accuracy", cv=folds)
    assert found.mean() > 0.5 > plain.mean()  # plain accuracy counts every row without a label as wrong


@pytest.mark.parametrize("weights", [[1], [1, -1, 1], ["a", "b", "c"], [0, 0, 1], [np.nan, 1, 1]])
def test_weights_that_cannot_work(weights: Any) -> None:
    with pytest.raises(ValueError, match="sample_weight"):
        labelled_accuracy([0, 1, -1], [0, 1, 1], sample_weight=weights)


def test_text_is_not_compared_with_numbers() -> None:
    with pytest.raises(ValueError, match="give both as one type"):
        labelled_accuracy(["0", "1"], [0, 1])
