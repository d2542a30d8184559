"""Constraints that contradict one another, and constraints that a clustering violates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview import Constraints
from anchorview.supervision.conflicts import Conflict, Contradiction, conflict_message, count_violations, find_conflicts
from support.pairs import constraint_sets, dense_labels, dense_pairs

quick = settings(deadline=None, max_examples=30)


def test_contradictions_are_found_and_named() -> None:
    n = 12
    class_ids = np.full(n, -1)
    class_ids[[0, 1, 2, 9]] = [0, 0, 1, 1]
    constraints = Constraints.from_pairs(
        must=[(3, 4), (4, 5), (0, 8), (8, 2)],
        cannot=[(3, 4), (3, 5), (0, 1), (3, 6), (2, 10)],
        n_rows=n,
    ) + Constraints.from_groups(must=[-1] * 6 + [7, 7] + [-1] * 4, cannot=[-1] * 6 + [1, 1, -1, -1, 1, 1])
    found = find_conflicts(class_ids, constraints.resolve(n), n)
    assert found == [
        Conflict(0, 2, Contradiction.LABELS),
        Conflict(0, 1, Contradiction.CHAIN),  # the same label
        Conflict(3, 4, Contradiction.BOTH),
        Conflict(3, 5, Contradiction.CHAIN),
        Conflict(6, 7, Contradiction.BOTH),  # the same group
    ]
    message = conflict_message([*found, *found], ids=np.array([f"s{i}" for i in range(n)]))
    assert message.startswith("10 constraints contradict others: 's0' and 's2' have different labels")
    assert "'s3' and 's4' must link and must not link" in message
    assert message.endswith("; and 5 more.")
    assert conflict_message(found[2:3]) == (
        "1 constraint contradicts others: rows 3 and 4 must link and must not link."
    )


@quick
@given(constraint_sets(), st.data())
def test_no_conflict_is_reported_exactly_when_a_labelling_meets_all(constraints: Any, data: st.DataObject) -> None:
    """Rows joined by must-links get one cluster of their own: whatever that violates cannot be met at all."""
    n = len(constraints)
    class_ids = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    resolved = constraints.resolve(n)
    must, cannot = (a + b for a, b in zip(dense_labels(class_ids), dense_pairs(resolved), strict=True))
    reach = np.linalg.matrix_power((must > 0) + np.eye(n), n) > 0
    conflicts = find_conflicts(class_ids, resolved, n)
    assert bool(conflicts) == bool((reach & (cannot > 0)).any())
    for conflict in conflicts:
        assert conflict.first < conflict.second
        assert reach[conflict.first, conflict.second]
        assert cannot[conflict.first, conflict.second] > 0


@quick
@given(constraint_sets(), st.data())
def test_violations_equal_a_count_pair_by_pair(constraints: Any, data: st.DataObject) -> None:
    index = np.array(data.draw(st.lists(st.integers(0, len(constraints) - 1), min_size=1, max_size=12)))
    constraints = constraints[index]
    n = len(constraints)
    labels = np.array(data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)))
    resolved = constraints.resolve(n)
    counts = {"must": [0, 0], "cannot": [0, 0]}
    for i, j in itertools.combinations(range(n), 2):
        is_same = bool(labels[i] == labels[j])
        for kind, is_wrong in (("must", not is_same), ("cannot", is_same)):
            pairs = getattr(resolved, kind)
            stated = int(((pairs.first == i) & (pairs.second == j)).sum())
            for groups in getattr(resolved, f"{kind}_groups"):
                is_self = kind == "cannot" and groups.members[i] == groups.members[j]
                stated += int(groups.numbers[i] == groups.numbers[j] >= 0 and not is_self)
            counts[kind][0] += stated * is_wrong
            counts[kind][1] += stated
    found = count_violations(labels, resolved)
    assert (found.must, found.cannot) == (tuple(counts["must"]), tuple(counts["cannot"]))
    with pytest.raises(ValueError, match="labels were given for constraints on"):
        count_violations(labels[:-1], resolved)
