"""Labelled rows that could be nearest to a group of rows: none is missed, and what is said of rows stays the same."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.core.arrays import squared_norms, unit_rows
from anchorview.readers import candidates as module
from anchorview.readers import nearest
from anchorview.readers.base import RULES
from anchorview.readers.candidates import MIN_LABELLED, MIN_ROWS, CandidateFilter, split_rows
from anchorview.readers.nearest import LabelledNeighbours, keep_labelled

Array = npt.NDArray[Any]
_ENTRIES = 2**20


@contextmanager
def always_in_groups(size: int = 8) -> Iterator[None]:
    """Groups of a few rows, whatever that costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_rows, "__defaults__", (size,))
        patch.setattr(nearest, "MIN_ROWS", 0)
        patch.setattr(nearest, "MIN_LABELLED", 0)
        patch.setattr(module, "_WORTH", 1.0)
        yield


def clusters(
    seed: int, n_rows: int, n_labelled: int, n_classes: int, k: int, spread: float, twins: float = 0.0
) -> tuple[Array, Array, Array]:
    """Return labelled rows, their classes and rows; `twins` is the share of labelled rows that are like another one."""
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.normal(size=(n_classes, k)))
    class_ids = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labelled - n_classes)])
    labelled = centres[class_ids] + spread * rng.normal(size=(n_labelled, k))
    same = np.flatnonzero(rng.random(n_labelled) < twins)
    labelled[same] = labelled[rng.integers(n_labelled, size=len(same))]  # also across classes
    rows = centres[rng.integers(n_classes, size=n_rows)] + spread * rng.normal(size=(n_rows, k))
    n_known = min(n_rows, n_labelled) // 2
    rows[:n_known] = labelled[:n_known]
    return labelled, class_ids, rows


problems = st.builds(
    clusters,
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 90),
    n_labelled=st.integers(6, 60),
    n_classes=st.integers(1, 6),
    k=st.integers(1, 7),
    spread=st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 1.0]),
    twins=st.sampled_from([0.0, 0.3, 1.0]),
)


def squared_distances(rows: Array, labelled: Array) -> Array:
    return np.array([squared_norms(labelled - row) for row in rows])


# No labelled row is missed


@given(problems, st.floats(-3, 6), st.floats(-3, 3))
@settings(max_examples=100, deadline=None)
def test_the_nearest_of_each_class_is_a_rival(problem: tuple[Array, Array, Array], scale: float, shift: float) -> None:
    labelled, class_ids, rows = (problem[0] + 10**shift) * 10**scale, np.sort(problem[1]), problem[2] * 10**scale
    starts = np.flatnonzero(np.diff(class_ids, prepend=-1))
    squared = squared_distances(rows, labelled)
    groups = split_rows(rows, 8)
    for group, among in zip(groups, CandidateFilter(labelled, starts).of(rows, groups), strict=True):
        np.testing.assert_array_equal(np.unique(class_ids[among]), np.unique(class_ids))
        for class_id in np.unique(class_ids):
            own, left = np.flatnonzero(class_ids == class_id), among[class_ids[among] == class_id]
            np.testing.assert_array_equal(squared[group][:, left].min(axis=1), squared[group][:, own].min(axis=1))


@given(problems, st.integers(1, 70))
@settings(max_examples=100, deadline=None)
def test_the_nearest_of_all_are_rivals(problem: tuple[Array, Array, Array], count: int) -> None:
    labelled, _, rows = problem
    squared = squared_distances(rows, labelled)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :count]  # of rows equally near the first
    groups = split_rows(rows, 8)
    for group, among in zip(groups, CandidateFilter(labelled, None, count).of(rows, groups), strict=True):
        assert np.isin(nearest[group], among).all()


def test_every_row_is_in_one_group() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 3))
    rows[100:200] = rows[0]
    groups = split_rows(rows, 8)
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(500))
    assert max(map(len, groups)) in (100, 101)  # those that are the same cannot be told apart
    assert sorted(map(len, groups))[-2] <= 8


def test_far_classes_and_rows_are_ruled_out() -> None:
    labelled, class_ids, rows = clusters(0, 400, 1000, 5, 6, spread=0.02)
    own = rows[squared_norms(rows - labelled[0]) < 0.1]  # of one class
    order = np.argsort(class_ids, kind="stable")
    class_ids = class_ids[order]
    few = CandidateFilter(labelled[order], np.flatnonzero(np.diff(class_ids, prepend=-1))).of(
        own, [np.arange(len(own))]
    )[0]
    counts = np.bincount(class_ids[few])
    assert counts[0] > 100  # its own class: all of it is near
    assert counts[1:].min() >= 1 and counts[1:].max() < 20
    assert set(class_ids[CandidateFilter(labelled[order], None, 5).of(own, [np.arange(len(own))])[0]]) == {0}


def test_numbers_too_large_to_compare_rule_out_nothing() -> None:
    labelled = 1e200 * np.random.default_rng(0).normal(size=(20, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        assert len(CandidateFilter(labelled, np.array([0, 10])).of(labelled, [np.arange(4)])[0]) == 20
        assert len(CandidateFilter(labelled, None, 2).of(labelled, [np.arange(4)])[0]) == 20


# What is said of rows stays the same


def by_all(model: LabelledNeighbours, rows: Array) -> Array:
    return model._compare(rows, 1, _ENTRIES)


@given(problems, st.sampled_from(RULES), st.integers(1, 9), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=150, deadline=None)
def test_the_evidence_is_that_of_all_labelled_rows(
    problem: tuple[Array, Array, Array], rule: str, n_neighbors: int, dtype: type
) -> None:
    labelled, class_ids, rows = problem[0].astype(dtype), problem[1], problem[2].astype(dtype)
    model = keep_labelled(labelled, class_ids, rule, n_neighbors)
    with always_in_groups():
        found = model.evidence(rows)
    expected = by_all(model, rows)
    assert found.dtype == expected.dtype
    size = 1.0 if rule == "knn" else float(max(squared_norms(model.reference).max(), squared_norms(rows).max()))
    rounding = 1e-12 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=1e-12 * size)
    best = np.take_along_axis(expected, found.argmax(axis=1)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(best, expected.max(axis=1), rtol=rounding, atol=1e-12 * size)


@pytest.mark.parametrize("rule", RULES)
def test_labels_are_the_same_at_true_sizes(rule: str) -> None:
    labelled, class_ids, rows = clusters(1, 17_000, 2000, 8, 8, spread=0.03)
    model = keep_labelled(labelled, class_ids, rule, 5)
    looked_at: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        looking = "_nearness" if rule == "knn" else "_write_nearness"
        look = getattr(LabelledNeighbours, looking)

        def watched(self: LabelledNeighbours, *given: Any) -> Any:
            looked_at.extend(len(among) for among in given[-2:-1] or given)  # of a group
            return look(self, *given)

        patch.setattr(LabelledNeighbours, looking, watched)
        found = model.evidence(rows)
    assert looked_at and np.mean(looked_at) < 1000
    expected = by_all(model, rows)
    np.testing.assert_array_equal(found.argmax(axis=1), expected.argmax(axis=1))
    np.testing.assert_allclose(model.probabilities(found), model.probabilities(expected), atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_of_the_same_row_in_two_classes_the_first_wins(rule: str) -> None:
    labelled = np.tile(np.random.default_rng(0).normal(size=(40, 5)), (3, 1))
    model = keep_labelled(labelled, np.repeat([0, 1, 2], 40), rule, 3)
    with always_in_groups():
        assert (model.evidence(labelled[:40].astype(np.float32)).argmax(axis=1) == 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_threads_blocks_and_rows_beside_do_not_matter(rule: str) -> None:
    labelled, class_ids, rows = clusters(2, 300, 80, 4, 5, spread=0.2, twins=0.2)
    model = keep_labelled(labelled, class_ids, rule, 4)
    with always_in_groups():
        whole = model.evidence(rows)
        np.testing.assert_array_equal(model.evidence(rows, 2), whole)
        np.testing.assert_allclose(model.evidence(rows, 2, block_entries=1), whole, atol=1e-12)
        order = np.random.default_rng(0).permutation(len(rows))
        np.testing.assert_allclose(model.evidence(rows[order]), whole[order], atol=1e-12)
        alone = np.concatenate([model.evidence(rows[number : number + 1]) for number in range(20)])
    np.testing.assert_allclose(alone, whole[:20], atol=1e-12)


# When it pays


def test_without_clusters_all_labelled_rows_are_compared() -> None:
    rng = np.random.default_rng(0)
    model = keep_labelled(rng.normal(size=(1200, 12)), np.arange(1200) % 3, "nearest", 5)
    rows = rng.normal(size=(17_000, 12))
    assert len(rows) >= MIN_ROWS and len(model.reference) >= MIN_LABELLED
    np.testing.assert_array_equal(model.evidence(rows), by_all(model, rows))


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_kept_with_the_model(rule: str) -> None:
    """Files and pickles of models hold what they held before any row was read."""
    labelled, class_ids, rows = clusters(3, 60, 30, 3, 4, spread=0.1)
    model = keep_labelled(labelled, class_ids, rule, 5)
    before = pickle.dumps(model)
    with always_in_groups():
        expected = model.evidence(rows)
        assert pickle.dumps(model) == before
        np.testing.assert_array_equal(pickle.loads(before).evidence(rows), expected)
