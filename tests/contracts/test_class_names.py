"""What a fit says does not depend on how classes are called, in what order they sort, or how they are coded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import anchorview
from anchorview import FSSMSC, AnchorViewClassifier, Constraints, LabelHidingKFold
from anchorview.data.labels import number_by_appearance
from anchorview.datasets import make_multiview_subspaces
from anchorview.export import predict_to

DATA = make_multiview_subspaces(260, 4, random_state=0)
ROWS, NEW = DATA.views[:200], DATA.views[200:]
NUMBERS = np.where(np.random.RandomState(0).rand(200) < 0.3, DATA.target[:200], -1)
CODINGS: dict[str, list[Any]] = {
    "shuffled": [2, 0, 3, 1],
    "large numbers": [10**9, -7, 55, 0],
    "text": ["kiwi", "apple", "pear", "Fig"],
    "upside down": ["d", "c", "b", "a"],
}
ESTIMATORS = {
    "default": FSSMSC(n_landmarks=40, random_state=0),
    "all readings": FSSMSC(
        n_landmarks=40, readers=("nearest", "linear", "poisson"), class_balance="balanced", random_state=0
    ),
    "votes": FSSMSC(n_landmarks=40, readers="knn", relabel=0.6, random_state=0),
    "tuned": AnchorViewClassifier(n_landmarks=40, n_averaged=3, random_state=0),
}
fitted: dict[str, Any] = {}


def plain(name: str) -> Any:
    if name not in fitted:
        fitted[name] = unfitted(name).fit(ROWS, NUMBERS)
    return fitted[name]


def unfitted(name: str) -> Any:
    return clone(ESTIMATORS[name])


def code(numbers: np.ndarray, names: list[Any]) -> np.ndarray:
    result = np.empty(len(numbers), dtype=object)
    result[:] = [None if number < 0 else names[number] for number in numbers]
    return result


def assert_same(model: Any, other: Any, names: list[Any]) -> None:
    """Check that `other`, fitted with names for the classes, says what `model` says of their numbers."""
    assert other.classes_.tolist() == sorted(names)
    place = [other.classes_.tolist().index(name) for name in names]  # of class 0, 1, …
    assert other.labels_.tolist() == [names[number] for number in model.labels_]
    np.testing.assert_array_equal(other.confidence_, model.confidence_)
    np.testing.assert_array_equal(other.embedding_, model.embedding_)
    np.testing.assert_array_equal(other.predict_proba(NEW)[:, place], model.predict_proba(NEW))
    assert other.predict(NEW).tolist() == [names[number] for number in model.predict(NEW)]
    assert other.held_out_.rows.tolist() == model.held_out_.rows.tolist()
    assert other.held_out_.class_ids.tolist() == [place[number] for number in model.held_out_.class_ids]
    np.testing.assert_array_equal(other.held_out_.probabilities[:, place], model.held_out_.probabilities)
    seconds, values = model._runner_up
    assert other._runner_up[0].tolist() == [place[number] for number in seconds]
    np.testing.assert_array_equal(other._runner_up[1], values)
    assert other.score(ROWS, code(DATA.target[:200], names)) == model.score(ROWS, DATA.target[:200])


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("name", ["default", "all readings", "votes"])
def test_names_make_no_difference(name: str, coding: str) -> None:
    names = CODINGS[coding]
    assert_same(plain(name), unfitted(name).fit(ROWS, code(NUMBERS, names)), names)


@pytest.mark.parametrize("coding", ["shuffled", "text"])
def test_names_make_no_difference_to_the_tuned_one(coding: str, tmp_path: Path) -> None:
    names = CODINGS[coding]
    other = unfitted("tuned").fit(ROWS, code(NUMBERS, names))
    assert_same(plain("tuned"), other, names)
    assert other.best_score_ == plain("tuned").best_score_
    anchorview.save(other, tmp_path / "m.anchorview")
    loaded = anchorview.load(tmp_path / "m.anchorview")
    np.testing.assert_array_equal(loaded.predict_proba(NEW), other.predict_proba(NEW))
    assert loaded.predict(NEW).tolist() == other.predict(NEW).tolist()


def test_two_classes_as_truth_values(tmp_path: Path) -> None:
    numbers = np.where(NUMBERS < 0, -1, NUMBERS % 2)
    model = unfitted("default").fit(ROWS, numbers)
    for names in ([True, False], [False, True], ["no", "yes"], [1, -5]):
        other = unfitted("default").fit(ROWS, code(numbers, names))
        place = [other.classes_.tolist().index(name) for name in names]
        assert other.labels_.tolist() == [names[number] for number in model.labels_]
        np.testing.assert_array_equal(other.predict_proba(NEW)[:, place], model.predict_proba(NEW))


def test_saved_models_and_written_predictions(tmp_path: Path) -> None:
    other = unfitted("default").fit(ROWS, code(NUMBERS, CODINGS["upside down"]))
    assert other._model.order is not None
    anchorview.save(other, tmp_path / "m.anchorview")
    loaded = anchorview.load(tmp_path / "m.anchorview")
    assert loaded.predict(NEW).tolist() == other.predict(NEW).tolist()
    written = predict_to(loaded, NEW, tmp_path / "out", probabilities=True)
    assert np.load(written / "label.npy").tolist() == other.predict(NEW).tolist()
    np.testing.assert_array_equal(np.load(written / "probability.npy"), other.predict_proba(NEW))


def test_pairs_and_weights_beside_labels() -> None:
    pairs = Constraints.from_pairs(must=[(0, 4), (9, 13)], cannot=[(0, 1), (2, 7)], n_rows=200)
    weights = np.random.RandomState(1).randint(0, 3, 200).astype(float)
    model, other = (
        unfitted("default").fit(ROWS, y, constraints=pairs, sample_weight=weights)
        for y in (NUMBERS, code(NUMBERS, CODINGS["text"]))
    )
    assert_same(model, other, CODINGS["text"])


def test_ties_go_by_the_first_labelled_row_not_by_name() -> None:
    rows = np.vstack([np.eye(2), np.eye(2), np.full((1, 2), 0.5)])  # the last lies between the classes
    for names in (["a", "b"], ["b", "a"]):
        y = [*names, *names, ""]
        model = FSSMSC(2, n_landmarks=2, landmarks=np.eye(2), scaling="none", readers="nearest", ridge=1.0)
        model.fit([rows], y)
        assert model.confidence_[-1] == 0.5 and model.labels_[-1] == names[0]
        assert model.predict([rows[-1:]]).tolist() == [names[0]]


def test_folds_do_not_depend_on_names() -> None:
    expected = [test.tolist() for _, test in LabelHidingKFold(3, 2, random_state=0).split(NUMBERS, NUMBERS)]
    for names in CODINGS.values():
        y = code(NUMBERS, names)
        assert [test.tolist() for _, test in LabelHidingKFold(3, 2, random_state=0).split(y, y)] == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-1, 4), min_size=1, max_size=30), st.permutations(range(5)))
def test_numbers_by_appearance(numbers: list[int], names: list[int]) -> None:
    def canonical(listed: list[int]) -> tuple[list[int], list[int]]:
        kept, inverse = np.unique([value for value in listed if value >= 0], return_inverse=True)
        class_ids = np.full(len(listed), -1)
        class_ids[np.array(listed) >= 0] = inverse
        classes, result = number_by_appearance(kept, class_ids)
        return classes.tolist(), result.tolist()

    classes, class_ids = canonical(numbers)
    renamed, same = canonical([-1 if number < 0 else names[number] for number in numbers])
    assert same == class_ids and renamed == [names[int(number)] for number in classes]
    assert [-1 if number < 0 else classes[number] for number in class_ids] == numbers
