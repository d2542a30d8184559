"""Pairs, groups and matrices as constraints: their operators, row selection, contradictions and violations."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from anchorview.supervision.conflicts import Conflict, Contradiction, conflict_message, count_violations, find_conflicts
from anchorview.supervision.constraints import Constraints
from anchorview.supervision.pairs import ResolvedPairs
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.laplacian import CombinedLaplacian, Laplacian
from anchorview.supervision.known import supervision_laplacians
from support.problems import random_case

quick = settings(deadline=None, max_examples=60)


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


def dense_labels(codes: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    both = (codes >= 0)[:, None] & (codes >= 0)
    same = codes[:, None] == codes
    return (both & same).astype(float), (both & ~same).astype(float)


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


# --- operators ---------------------------------------------------------------------------------------------------


@quick
@given(constraint_sets(), st.data())
def test_operators_equal_the_dense_matrices(constraints: Constraints, data: st.DataObject) -> None:
    n = len(constraints)
    codes = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    resolved = constraints.resolve(n)
    rows, must, cannot = supervision_laplacians(codes, 3, resolved, weights)
    every = [a + b for a, b in zip(dense_labels(codes), dense_pairs(resolved), strict=True)]
    np.testing.assert_array_equal(rows, np.flatnonzero((every[0] + every[1]).any(axis=1) | resolved.touched()))
    for operator, matrix in zip((must, cannot), every, strict=True):
        assert_operator(operator, (matrix * np.outer(weights, weights))[np.ix_(rows, rows)])


@quick
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_labels_equal_the_pairs_they_imply(labels: list[int]) -> None:
    """As pairs i ≤ j, as groups and as a matrix: the operators of labels, the number of pairs included."""
    codes, n = np.array(labels), len(labels)
    pairs = list(itertools.combinations_with_replacement(range(n), 2))
    same = [(i, j) for i, j in pairs if labels[i] == labels[j]]
    other = [(i, j) for i, j in pairs if labels[i] != labels[j]]
    implied = [
        Constraints.from_pairs(same, other, n_rows=n),
        Constraints.from_pairs([(f"s{i}", f"s{j}") for i, j in same], [(f"s{i}", f"s{j}") for i, j in other]),
        Constraints.from_matrix(np.where(codes[:, None] == codes, 1.0, -1.0)),
        Constraints.from_groups(must=labels) + Constraints.from_pairs(cannot=other, n_rows=n),
    ]
    rows, must, cannot = supervision_laplacians(codes, 4)
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
    codes = np.array([0, 0, 0, 1, 1])
    same = [(i, j) for i, j in itertools.combinations(range(5), 2) if codes[i] == codes[j]]
    must = supervision_laplacians(codes, 2)[1].apply(np.eye(5))
    resolved = Constraints.from_pairs(same, n_rows=5).resolve(5)
    pairs = supervision_laplacians(np.full(5, -1), 0, resolved)[1].apply(np.eye(5))
    np.testing.assert_allclose(pairs * (13 - 5), must * 13, atol=1e-14)  # n_m = 9 + 4, five of them i=i


@quick
@given(constraint_sets(), st.data())
def test_weight_two_is_a_row_given_twice_and_weight_zero_a_row_left_out(constraints: Any, data: st.DataObject) -> None:
    n = len(constraints)
    codes = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    index = np.repeat(np.arange(n), times)
    balance = data.draw(st.sampled_from([None, "balanced"]))
    values = sparse.csr_array(np.random.default_rng(0).uniform(size=(n, 4)))
    rows, *weighted = supervision_laplacians(codes, 3, constraints.resolve(n), times.astype(float), balance)
    copies, *repeated = supervision_laplacians(
        codes[index], 3, constraints[index].resolve(len(index)), class_balance=balance
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
    codes = np.array([0, 0, 0, 0, 0, 1, 1, 2, -1, -1])
    share = 1 / np.bincount(codes[codes >= 0])[codes[:8]]
    resolved = Constraints.from_pairs(must=[(8, 9, 3.0)], cannot=[(0, 8)], n_rows=10).resolve(10)
    rows, must, cannot = supervision_laplacians(codes, 3, resolved, class_balance="balanced")
    np.testing.assert_array_equal(rows, np.arange(10))
    for operator, matrix, pairs in zip((must, cannot), dense_labels(codes), dense_pairs(resolved), strict=True):
        labels = matrix.copy()
        labels[:8, :8] *= np.outer(share, share)
        blocks = [labels[np.ix_(codes == c, codes == d)].sum() for c in range(3) for d in range(3)]
        np.testing.assert_allclose([b for b in blocks if b], 1)  # each class, each two classes
        assert_operator(operator, labels * matrix.sum() / labels.sum() + pairs)
    with pytest.raises(ValueError, match="class_balance='even' is not known"):
        supervision_laplacians(codes, 3, class_balance="even")


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


# --- input -------------------------------------------------------------------------------------------------------


def test_every_form_of_pairs() -> None:
    expected = np.zeros((4, 4))
    expected[0, 2] = expected[2, 0] = 1.5
    expected[1, 3] = expected[3, 1] = 2.0
    forms = [
        Constraints.from_pairs([(0, 2, 1.5), (3, 1, 2)], n_rows=4),
        Constraints.from_pairs([(0, 2, 0.5), (2, 0), (3, 1), (1, 3)], n_rows=4),  # equal pairs add up
        Constraints.from_pairs(np.array([[0, 2], [1, 3]]), must_weight=[1.5, 2], n_rows=4),
        Constraints.from_pairs(np.array([[0, 2, 1.5], [1, 3, 2.0]]), n_rows=4),
        Constraints.from_pairs(pd.DataFrame({"a": [0, 1], "b": [2, 3], "w": [1.5, 2.0]}), n_rows=4),
        Constraints.from_pairs(iter([("b", "d", 2), ("a", "c", 1.5)])),
        Constraints.from_pairs(np.array([["b", "d"], ["a", "c"]]), must_weight=[2, 1.5]),
        Constraints.from_matrix(expected),
        Constraints.from_matrix(sparse.csc_matrix(np.triu(expected))),
        Constraints.from_matrix(sparse.coo_array(np.tril(expected))),
    ]
    for constraints in forms:
        must, cannot = dense_pairs(pickle.loads(pickle.dumps(constraints)).resolve(4, ids=np.array(list("abcd"))))
        np.testing.assert_allclose(must, expected)
        assert not cannot.any()
    both = Constraints.from_matrix(np.array([[2.0, -0.5], [-0.5, 0.0]])).resolve(2)
    np.testing.assert_array_equal(dense_pairs(both)[0], [[2, 0], [0, 0]])
    np.testing.assert_array_equal(dense_pairs(both)[1], [[0, 0.5], [0.5, 0]])


@pytest.mark.parametrize(
    "values",
    [
        [5, -1, 5, 7, -1],
        ["x", "", "x", "y", None],
        ["x", -1, "x", "y", float("nan")],
        np.array([5.0, np.nan, 5.0, 7.0, -1.0]),
        np.array(["x", "", "x", "y", ""]),
        pd.Series(["x", None, "x", "y", pd.NA], dtype="string"),
        pd.Series(["x", None, "x", "y", None], dtype="category"),
        pd.Series([5, None, 5, 7, None], dtype="Int64"),
    ],
)
def test_every_form_of_groups(values: Any) -> None:
    numbers = Constraints.from_groups(must=values).resolve(5).must_groups[0].numbers
    np.testing.assert_array_equal(numbers, [0, -1, 0, 1, -1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constraints.from_groups(), "No groups were given"),
        (lambda: Constraints.from_groups([1, 2], [1, 2, 3]), "must has 2 values but cannot has 3"),
        (lambda: Constraints.from_groups(np.ones((2, 2))), r"shape \(2, 2\); give one value per row"),
        (lambda: Constraints.from_groups([1, 1], weight=-1), "weight must be a number above 0; got -1"),
        (lambda: Constraints.from_groups([1, 1], weight=np.inf), "weight must be a number above 0; got inf"),
        (lambda: Constraints.from_pairs([(0, 1, -2.0)], n_rows=2), r"must gives the pair \(0, 1\) the weight -2.0"),
        (lambda: Constraints.from_pairs(cannot=[("a", "b", np.nan)]), r"pair \('a', 'b'\) the weight nan"),
        (lambda: Constraints.from_pairs([("a", "b", "c")]), "weights of must are not one number for each of 1 pairs"),
        (lambda: Constraints.from_pairs([(0, 1)], must_weight=[1, 2]), "not one number for each of 1 pairs"),
        (lambda: Constraints.from_pairs([(0, 1, 1)], must_weight=2), "must_weight= gives them too"),
        (lambda: Constraints.from_pairs([(0, 1), (1,)], n_rows=2), r"must holds \(1,\); each entry is a pair"),
        (lambda: Constraints.from_pairs(cannot=[0, 1], n_rows=2), "cannot holds 0; each entry is a pair"),
        (lambda: Constraints.from_pairs([(0, 2)], n_rows=2), r"\(0, 2\); with n_rows=2 .* from 0 to 1"),
        (lambda: Constraints.from_pairs([(-1, 0)], n_rows=2), r"\(-1, 0\); with n_rows=2"),
        (lambda: Constraints.from_pairs([(0, 0.5)], n_rows=2), r"\(0, 0.5\); with n_rows=2"),
        (lambda: Constraints.from_pairs([("a", "b")], n_rows=2), "Leave n_rows= out if they are sample ids"),
        (lambda: Constraints.from_pairs([(0, 1)], n_rows=2.0), "n_rows must be an integer"),
        (lambda: Constraints.from_pairs(cannot=[(1, 1)], n_rows=2), "cannot pairs a sample with itself: 1"),
        (lambda: Constraints.from_pairs(cannot=[("a", "a")]), "cannot pairs a sample with itself: 'a'"),
        (lambda: Constraints.from_matrix(np.ones((2, 3))), r"shape \(2, 3\)"),
        (lambda: Constraints.from_matrix(sparse.csr_array(np.ones((2, 3)))), r"shape \(2, 3\)"),
        (lambda: Constraints.from_matrix(np.ones(3)), r"shape \(3,\)"),
        (lambda: Constraints.from_matrix([[0, np.nan], [0, 0]]), r"holds nan at \(0, 1\)"),
        (lambda: Constraints.from_matrix([[0, 0], [0, -1]]), r"holds -1.0 at \(1, 1\)"),
        (lambda: Constraints.from_matrix([[0, 1], [2, 0]]), r"not symmetric: it holds 1.0 at \(0, 1\) but 2.0"),
        (
            lambda: Constraints.from_groups([1, 1]) + Constraints.from_groups([1, 1, 1]),
            "Constraints for 2 rows and for 3 rows cannot be added",
        ),
    ],
)
def test_bad_constraints_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# --- selecting rows ----------------------------------------------------------------------------------------------


@quick
@given(constraint_sets(), st.data())
def test_selecting_rows_and_resolving_commute(constraints: Any, data: st.DataObject) -> None:
    n = len(constraints)
    key = data.draw(
        st.one_of(
            st.lists(st.integers(-n, n - 1), max_size=12).map(lambda rows: np.array(rows, dtype=int)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
            st.slices(n),
            st.integers(-n, n - 1),
        )
    )
    index = np.atleast_1d(np.arange(n)[key])
    selected = constraints[key]
    assert len(selected) == len(index) and selected.shape == (len(index),)
    for found, whole in zip(
        dense_pairs(selected.resolve(len(index))), dense_pairs(constraints.resolve(n)), strict=True
    ):
        np.testing.assert_allclose(found, whole[np.ix_(index, index)])


def test_ids_are_found_wherever_the_rows_are() -> None:
    constraints = Constraints.from_pairs([("a", "b"), ("a", "d")], [("c", "d", 2)])
    everything = list("abcd")
    must, cannot = dense_pairs(constraints.resolve(3, ids=["d", "c", "a"], known_ids=everything))
    np.testing.assert_array_equal(must, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(cannot, [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    must, _ = dense_pairs(constraints.resolve(3, ids=["a", "d", "a"], known_ids=everything))  # a row drawn twice
    np.testing.assert_array_equal(must, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match=r"name 1 ids that no row has: 'b'\."):
        constraints.resolve(3, ids=["d", "c", "a"])
    with pytest.raises(ValueError, match="name samples by id but the rows have no ids"):
        constraints.resolve(4)
    with pytest.raises(ValueError, match="3 ids were given for 4 rows"):
        constraints.resolve(4, ids=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"name 2 ids that no row has: 7, 8\. .*7 is not '7'"):
        Constraints.from_pairs([(7, 8)]).resolve(2, ids=["7", "8"])
    integers = Constraints.from_pairs([(np.int64(7), 8)]).resolve(2, ids=np.array([8, 7]))
    np.testing.assert_array_equal(dense_pairs(integers)[0], [[0, 1], [1, 0]])
    tuples = Constraints.from_pairs([((1, "x"), (2, "y"))]).resolve(2, ids=[(1, "x"), (2, "y")])
    assert len(tuples.must) == 1


def test_rows_and_ids_together() -> None:
    both = Constraints.from_pairs([("a", "c")]) + Constraints.from_groups(must=[0, 0, -1])
    must = dense_pairs(both[[2, 0]].resolve(2, ids=["c", "a"], known_ids="abc"))[0]
    np.testing.assert_array_equal(must, [[0, 1], [1, 1]])
    assert repr(both) == "Constraints(3 rows: 1 must-link group; by id: 1 must-link pair)"
    with pytest.raises(TypeError):
        both + 1


def test_other_rows_than_those_of_the_constraints_are_refused() -> None:
    for constraints in (Constraints.from_groups([1, 1, 2]), Constraints.from_pairs([(0, 1)], n_rows=3)):
        with pytest.raises(ValueError, match=r"made for 3 rows but X has 2.*constraints\[index\]"):
            constraints.resolve(2)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is fitted with; X holds the original row numbers."""

    fits: list[tuple[npt.NDArray, Any]] = []  # noqa: RUF012

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def fit(self, X: Any, y: Any = None, constraints: Any = None) -> Recorder:
        self.fits.append((X[:, 0], constraints))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("search", [False, True])
def test_cross_validation_cuts_both_ends_of_every_pair(search: bool) -> None:
    n = 12
    X = np.column_stack([np.arange(n), np.ones(n)])
    y = np.arange(n) % 2
    constraints = (
        Constraints.from_pairs([(i, i + 1) for i in range(n - 1)], [(0, 11, 2.0)], n_rows=n)
        + Constraints.from_groups(must=np.arange(n) % 3, cannot=np.arange(n) % 4)
        + Constraints.from_pairs([("s0", "s1"), ("s4", "s11")])
    )
    by_id = Constraints.from_pairs([("s0", "s1"), ("s4", "s11")])
    assert not hasattr(by_id, "__len__") and not hasattr(by_id, "shape")
    ids = np.array([f"s{i}" for i in range(n)])
    for given_constraints in (constraints, by_id):
        Recorder.fits = []
        cv = KFold(3, shuffle=True, random_state=0)
        if search:
            GridSearchCV(Recorder(), {"number": [1]}, cv=cv).fit(X, y, constraints=given_constraints)
        else:
            cross_validate(Recorder(), X, y, cv=cv, params={"constraints": given_constraints})
        assert len(Recorder.fits) == 3 + search
        whole = dense_pairs(given_constraints.resolve(n, ids))
        for numbers, received in Recorder.fits:
            index = numbers.astype(int)
            fold = dense_pairs(received.resolve(len(index), ids[index], known_ids=ids))
            for found, expected in zip(fold, whole, strict=True):
                np.testing.assert_array_equal(found, expected[np.ix_(index, index)])


# --- contradictions and violations -------------------------------------------------------------------------------


def test_contradictions_are_found_and_named() -> None:
    n = 12
    codes = np.full(n, -1)
    codes[[0, 1, 2, 9]] = [0, 0, 1, 1]
    constraints = Constraints.from_pairs(
        must=[(3, 4), (4, 5), (0, 8), (8, 2)],
        cannot=[(3, 4), (3, 5), (0, 1), (3, 6), (2, 10)],
        n_rows=n,
    ) + Constraints.from_groups(must=[-1] * 6 + [7, 7] + [-1] * 4, cannot=[-1] * 6 + [1, 1, -1, -1, 1, 1])
    found = find_conflicts(codes, constraints.resolve(n), n)
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
    codes = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    resolved = constraints.resolve(n)
    must, cannot = (a + b for a, b in zip(dense_labels(codes), dense_pairs(resolved), strict=True))
    reach = np.linalg.matrix_power((must > 0) + np.eye(n), n) > 0
    conflicts = find_conflicts(codes, resolved, n)
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
