"""The quality of given labels, and that no label has a say in its own."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import anchorview
from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.tuning.label_quality import LeaveOneOut, fit_moments, make_ridge_space
from support.settled import SETTLED

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TUNED = {"n_landmarks": 30, "n_averaged": 2, "scaling": "minmax", "n_repeats": 1}


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**SETTLED, "n_landmarks": 40, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(240, 4, (8, 6), noise=0.2, random_state=1)
    made.right = hide_labels(made.target, 0.4, stratified=True, random_state=0)
    made.y = made.right.copy()
    made.wrong = np.flatnonzero(made.right >= 0)[::10]
    made.y[made.wrong] = (made.y[made.wrong] + 1) % 4
    made.model = build().fit(made.views, made.y)
    return made


def auroc(quality: np.ndarray, data: Any) -> float:
    labelled = data.y >= 0
    return float(roc_auc_score((data.y != data.right)[labelled], -quality[labelled]))


@pytest.mark.parametrize("kind", ["FSSMSC", "AnchorViewClassifier"])
def test_wrong_labels_rank_lowest_and_every_label_has_a_rank(data: Any, kind: str) -> None:
    model = data.model if kind == "FSSMSC" else AnchorViewClassifier(**TUNED, random_state=0).fit(data.views, data.y)
    quality = model.label_quality_
    np.testing.assert_array_equal(np.isnan(quality), data.y < 0)
    assert ((quality >= 0) & (quality <= 1))[data.y >= 0].all()
    assert auroc(quality, data) > 0.95
    assert np.isin(np.argsort(quality)[: len(data.wrong)], data.wrong).mean() > 0.7


def test_a_label_has_no_say_in_its_own_quality(data: Any) -> None:
    """What is preferred at a row stays nearly what it is, whatever label the row is given."""
    row = int(np.flatnonzero(data.y == 0)[3])
    found = []
    for label in (0, 1, 2):
        y = data.y.copy()
        y[row] = label
        model = build().fit(data.views, y)
        found.append((int(model._likely_class_ids[row]), float(model.label_quality_[row])))
    assert len({preferred for preferred, _ in found}) == 1
    qualities = [quality for _, quality in found]
    assert int(np.argmax(qualities)) == found[0][0] and sum(qualities) < 1.2


def test_leaving_one_out_is_a_fit_without_it() -> None:
    rng = np.random.default_rng(0)
    for n_rows, n_features in ((30, 5), (12, 40)):
        rows, class_ids, weights = rng.normal(size=(n_rows, n_features)), rng.integers(0, 3, n_rows), rng.random(n_rows)
        space = make_ridge_space(rows, weights)
        moments, shares = fit_moments(space, space.coordinates(rows), class_ids, 3, weights)
        found = LeaveOneOut(space, moments, shares, 0.7).scores(space.coordinates(rows), class_ids, weights)
        kept = np.arange(n_rows) != 4
        design = np.hstack([rows, np.ones((n_rows, 1))])
        penalty = np.diag([0.7] * n_features + [0.0])
        weighted = design[kept] * weights[kept, None]
        solved = np.linalg.solve(weighted.T @ design[kept] + penalty, weighted.T @ np.eye(3)[class_ids[kept]])
        np.testing.assert_allclose(found[4], design[4] @ solved, atol=1e-8)


def test_labels_that_cannot_be_judged_have_no_quality(data: Any) -> None:
    y = data.y.copy()
    y[np.flatnonzero(y == 0)[0]] = 7
    alone = build().fit(data.views, y).label_quality_
    assert np.isnan(alone[y == 7]).all() and np.isfinite(alone[(y >= 0) & (y != 7)]).all()
    one_each = np.full(len(y), -1)
    for number in range(4):
        one_each[np.flatnonzero(data.target == number)[0]] = number
    assert np.isnan(build().fit(data.views, one_each).label_quality_).all()
    clusters = FSSMSC(n_clusters=4, n_landmarks=40, random_state=0, scaling="l2").fit(data.views)
    assert clusters.label_quality_.shape == (240,) and np.isnan(clusters.label_quality_).all()


def test_rows_of_weight_zero_are_judged_but_teach_nothing(data: Any) -> None:
    weights = np.ones(240)
    weights[data.wrong[::2]] = 0
    quality = build().fit(data.views, data.y, sample_weight=weights).label_quality_
    assert np.isfinite(quality[data.y >= 0]).all() and auroc(quality, data) > 0.95


def test_it_is_the_same_for_any_threads_and_survives_pickles_and_files(data: Any, tmp_path: Path) -> None:
    quality = data.model.label_quality_
    np.testing.assert_array_equal(build(n_jobs=2).fit(data.views, data.y).label_quality_, quality)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data.model)).label_quality_, quality)
    anchorview.save(data.model, tmp_path / "m.anchorview", rows=True)
    np.testing.assert_array_equal(anchorview.load(tmp_path / "m.anchorview").label_quality_, quality)
    anchorview.save(data.model, tmp_path / "few.anchorview")
    with pytest.raises(AttributeError, match="rows=True"):
        anchorview.load(tmp_path / "few.anchorview").label_quality_  # noqa: B018


def test_relabelling_keeps_the_quality_of_the_labels_given(data: Any) -> None:
    model = build(relabel=0.9).fit(data.views, data.y)
    assert len(model.relabelled_) and (model.label_quality_[model.relabelled_] < 0.5).all()
    np.testing.assert_allclose(model.label_quality_, data.model.label_quality_, atol=1e-3)
