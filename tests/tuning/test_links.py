"""What pairs say beyond the embedding."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview import Constraints
from anchorview.supervision.pairs import ResolvedPairs
from anchorview.tuning.links import apply_pairs, joined_rows, pass_on

UNSURE = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
NOBODY = np.full(5, -1)


def resolved(**given: list[tuple[float, ...]]) -> ResolvedPairs:
    return Constraints.from_pairs(**given, n_rows=5).resolve(5)


def test_chains_and_groups_join_hints_do_not() -> None:
    joined = joined_rows(resolved(must=[(0, 1), (1, 2), (3, 4, 0.9)]))
    assert joined[0] == joined[1] == joined[2]
    assert len(set(joined[2:])) == 3
    groups = Constraints.from_groups(must=["a", "", "a", "b", "b"]).resolve(5)
    assert joined_rows(groups).tolist() == [0, 1, 0, 2, 2]
    light = Constraints.from_groups(must=["a", "", "a", "b", "b"], weight=0.5).resolve(5)
    assert len(set(joined_rows(light))) == 5


def test_labels_are_passed_on_unless_they_contradict() -> None:
    pairs = resolved(must=[(0, 1), (2, 3), (3, 4)])
    assert pass_on(np.array([2, -1, -1, -1, 1]), pairs).tolist() == [2, 2, 1, 1, 1]
    assert pass_on(np.array([2, -1, 0, -1, 1]), pairs).tolist() == [2, 2, 0, -1, 1]


def test_rows_in_no_pair_stay_as_they_are() -> None:
    found = apply_pairs(UNSURE, NOBODY, resolved(must=[(0, 1)], cannot=[(1, 2)]))
    np.testing.assert_array_equal(found[3:], UNSURE[3:])
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_rows_that_must_link_agree() -> None:
    pairs = resolved(must=[(1, 2), (2, 4)])
    found = apply_pairs(UNSURE, NOBODY, pairs)
    np.testing.assert_allclose(found[[1, 2, 4]], np.tile(UNSURE[[1, 2, 4]].mean(axis=0), (3, 1)))
    heavy = apply_pairs(UNSURE, NOBODY, pairs, np.array([1.0, 1.0, 1.0, 1.0, 9.0]))
    assert heavy[1].argmax() == 2
    labelled = apply_pairs(UNSURE, np.array([-1, 1, -1, -1, -1]), pairs)
    assert labelled[[1, 2, 4]].argmax(axis=1).tolist() == [1, 1, 1]


def test_rows_that_must_not_link_keep_apart() -> None:
    found = apply_pairs(UNSURE, NOBODY, resolved(cannot=[(0, 1)]))
    assert found[:2].argmax(axis=1).tolist() == [0, 1]  # the surer one gets the class
    label = np.array([0, -1, -1, -1, -1])
    assert apply_pairs(UNSURE, label, resolved(cannot=[(0, 1)]))[1].argmax() == 1
    hint = apply_pairs(UNSURE, label, resolved(cannot=[(0, 1, 0.01)]))
    assert hint[1].argmax() == 0
    group = Constraints.from_groups(cannot=["", "a", "a", "a", ""]).resolve(5)
    assert sorted(apply_pairs(UNSURE, NOBODY, group)[1:4].argmax(axis=1)) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_pairs_that_are_right_never_do_harm_on_average(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=200)
    alone = rng.dirichlet(np.ones(3), size=200) + 0.6 * np.eye(3)[truth]
    alone /= alone.sum(axis=1, keepdims=True)
    ends = rng.integers(200, size=(250, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = truth[ends[:, 0]] == truth[ends[:, 1]]
    must, cannot = ends[same].tolist(), ends[~same].tolist()
    pairs = Constraints.from_pairs(must=must, cannot=cannot, n_rows=200).resolve(200)
    found = apply_pairs(alone, np.full(200, -1), pairs)
    assert (found.argmax(axis=1) == truth).mean() > (alone.argmax(axis=1) == truth).mean() + 0.03
