"""Logistic regression beside a fit: on the same hidden labels, none of which it sees."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, Views, datasets
from anchorview.report import rival
from anchorview.report.rival import Comparison, compare_with_logistic
from anchorview.report.run_summary import summarise_run
from anchorview.report.run_words import describe_comparison
from support.runs import SETTLED, fit_small, grid


def test_it_is_judged_on_the_labels_that_the_fit_is_judged_on() -> None:
    model, y, made = fit_small()
    found = compare_with_logistic(model, made.views, y)
    assert found is not None and found.rival is not None
    assert found.n_judged == len(model.held_out_) and found.own == pytest.approx(model.held_out_.right.mean())
    assert found.rival > 0.8
    difference = (found.n_only_own - found.n_only_rival) / found.n_judged
    assert found.own - found.rival == pytest.approx(difference)


def test_no_label_is_seen_by_the_model_that_looks_for_it() -> None:
    rng = np.random.RandomState(0)
    noise, y = rng.rand(200, 300), rng.randint(2, size=200)
    model = FSSMSC(n_landmarks=40, random_state=0, **SETTLED).fit([noise], y)
    found = compare_with_logistic(model, Views([noise]), y)
    assert found is not None and found.rival is not None and found.rival < 0.65


def test_many_classes_of_two_labels_are_no_surprise() -> None:
    rows = np.random.RandomState(0).rand(40, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn would take labels of so many classes for numbers
        rival._found(rows, np.arange(40) % 20, 1.0)


def test_fewer_dimensions_change_no_prediction() -> None:
    rng = np.random.RandomState(0)
    rows = sparse.csr_array(sparse.random(30, 200, 0.1, random_state=rng))
    rotated = rival._rotate(rows)
    assert rotated.shape[1] <= 30
    np.testing.assert_allclose(rotated @ rotated.T, (rows @ rows.T).toarray(), atol=1e-10)


def test_missing_views_and_numbers_are_fine() -> None:
    made = datasets.make_multiview_subspaces(120, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.3, stratified=True, random_state=0)
    mask = np.random.RandomState(0).rand(120, 2) < 0.7
    mask[~mask.any(axis=1)] = True
    views = Views(made.data, mask=mask)
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(views, y)
    found = compare_with_logistic(model, views, y)
    assert found is not None and found.rival is not None and found.rival > 0.5


def test_what_would_take_too_long_is_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    model, y, made = fit_small()
    monkeypatch.setattr(rival, "_MOST_LABELS", 10)
    summary = summarise_run(model, y, X=made.views, xy=grid(120))
    assert summary.comparison is not None and summary.comparison.rival is None
    assert (
        describe_comparison(summary) == "It was not compared with logistic regression: there are more than 10 labels."
    )


def test_a_difference_is_called_one_only_if_it_is_no_chance() -> None:
    model, y, made = fit_small()
    summary = summarise_run(model, y, X=made.views, xy=grid(120))
    for counts, verdict in (((30, 5), "the fit does better"), ((5, 30), "logistic regression does better"),
                            ((9, 5), "no clear difference")):  # fmt: skip
        own, other = 0.5 + counts[0] / 200, 0.5 + counts[1] / 200
        words = describe_comparison(replace(summary, comparison=Comparison(own, other, 200, "", *counts)))
        assert words.endswith(f"{verdict}.") and words.startswith("On the same 200 hidden labels")
    assert compare_with_logistic(model, None, y) is None
