"""Labels that may be wrong, and are corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.readers.base import COMBINATIONS
from support.settled import settle


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 100, "random_state": 0, "n_jobs": 1, **parameters})


def flip(y: np.ndarray, share: float, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Give a share of the labelled rows another label; return also which."""
    rng = np.random.default_rng(seed)
    y = y.copy()
    labelled = np.flatnonzero(y >= 0)
    wrong = np.sort(rng.choice(labelled, round(share * len(labelled)), replace=False))
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, size=len(wrong))) % n_classes
    return y, wrong


@dataclass
class Noisy:
    """Half of the digits, labels of which a tenth is wrong, and a fit that corrects them."""

    views: Views
    target: np.ndarray
    right_y: np.ndarray
    y: np.ndarray
    wrong: np.ndarray  # rows with a wrong label
    corrected: FSSMSC


@pytest.fixture(scope="module", name="noisy")
def noisy_digits(digits: Any) -> Noisy:
    views, target = digits.views[::2], digits.target[::2]
    right_y = hide_labels(target, 0.2, stratified=True, random_state=0)
    y, wrong = flip(right_y, 0.1, 10)
    return Noisy(views, target, right_y, y, wrong, build(relabel=0.8).fit(views, y))


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(200, 4, (8, 6), noise=0.3, random_state=1)
    made.y = hide_labels(made.target, 0.4, stratified=True, random_state=0)
    return made


# The estimator


def test_wrong_labels_are_found_and_corrected(noisy: Noisy) -> None:
    hidden = noisy.right_y < 0
    plain = build().fit(noisy.views, noisy.y)
    before, after = ((model.labels_ == noisy.target)[hidden].mean() for model in (plain, noisy.corrected))
    assert after > before + 0.05  # 0.86 and 0.97 when this was written
    found = noisy.corrected.relabelled_
    assert np.isin(noisy.wrong, found).mean() > 0.8
    assert np.isin(found, noisy.wrong).mean() > 0.6
    assert (noisy.corrected.labels_ == noisy.target)[noisy.wrong].mean() > 0.8
    assert len(plain.relabelled_) == 0


def test_right_labels_are_left_alone(digits: Any) -> None:
    y = hide_labels(digits.target, 0.1, stratified=True, random_state=0)
    plain, checked = (build(n_landmarks=150, relabel=relabel).fit(digits.views, y) for relabel in (None, 0.9))
    assert len(checked.relabelled_) <= 0.05 * (y >= 0).sum()
    before, after = ((model.labels_ == digits.target)[y < 0].mean() for model in (plain, checked))
    assert after > before - 0.01


def test_relabelled_rows_are_those_whose_label_changed(noisy: Noisy) -> None:
    model = noisy.corrected
    labelled = np.flatnonzero(noisy.y >= 0)
    changed = labelled[model.labels_[labelled] != noisy.y[labelled]]
    np.testing.assert_array_equal(model.relabelled_, changed)
    assert (model.confidence_[labelled] == 1).all()
    again = build(relabel=0.8).fit(noisy.views, noisy.y)
    np.testing.assert_array_equal(again.relabelled_, model.relabelled_)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_names_as_labels(noisy: Noisy) -> None:
    names = np.array([*"abcdefghij", ""])
    model = build(relabel=0.8).fit(noisy.views, names[noisy.y])
    np.testing.assert_array_equal(model.relabelled_, noisy.corrected.relabelled_)
    np.testing.assert_array_equal(model.labels_, names[noisy.corrected.labels_])


def test_the_corrected_labels_are_what_is_learned_from(noisy: Noisy) -> None:
    corrected = np.where(noisy.y >= 0, noisy.corrected.labels_, -1)
    plain = build().fit(noisy.views, corrected)
    np.testing.assert_allclose(plain.landmark_embedding_, noisy.corrected.landmark_embedding_, atol=1e-6)
    np.testing.assert_array_equal(plain.labels_, noisy.corrected.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_is_relabelled_at_a_threshold_that_is_not_reached(data: Any) -> None:
    y, _ = flip(data.y, 0.2, 4)
    never, plain = (build(n_landmarks=40, relabel=relabel).fit(data.views, y) for relabel in (1.0, None))
    assert len(never.relabelled_) == 0
    np.testing.assert_array_equal(never.labels_, plain.labels_)


def test_a_second_fit_forgets_the_first(noisy: Noisy, data: Any) -> None:
    model = build(relabel=0.8, n_landmarks=40).fit(noisy.views, noisy.y)
    assert len(model.relabelled_)
    assert len(model.set_params(relabel=None).fit(data.views, data.y).relabelled_) == 0


class Counter:
    """A scikit-learn callback that counts rounds."""

    def __init__(self) -> None:
        self.n_rounds = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.n_rounds = 0

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.n_rounds += context.task_name == "round"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_are_corrected_before_the_rounds(noisy: Noisy) -> None:
    pytest.importorskip("sklearn.callback")
    counter = Counter()
    model = (
        build(n_landmarks=40, relabel=0.8, solver__max_iter=3, solver__tol=0)
        .set_callbacks(counter)
        .fit(noisy.views, noisy.y)
    )
    assert len(model.relabelled_) > 0 and model.n_iter_ == counter.n_rounds == 3


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


ALONE, TOGETHER = (min(COMBINATIONS, key=size) for size in (len, lambda names: -len(names)))
OTHERS = [names for names in COMBINATIONS if names not in (ALONE, TOGETHER)]


@pytest.mark.parametrize(
    "readers", ["auto", ALONE, TOGETHER, *(pytest.param(names, marks=pytest.mark.thorough) for names in OTHERS)]
)
def test_all_readers_learn_from_the_corrected_labels(noisy: Noisy, readers: Any) -> None:
    """Not only what reads the embedding: a fit is that of the corrected labels, down to what is chosen by them."""
    options = {"n_landmarks": 60, "random_state": 0, "n_jobs": 1, "readers": readers, "ridge": 3.0}
    model = FSSMSC(relabel=0.8, **options).fit(noisy.views, noisy.y)
    assert len(model.relabelled_) and np.isin(model.relabelled_, noisy.wrong).mean() > 0.9
    plain = FSSMSC(**options).fit(noisy.views, np.where(noisy.y >= 0, model.labels_, -1))
    assert plain.chosen_ == model.chosen_
    np.testing.assert_array_equal(plain.labels_, model.labels_)
    np.testing.assert_array_equal(plain.confidence_, model.confidence_)
