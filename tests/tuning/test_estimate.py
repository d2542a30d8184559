"""The accuracy that the tuner states is the one it has, also where labels cannot be judged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from anchorview import AnchorViewClassifier, datasets
from anchorview.tuning.judging import Judgement
from anchorview.tuning.settings import Setting
from anchorview.tuning.summary import LEVEL, estimate_accuracy, judge_average
from support.searches import search_data

SHORT: dict[str, Any] = {
    "feature_strengths": (1.0,),
    "graph_strengths": (0.8,),
    **dict.fromkeys(("ridges", "l1s", "must_link_weights", "heavy_ridges"), ()),
}


def build(**parameters: Any) -> AnchorViewClassifier:
    fixed = {"n_landmarks": 60, "scaling": "minmax", "n_repeats": 1, "random_state": 0, "search_options": SHORT}
    return AnchorViewClassifier(**{**fixed, **parameters})


# The fit


def test_classes_without_labels_count() -> None:
    """40 classes and 40 labels drawn at random: a third of the classes has none, and the tuner cannot see that."""
    made = datasets.make_multiview_subspaces(800, 40, (30, 20), noise=0.05, random_state=0)
    y = datasets.hide_labels(made.target, n_labels=40, random_state=0)
    hidden = y < 0
    counts = np.bincount(y[~hidden], minlength=40)
    assert (counts == 0).sum() > 10 and (counts == 1).sum() > 10
    with pytest.warns(UserWarning, match="are the only one of their class and could not be judged"):
        model = build().fit(made.views, y)
    true = (model.labels_ == made.target)[hidden].mean()
    low, high = model.best_score_interval_
    assert model.cv_results_["mean_test_score"][model.best_index_] > true + 0.2  # as judged, it looks far better
    assert abs(model.best_score_ - true) < 0.12
    assert low < true < high
    assert f"{(counts == 1).sum()} of 40 labels are the only one of their class" in model.status_


def test_no_warning_where_all_labels_are_judged(some_digits: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = build().fit(some_digits.views, some_digits.y)
    true = (model.labels_ == some_digits.target)[some_digits.hidden].mean()
    low, high = model.best_score_interval_
    assert low < model.best_score_ < high and low < true < high
    assert "only one of their class" not in model.status_


def test_the_average_is_chosen_without_the_labels_it_is_judged_on(some_digits: Any) -> None:
    """Labels that mean nothing: the best of many settings finds more of them than chance, the estimate does not."""
    stated, judged = [], []
    for seed in range(2):
        y, given = some_digits.y.copy(), ~some_digits.hidden
        y[given] = np.random.RandomState(seed).permutation(y[given])
        model = AnchorViewClassifier(n_landmarks=60, n_repeats=1, random_state=seed).fit(some_digits.views, y)
        stated.append(model.best_score_)
        judged.append(model.cv_results_["mean_test_score"].max())
    assert np.mean(stated) < 0.14 < np.mean(judged)  # chance is 0.1


def test_settings_that_are_right_on_one_fold_only_are_right_on_none(some_digits: Any) -> None:
    """Without the rows of its fold such a setting looks worst, and the others are wrong there."""
    data = search_data(some_digits)
    truth = data.class_ids[data.judged_rows]
    judgements = []
    for number, fold in enumerate(data.folds):
        wrong = np.full((len(truth), data.n_classes), 0.01)
        wrong[np.arange(len(truth)), (truth + 1) % data.n_classes] = 0.9
        lucky = np.isin(data.judged_rows, fold)
        wrong[lucky] = 0.01
        wrong[lucky, truth[lucky]] = 0.99
        setting = Setting("minmax", 60, head="features", strength=float(number))
        judgements.append(Judgement(setting, 1.0, 0.5, (0.5,), 1.0, 0.0, 1.0, wrong / wrong.sum(axis=1, keepdims=True)))
    assert judge_average(data, judgements, 1)[0].judged == 0.0


def test_weights_count_in_the_estimate(some_digits: Any) -> None:
    y = some_digits.y.copy()
    first = np.flatnonzero(y == 0)
    y[first[1:]] = -1  # class 0 has one label left
    light = np.ones(len(y))
    light[first[0]] = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal, weighted = (build().fit(some_digits.views, y, sample_weight=w) for w in (None, light))
    n_labels = (y >= 0).sum()
    judged = weighted.best_score_
    assert equal.best_score_ == pytest.approx(judged * (n_labels - 1) / n_labels, abs=1e-4)


# The estimate


def test_nothing_and_everything() -> None:
    none, all_right = (estimate_accuracy(np.full(10, found), None, 0, 0.0) for found in (False, True))
    assert none.score == 0 and none.interval[0] == 0 and 0.2 < none.interval[1] < 0.3
    assert all_right.score == 1 and all_right.interval[1] == 1 and 0.7 < all_right.interval[0] < 0.8
    assert none.describe() == ""


def test_more_rows_make_it_narrower_and_the_unit_of_weights_does_not_matter() -> None:
    few, many = (estimate_accuracy(np.arange(n) % 5 > 0, None, n // 5, n / 5) for n in (20, 200))
    assert few.score == pytest.approx(many.score) == pytest.approx(0.8 * 5 / 6)
    assert few.interval[0] < many.interval[0] < many.interval[1] < few.interval[1]
    right, weights = np.arange(30) % 3 > 0, 1.0 + np.arange(30) % 2
    one, ten = (estimate_accuracy(right, weights * unit, 2, 2.0 * unit) for unit in (1.0, 10.0))
    assert one.score == pytest.approx(ten.score) and one.interval == pytest.approx(ten.interval)
    assert one.interval[0] < estimate_accuracy(right, None, 2, 2.0).interval[0] + 0.05


@pytest.mark.parametrize("n_labels", [15, 60, 240])
def test_the_interval_holds_what_it_promises(n_labels: int) -> None:
    """Classes of very different sizes, labels drawn at random, rows of seen classes found with chance 0.85."""
    rng = np.random.default_rng(n_labels)
    shares = 1 / np.arange(1, 61)
    shares /= shares.sum()
    inside, errors = [], []
    for _ in range(400):
        drawn = rng.choice(60, n_labels, p=shares)
        counts = np.bincount(drawn, minlength=60)
        true = 0.85 * shares[counts > 0].sum()
        judged = counts[drawn] > 1
        right = rng.random(judged.sum()) < 0.85
        if len(right) == 0:
            continue
        found = estimate_accuracy(right, None, int((~judged).sum()), float((~judged).sum()))
        inside.append(found.interval[0] <= true <= found.interval[1])
        errors.append(found.score - true)
    assert np.mean(inside) >= LEVEL
    assert abs(np.mean(errors)) < 0.03  # Good and Turing: on average right
