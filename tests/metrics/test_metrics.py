"""Scores against literal definitions, and the properties every one of them has."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.metrics import (
    adjusted_rand,
    clustering_accuracy,
    clustering_report,
    expected_calibration_error,
    normalized_mutual_info,
    pairwise_f,
    pairwise_precision_recall,
    purity,
)

SCORES = [clustering_accuracy, normalized_mutual_info, adjusted_rand, purity, pairwise_f]
SYMMETRIC = [clustering_accuracy, normalized_mutual_info, adjusted_rand, pairwise_f]
AVERAGES = ["geometric", "arithmetic", "max"]

briefly = settings(deadline=None, max_examples=60)


@st.composite
def two_labellings(draw, max_label=4, max_size=25):
    size = draw(st.integers(1, max_size))
    labels = st.lists(st.integers(0, max_label), min_size=size, max_size=size)
    return np.array(draw(labels)), np.array(draw(labels))


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -float(np.sum(shares * np.log(shares)))


@briefly
@given(two_labellings())
def test_bounds(pair):
    for score in SCORES:
        lowest = -0.5 - 1e-12 if score is adjusted_rand else 0.0
        assert lowest <= score(*pair) <= 1.0


@briefly
@given(two_labellings(), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(pair, random):
    true, pred = pair
    names = [f"cluster {number}" for number in range(5)]
    random.shuffle(names)
    order = list(range(len(true)))
    random.shuffle(order)
    for score in SCORES:
        renamed = [names[label] for label in pred[order]]
        assert score(true[order], renamed) == pytest.approx(score(true, pred), abs=1e-12)


@briefly
@given(two_labellings())
def test_same_partition_scores_one(pair):
    true, _ = pair
    for score in SCORES:
        assert score(true, [f"x{label}" for label in true]) == pytest.approx(1.0, abs=1e-12)


@briefly
@given(two_labellings())
def test_symmetric_scores(pair):
    true, pred = pair
    for score in SYMMETRIC:
        assert score(true, pred) == pytest.approx(score(pred, true), abs=1e-12)


@briefly
@given(two_labellings(max_label=3, max_size=10))
def test_accuracy_against_every_matching(pair):
    true, pred = pair
    best = max(np.mean(np.array(names)[pred] == true) for names in permutations(range(4)))
    assert clustering_accuracy(true, pred) == pytest.approx(best)


@briefly
@given(two_labellings())
def test_accuracy_never_above_purity(pair):
    assert clustering_accuracy(*pair) <= purity(*pair) + 1e-12


@briefly
@given(two_labellings())
def test_purity_against_definition(pair):
    true, pred = pair
    commonest = sum(np.bincount(true[pred == cluster]).max() for cluster in np.unique(pred))
    assert purity(true, pred) == pytest.approx(commonest / len(true))


@briefly
@given(two_labellings())
def test_mutual_info_against_definition(pair):
    true, pred = pair
    of_true, of_pred = entropy(true), entropy(pred)
    joint = entropy(true * 10 + pred)
    means = [np.sqrt(of_true * of_pred), (of_true + of_pred) / 2, max(of_true, of_pred)]
    for average, mean in zip(AVERAGES, means, strict=True):
        value = normalized_mutual_info(true, pred, average=average)
        if min(of_true, of_pred) == 0:
            assert value == float(of_true == of_pred)
        else:
            assert value == pytest.approx((of_true + of_pred - joint) / mean, abs=1e-9)


@briefly
@given(two_labellings())
def test_mutual_info_falls_with_the_mean(pair):
    geometric, arithmetic, maximum = (normalized_mutual_info(*pair, average=name) for name in AVERAGES)
    assert maximum <= arithmetic + 1e-12
    assert arithmetic <= geometric + 1e-12


@briefly
@given(two_labellings(), st.sampled_from([0.5, 1.0, 2.0]))
def test_pair_scores_against_a_pair_loop(pair, beta):
    true, pred = pair
    both = pred_only = true_only = 0
    for i, j in combinations(range(len(true)), 2):
        together_true, together_pred = true[i] == true[j], pred[i] == pred[j]
        both += together_true and together_pred
        pred_only += together_pred and not together_true
        true_only += together_true and not together_pred
    precision = both / (both + pred_only) if both + pred_only else 1.0
    recall = both / (both + true_only) if both + true_only else 1.0
    assert pairwise_precision_recall(true, pred) == pytest.approx((precision, recall))
    weighted = beta**2 * precision + recall
    expected = (1 + beta**2) * precision * recall / weighted if weighted else 0.0
    assert pairwise_f(true, pred, beta=beta) == pytest.approx(expected)


@briefly
@given(two_labellings())
def test_adjusted_rand_against_definition(pair):
    true, pred = pair
    n = len(true)
    table = np.zeros((5, 5))
    np.add.at(table, (true, pred), 1)
    index, rows, columns = ((x * (x - 1) / 2).sum() for x in (table, table.sum(1), table.sum(0)))
    expected = rows * columns / (n * (n - 1) / 2) if n > 1 else 0.0
    top = (rows + columns) / 2
    correct = 1.0 if top == expected else (index - expected) / (top - expected)
    assert adjusted_rand(true, pred) == pytest.approx(correct, abs=1e-9)


def test_report_holds_the_single_scores():
    rng = np.random.default_rng(0)
    true, pred = rng.integers(4, size=200), rng.integers(6, size=200)
    report = clustering_report(true, pred)
    assert list(report) == ["acc", "nmi", "ari", "purity", "f"]
    assert list(report.values()) == [score(true, pred) for score in SCORES]
    assert all(type(value) is float for value in report.values())


def test_different_numbers_of_classes_and_clusters():
    assert clustering_accuracy([0, 0, 1, 1], [0, 1, 2, 3]) == 0.5
    assert clustering_accuracy([0, 1, 2, 3], [7, 7, 7, 7]) == 0.25
    assert purity([0, 0, 1, 1], [0, 1, 2, 3]) == 1.0
    assert pairwise_f([0, 0, 1, 1], [0, 1, 2, 3]) == 0.0


def test_label_types():
    true = ["a", "a", "b", "b"]
    mixed = np.array([1, 1, "b", 2.5], dtype=object)
    assert clustering_accuracy(true, mixed) == 0.75
    assert clustering_accuracy(true, [True, True, False, False]) == 1.0
    assert clustering_accuracy(true, [-1.5, -1.5, 2.5, 2.5]) == 1.0
    assert clustering_report(true, [10**12, 10**12, -5, -5])["f"] == 1.0


def test_a_cluster_for_every_sample_is_quiet(recwarn):
    clustering_report(np.arange(100), np.arange(100))
    assert not recwarn.list


@pytest.mark.parametrize("score", [*SCORES, pairwise_precision_recall, clustering_report])
class TestErrors:
    def test_empty(self, score):
        with pytest.raises(ValueError, match="empty"):
            score([], [])

    def test_lengths(self, score):
        with pytest.raises(ValueError, match="y_true has 3 labels but y_pred has 2"):
            score([0, 1, 2], [0, 1])

    def test_two_dimensions(self, score):
        with pytest.raises(ValueError, match=r"y_pred has shape \(2, 1\)"):
            score([0, 1], [[0], [1]])


def test_bad_options():
    with pytest.raises(ValueError, match="average='min' is not known"):
        normalized_mutual_info([0], [0], average="min")
    for beta in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="beta"):
            pairwise_f([0], [0], beta=beta)


@briefly
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40), st.integers(1, 20))
def test_calibration_error_against_definition(samples, n_bins):
    correct, confidence = (np.array(column) for column in zip(*samples, strict=True))
    bins = [min(int(value * n_bins), n_bins - 1) for value in confidence]
    expected = 0.0
    for number in range(n_bins):
        inside = np.array([chosen == number for chosen in bins])
        if inside.any():
            expected += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    value = expected_calibration_error(correct, confidence, n_bins=n_bins)
    assert value == pytest.approx(expected, abs=1e-9)
    assert 0.0 <= value <= 1.0


def test_calibration_error_extremes():
    assert expected_calibration_error([1, 1], [1.0, 1.0]) == 0.0
    assert expected_calibration_error([0, 0], [1.0, 1.0]) == 1.0


@pytest.mark.parametrize(
    ("correct", "confidence", "n_bins", "message"),
    [
        ([], [], 15, "empty"),
        ([1, 0], [0.5], 15, r"\(2,\) but confidence has shape \(1,\)"),
        ([2], [0.5], 15, "booleans"),
        ([1], [1.5], 15, "between 0 and 1"),
        ([1], [np.nan], 15, "between 0 and 1"),
        ([1], [0.5], 0, "n_bins"),
    ],
)
def test_calibration_error_errors(correct, confidence, n_bins, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(correct, confidence, n_bins=n_bins)


@pytest.mark.parametrize("score", SCORES)
def test_labels_that_are_not_there_are_refused_with_their_row(score):
    masked = np.ma.masked_array([0, 1, 1], mask=[False, True, False])
    for labels in ([0.0, np.nan, 1.0], ["a", None, "b"], masked):
        with pytest.raises(ValueError, match="y_true has no label in row 1"):
            score(labels, [0, 1, 1])
    with pytest.raises(ValueError, match="y_pred holds"):
        score([0, 1], [[0], [1, 2]])


def test_options_of_other_types_are_named():
    for beta in ("x", None, np.nan, True):
        with pytest.raises(ValueError, match="beta must be a number above 0"):
            pairwise_f([0, 1], [0, 1], beta=beta)
    for n_bins in (0, "x", 10**30, 2.5):
        with pytest.raises(ValueError, match="n_bins must be an integer"):
            expected_calibration_error([1], [0.5], n_bins)
    with pytest.raises(ValueError, match="correct must hold numbers"):
        expected_calibration_error(["a"], [0.5])
    with pytest.raises(ValueError, match="confidence must hold numbers"):
        expected_calibration_error([1], ["a"])
