"""Which rows to label next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from anchorview import FSSMSC, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.readers.code_space import code_coordinates
from anchorview.readers.group_tree import make_group_tree, spread_out
from anchorview.readers.suggest import suggest_from
from support.settled import CHOSEN


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 60, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(300, 4, (8, 6), noise=0.3, random_state=1)
    made.y = hide_labels(made.target, 0.1, stratified=True, random_state=0)
    made.model = build().fit(made.views, made.y)
    return made


def islands(sizes: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in separate places, and the place of each row."""
    place = np.repeat(np.arange(len(sizes)), sizes)
    return 10.0 * np.eye(len(sizes))[place] + 0.1 * np.random.default_rng(seed).normal(
        size=(len(place), len(sizes))
    ), place


def suggest(rows: Any, doubt: Any, candidates: Any, n: int, n_labelled: int = 0) -> Any:
    return suggest_from(make_group_tree(rows), rows, doubt, candidates, n, n_labelled=n_labelled).rows


# The rule


def test_doubtful_groups_come_first_and_large_before_small() -> None:
    rows, place = islands((40, 40, 10, 40))
    doubt = np.array([0.05, 0.5, 0.5, 0.3])[place]
    found = suggest(rows, doubt, np.ones(len(rows), dtype=bool), 3, n_labelled=1)
    np.testing.assert_array_equal(place[found], [1, 3, 2])


def test_one_odd_row_is_not_worth_a_label() -> None:
    rows, place = islands((50, 50))
    doubt = np.full(100, 0.1)
    doubt[7] = 1.0
    found = suggest(rows, np.where(place == 1, 0.2, doubt), np.ones(100, dtype=bool), 1, n_labelled=1)
    assert place[found[0]] == 1


def test_without_labels_suggestions_cover_everything() -> None:
    rows, place = islands((30, 60, 20, 50))
    found = suggest(rows, np.full(160, 0.7), np.ones(160, dtype=bool), 4)
    np.testing.assert_array_equal(place[found], [1, 3, 0, 2])
    centres = np.array([rows[place == p].mean(axis=0) for p in place[found]])
    nearest = [np.linalg.norm(rows[place == p] - c, axis=1).min() for p, c in zip(place[found], centres, strict=True)]
    np.testing.assert_allclose(np.linalg.norm(rows[found] - centres, axis=1), nearest)


@pytest.mark.parametrize("n", [1, 5, 39, 40])
def test_candidates_only_and_each_once(n: int) -> None:
    rows, _ = islands((30, 30, 30))
    candidates = np.arange(90) % 9 < 4
    found = suggest(rows, np.random.default_rng(0).random(90), candidates, n, n_labelled=20)
    assert len(np.unique(found)) == n and candidates[found].all()


def test_a_sample_is_grouped_when_there_are_many_rows() -> None:
    """Of 24,000 rows 10,000 are grouped, and the few that may be suggested are always among them."""
    rows, place = islands((12_000, 12_000))
    doubt = np.array([0.1, 0.4])[place]
    for first in (0, 4000):
        allowed = np.array([first, 15_000 + first, 15_001 + first])
        candidates = np.isin(np.arange(24_000), allowed)
        found = suggest(rows, doubt, candidates, 2, n_labelled=5)
        assert len(np.unique(found)) == 2 and np.isin(found, allowed).all()
        assert place[found[0]] == 1  # where most mistakes are expected


def test_identical_rows() -> None:
    found = suggest(np.ones((20, 3)), np.full(20, 0.5), np.ones(20, dtype=bool), 6, n_labelled=2)
    assert len(np.unique(found)) == 6


@pytest.mark.parametrize("n", [1, 5, 100, 300])
def test_groups_start_from_different_rows_far_from_each_other(n: int) -> None:
    rows, place = islands((200, 40, 40, 10, 10))
    for seed in range(5):
        first = spread_out(rows.astype(np.float32), n, np.random.RandomState(seed))
        assert len(first) == len(np.unique(first)) == n
        assert len(np.unique(place[first])) == min(n, 5)  # none of them missed, however small


def test_groups_start_from_different_rows_also_where_rows_repeat() -> None:
    rows = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    first = spread_out(rows, 9, np.random.RandomState(0))
    assert len(np.unique(first)) == 9 and len(np.unique(first[:3] // 5)) == 3


def test_coordinates_are_the_leading_directions_of_unit_codes(data: Any) -> None:
    codes = data.model.codes_
    dense = codes.toarray().astype(np.float64)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    directions = np.linalg.svd(dense)[2][:50].T
    expected = dense @ directions
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    places = code_coordinates(codes)
    np.testing.assert_allclose(places @ places.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(places, code_coordinates(2.0 * codes), atol=1e-8)


# The estimator


def test_coordinates_do_not_depend_on_the_threads_of_blas() -> None:
    codes = sparse.random_array((900, 300), density=0.05, format="csr", rng=0)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(code_coordinates(codes))
    np.testing.assert_array_equal(*found)


def test_labelled_rows_are_not_suggested_and_the_answer_is_the_same_each_time(data: Any) -> None:
    found = data.model.suggest_labels(25)
    assert found.shape == (25,) and len(np.unique(found)) == 25
    assert (data.y[found] == -1).all()
    np.testing.assert_array_equal(found, data.model.suggest_labels(25))


def test_all_rows_that_are_left(data: Any) -> None:
    left = np.flatnonzero(data.y == -1)
    np.testing.assert_array_equal(np.sort(data.model.suggest_labels(len(left))), left)


def test_suggested_labels_beat_random_ones(digits: Any) -> None:
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.full(2000, -1)
        first = rng.choice(2000, 40, replace=False)
        y[first] = digits.target[first]
        model = build(n_landmarks=150, n_clusters=10).fit(digits.views, y)
        found = []
        for rows in (model.suggest_labels(20), rng.choice(np.flatnonzero(y == -1), 20, replace=False)):
            more = y.copy()
            more[rows] = digits.target[rows]
            again = build(n_landmarks=150, n_clusters=10).fit(digits.views, more)
            found.append((again.labels_ == digits.target).mean())
        gains.append(found[0] - found[1])
    assert np.mean(gains) > 0.005  # 0.025 when this was written


def test_without_any_label(data: Any) -> None:
    model = build(n_clusters=4).fit(data.views)
    rows = model.suggest_labels(12)
    assert len(np.unique(rows)) == 12
    assert len(np.unique(data.target[rows])) == 4


def test_ids_and_among(data: Any) -> None:
    ids = np.array([f"r{i}" for i in range(300)])
    model = build().fit(Views(data.views, ids=ids), data.y)
    np.testing.assert_array_equal(model.suggest_labels(6), ids[data.model.suggest_labels(6)])
    allowed = np.flatnonzero(data.y == -1)[::7]
    np.testing.assert_array_equal(
        model.suggest_labels(4, among=ids[allowed]), ids[data.model.suggest_labels(4, among=allowed)]
    )
    assert np.isin(data.model.suggest_labels(4, among=allowed), allowed).all()


def test_rows_without_views_or_weight_are_not_suggested(data: Any) -> None:
    mask = np.ones((300, 2), dtype=bool)
    mask[:50] = False
    model = build(on_empty="drop").fit(Views(data.views, mask=mask), data.y)
    assert model.suggest_labels(100).min() >= 50
    weights = np.where(np.arange(300) < 50, 0.0, 1.0)
    assert build().fit(data.views, data.y, sample_weight=weights).suggest_labels(100).min() >= 50


@pytest.mark.parametrize("n", [0, -3, 2.5, "ten", True, None])
def test_bad_numbers(data: Any, n: Any) -> None:
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        data.model.suggest_labels(n)


def test_more_than_there_are(data: Any) -> None:
    left = int((data.y == -1).sum())
    with pytest.raises(ValueError, match=f"only {left} rows can be labelled"):
        data.model.suggest_labels(left + 1)
    with pytest.raises(ValueError, match="only 1 rows can be labelled"):
        data.model.suggest_labels(2, among=np.flatnonzero(data.y == -1)[:1])


@pytest.mark.parametrize("among", [[300], [-1], ["a"], [[1, 2]], [True, False]])
def test_among_must_list_rows(data: Any, among: Any) -> None:
    with pytest.raises(ValueError, match="among must list numbers of rows"):
        data.model.suggest_labels(1, among=among)


def test_rows_are_chosen_for_what_labels_and_other_choices_leave_uncovered() -> None:
    rows, place = islands((60, 60, 60))
    groups, doubt, free = make_group_tree(rows), np.full(180, 0.5), np.ones(180, dtype=bool)
    labelled = np.flatnonzero(place == 0)[:8]
    free[labelled] = False
    found = suggest_from(groups, rows, doubt, free, 2, n_labelled=8, labelled=labelled, n_classes=1).rows
    assert sorted(place[found]) == [1, 2]  # the island with labels is covered, and each of the others once
    sure = np.where(place == 2, 0.01, 0.5)
    found = suggest_from(groups, rows, sure, free, 6, n_labelled=8, labelled=np.arange(0, 180, 20), n_classes=3).rows
    assert (place[found] == 2).sum() <= 1  # next to nothing is in doubt there
    nearest = np.linalg.norm(rows[found][:, None] - rows[found], axis=2) + 9 * np.eye(6)
    assert nearest.min() > groups.double
