"""Labels that may be wrong, and what the model says of labelled rows without their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from anchorview.core.folds import split_labels
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview import FSSMSC
from anchorview.datasets import hide_labels, load_handwritten, make_multiview_subspaces
from anchorview.labelling import held_out as crossfit_module
from anchorview.labelling import relabel as label_noise_module
from anchorview.labelling.held_out import held_out_probabilities


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{"n_landmarks": 150, "random_state": 0, "n_jobs": 1, **parameters})


def flip(y: np.ndarray, share: float, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Give a share of the labelled rows another label; return also which."""
    rng = np.random.default_rng(seed)
    y = y.copy()
    labelled = np.flatnonzero(y >= 0)
    wrong = np.sort(rng.choice(labelled, round(share * len(labelled)), replace=False))
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, size=len(wrong))) % n_classes
    return y, wrong


@pytest.fixture(scope="module")
def digits() -> Any:
    made = load_handwritten()
    made.y = hide_labels(made.target, 0.1, stratified=True, random_state=0)
    made.noisy, made.wrong = flip(made.y, 0.1, 10)
    made.corrected = build(relabel=0.8).fit(made.views, made.noisy)
    return made


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(200, 4, (8, 6), noise=0.3, random_state=1)
    made.y = hide_labels(made.target, 0.4, stratified=True, random_state=0)
    return made


# The estimator


def test_wrong_labels_are_found_and_corrected(digits: Any) -> None:
    hidden = digits.y < 0
    plain = build().fit(digits.views, digits.noisy)
    before, after = ((model.labels_ == digits.target)[hidden].mean() for model in (plain, digits.corrected))
    assert after > before + 0.05  # 0.88 and 0.97 when this was written
    found = digits.corrected.relabelled_
    assert np.isin(digits.wrong, found).mean() > 0.8
    assert np.isin(found, digits.wrong).mean() > 0.6
    assert (digits.corrected.labels_ == digits.target)[digits.wrong].mean() > 0.8
    assert len(plain.relabelled_) == 0


def test_right_labels_are_left_alone(digits: Any) -> None:
    hidden = digits.y < 0
    plain, checked = (build(relabel=relabel).fit(digits.views, digits.y) for relabel in (None, 0.9))
    assert len(checked.relabelled_) <= 0.05 * (~hidden).sum()
    before, after = ((model.labels_ == digits.target)[hidden].mean() for model in (plain, checked))
    assert after > before - 0.01


def test_relabelled_rows_are_those_whose_label_changed(digits: Any) -> None:
    model = digits.corrected
    labelled = np.flatnonzero(digits.noisy >= 0)
    changed = labelled[model.labels_[labelled] != digits.noisy[labelled]]
    np.testing.assert_array_equal(model.relabelled_, changed)
    assert (model.confidence_[labelled] == 1).all()
    again = build(relabel=0.8).fit(digits.views, digits.noisy)
    np.testing.assert_array_equal(again.relabelled_, model.relabelled_)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_names_as_labels(digits: Any) -> None:
    names = np.array([*"abcdefghij", ""])
    model = build(relabel=0.8).fit(digits.views, names[digits.noisy])
    np.testing.assert_array_equal(model.relabelled_, digits.corrected.relabelled_)
    np.testing.assert_array_equal(model.labels_, names[digits.corrected.labels_])


def test_the_corrected_labels_are_what_is_learned_from(digits: Any) -> None:
    corrected = np.where(digits.noisy >= 0, digits.corrected.labels_, -1)
    plain = build().fit(digits.views, corrected)
    np.testing.assert_allclose(plain.landmark_embedding_, digits.corrected.landmark_embedding_, atol=1e-6)
    np.testing.assert_array_equal(plain.labels_, digits.corrected.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_is_relabelled_at_a_threshold_that_is_not_reached(data: Any) -> None:
    noisy, _ = flip(data.y, 0.2, 4)
    never, plain = (build(n_landmarks=40, relabel=relabel).fit(data.views, noisy) for relabel in (1.1, None))
    assert len(never.relabelled_) == 0
    np.testing.assert_array_equal(never.labels_, plain.labels_)


def test_a_second_fit_forgets_the_first(digits: Any, data: Any) -> None:
    model = build(relabel=0.8, n_landmarks=40).fit(digits.views, digits.noisy)
    assert len(model.relabelled_)
    assert len(model.set_params(relabel=None).fit(data.views, data.y).relabelled_) == 0


class Counter:
    """A scikit-learn callback that counts rounds, and may ask to stop."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.n_rounds = stop_after, 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.n_rounds = 0

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.n_rounds += context.task_name == "round"
        return context.task_name == "round" and self.n_rounds == self.stop_after


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_hear_of_both_solutions(digits: Any) -> None:
    pytest.importorskip("sklearn.callback")
    counter = Counter()
    model = build(n_landmarks=40, relabel=0.8, max_iter=3, tol=0).set_callbacks(counter).fit(digits.views, digits.noisy)
    assert len(model.relabelled_) > 0 and model.n_iter_ == 3 and counter.n_rounds == 6
    counter = Counter(stop_after=2)
    model = build(n_landmarks=40, relabel=0.8).set_callbacks(counter).fit(digits.views, digits.noisy)
    assert counter.n_rounds == 2 and "stopped by a callback" in model.status_ and len(model.relabelled_) == 0


def test_without_labels_there_is_nothing_to_correct(data: Any) -> None:
    assert len(build(n_clusters=4, n_landmarks=40, relabel=0.8).fit(data.views).relabelled_) == 0


@pytest.mark.parametrize("value", [0.4, -1, "yes", True])
def test_bad_thresholds(data: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="relabel must be a number of at least 0.5"):
        build(relabel=value).fit(data.views, data.y)


def test_no_class_vanishes(data: Any) -> None:
    """Three rows, all deep inside another class: the model is sure, but it keeps the class."""
    y = data.y.copy()
    y[np.flatnonzero(y == 0)[:3]] = 7
    model = build(n_landmarks=40, relabel=0.6).fit(data.views, y)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3, 7])
    assert (model.labels_[data.y >= 0] == 7).any()
    assert model.predict_proba(data.views).shape == (200, 5)


def test_a_class_s_only_row_is_not_judged(data: Any) -> None:
    y = data.y.copy()
    row = int(np.flatnonzero(y == 0)[0])
    y[row] = 7
    model = build(n_landmarks=40, relabel=0.5).fit(data.views, y)
    assert row not in model.relabelled_ and model.labels_[row] == 7


# Folds


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(2, 7), st.integers(0, 1000))
def test_folds_hold_each_row_once_and_never_a_whole_class(labels: list[int], n_folds: int, seed: int) -> None:
    classes = np.unique(labels, return_inverse=True)[1]
    folds = split_labels(classes, n_folds, np.random.RandomState(seed))
    rows = np.concatenate([*folds, np.empty(0, dtype=int)])
    counts = np.bincount(classes)
    assert sorted(rows.tolist()) == np.flatnonzero(counts[classes] > 1).tolist()
    assert len(folds) <= n_folds and all(len(fold) for fold in folds)
    for fold in folds:
        assert (np.bincount(classes[fold], minlength=len(counts)) < counts).all()
        assert (np.diff(fold) > 0).all()
    if folds:
        sizes = [len(fold) for fold in folds]
        assert len(folds) < n_folds or max(sizes) - min(sizes) <= 1
        for number, count in enumerate(counts):
            in_folds = [int((classes[fold] == number).sum()) for fold in folds]
            assert count == 1 or max(in_folds) <= -(-count // n_folds)


# No label judges itself


@pytest.fixture
def asked(data: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a fit hands to `held_out_probabilities`."""
    kept: dict[str, Any] = {}

    def spy(problem: Any, gram: Any, codes: Any, classes: Any, n_classes: int, rng: Any, **options: Any) -> Any:
        kept.update(problem=problem, gram=gram, codes=codes, classes=classes, n_classes=n_classes, **options)
        return held_out_probabilities(problem, gram, codes, classes, n_classes, rng, **options)

    monkeypatch.setattr(label_noise_module, "held_out_probabilities", spy)
    build(n_landmarks=40, relabel=1.0).fit(data.views, data.y)
    return kept


def judge(asked: dict[str, Any], **changes: Any) -> np.ndarray:
    return held_out_probabilities(**{"rng": np.random.RandomState(0), **asked, **changes})


def test_probabilities_are_right_on_separate_classes(asked: dict[str, Any]) -> None:
    found = judge(asked)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    assert (found.argmax(axis=1) == asked["classes"]).mean() > 0.9


def test_a_hidden_label_has_no_influence(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the folds held fixed, other labels in a fold leave what is said of that fold's rows as it is."""
    classes = asked["classes"]
    folds = split_labels(classes, 5, np.random.RandomState(0))
    monkeypatch.setattr(crossfit_module, "split_labels", lambda *_: folds)
    before = judge(asked)
    for fold in folds:
        other = classes.copy()
        other[fold] = (other[fold] + 1) % 4
        after = judge(asked, classes=other)
        np.testing.assert_array_equal(after[fold], before[fold])
        rest = np.setdiff1d(np.arange(len(classes)), fold)
        assert np.abs(after[rest] - before[rest]).max() > 0.1  # the others do hear of it


def test_where_the_search_starts_tells_nothing(asked: dict[str, Any]) -> None:
    """The fit's embedding has seen all labels; it is only where the search for another begins."""
    np.testing.assert_allclose(judge(asked), judge(asked, start=None), atol=0.02)


def test_labels_at_random_are_judged_at_random(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """If a row's own label had a say, it would be found again: as it is when none is hidden."""

    def own_label() -> float:
        rng = np.random.default_rng(0)
        found = []
        for _ in range(5):
            classes = rng.permutation(asked["classes"])
            found.append((judge(asked, classes=classes, start=None).argmax(axis=1) == classes).mean())
        return float(np.mean(found))

    assert own_label() < 0.4  # of four classes
    monkeypatch.setattr(crossfit_module.np, "setdiff1d", lambda everyone, hidden: everyone)
    assert own_label() > 0.9


def test_a_class_s_only_row_has_no_probabilities(asked: dict[str, Any]) -> None:
    classes = asked["classes"].copy()
    classes[5] = 4
    found = judge(asked, classes=classes, n_classes=5)
    assert np.isnan(found[5]).all() and np.isnan(found).any(axis=1).sum() == 1
