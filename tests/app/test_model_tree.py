"""Values that parameters and attributes may have, to JSON and arrays and back: the same type and value."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from anchorview.app.model_arrays import parse_array, parse_dtype
from anchorview.app.model_tree import TreeReader, TreeWriter
from anchorview.features.products import landmark_gram
from anchorview.supervision.conflicts import Conflict, Contradiction


def through(value: Any) -> Any:
    writer = TreeWriter()
    tree = writer.write(value, "value")
    return TreeReader(writer.arrays).read(json.loads(json.dumps(tree, allow_nan=False)))


def equal(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    if isinstance(first, dict):
        return equal(list(first.items()), list(second.items()))
    if isinstance(first, float | np.floating) and math.isnan(first):
        return math.isnan(second)
    if isinstance(first, np.ndarray):
        same = first.dtype == second.dtype and first.shape == second.shape
        return same and first.tobytes() == second.tobytes() and first.flags.f_contiguous == second.flags.f_contiguous
    return bool(first == second)


NUMPY = st.one_of(
    hnp.from_dtype(np.dtype("<f4")),
    hnp.from_dtype(np.dtype("<i8")),
    hnp.from_dtype(np.dtype("?")),
    st.just(np.str_("ä")),
)
SIMPLE = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), NUMPY)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.integers()))
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=30, deadline=None)
@given(VALUES)
def test_plain_values(value: Any) -> None:
    assert equal(through(value), value)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(st.sampled_from(["<f4", ">f8", "<i2", "?", "<U3", "S2", "<M8[s]"]), hnp.array_shapes(min_dims=0)))
def test_arrays(array: np.ndarray) -> None:
    assert equal(through(array), array)
    assert equal(through(np.asfortranarray(array)), np.asfortranarray(array))


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(
        [st.text(), st.integers(-(2**63), 2**63 - 1), st.floats(), hnp.from_dtype(np.dtype("<i4"))]
    ).flatmap(lambda items: st.lists(items, min_size=32, max_size=40))
)
def test_long_lists_become_arrays(values: list[Any]) -> None:
    writer = TreeWriter()
    tree = writer.write(values, "values")
    assert isinstance(tree, dict)
    assert 1 <= len(writer.arrays) <= 2
    assert equal(TreeReader(writer.arrays).read(tree), values)


@pytest.mark.parametrize(
    "value",
    [
        slice(0, None, 2),
        range(3, 9),
        {3, 1},
        frozenset(("a",)),
        np.dtype("float32"),
        np.float32,
        10**40,
        ["lone \ud800"] * 40,
        [*range(40), 2**70],
        [True] * 40,
        np.empty((0, 3)),
        np.array(["a", None, 3.5], dtype=object),
        np.array([["a"], ["b"]], dtype=object),
        {"vocabulary": {f"word{i}": i for i in range(50)}},
        Conflict(1, 2, Contradiction.CHAIN),
    ],
    ids=repr,
)
def test_other_values(value: Any) -> None:
    back = through(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        assert (back.dtype, back.shape, back.tolist()) == (value.dtype, value.shape, value.tolist())
    else:
        assert equal(back, value)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
def test_sparse_matrices(kind: type) -> None:
    matrix = kind(np.array([[0, 2.5, 0], [1, 0, 0]], dtype=np.float32))
    back = through(matrix)
    assert type(back) is kind
    assert back.dtype == np.float32
    assert (back.toarray() == matrix.toarray()).all()


def test_a_random_state_goes_on_where_it_was() -> None:
    state = np.random.RandomState(3)
    state.standard_normal(5)
    assert (through(state).standard_normal(4) == state.standard_normal(4)).all()


def test_what_is_shared_stays_shared() -> None:
    array, conflict = np.arange(3), Conflict(0, 1, Contradiction.BOTH)
    first, second, one, two = through([array, array, conflict, conflict])
    assert first is second
    assert one is two


def test_arrays_are_the_users_own_afterwards() -> None:
    back = parse_array(_npy(np.arange(3.0)))
    back[0] = 7
    assert back.flags.aligned


def test_a_pandas_index_becomes_an_array() -> None:
    assert through({"a": pd.Index(["x", "y"])})["a"].tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (print, r"value is a builtins\.builtin_function_or_method"),
        ({"a": [object()]}, r"value\['a'\]\[0\] is a builtins\.object"),
        (np.zeros(2, dtype="f4,f4"), "value is an array of"),
        (sparse.coo_array(np.eye(2)), "value is a coo_array.*csr_array"),
        (np.random.default_rng(0), "value is a numpy.random"),
        ({object(): 1}, r"the keys of value\[0\] is a builtins\.object"),
    ],
    ids=["function", "object", "records", "coo", "generator", "key"],
)
def test_what_cannot_be_stored_is_named(value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        through(value)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda data: b"x" + data[1:]])
def test_npy_data_of_another_length_are_refused(change: Any) -> None:
    with pytest.raises(ValueError):
        parse_array(change(_npy(np.arange(3.0))))


@pytest.mark.parametrize("text", ["O", "V8", "f4,f4", "nonsense", "", 5, None])
def test_dtypes_that_are_not_plain(text: Any) -> None:
    with pytest.raises(ValueError, match="names no dtype|cannot be in a model file"):
        parse_dtype(text)


def test_products_of_landmarks_are_computed_again() -> None:
    """To the last bit; what is no such product is stored."""
    landmarks = np.random.default_rng(0).normal(size=(40, 60)).astype(np.float32)
    gram = landmark_gram(landmarks)
    for value, n_arrays in (([landmarks, gram, gram], 1), ([gram, landmarks], 2), ([landmarks, gram + 1e-9], 2)):
        writer = TreeWriter()
        tree = writer.write(value, "value")
        assert len(writer.arrays) == n_arrays
        assert equal(TreeReader(writer.arrays).read(tree), value)


@pytest.mark.parametrize(
    "forged", [np.zeros((2001, 1)), np.zeros(5), np.zeros((3, 3), dtype=np.int64), np.zeros((2, 2, 2))]
)
def test_products_of_anything_else_are_refused(forged: np.ndarray) -> None:
    """2,001 rows of one number would ask for 32 MB, and a million for more than any machine has."""
    with pytest.raises(ValueError, match="not those of landmarks"):
        TreeReader([forged]).read({"product": 0})
