"""Many labels: rows are compared with a bounded number of them, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC
from anchorview.datasets import make_multiview_subspaces
from support.settled import CHOSEN


@pytest.mark.parametrize("readers", ["nearest", "knn", ("nearest", "linear")])
def test_above_a_number_of_labels_some_of_each_class_are_compared_with(
    readers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_multiview_subspaces(500, 4, random_state=0)
    y = np.where(np.arange(500) < 450, data.target, -1)
    model = FSSMSC(n_landmarks=40, random_state=0, **{**CHOSEN, "readers": readers}).fit(data.views, y)
    embedding = model.embedding_
    assert len(neighbours(model).reference) == 450 and "compared with" not in model.status_
    monkeypatch.setattr("anchorview.fitting.learning.MAX_READ", 100)
    kept = neighbours(model.fit(data.views, y))
    assert 90 <= len(kept.reference) <= 108 and np.bincount(kept.class_ids).min() >= 20
    assert "Rows are compared with about 100 of 450 labelled ones." in model.status_
    np.testing.assert_array_equal(model.embedding_, embedding)  # learned from all labels
    np.testing.assert_array_equal(model.labels_[:450], data.target[:450])
    assert (model.labels_[450:] == data.target[450:]).mean() > 0.9
    labels = model.labels_
    np.testing.assert_array_equal(model.fit(data.views, y).labels_, labels)


def neighbours(model: Any) -> Any:
    return model._model.members[-1].reader
