"""The tuner uses the given labels only, averages good settings, can be interrupted, and works on any views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from anchorview import FSSMSC, FSSMSCCV, LabelHidingKFold, Views, datasets
from anchorview.tuning import judging
from anchorview.tuning.heads import choose_temperature, fit_linear_head, log_loss

DIGITS = datasets.load_handwritten()
ROWS = np.arange(0, 2000, 8)
X, TRUTH = DIGITS.views[ROWS], DIGITS.target[ROWS]
Y = datasets.hide_labels(TRUTH, 0.16, random_state=0)
HIDDEN = Y == -1


def quick(**parameters: Any) -> FSSMSCCV:
    return FSSMSCCV(**{"n_landmarks": 60, "n_repeats": 1, "scaling": ["minmax"], "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def fitted() -> FSSMSCCV:
    return FSSMSCCV(n_landmarks=60, n_repeats=1, random_state=0).fit(X, Y)


def test_labels_and_probabilities(fitted: FSSMSCCV) -> None:
    assert (fitted.labels_[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.85
    np.testing.assert_array_equal(fitted.labels_[~HIDDEN], Y[~HIDDEN])
    np.testing.assert_array_equal(fitted.predict(X)[HIDDEN], fitted.labels_[HIDDEN])
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(probabilities.max(axis=1)[HIDDEN], fitted.confidence_[HIDDEN], atol=1e-5)
    assert fitted.score(X, np.where(HIDDEN, TRUTH, -1)) == (fitted.labels_[HIDDEN] == TRUTH[HIDDEN]).mean()


def test_a_row_is_predicted_alone_as_among_others(fitted: FSSMSCCV) -> None:
    np.testing.assert_allclose(fitted.predict_proba(X[7:9]), fitted.predict_proba(X)[7:9], atol=1e-6)


def test_the_table_of_the_search(fitted: FSSMSCCV) -> None:
    table = fitted.cv_results_
    n = len(table["params"])
    assert all(len(values) == n for values in table.values())
    assert {s["scaling"] for s in table["params"]} == {"minmax", "symmetric", "standard", "l2"}
    assert {"nearest", "knn", "embedding", "codes", "features", "graph"} == set(table["param_head"])
    assert len({tuple(sorted(p.items())) for p in table["params"]}) == n  # nothing is judged twice
    assert fitted.best_params_ == table["params"][0]
    assert fitted.averaged_[0] == {**fitted.best_params_, "weight": fitted.averaged_[0]["weight"]}
    assert fitted.best_score_ == table["mean_test_score"][0]
    assert len(fitted.averaged_) >= 10
    assert len({(p["head"], p["scaling"]) for p in fitted.averaged_}) >= 10  # of different kinds
    assert sum(p["weight"] for p in fitted.averaged_) == 20


def test_the_judgement_is_honest() -> None:
    """Labels that mean nothing are not found again: no hidden label reaches the models that are judged by it."""
    shuffled = Y.copy()
    shuffled[~HIDDEN] = np.random.RandomState(1).permutation(Y[~HIDDEN])
    scores = quick().fit(X, shuffled).cv_results_["mean_test_score"]
    assert scores.max() < 0.45  # chance is 0.1, the best of 20 tries on 40 rows somewhat above
    assert quick().fit(X, Y).cv_results_["mean_test_score"].max() > 0.85


def test_the_same_with_any_number_of_threads() -> None:
    one, two = (quick(n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.confidence_, two.confidence_)


def interrupt_after(monkeypatch: pytest.MonkeyPatch, n_settings: int) -> list[Any]:
    judged: list[Any] = []
    judge = judging._judge_one

    def counted(task: Any, setting: Any, embeddings: Any) -> Any:
        if len(judged) == n_settings:
            raise KeyboardInterrupt
        judged.append(setting)
        return judge(task, setting, embeddings)

    monkeypatch.setattr(judging, "_judge_one", counted)
    return judged


def test_an_interrupted_search_is_used_and_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = quick().fit(X, Y)
    model = quick(warm_start=True)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 5)
        with pytest.warns(UserWarning, match="interrupted after 5 settings"):
            model.fit(X, Y)
    assert model.interrupted_
    assert len(model.cv_results_["params"]) == 5
    assert model.predict(X[:3]).shape == (3,)
    with monkeypatch.context() as patch:
        resumed = interrupt_after(patch, 10**6)
        model.fit(X, Y)
    assert len(resumed) == len(whole.cv_results_["params"]) - 5
    np.testing.assert_array_equal(model.labels_, whole.labels_)


def test_warm_start_on_other_data_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = quick(warm_start=True).fit(X, Y)
    other = np.where(np.arange(len(Y)) == np.flatnonzero(~HIDDEN)[0], -1, Y)
    judged = interrupt_after(monkeypatch, 10**6)
    model.fit(X, other)
    assert len(judged) == len(model.cv_results_["params"])


def test_an_interrupt_before_anything_is_judged_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        quick().fit(X, Y)


def test_two_labels_per_class_are_enough() -> None:
    y = np.full(len(TRUTH), -1)
    for number in range(10):
        y[np.flatnonzero(number == TRUTH)[:2]] = number
    model = quick().fit(X, y)
    assert (model.labels_ == TRUTH).mean() > 0.5


def test_labels_that_cannot_be_hidden() -> None:
    y = np.full(len(TRUTH), -1)
    y[[0, 30]] = 0, 1
    with pytest.raises(ValueError, match="single labelled row"):
        quick().fit(X, y)
    y[[1, 2]] = 0
    assert set(quick().fit(X, y).labels_) <= {0, 1}  # class 1 is never hidden, and can still be predicted
    with pytest.raises(ValueError, match="at least two classes"):
        quick().fit(X, np.where(Y == 0, 0, -1))


def test_missing_and_sparse_views() -> None:
    rng = np.random.RandomState(0)
    mask = rng.rand(len(X), 6) > 0.2
    mask[~mask.any(axis=1), 0] = True
    words = sparse.csr_array(np.eye(10)[TRUTH] + (rng.rand(len(X), 10) < 0.1))
    views = Views([*X.arrays, words], mask=np.c_[mask, np.ones(len(X), dtype=bool)])
    model = quick(scaling=None).fit(views, Y)
    assert (model.labels_[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.85
    text = quick(scaling=None).fit(Views([words]), Y)
    assert {p["scaling"] for p in text.cv_results_["params"]} == {"lsa", "tfidf"}


def test_text_labels() -> None:
    names = np.array([f"digit {number}" for number in range(10)], dtype=object)
    y = np.where(HIDDEN, None, names[TRUTH])
    assert (quick().fit(X, y).labels_[HIDDEN] == names[TRUTH][HIDDEN]).mean() > 0.85


@pytest.mark.parametrize("name", ["n_landmarks", "n_averaged", "n_splits", "n_repeats"])
def test_bad_numbers(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        quick(**{name: 0}).fit(X, Y)


def test_label_hiding_in_a_grid_search() -> None:
    folds = LabelHidingKFold(3, random_state=0)
    found = GridSearchCV(FSSMSC(n_landmarks=60, random_state=0), {"scaling": ["minmax", "l2"]}, cv=folds).fit(X, Y)
    assert found.best_score_ > 0.8
    assert set(found.cv_results_) >= {"split2_test_score", "mean_test_score"}


@given(st.lists(st.integers(-1, 3), min_size=6, max_size=60), st.integers(2, 5), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_hidden_folds(y: list[int], n_splits: int, n_repeats: int) -> None:
    labels = np.array([9, 9, *y])
    splits = list(LabelHidingKFold(n_splits, n_repeats, random_state=0).split(labels, labels))
    counts = {c: int((labels == c).sum()) for c in set(labels.tolist()) - {-1}}
    for train, test in splits:
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(labels)
        assert (labels[test] >= 0).all()
        assert set(labels[train]) >= set(counts)  # a class is never hidden as a whole
    tested = np.concatenate([test for _, test in splits])
    judged = sum(count for count in counts.values() if count > 1)
    assert len(tested) == n_repeats * judged


def test_no_label_can_be_hidden() -> None:
    with pytest.raises(ValueError, match="at most one labelled row"):
        list(LabelHidingKFold().split([0, 1, -1], [0, 1, -1]))


@pytest.mark.parametrize("shape", [(30, 200), (200, 30)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_linear_head_is_logistic_regression(shape: tuple[int, int], n_classes: int) -> None:
    rng = np.random.RandomState(0)
    rows, classes = rng.normal(size=shape), np.arange(shape[0]) % n_classes
    expected = LogisticRegression(C=2.0, tol=1e-8, max_iter=10_000).fit(rows, classes)
    for features in (rows, sparse.csr_array(rows)):
        head = fit_linear_head(features, classes, n_classes, 2.0)
        found = head.scores(features)
        probabilities = np.exp(found - found.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(probabilities, expected.predict_proba(rows), atol=2e-2)


def test_temperature_fits_the_scores() -> None:
    rng = np.random.RandomState(0)
    classes = rng.randint(0, 3, 2000)
    noisy = np.where(rng.rand(2000) < 0.7, classes, rng.randint(0, 3, 2000))
    scores = 100.0 * np.eye(3)[noisy]  # sure of everything, right in 80 % of cases
    temperature = choose_temperature(scores, classes)
    exponent = np.exp(-100 / temperature)
    assert abs(1 / (1 + 2 * exponent) - 0.8) < 0.05
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1]))[0] == pytest.approx(-np.log(1e-3))
