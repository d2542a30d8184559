"""The audit: a random sample whoever chose the labels, where labels come from, and rows one can rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchorview.readers.audit import (
    JudgedAudit,
    accuracy_by_audit,
    accuracy_by_hidden_labels,
    audit_folds,
    audit_order,
    audited_rows,
    next_audit_rows,
)
from anchorview.readers.label_sources import read_label_sources
from anchorview.readers.trusted import find_trusted, labels_for_bound


def test_the_order_is_always_the_same_and_holds_each_usable_row_once() -> None:
    usable = np.arange(50) % 5 > 0
    order = audit_order(50, usable=usable)
    np.testing.assert_array_equal(np.sort(order), np.flatnonzero(usable))
    np.testing.assert_array_equal(order, audit_order(50, usable=usable))
    assert not np.array_equal(order, audit_order(50, 1, usable))


def test_the_audit_goes_on_behind_what_was_labelled_for_other_reasons() -> None:
    order = audit_order(40)
    sources = np.full(40, "", dtype="U9")
    sources[order[[0, 2]]] = "suggested"
    np.testing.assert_array_equal(next_audit_rows(order, sources, 3), order[[1, 3, 4]])
    sources[order[[1, 3]]] = ["random", "skipped"]
    rows, skipped = audited_rows(order, sources)
    np.testing.assert_array_equal(rows, np.sort(order[:3]))
    np.testing.assert_array_equal(skipped, order[3:4])
    sources[order[20]] = "suggested"  # beyond the audit: not a random row
    assert len(audited_rows(order, sources)[0]) == 3


def test_the_audit_is_a_random_sample_although_hard_rows_were_labelled_first() -> None:
    right = np.arange(400) >= 100  # three of four
    shares = []
    for seed in range(200):
        order = audit_order(400, seed)
        sources = np.full(400, "", dtype="U9")
        sources[:60] = "suggested"  # all of them hard
        sources[next_audit_rows(order, sources, 40)] = "random"
        shares.append(right[audited_rows(order, sources)[0]].mean())
    assert np.mean(shares) == pytest.approx(0.75, abs=0.02)


def test_rows_of_the_audit_that_lie_in_gaps_are_made_up_for_by_the_confidence() -> None:
    rng, found, plain, rows = np.random.default_rng(0), [], [], np.arange(60)
    for _ in range(300):
        sure = rng.beta(3, 3, 60)  # probability that each is right: 0.5 on average, and 0.75 elsewhere
        audit = JudgedAudit(rows, rows[:0], rng.random(60) < sure, sure, 0.75)
        found.append(accuracy_by_audit(audit.right, gap=audit.gap))
        plain.append(accuracy_by_audit(audit.right))
    assert np.mean([each.value for each in found]) == pytest.approx(0.75, abs=0.01)
    assert np.mean([each.low <= 0.75 <= each.high for each in found]) > 0.88
    assert np.mean([each.low <= 0.75 <= each.high for each in plain]) < 0.3
    # Labels that could not be judged say nothing of the confidence.
    assert JudgedAudit(rows, rows[:0], sure > 1, np.where(rows < 30, 0.0, 0.6), 0.7).gap == pytest.approx(0.1)


def test_folds_share_out_every_row_once() -> None:
    rows = np.arange(0, 66, 2)
    folds = audit_folds(rows)
    assert len(folds) == 10
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), rows)


def test_the_interval_holds_the_accuracy_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(500):
        found = accuracy_by_audit(rng.random(60) < 0.85)
        inside.append(found.low <= 0.85 <= found.high)
    assert np.mean(inside) >= 0.9


def test_skipped_rows_widen_the_interval_at_both_ends() -> None:
    plain, skipped = (accuracy_by_audit(np.arange(50) >= 5, n) for n in (0, 10))
    assert skipped.value == plain.value == 0.9
    assert skipped.low < plain.low and skipped.high > plain.high - 0.02
    assert "10 that nobody could label" in skipped.describe()


def test_hidden_labels_say_what_they_rest_on() -> None:
    unknown = accuracy_by_hidden_labels(0.9, (0.8, 0.96), 50, np.array(["unknown", ""]))
    chosen = accuracy_by_hidden_labels(0.9, (0.8, 0.96), 50, np.array(["random", "suggested"]))
    assert "holds if the labelled rows were drawn at random" in unknown.describe()
    assert "not drawn at random" in chosen.describe()


@pytest.mark.parametrize(
    "given",
    [
        {"b": "random", "c": "skipped"},
        pd.Series(["skipped", "random"], index=["c", "b"]),
        [None, "random", "skipped"],
        pd.Series([np.nan, "random", "skipped"]),
    ],
)
def test_sources_by_id_and_by_row(given: Any) -> None:
    found = read_label_sources(given, np.array([True, True, False]), np.array(["a", "b", "c"]))
    assert found.tolist() == ["unknown", "random", "skipped"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("random", "a source for each row"),
        (["random"], "1 entries for 3 rows"),
        ({"z": "random"}, "rows that are not there: 'z'"),
        ({"a": "guess"}, "label_source of row a is 'guess'; use random"),
        ({"a": 3}, "label_source of row a is 3"),
        ({"a": "skipped"}, "row a is 'skipped', but it has a label"),
        ({"c": "random"}, "row c is 'random', but it has no label"),
    ],
)
def test_bad_sources(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_label_sources(given, np.array([True, True, False]), np.array(["a", "b", "c"]))


@pytest.mark.parametrize("overconfident", [0.0, 0.1])
def test_the_promise_of_trusted_rows_is_broken_in_at_most_one_of_twenty(overconfident: float) -> None:
    rng = np.random.default_rng(0)
    sure = rng.beta(8, 1, size=3000)
    right = rng.random(3000) < sure - overconfident
    broken, sizes = [], []
    for _ in range(300):
        drawn = rng.choice(3000, 150, replace=False)
        found = find_trusted(sure, np.ones(3000, dtype=bool), sure[drawn], right[drawn], accuracy=0.9)
        broken.append(len(found.rows) > 0 and right[found.rows].mean() < 0.9)
        sizes.append(len(found.rows))
    assert np.mean(broken) <= 0.05
    assert overconfident or np.median(sizes) > 600


def test_too_few_labels_give_no_rows_and_say_how_many_more() -> None:
    sure, everyone = np.full(100, 0.99), np.ones(100, dtype=bool)
    found = find_trusted(sure, everyone, sure[:30], np.arange(30) != 3)
    assert len(found) == 0 and found.n_more == labels_for_bound(0.95, 0.95, 1) - 30 == 63
    assert "Audit about 63 more rows." in found.describe()


@pytest.mark.parametrize("value", [0, 1, 1.5, "high", True])
def test_bad_promises(value: Any) -> None:
    sure = np.full(9, 0.9)
    with pytest.raises(ValueError, match="accuracy must be a number between 0 and 1"):
        find_trusted(sure, sure > 0, sure, sure > 0, accuracy=value)
