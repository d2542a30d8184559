"""The protocol of every figure: how labels are drawn and scores averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, datasets
from anchorview.baselines import ConcatKMeans
from anchorview.bench.protocol import average, cluster_once, label_fraction, repeat, run_once
from anchorview.metrics import clustering_report
from support.settled import CHOSEN


def test_protocol_scores_unlabelled_rows() -> None:
    assert label_fraction(2_000) == 0.05
    assert label_fraction(10_000) == 0.01
    data = datasets.make_multiview_subspaces(300, 3, noise=0.05, random_state=0)
    runs = repeat(
        lambda seed: FSSMSC(**CHOSEN, n_landmarks=40, random_state=seed), data.views, data.target, [0, 1], 0.1
    )
    mean = average(runs)
    assert 90 < mean["acc"][0] <= 100
    assert mean["acc"][1] == pytest.approx(np.std([run["acc"] for run in runs]))
    assert {"nmi", "ari", "seconds", "ece"} <= set(mean)


def test_methods_without_labels_are_scored_on_all_rows() -> None:
    data = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = ConcatKMeans(3, random_state=0)
    scores = cluster_once(model, data.views, data.target)
    assert scores.pop("seconds") > 0
    assert (scores.pop("fit_status"), scores.pop("warnings")) == ("", [])
    assert scores == {name: 100 * value for name, value in clustering_report(data.target, model.labels_).items()}


class Repeats:
    """Repeats the labels it is given, and says class 0 of all other rows."""

    def fit(self, views: Any, y: np.ndarray) -> Repeats:
        self.labels_ = np.where(y == -1, 0, y)
        self.confidence_ = np.where(y == -1, 0.25, 1.0)
        return self


def test_rows_that_kept_their_label_are_not_scored() -> None:
    data = datasets.make_multiview_subspaces(90, 3, random_state=0)
    scores = run_once(Repeats(), data.views, data.target, 0, 0.5)
    hidden = datasets.hide_labels(data.target, 0.5, random_state=0) == -1
    expected = clustering_report(data.target[hidden], np.zeros(hidden.sum()))
    assert {name: scores[name] for name in expected} == {name: 100 * value for name, value in expected.items()}
    right = (data.target[hidden] == 0).mean()
    assert scores["ece"] == pytest.approx(100 * abs(right - 0.25))
