"""What labels, pairs, groups and weights mean to the solver: Laplacians of all their pairs, without the matrices."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anchorview import Constraints
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.laplacian import CombinedLaplacian, Laplacian
from anchorview.supervision.conflicts import count_violations, find_conflicts
from anchorview.supervision.known import supervision_laplacians
from support.pairs import constraint_sets, dense_labels, dense_pairs
from support.problems import random_case

quick = settings(deadline=None, max_examples=30)


def laplacian_of(weights: npt.NDArray) -> npt.NDArray:
    return (np.diag(weights.sum(axis=1)) - weights) / weights.sum()


def assert_operator(operator: Laplacian | None, weights: npt.NDArray, seed: int = 0) -> None:
    """The operator is the Laplacian of a dense matrix of pair weights."""
    if weights.sum() == 0:
        assert operator is None
        return
    expected = laplacian_of(weights)
    values = np.random.default_rng(seed).normal(size=(len(weights), 3))
    codes = sparse.csr_array(np.maximum(values, 0))
    np.testing.assert_allclose(operator.apply(values), expected @ values, atol=1e-12)
    np.testing.assert_allclose(operator.quadratic(codes), codes.T @ (expected @ codes.toarray()), atol=1e-12)
    matrix = operator.apply(np.eye(len(weights)))
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 0, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert eigenvalues[0] > -1e-12
    assert eigenvalues[-1] - 1e-12 <= operator.largest_eigenvalue()
    if isinstance(operator, CombinedLaplacian) and len(weights) > 2 and eigenvalues[-1] > 1e-9:
        assert operator.largest_eigenvalue() <= 1.02 * eigenvalues[-1]


@quick
@given(constraint_sets(), st.data())
def test_operators_equal_the_dense_matrices(constraints: Constraints, data: st.DataObject) -> None:
    n = len(constraints)
    class_ids = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    resolved = constraints.resolve(n)
    rows, must, cannot = supervision_laplacians(class_ids, 3, resolved, weights)
    every = [a + b for a, b in zip(dense_labels(class_ids), dense_pairs(resolved), strict=True)]
    np.testing.assert_array_equal(rows, np.flatnonzero((every[0] + every[1]).any(axis=1) | resolved.touched()))
    for operator, matrix in zip((must, cannot), every, strict=True):
        assert_operator(operator, (matrix * np.outer(weights, weights))[np.ix_(rows, rows)])


@quick
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_labels_equal_the_pairs_they_imply(labels: list[int]) -> None:
    """As pairs i ≤ j, as groups and as a matrix: the operators of labels, the number of pairs included."""
    class_ids, n = np.array(labels), len(labels)
    pairs = list(itertools.combinations_with_replacement(range(n), 2))
    same = [(i, j) for i, j in pairs if labels[i] == labels[j]]
    other = [(i, j) for i, j in pairs if labels[i] != labels[j]]
    implied = [
        Constraints.from_pairs(same, other, n_rows=n),
        Constraints.from_pairs([(f"s{i}", f"s{j}") for i, j in same], [(f"s{i}", f"s{j}") for i, j in other]),
        Constraints.from_matrix(np.where(class_ids[:, None] == class_ids, 1.0, -1.0)),
        Constraints.from_groups(must=labels) + Constraints.from_pairs(cannot=other, n_rows=n),
    ]
    rows, must, cannot = supervision_laplacians(class_ids, 4)
    identity = np.eye(n)
    for constraints in implied:
        resolved = constraints.resolve(n, ids=[f"s{i}" for i in range(n)])
        found_rows, found_must, found_cannot = supervision_laplacians(np.full(n, -1), 0, resolved)
        np.testing.assert_array_equal(found_rows, rows)
        np.testing.assert_allclose(found_must.apply(identity), must.apply(identity), atol=1e-14)
        if cannot is None:
            assert found_cannot is None
        else:
            np.testing.assert_allclose(found_cannot.apply(identity), cannot.apply(identity), atol=1e-14)


def test_without_the_pairs_of_a_row_with_itself_only_the_number_of_pairs_differs() -> None:
    class_ids = np.array([0, 0, 0, 1, 1])
    same = [(i, j) for i, j in itertools.combinations(range(5), 2) if class_ids[i] == class_ids[j]]
    must = supervision_laplacians(class_ids, 2)[1].apply(np.eye(5))
    resolved = Constraints.from_pairs(same, n_rows=5).resolve(5)
    pairs = supervision_laplacians(np.full(5, -1), 0, resolved)[1].apply(np.eye(5))
    np.testing.assert_allclose(pairs * (13 - 5), must * 13, atol=1e-14)  # n_m = 9 + 4, five of them i=i


@quick
@given(constraint_sets(), st.data())
def test_weight_two_is_a_row_given_twice_and_weight_zero_a_row_left_out(constraints: Any, data: st.DataObject) -> None:
    n = len(constraints)
    class_ids = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    index = np.repeat(np.arange(n), times)
    balance = data.draw(st.sampled_from([None, "balanced"]))
    values = sparse.csr_array(np.random.default_rng(0).uniform(size=(n, 4)))
    rows, *weighted = supervision_laplacians(class_ids, 3, constraints.resolve(n), times.astype(float), balance)
    copies, *repeated = supervision_laplacians(
        class_ids[index], 3, constraints[index].resolve(len(index)), class_balance=balance
    )
    for one, other in zip(weighted, repeated, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            expected = other.quadratic(values[index[copies]])
            np.testing.assert_allclose(one.quadratic(values[rows]), expected, atol=1e-12)


def test_the_solver_finds_the_same_codes_from_labels_and_from_their_pairs() -> None:
    case = random_case(0, n=80, m=20, k=3, n_labelled=12)
    problem = case.problem()
    half = np.full(80, -1)
    half[:6] = case.classes[:6]
    same = [(i, j) for i in range(12) for j in range(max(i, 6), 12) if case.classes[i] == case.classes[j]]
    other = [(i, j) for i in range(12) for j in range(max(i, 6), 12) if case.classes[i] != case.classes[j]]
    resolved = Constraints.from_pairs(same, other, n_rows=80).resolve(80)
    rows, must, cannot = supervision_laplacians(half, 3, resolved)
    np.testing.assert_array_equal(rows, problem.labelled)
    by_labels, by_pairs, by_none = (
        solve_active_set(each, case.cross_products(), max_iter=100, tol=1e-6)
        for each in (problem, replace(problem, must=must, cannot=cannot), replace(problem, must=None, cannot=None))
    )
    np.testing.assert_allclose(by_pairs.codes.toarray(), by_labels.codes.toarray(), atol=1e-5)
    assert np.abs(by_none.codes - by_labels.codes).max() > 1e-3
    assert by_pairs.n_iter < 1.5 * by_labels.n_iter  # the step sizes are those of labels, too


def test_balanced_classes_have_equal_weight_and_leave_the_share_of_pairs_alone() -> None:
    class_ids = np.array([0, 0, 0, 0, 0, 1, 1, 2, -1, -1])
    share = 1 / np.bincount(class_ids[class_ids >= 0])[class_ids[:8]]
    resolved = Constraints.from_pairs(must=[(8, 9, 3.0)], cannot=[(0, 8)], n_rows=10).resolve(10)
    rows, must, cannot = supervision_laplacians(class_ids, 3, resolved, class_balance="balanced")
    np.testing.assert_array_equal(rows, np.arange(10))
    for operator, matrix, pairs in zip((must, cannot), dense_labels(class_ids), dense_pairs(resolved), strict=True):
        labels = matrix.copy()
        labels[:8, :8] *= np.outer(share, share)
        blocks = [labels[np.ix_(class_ids == c, class_ids == d)].sum() for c in range(3) for d in range(3)]
        np.testing.assert_allclose([b for b in blocks if b], 1)  # each class, each two classes
        assert_operator(operator, labels * matrix.sum() / labels.sum() + pairs)
    with pytest.raises(ValueError, match="class_balance='even' is not known"):
        supervision_laplacians(class_ids, 3, class_balance="even")


def test_large_groups_stay_groups() -> None:
    """20,000 rows in three groups have 67 million pairs in either list: 1.6 GB, if they were listed."""
    n = 20_000
    rng = np.random.default_rng(0)
    must, cannot = rng.integers(3, size=n), rng.integers(3, size=n)
    codes = sparse.random_array((n, 50), density=0.1, format="csr", rng=rng)
    tracemalloc.start()
    resolved = Constraints.from_groups(must, cannot)[::1].resolve(n)
    _, *operators = supervision_laplacians(np.full(n, -1), 0, resolved)
    quadratic = [operator.quadratic(codes) for operator in operators]
    conflicts = find_conflicts(np.full(n, -1), resolved, n)
    violations = count_violations(must, resolved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    assert len(conflicts) == n - 9  # 3×3 blocks of rows that must link and must not: one pair per row but the first
    counts = np.bincount(must * 3 + cannot)
    assert violations.must == (0, int(sum(c * (c - 1) // 2 for c in np.bincount(must).tolist())))
    assert violations.cannot[0] == sum(c * (c - 1) // 2 for c in counts.tolist())
    for matrix, operator in zip(quadratic, operators, strict=True):
        expected = codes.T @ operator.apply(codes.toarray())
        np.testing.assert_allclose(matrix, expected, atol=1e-12)


def test_many_labels_need_no_pair_matrix() -> None:
    """200,000 labelled rows: a pair matrix would take 320 GB."""
    class_ids = np.random.default_rng(0).integers(10, size=200_000)
    _, must, cannot = supervision_laplacians(class_ids, 10)
    ones = np.ones((len(class_ids), 2))
    np.testing.assert_allclose(must.apply(ones), 0, atol=1e-12)
    np.testing.assert_allclose(cannot.apply(ones), 0, atol=1e-12)
