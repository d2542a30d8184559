"""Rows far from all labelled ones, of classes that no label names: every rule is less sure of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.core.arrays import unit_rows
from anchorview.metrics import expected_calibration_error
from anchorview.readers.base import RULES, class_probabilities
from anchorview.readers.held_out import calibrate, calibrate_votes
from anchorview.readers.nearest import calibrate_on_seen, keep_labelled
from anchorview.readers.temperature import Mistakes, choose_temperature
from support.fits import solve
from support.settled import CHOSEN

UNNAMED = (2, 5, 8)


@pytest.fixture(scope="module")
def part(digits: Any) -> Any:
    """Half of the digits, 6 % of them labelled; three of the ten classes have no label at all."""
    views, target = digits.views[::2], digits.target[::2]
    y = np.full(len(target), -1)
    for number in set(range(10)) - set(UNNAMED):
        y[np.flatnonzero(target == number)[::16]] = number
    return views, target, y


def novelty(model: Any, part: Any) -> tuple[float, float]:
    """Return the AUC of the confidence, named classes against unnamed ones, and the calibration error of the named."""
    _, target, y = part
    hidden, named = y == -1, ~np.isin(target, UNNAMED)
    right = (model.labels_ == target)[hidden & named]
    auc = roc_auc_score(named[hidden], model.confidence_[hidden])
    return float(auc), expected_calibration_error(right, model.confidence_[hidden & named])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_less_sure_of_classes_without_a_label(rule: str, part: Any) -> None:
    model = FSSMSC(**{**CHOSEN, "readers": rule}, n_landmarks=200, random_state=0)
    auc, error = novelty(model.fit(part[0], part[2]), part)
    assert auc > 0.9  # knn by shares of votes: 0.5
    assert error < 0.06


def test_so_is_the_tuned_model(part: Any) -> None:
    model = AnchorViewClassifier(n_landmarks=100, n_averaged=4, scaling="minmax", n_repeats=1, random_state=0)
    assert novelty(model.fit(part[0], part[2]), part)[0] > 0.85


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_neighbors", [1, 5, 12])
def test_the_farther_the_less_sure(rule: str, n_neighbors: int) -> None:
    """From the middle of a class's labelled rows outwards, on a path that stays nearest to that class."""
    rng = np.random.default_rng(0)
    class_ids = np.repeat(np.arange(3), 15)
    labelled = unit_rows(np.eye(5)[class_ids] + 0.05 * rng.normal(size=(45, 5)))
    hidden = unit_rows(np.eye(5)[class_ids] + 0.15 * rng.normal(size=(45, 5)))
    model = keep_labelled(labelled, class_ids, rule, n_neighbors)
    if rule == "knn":
        model = calibrate_votes(model, model.logits(model.evidence(hidden)), class_ids)
    else:
        model = calibrate_on_seen(model)
    away = np.linspace(0, 1, 12)[:, None]
    path = unit_rows((1 - away) * np.eye(5)[0] + away * (0.3 * np.eye(5)[0] + np.eye(5)[4]))
    probabilities = class_probabilities(model, path)
    assert (probabilities.argmax(axis=1) == 0).all()
    sure = probabilities.max(axis=1)
    assert (np.diff(sure[2:]) < 0).all()
    assert sure[0] > 0.9 and sure[-1] < 0.85  # knn by shares: 1


def test_doubt_is_chosen_on_held_out_rows(part: Any) -> None:
    solved = solve(part[0].arrays, part[2], 80)
    for rule in RULES:
        chosen, _ = calibrate(solved.rule(rule), solved.problem, solved.result, solved.known, solved.rows)
        assert (chosen.doubt > 0) == (rule == "knn")


@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_the_doubt_has_the_least_log_loss_on_hidden_rows(noise: float) -> None:
    """Of five from the votes of one more row over all classes to those of such a row for each."""
    rng = np.random.default_rng(0)
    class_ids = np.repeat(np.arange(3), 20)
    labelled = unit_rows(np.eye(4)[class_ids] + 0.1 * rng.normal(size=(60, 4)))
    hidden = unit_rows(np.eye(4)[class_ids] + noise * rng.uniform(size=(60, 1)) * rng.normal(size=(60, 4)))
    model = keep_labelled(labelled, class_ids, "knn", 5)
    evidence = model.evidence(hidden)
    losses = {}
    usual = float(np.median(np.exp(evidence).sum(axis=1)))
    for doubt in np.geomspace(usual / 3, usual, 5):
        logits = np.log(np.exp(evidence) + doubt)
        probabilities = softmax(logits / choose_temperature(logits, class_ids, Mistakes()), axis=1)
        losses[doubt] = -np.log(probabilities[np.arange(60), class_ids]).mean()
    assert calibrate_votes(model, evidence, class_ids).doubt == pytest.approx(min(losses, key=losses.__getitem__))


def test_doubles_of_labelled_rows_do_not_make_all_others_doubtful() -> None:
    """Most hidden rows lie on labelled ones: their votes, a million each, say nothing of usual distances."""
    rng = np.random.default_rng(0)
    class_ids = np.repeat(np.arange(3), 20)
    labelled = unit_rows(np.eye(4)[class_ids] + 0.1 * rng.normal(size=(60, 4)))
    apart = unit_rows(np.eye(4)[class_ids] + 0.1 * rng.normal(size=(60, 4)))
    model = keep_labelled(labelled, class_ids, "knn", 5)
    hidden, hidden_ids = np.vstack([labelled, labelled, apart]), np.tile(class_ids, 3)
    model = calibrate_votes(model, model.logits(model.evidence(hidden)), hidden_ids)
    assert class_probabilities(model, apart).max(axis=1).mean() > 0.9


def test_votes_decide_as_before(part: Any) -> None:
    """The doubt is the same for all classes: it changes no label."""
    solved = solve(part[0].arrays, part[2], 80)
    rule = solved.rule("knn")
    chosen, _ = calibrate(rule, solved.problem, solved.result, solved.known, solved.rows)
    evidence = rule.evidence(solved.embedding)
    np.testing.assert_array_equal(chosen.probabilities(evidence).argmax(axis=1), evidence.argmax(axis=1))
