"""Pairs, groups and matrices as constraints: every form of input, ids, and the selection of rows."""

from __future__ import annotations

import pickle
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

from anchorview import Constraints
from support.pairs import constraint_sets, dense_pairs

quick = settings(deadline=None, max_examples=30)


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


@pytest.mark.parametrize("pairs", [5, "ab", None, {1: 2}, {(0, 1)}, [([1], [2])], [(True, 3)], [(0, {})]])
def test_pairs_of_other_kinds_are_refused_by_name(pairs: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        Constraints.from_pairs(must=pairs, n_rows=9)


@pytest.mark.parametrize("groups", ["abcd", 4, [[1]] * 4, np.zeros((4, 2)), {0: 1}])
def test_groups_of_other_kinds_are_refused(groups: Any) -> None:
    with pytest.raises(ValueError, match="Groups"):
        Constraints.from_groups(must=groups)


def test_matrices_of_other_kinds_are_refused() -> None:
    malformed = sparse.csr_array(np.eye(4))
    malformed.indices[2] = 10**6  # would be read from beyond the arrays
    for matrix in ([[1], [1, 2]], np.eye(4) * 1j, np.eye(4).astype(str), None, "ab", malformed):
        with pytest.raises(ValueError, match="The matrix"):
            Constraints.from_matrix(matrix)


def test_numbers_of_rows_have_a_limit() -> None:
    with pytest.raises(ValueError, match="n_rows must be an integer of at least 0 and at most"):
        Constraints.from_pairs(must=[(0, 1)], n_rows=10**30)
