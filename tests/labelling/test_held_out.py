"""Confidence that can be trusted: held-out labels, the temperature, and fits with nothing to hold out."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from anchorview.core.folds import split_labels
from anchorview.labelling.calibration import calibrate, held_out_logits

from anchorview import FSSMSC, Constraints
from anchorview import fssmsc as fssmsc_module
from anchorview.core.arrays import softmax
from anchorview.datasets import hide_labels, load_handwritten, make_multiview_subspaces
from anchorview.labelling import calibration as calibration_module
from anchorview.labelling.rule import fit_neighbours
from anchorview.labelling.temperature import choose_temperature
from anchorview.metrics import expected_calibration_error


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{"n_landmarks": 60, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(300, 4, (8, 6), noise=0.45, random_state=1)
    made.y = hide_labels(made.target, 0.15, stratified=True, random_state=0)
    return made


@pytest.fixture
def asked(data: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a fit hands to `calibrate`."""
    kept: dict[str, Any] = {}

    def spy(rule: Any, problem: Any, result: Any, known: Any, rows: Any, class_balance: Any) -> Any:
        kept.update(rule=rule, problem=problem, result=result, known=known, rows=rows, class_balance=class_balance)
        return calibrate(rule, problem, result, known, rows, class_balance)

    monkeypatch.setattr(fssmsc_module, "calibrate", spy)
    build().fit(data.views, data.y)
    return kept


# How good it is


@pytest.mark.parametrize("inference", ["nearest", "euclidean", "knn"])
def test_confidence_on_digits_is_calibrated(inference: str) -> None:
    digits = load_handwritten()
    errors = []
    for seed in range(2):
        y = hide_labels(digits.target, 0.05, random_state=seed)
        model = FSSMSC(random_state=seed, inference=inference).fit(digits.views, y)
        right = (model.labels_ == digits.target)[y == -1]
        errors.append(expected_calibration_error(right, model.confidence_[y == -1]))
    assert np.mean(errors) < 0.03  # 0.012 when this was written


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_held_out_rows_make_it_less_sure_than_seen_ones() -> None:
    """Labels at random: an embedding that has seen them sets them apart, and would be sure of everything."""
    made = make_multiview_subspaces(300, 4, (8, 6), noise=0.3, random_state=1)
    y = np.full(300, -1)
    rows = np.arange(0, 300, 3)
    y[rows] = np.random.default_rng(0).integers(4, size=len(rows))
    model = build().fit(made.views, y)
    seen = fit_neighbours(model.embedding_[rows], y[rows], "nearest", 5)
    hidden = y == -1
    assert seen.probabilities(seen.evidence(model.embedding_[hidden])).max(axis=1).mean() > 0.4
    assert model.confidence_[hidden].mean() < 0.35  # there is nothing to know: 0.25 would be right


def test_labels_are_those_of_the_evidence(data: Any) -> None:
    model = build().fit(data.views, data.y)
    probabilities = model.predict_proba(data.views)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(data.views))
    hidden = data.y == -1
    np.testing.assert_array_equal(model.predict(data.views)[hidden], model.labels_[hidden])
    np.testing.assert_allclose(probabilities.max(axis=1)[hidden], model.confidence_[hidden], atol=1e-5)
    assert (model.confidence_[~hidden] == 1).all()


def test_confidence_does_not_depend_on_threads_or_pickling(data: Any) -> None:
    one, two = (build(n_jobs=n).fit(data.views, data.y) for n in (1, 2))
    np.testing.assert_array_equal(one.confidence_, two.confidence_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict_proba(data.views), one.predict_proba(data.views))


# No label judges itself


def test_a_hidden_label_has_no_influence(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    known, rows = asked["known"], asked["rows"]
    folds = split_labels(known.codes[rows], 3, np.random.RandomState(0))
    monkeypatch.setattr(calibration_module, "split_labels", lambda *_: folds)
    before, _ = held_out_logits(**asked)
    ends = np.cumsum([0, *map(len, folds)])
    for number, fold in enumerate(folds):
        codes = known.codes.copy()
        codes[rows[fold]] = (codes[rows[fold]] + 1) % 4
        after, _ = held_out_logits(**{**asked, "known": replace(known, codes=codes)})
        own = slice(ends[number], ends[number + 1])
        np.testing.assert_array_equal(after[own], before[own])
        assert np.abs(np.delete(after - before, np.r_[own], axis=0)).max() > 0.1  # the other folds do hear of it


def test_the_classes_come_with_their_rows(asked: dict[str, Any]) -> None:
    logits, classes = held_out_logits(**asked)
    assert sorted(classes) == sorted(asked["known"].codes[asked["rows"]])
    assert (logits.argmax(axis=1) == classes).mean() > 0.6


def test_the_small_space_is_as_good_as_the_whole(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert calibration_module._basis(
        asked["result"].encoded[asked["rows"]][:20], np.eye(asked["problem"].n_landmarks), 4
    ).shape == (asked["problem"].n_landmarks, 20)
    few = replace(asked["known"], codes=np.where(np.arange(300) % 2, asked["known"].codes, -1))
    rows = few.labelled
    labelled, must, cannot = few.laplacians(None, None)
    task = {
        **asked,
        "known": few,
        "rows": rows,
        "problem": replace(asked["problem"], labelled=labelled, must=must, cannot=cannot),
    }
    small, classes = held_out_logits(**task)
    monkeypatch.setattr(calibration_module, "_basis", lambda *_: None)
    whole, _ = held_out_logits(**task)
    assert np.abs(small - whole).max() > 0  # it was small indeed
    assert abs((small.argmax(axis=1) == classes).mean() - (whole.argmax(axis=1) == classes).mean()) < 0.1
    temperatures = choose_temperature(small, classes), choose_temperature(whole, classes)
    assert temperatures[0] == pytest.approx(temperatures[1], rel=0.3)


def test_many_labels_are_judged_in_part(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_module, "_ENOUGH_JUDGED", 10)
    logits, classes = held_out_logits(**asked)
    assert 10 <= len(classes) < 20 and len(logits) == len(classes)  # of 45


# The temperature


@pytest.mark.parametrize("seed", range(3))
def test_the_temperature_has_the_least_log_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(500, 3))
    classes = np.array([rng.choice(3, p=p) for p in softmax(logits / 0.7)])
    found = choose_temperature(logits, classes)
    assert found == pytest.approx(0.7, rel=0.25)
    second = np.argsort(logits, axis=1)[:, -2]

    def loss(temperature: float) -> float:
        logs = np.log(softmax(logits / temperature))
        return float(-logs[np.arange(500), classes].sum() - 0.5 * logs[np.arange(500), second].mean())

    assert loss(found) <= min(loss(t) for t in np.geomspace(0.05, 10, 200)) + 1e-3


def test_faultless_rows_leave_some_doubt() -> None:
    few, many = (
        softmax(logits / choose_temperature(logits, np.arange(n) % 2)).max(axis=1).mean()
        for n, logits in ((n, np.eye(2)[np.arange(n) % 2]) for n in (10, 1000))
    )
    assert few == pytest.approx(10 / 10.5, abs=0.01) and many == pytest.approx(1000 / 1000.5, abs=1e-3)


# Where there is little or nothing to hold out, and other forms of a fit


def forms(data: Any) -> dict[str, tuple[dict[str, Any], Any, dict[str, Any]]]:
    one_each = np.full(300, -1)
    one_each[[int(np.flatnonzero(data.target == c)[0]) for c in range(4)]] = np.arange(4)
    rare = np.where(data.y == 3, -1, data.y)
    rare[np.flatnonzero(data.y == 3)[0]] = 3
    single = np.where(data.y == 0, 0, -1)
    weights = np.random.default_rng(0).integers(0, 3, size=300).astype(float)
    pairs = Constraints.from_pairs(must=[(0, 1)], cannot=[(2, 3)], n_rows=300)
    return {
        "one label per class": ({}, one_each, {}),
        "a class with one label": ({}, rare, {}),
        "one class": ({"n_clusters": 2}, single, {}),
        "all labelled": ({}, data.target, {}),
        "weights": ({}, data.y, {"sample_weight": weights}),
        "labels and pairs": ({}, data.y, {"constraints": pairs}),
        "pairs only": ({"n_clusters": 4}, None, {"constraints": pairs}),
        "more components than classes": ({"n_clusters": 9}, one_each, {}),
        "balanced": ({"class_balance": "balanced"}, data.y, {}),
        "no must-link": ({"omit": ("must_link",)}, data.y, {}),
        "no smoothness": ({"omit": ("smoothness",)}, data.y, {}),
        "admm": ({"solver": "admm", "max_iter": 3}, data.y, {}),
        "relabel": ({"relabel": 0.9}, data.y, {}),
    }


FORMS = (
    "one label per class",
    "a class with one label",
    "one class",
    "all labelled",
    "weights",
    "labels and pairs",
    "pairs only",
    "more components than classes",
    "balanced",
    "no must-link",
    "no smoothness",
    "admm",
    "relabel",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_fit_gives_probabilities(data: Any, form: str) -> None:
    parameters, y, options = forms(data)[form]
    model = build(**parameters).fit(data.views, y, **options)
    probabilities = model.predict_proba(data.views)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(data.views))


def test_one_label_per_class_is_neither_sure_nor_ignorant(data: Any) -> None:
    y = forms(data)["one label per class"][1]
    sure = build().fit(data.views, y).confidence_[y == -1]
    assert 0.35 < sure.mean() < 0.95


def test_two_rows() -> None:
    model = build(n_landmarks=2).fit(np.eye(2), [0, 1])
    assert np.isfinite(model.predict_proba(np.eye(2))).all()
