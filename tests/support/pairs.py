"""Constraints of any form, and the pairs they state, listed one by one."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from anchorview import Constraints
from anchorview.supervision.pairs import ResolvedPairs


def dense_pairs(resolved: ResolvedPairs) -> tuple[npt.NDArray, npt.NDArray]:
    """The weights of all ordered pairs, pair by pair."""
    must, cannot = np.zeros((2, resolved.n_rows, resolved.n_rows))
    for pairs, matrix in ((resolved.must, must), (resolved.cannot, cannot)):
        for i, j, weight in zip(pairs.first, pairs.second, pairs.weight, strict=True):
            assert i <= j
            matrix[i, j] += weight
            if i != j:
                matrix[j, i] += weight
    for i, j in itertools.product(range(resolved.n_rows), repeat=2):
        for groups in resolved.must_groups:
            must[i, j] += groups.weight * (groups.numbers[i] == groups.numbers[j] >= 0)
        for groups in resolved.cannot_groups:
            is_other = groups.members[i] != groups.members[j]
            cannot[i, j] += groups.weight * (is_other and groups.numbers[i] == groups.numbers[j] >= 0)
    return must, cannot


def dense_labels(class_ids: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    """The weights of all ordered pairs that labels imply."""
    both = (class_ids >= 0)[:, None] & (class_ids >= 0)
    same = class_ids[:, None] == class_ids
    return (both & same).astype(float), (both & ~same).astype(float)


@st.composite
def constraint_sets(draw: st.DrawFn) -> Constraints:
    """Pairs, groups and a matrix, added, on up to ten rows."""
    n = draw(st.integers(3, 10))
    row, weight = st.integers(0, n - 1), st.sampled_from([0.5, 1.0, 3.0])
    pair = st.tuples(row, row, weight)
    result = Constraints.from_pairs(
        draw(st.lists(pair, max_size=6)), draw(st.lists(pair.filter(lambda p: p[0] != p[1]), max_size=6)), n_rows=n
    )
    groups = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    for _ in range(draw(st.integers(0, 2))):
        result += Constraints.from_groups(must=draw(groups), cannot=draw(groups), weight=draw(weight))
    entries = np.triu(np.array(draw(st.lists(st.integers(-1, 1), min_size=n * n, max_size=n * n))).reshape(n, n), 1)
    return result + Constraints.from_matrix(entries + entries.T)
