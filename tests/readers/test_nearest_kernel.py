"""The nearest labelled row of each class: what the compiled loop says is what all distances say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.core.arrays import squared_norms
from anchorview.core.vectors import WIDTH
from anchorview.readers import nearest as module
from anchorview.readers.nearest import keep_labelled
from anchorview.readers.nearest_kernel import write_nearness

Array = npt.NDArray[Any]


def nearest_by_all(rows: Array, labelled: Array, classes: Array) -> Array:
    """Minus the squared distance to the nearest row of each class, from differences."""
    squared = np.array([squared_norms(labelled - row) for row in rows])
    return -np.column_stack([squared[:, classes == number].min(axis=1) for number in np.unique(classes)])


def write(rows: Array, members: Array, labelled: Array, among: Array, classes: Array, result: Array) -> None:
    middle = labelled.mean(axis=0)
    moved = labelled - middle
    points = np.column_stack([2 * moved, -squared_norms(moved)])
    starts = np.append(np.flatnonzero(np.diff(classes[among], prepend=-1)), len(among))
    write_nearness(rows, members, middle, points, among, starts, np.empty((rows.shape[1] + 3, WIDTH)), result)


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 40),  # also such as are no multiple of the rows taken together
    n_labelled=st.integers(1, 40),
    n_classes=st.integers(1, 6),
    k=st.integers(1, 12),
    far=st.sampled_from([0.0, 1e3]),  # from the origin
)
@settings(max_examples=150, deadline=None)
def test_the_nearest_of_each_class(seed: int, n_rows: int, n_labelled: int, n_classes: int, k: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    rows, labelled = far + rng.normal(size=(n_rows, k)), far + rng.normal(size=(n_labelled, k))
    classes = np.sort(rng.integers(n_classes, size=n_labelled))
    found = np.full((n_rows, len(np.unique(classes))), np.nan)
    write(rows, np.arange(n_rows), labelled, np.arange(n_labelled), classes, found)
    np.testing.assert_allclose(found, nearest_by_all(rows, labelled, classes), atol=1e-12 * (n_labelled + k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_the_rows_asked_for_are_written_and_only_those_labelled_rows_looked_at(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    rows, labelled = rng.normal(size=(30, 4)), rng.normal(size=(50, 4))
    classes = np.repeat([0, 1], 25)
    members, among = np.array([3, 29, 0]), np.array([2, 7, 8, 9, 20, 24, 25, 40])
    found = np.full((30, 2), 7.0, dtype=dtype)
    write(rows, members, labelled, among, classes, found)
    expected = nearest_by_all(rows[members], labelled[among], classes[among])
    np.testing.assert_allclose(found[members], expected, rtol=1e-6 if dtype is np.float32 else 1e-12)
    assert (np.delete(found, members, axis=0) == 7.0).all()


@pytest.mark.parametrize("rule", ["nearest", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_rule_says_the_same_of_few_rows_and_of_many(rule: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pairs are compared by a product of NumPy, many by the compiled loop."""
    rng = np.random.default_rng(1)
    classes = rng.integers(5, size=300)
    labelled = (np.eye(5)[classes] + 0.3 * rng.normal(size=(300, 5))).astype(dtype)
    rows = (np.eye(5)[rng.integers(5, size=1000)] + 0.3 * rng.normal(size=(1000, 5))).astype(dtype)
    rows[:300] = labelled
    model = keep_labelled(labelled, classes, rule, 5)
    few = model.evidence(rows)
    monkeypatch.setattr(module, "_WORTH_COMPILING", 0)
    many = model.evidence(rows, n_threads=2)
    assert many.dtype == few.dtype == dtype
    np.testing.assert_allclose(many, few, rtol=1e-6 if dtype is np.float32 else 1e-12, atol=1e-13)
    np.testing.assert_array_equal(many.argmax(axis=1), few.argmax(axis=1))
    assert (many[:300].argmax(axis=1) == classes).all()
