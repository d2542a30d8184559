"""What is said of rows whose labels are hidden, and the confidence that rests on it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from anchorview import FSSMSC, Constraints
from anchorview.data.labels import split_labels
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.metrics import expected_calibration_error
from anchorview.readers.held_out import _basis, calibrate, held_out_logits, hold_out
from anchorview.readers.nearest import calibrate_on_seen, keep_labelled
from anchorview.readers.temperature import Mistakes, choose_temperature
from anchorview.solver.objective import landmark_graph
from support.fits import Solved, solve, swap_neighbours
from support.settled import CHOSEN, settle


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 60, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(300, 4, (8, 6), noise=0.45, random_state=1)
    made.y = hide_labels(made.target, 0.15, stratified=True, random_state=0)
    return made


@pytest.fixture(scope="module")
def model(data: Any) -> FSSMSC:
    return build().fit(data.views, data.y)


@pytest.fixture(scope="module")
def solved(data: Any) -> Solved:
    return solve(data.views, data.y, 60)


def logits_of(solved: Solved, rule: str = "nearest", **options: Any) -> tuple[np.ndarray, np.ndarray]:
    given = solved.problem, solved.result, solved.known, solved.rows
    logits, judged = held_out_logits(solved.rule(rule), *given, **options)
    return logits, solved.known.class_ids[judged]


# The loop


def test_each_fold_is_judged_by_the_others() -> None:
    folds = [np.array([1, 4]), np.array([0]), np.array([2, 4])]
    seen: list[tuple[int, list[int], list[int]]] = []

    def judge(fold: int, hidden: np.ndarray, shown: np.ndarray) -> np.ndarray:
        seen.append((fold, hidden.tolist(), shown.tolist()))
        return np.column_stack([np.full(len(hidden), fold), hidden])

    judged = hold_out(folds, 6, judge)
    assert seen == [(0, [1, 4], [0, 2, 3, 5]), (1, [0], [1, 2, 3, 4, 5]), (2, [2, 4], [0, 1, 3, 5])]
    expected = np.full((6, 2), np.nan)  # rows 3 and 5 are in no fold
    expected[[1, 0, 2]] = [[0, 1], [1, 0], [2, 2]]
    expected[4] = [1, 4]  # the mean of two judgements
    np.testing.assert_array_equal(judged.mean(), expected)


# How good it is


@pytest.mark.parametrize("readers", ["nearest", "euclidean", "knn"])
def test_confidence_on_digits_is_calibrated(
    readers: str, digits: Any, digits_y: np.ndarray, digits_model: FSSMSC
) -> None:
    model = digits_model
    if readers != "nearest":
        model = FSSMSC(**{**CHOSEN, "readers": readers}, random_state=0).fit(digits.views, digits_y)
    hidden = digits_y == -1
    right = (model.labels_ == digits.target)[hidden]
    assert expected_calibration_error(right, model.confidence_[hidden]) < 0.03  # 0.01 when this was written


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_held_out_rows_make_it_less_sure_than_seen_ones() -> None:
    """Labels at random: an embedding that has seen them sets them apart, and would be sure of everything."""
    made = make_multiview_subspaces(300, 4, (8, 6), noise=0.3, random_state=1)
    y = np.full(300, -1)
    rows = np.arange(0, 300, 3)
    y[rows] = np.random.default_rng(0).integers(4, size=len(rows))
    model = build().fit(made.views, y)
    seen = calibrate_on_seen(keep_labelled(model.embedding_[rows], y[rows], "nearest", 5))
    hidden = y == -1
    assert seen.probabilities(seen.evidence(model.embedding_[hidden])).max(axis=1).mean() > 0.4
    assert model.confidence_[hidden].mean() < 0.35  # there is nothing to know: 0.25 would be right


def test_labels_are_those_of_the_evidence(data: Any, model: FSSMSC) -> None:
    probabilities = model.predict_proba(data.views)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(data.views))
    hidden = data.y == -1
    np.testing.assert_array_equal(model.predict(data.views)[hidden], model.labels_[hidden])
    np.testing.assert_allclose(probabilities.max(axis=1)[hidden], model.confidence_[hidden], atol=1e-5)
    assert (model.confidence_[~hidden] == 1).all()


def test_confidence_does_not_depend_on_threads_or_pickling(data: Any, model: FSSMSC) -> None:
    two = build(n_jobs=2).fit(data.views, data.y)
    np.testing.assert_array_equal(model.confidence_, two.confidence_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(data.views), model.predict_proba(data.views))


# No label judges itself


def test_a_hidden_label_has_no_influence(solved: Solved) -> None:
    """Other labels in a fold leave what is said of its rows as it is; the other folds do hear of them."""
    known, rows = solved.known, solved.rows
    folds = split_labels(known.class_ids[rows], 3, np.random.RandomState(0))
    before, _ = logits_of(solved)
    ends = np.cumsum([0, *map(len, folds)])
    for number, fold in enumerate(folds):
        class_ids = known.class_ids.copy()
        class_ids[rows] = swap_neighbours(known.class_ids[rows], fold)
        assert (class_ids != known.class_ids).any()
        after, _ = logits_of(replace(solved, known=replace(known, class_ids=class_ids)))
        own = slice(ends[number], ends[number + 1])
        np.testing.assert_array_equal(after[own], before[own])
        assert np.abs(np.delete(after - before, np.r_[own], axis=0)).max() > 0.1


def test_pairs_of_a_hidden_row_have_no_influence(solved: Solved) -> None:
    """Pairs with a fold's rows, as single pairs or as groups, leave what is said of these rows as it is."""
    known, rows = solved.known, solved.rows
    folds = split_labels(known.class_ids[rows], 3, np.random.RandomState(0))
    ends = np.cumsum([0, *map(len, folds)])
    before, _ = logits_of(solved)
    for number, fold in enumerate(folds):
        inside = rows[fold]
        must = [(int(a), int(b)) for a in inside for b in rows if a != b and known.class_ids[a] == known.class_ids[b]]
        cannot = [(int(a), int(b)) for a in inside for b in rows if known.class_ids[a] != known.class_ids[b]]
        pairs = Constraints.from_pairs(must=must, cannot=cannot, n_rows=300).resolve(300)
        after, _ = logits_of(replace(solved, known=replace(known, pairs=pairs)))
        own = slice(ends[number], ends[number + 1])
        np.testing.assert_array_equal(after[own], before[own])
        assert np.abs(np.delete(after - before, np.r_[own], axis=0)).max() > 1e-3  # the other folds hear of them


def test_the_classes_come_with_their_rows(solved: Solved) -> None:
    logits, class_ids = logits_of(solved)
    assert sorted(class_ids) == sorted(solved.known.class_ids[solved.rows])
    assert (logits.argmax(axis=1) == class_ids).mean() > 0.6


def test_the_small_space_is_as_good_as_the_whole(data: Any) -> None:
    few = solve(data.views, np.where(np.arange(300) % 2, data.y, -1), 60)
    assert len(few.rows) < 0.5 * len(few.problem.gram)
    small, class_ids = logits_of(few)
    whole, _ = logits_of(few, reduced=False)
    assert np.abs(small - whole).max() > 0  # it was small indeed
    assert abs((small.argmax(axis=1) == class_ids).mean() - (whole.argmax(axis=1) == class_ids).mean()) < 0.1
    temperatures = [choose_temperature(logits, class_ids, Mistakes()) for logits in (small, whole)]
    assert temperatures[0] == pytest.approx(temperatures[1], rel=0.3)


def test_the_small_space_is_that_of_the_smoothed_codes() -> None:
    """Orthonormal columns, as many as labelled rows, that hold (I + 2 N) Z_lᵀ; where it is not small, none."""
    rng = np.random.default_rng(0)
    codes = rng.random((6, 20)) * (rng.random((6, 20)) < 0.4)
    graph = landmark_graph(gram := (every := rng.random((50, 20))).T @ every, gram.sum(axis=1))
    basis = _basis(sparse.csr_array(codes), graph, 3)
    assert basis is not None and basis.shape == (20, 6)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-12)
    wanted = (np.eye(20) + 2 * graph) @ codes.T
    np.testing.assert_allclose(basis @ (basis.T @ wanted), wanted, atol=1e-12)
    assert _basis(sparse.csr_array(codes), graph, 7) is None  # too small for the embedding
    assert _basis(sparse.csr_array(rng.random((15, 20))), graph, 3) is None


def test_many_labels_are_judged_in_part(solved: Solved) -> None:
    logits, class_ids = logits_of(solved, enough=10)
    assert 10 <= len(class_ids) < 20 and len(logits) == len(class_ids)  # of 45
    every, _ = logits_of(solved)
    assert all((every == row).all(axis=1).any() for row in logits)  # the same judgements, fewer of them


def test_calibration_chooses_the_temperature_on_held_out_rows(solved: Solved) -> None:
    rule = solved.rule()
    calibrated, held_out = calibrate(rule, solved.problem, solved.result, solved.known, solved.rows)
    assert calibrated.temperature == choose_temperature(*logits_of(solved), Mistakes())
    assert calibrated.reference is rule.reference and calibrated.rule == rule.rule
    assert held_out is not None
    np.testing.assert_array_equal(held_out.rows, solved.rows)  # all of them, in order
    np.testing.assert_array_equal(held_out.class_ids, solved.known.class_ids[solved.rows])
    logits, class_ids = logits_of(solved)
    assert held_out.right.mean() == (logits.argmax(axis=1) == class_ids).mean()
    np.testing.assert_allclose(held_out.probabilities.sum(axis=1), 1)
    losses = [softmax(logits / t, axis=1)[np.arange(len(logits)), class_ids] for t in (calibrated.temperature, 1e-3)]
    found = held_out.probabilities[np.arange(len(logits)), held_out.class_ids]
    assert np.sort(found) == pytest.approx(np.sort(losses[0])) != pytest.approx(np.sort(losses[1]))


def test_where_no_label_can_be_held_out_those_that_were_seen_must_do(data: Any) -> None:
    one_each = np.full(300, -1)
    one_each[np.unique(data.target, return_index=True)[1]] = np.arange(4)
    solved = solve(data.views, one_each, 60)
    logits, class_ids = logits_of(solved)
    assert logits.shape == (0, 4) and class_ids.shape == (0,)
    calibrated, held_out = calibrate(solved.rule(), solved.problem, solved.result, solved.known, solved.rows)
    assert calibrated.temperature == calibrate_on_seen(solved.rule()).temperature
    assert held_out is None


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
        "no must-link": ({"solver__omit": ("must_link",)}, data.y, {}),
        "no smoothness": ({"solver__omit": ("smoothness",)}, data.y, {}),
        "admm": ({"solver": "admm", "solver__max_iter": 3}, data.y, {}),
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
