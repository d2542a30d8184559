"""The summary of a fit: what it counts, what it finds doubtful, and what it says where little is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.report.run_evidence import find_suspects
from anchorview.report.run_summary import summarise_run
from anchorview.report.run_words import accuracy_text, describe_result, next_steps, percent
from support.runs import SETTLED, fit_small, grid


@pytest.fixture(scope="module")
def small() -> Any:
    return fit_small()


def test_it_counts_rows_labels_and_classes(small: Any) -> None:
    model, y, made = small
    summary = summarise_run(model, y, X=made.views, xy=grid(120), command="anchorview fit a.csv", files=["a.csv"])
    assert summary.n_rows == 120 and summary.classes == ["0", "1", "2"] and summary.method == "FSSMSC"
    np.testing.assert_array_equal(summary.given, y)
    np.testing.assert_array_equal(summary.by_model, y < 0)
    np.testing.assert_array_equal(model.classes_[summary.class_ids], model.labels_)
    assert summary.ids is None and summary.id_of(5) == "5"
    assert summary.files == {"file 1": "a.csv"} and summary.command == "anchorview fit a.csv"
    assert summary.parameters["n_landmarks"] == "30" and summary.chosen["ridge"] == "3.0"
    assert set(summary.seconds) == set(model.stage_seconds_) and "numpy" in summary.versions
    assert len(summary.suggested) == 20 and (y[summary.suggested] < 0).all()
    assert summary.views.changed is not None and len(summary.views.changed) == 2


def test_the_labels_that_a_model_remembers_do_for_those_given(small: Any) -> None:
    model, y, _ = small
    np.testing.assert_array_equal(summarise_run(model, xy=grid(120)).given, y)


def test_accuracy_confusion_and_reliability_come_from_the_same_hidden_labels(small: Any) -> None:
    model, y, _ = small
    summary = summarise_run(model, y, xy=grid(120))
    n_judged = int((y >= 0).sum())
    assert summary.confusion is not None and summary.accuracy is not None and summary.reliability is not None
    assert summary.confusion.sum() == summary.reliability.count.sum() == summary.accuracy.n_judged == n_judged
    assert summary.confusion.trace() / n_judged == pytest.approx(summary.accuracy.score)
    assert summary.accuracy.low < summary.accuracy.score <= summary.accuracy.high


def test_the_tuner_has_an_estimate_of_its_own(some_digits: Any) -> None:
    options = {"scaling": "minmax", "n_repeats": 1, "random_state": 0}
    model = AnchorViewClassifier(n_landmarks=40, n_averaged=2, **options).fit(some_digits.views, some_digits.y)
    summary = summarise_run(model, some_digits.y)
    assert summary.accuracy is not None and summary.confusion is not None
    assert summary.accuracy.score == model.best_score_
    assert (summary.accuracy.low, summary.accuracy.high) == model.best_score_interval_
    n_judged = (some_digits.y >= 0).sum()
    assert len(model.held_out_) == n_judged == summary.confusion.sum()
    np.testing.assert_array_equal(some_digits.y[model.held_out_.rows], model.held_out_.class_ids)
    assert summary.confusion.trace() / n_judged == pytest.approx(model.best_score_)  # every class has two labels
    assert summary.xy is not None and np.isfinite(summary.xy).all()
    assert summary.views.changed is None and "give the rows (X)" in summary.views.note
    assert "averaged of" in summary.chosen["settings"]
    again = summarise_run(model, some_digits.y, X=some_digits.views, xy=grid(250))
    assert again.views.share is not None and again.views.share.sum() == pytest.approx(1)


def test_a_wrong_label_is_suspect(small: Any) -> None:
    _, y, made = small
    wrong = y.copy()
    row = int(np.flatnonzero(y == 0)[0])
    wrong[row] = 1
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(made.views, wrong)
    found = summarise_run(model, wrong, xy=grid(120)).suspects
    assert found.rows[0] == row and (found.given[0], found.preferred[0]) == (1, 0)
    assert (np.diff(found.quality) >= 0).all() and found.n_judged == (y >= 0).sum()
    assert row not in find_suspects(model, np.where(np.arange(120) == row, 0, wrong)).rows


def test_a_label_that_the_fit_changed_is_still_suspect(small: Any) -> None:
    _, y, made = small
    wrong = y.copy()
    row = int(np.flatnonzero(y == 0)[0])
    wrong[row] = 1
    model = FSSMSC(n_landmarks=30, random_state=0, relabel=0.8, **SETTLED).fit(made.views, wrong)
    assert row in model.relabelled_
    assert row in summarise_run(model, wrong, xy=grid(120)).suspects.rows


def test_clusters_have_no_accuracy() -> None:
    _, _, made = fit_small()
    model = FSSMSC(n_clusters=3, n_landmarks=30, random_state=0, scaling="l2").fit(made.views)
    summary = summarise_run(model, xy=grid(120))
    assert summary.accuracy is summary.confusion is summary.reliability is None
    assert summary.classes == ["cluster 0", "cluster 1", "cluster 2"] and not summary.has_labels
    assert not any("sure" in text for text in describe_result(summary))  # nobody has said what the clusters are
    assert "no label given" in describe_result(summary)[0] and len(summary.suggested) == 20
    assert next_steps(summary) == [
        "Give a label to the rows listed under “Label next”, and fit again: classes then have names."
    ]


def test_words_say_what_was_done_and_what_to_do(small: Any) -> None:
    model, y, _ = small
    summary = summarise_run(model, y, xy=grid(120))
    words = " ".join(describe_result(summary))
    assert words.startswith(
        "120 rows with 2 views. 36 labels in 3 classes were given; the model labelled the other 84."
    )
    assert f"Expected accuracy of the labels it gave: {accuracy_text(summary)}" in words
    n_sure = int(((y < 0) & (model.confidence_ >= 0.9)).sum())
    assert f"at least 90 % sure of {n_sure} of these" in words
    assert f"Use the labels of the {n_sure} rows" in next_steps(summary)[-1]


def test_one_label_per_class_cannot_be_judged() -> None:
    _, _, made = fit_small()
    y = np.full(120, -1)
    y[np.unique(made.target, return_index=True)[1]] = np.arange(3)
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(made.views, y)
    summary = summarise_run(model, y, xy=grid(120))
    assert summary.accuracy is None and not len(summary.suspects)
    assert "could not be estimated" in " ".join(describe_result(summary))
    assert "Give a second label to 0, 1, 2: one label cannot be checked." in next_steps(summary)


def test_every_row_labelled_leaves_nothing_to_do() -> None:
    model, _, made = fit_small(share=1.0)
    summary = summarise_run(model, made.target, xy=grid(120))
    assert not summary.by_model.any() and not len(summary.suggested)
    assert next_steps(summary)[-1] == "Nothing is left to do: every row has a given label."


def test_ids_of_views_are_taken_and_rows_without_a_view_have_no_place(small: Any) -> None:
    _, y, made = small
    mask = np.ones((120, 2), dtype=bool)
    mask[3] = False
    views = Views(made.data, mask=mask, ids=[f"r{row}" for row in range(120)])
    y = y.copy()
    y[3] = -1
    model = FSSMSC(n_landmarks=30, random_state=0, on_empty="drop", **SETTLED).fit(views, y)
    summary = summarise_run(model, y)
    assert summary.id_of(4) == "r4" and summary.xy is not None
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(summary.xy).any(axis=1)), [3])
    assert summary.class_ids[3] == -1 and "1 row without any view got no label." in describe_result(summary)[0]
    assert 3 not in summary.suggested


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": ["a", "b"]}, "ids has 2 entries, but the fit has 120 rows"),
        ({"names": ["a"]}, "names has 1 entries, but the fit has 3 classes"),
        ({"xy": np.zeros((5, 2))}, r"xy has shape \(5, 2\)"),
        ({"y": np.full(120, 9)}, "y holds 9, which is no class of the fit"),
        ({"y": np.zeros(7)}, "y has 7 labels but X has 120 rows"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(small: Any, given: dict[str, Any], message: str) -> None:
    model, y, _ = small
    with pytest.raises(ValueError, match=message):
        summarise_run(model, **{"y": y, "xy": grid(120), **given})


def test_a_model_without_its_rows_is_refused(small: Any) -> None:
    _, y, made = small
    bare = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(made.views, y)
    del bare.labels_, bare.embedding_
    with pytest.raises(ValueError, match="holds no rows"):
        summarise_run(bare, y)


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0.965, 1, "96.5 %"), (1.0, 1, "100.0 %"), (0.99999, 1, ">99.9 %"), (0.0, 0, "0 %"), (np.nan, 0, "–")],
)
def test_percent(share: float, digits: int, text: str) -> None:
    assert percent(share, digits) == text
