"""Labels spread over a graph of neighbours, the choice of what is averaged, and the fit on sure rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSCCV, Views, datasets
from anchorview.tuning import ensemble, task
from anchorview.tuning.graph import FittedRows, GraphHead, make_graph, make_space, propagate, share_scores
from anchorview.tuning.heads import choose_temperature, log_loss
from anchorview.tuning.selection import select
from anchorview.tuning.settings import scalings_to_try

RNG = np.random.RandomState(0)


def test_coordinates_come_from_products_with_the_landmarks() -> None:
    landmarks, rows = RNG.normal(size=(40, 8)), RNG.normal(size=(25, 8))
    found = make_space(landmarks).coordinates(rows @ landmarks.T)
    _, _, directions = np.linalg.svd(landmarks - landmarks.mean(axis=0), full_matrices=False)
    expected = rows @ directions.T
    np.testing.assert_allclose(np.abs(found), np.abs(expected[:, ::-1]), atol=1e-4)  # signs and order are free


def test_constant_landmarks_leave_no_direction() -> None:
    assert make_space(np.ones((5, 3))).coordinates(np.ones((4, 5))).shape == (4, 0)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 60])
def test_the_graph_is_symmetric_and_joins_near_rows(n_rows: int) -> None:
    points = RNG.normal(size=(n_rows, 3)).astype(np.float32)
    graph = make_graph(points)
    assert abs(graph - graph.T).max() < 1e-6
    assert graph.diagonal().max() == 0
    assert np.linalg.eigvalsh(graph.toarray()).max() <= 1 + 1e-5
    if n_rows == 60:
        distances = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * np.eye(60)
        assert (graph.toarray()[np.arange(60), distances.argmin(axis=1)] > 0).all()


def test_doubles_do_not_break_the_graph() -> None:
    points = np.zeros((40, 2), np.float32)
    points[30:] = 1.0
    graph = make_graph(points)
    assert np.isfinite(graph.data).all()
    assert graph[:30, 30:].nnz == 0


def test_spreading_is_the_sum_over_walks() -> None:
    points = RNG.normal(size=(50, 3)).astype(np.float32)
    graph = make_graph(points)
    rows, classes = np.array([3, 9, 20]), np.array([0, 1, 1])
    seeds = np.zeros((50, 2))
    seeds[rows, classes] = 1
    walks = np.linalg.solve(np.eye(50) - 0.8 * graph.toarray(), seeds)
    expected = walks / walks.sum(axis=1, keepdims=True)
    both = propagate(graph, [(rows, classes), (rows[:1], classes[:1])], 2, 0.8)
    np.testing.assert_allclose(both[0], expected, atol=0.02)
    assert (both[1][:, 0] >= 0.5).all()  # of one label only, or of none


def test_a_row_that_no_label_reaches_knows_nothing() -> None:
    graph = sparse.csr_array((4, 4), dtype=np.float32)
    shares = propagate(graph, [(np.array([1]), np.array([2]))], 3, 0.9)[0]
    np.testing.assert_allclose(shares[1], [0, 0, 1])
    np.testing.assert_allclose(shares[[0, 2, 3]], 1 / 3)


def test_a_row_of_the_fit_keeps_its_shares_and_a_new_one_takes_the_mean() -> None:
    landmarks = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], np.float32)
    space = make_space(landmarks)
    rows = FittedRows(space, space.coordinates(landmarks @ landmarks.T))
    head = GraphHead(shares)
    np.testing.assert_allclose(head.scores(rows.weights(landmarks @ landmarks.T)), share_scores(shares), atol=1e-3)
    middle = np.exp(head.scores(rows.weights(np.array([[5.0, 0.0]]) @ landmarks.T)))[0]
    assert 0.2 < middle[0] < 0.9


def test_the_choice_is_at_least_as_good_as_its_first_members() -> None:
    classes = RNG.randint(3, size=30)
    members = [RNG.dirichlet(np.ones(3), size=30) for _ in range(8)]
    first = [0, 3]
    picks = select(members, classes, [0.0] * 8, 20, first)
    assert sum(picks.values()) == 20
    assert picks[0] >= 1
    assert picks[3] >= 1
    total = sum(count * members[number] for number, count in picks.items()) / 20
    start = (members[0] + members[3]) / 2
    assert log_loss(total, classes).mean() < log_loss(start, classes).mean()


def test_few_right_answers_do_not_make_it_certain() -> None:
    scores, classes = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1])
    few = choose_temperature(scores, classes)
    many = choose_temperature(np.tile(scores, (200, 1)), np.tile(classes, 200))
    assert few > 2 * many


DIGITS = datasets.load_handwritten()
X, TRUTH = DIGITS.views[::8], DIGITS.target[::8]
Y = datasets.hide_labels(TRUTH, 0.12, random_state=0)


def fit(**parameters: Any) -> FSSMSCCV:
    return FSSMSCCV(**{"n_landmarks": 60, "n_repeats": 1, "scaling": "minmax", "random_state": 0} | parameters).fit(
        X, Y
    )


def test_sure_rows_are_fitted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, Any]] = []
    add = ensemble.Ensemble.add

    def noted(self: Any, chosen: Any, rows: Any, classes: Any, **kind: bool) -> None:
        seen.append((rows, classes))
        add(self, chosen, rows, classes, **kind)

    monkeypatch.setattr(ensemble.Ensemble, "add", noted)
    model = fit()
    (given, classes), (sure, guessed) = seen
    assert set(given) < set(sure)
    np.testing.assert_array_equal(guessed[np.isin(sure, given)], classes)  # what is given is never changed
    assert len(sure) > 0.7 * len(TRUTH)
    assert (guessed == TRUTH[sure]).mean() > 0.85
    np.testing.assert_array_equal(model.predict(X)[Y == -1], model.labels_[Y == -1])


def test_above_the_limit_there_is_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "graph" in set(fit().cv_results_["param_head"])
    monkeypatch.setattr(task, "MAX_ROWS", len(Y) - 1)
    assert "graph" not in set(fit().cv_results_["param_head"])


def test_dense_counts_are_tried_as_text() -> None:
    counts = RNG.poisson(0.07, size=(60, 140)).astype(float)  # 93 % zeros: perhaps text
    text = RNG.poisson(0.02, size=(60, 140)).astype(float)  # 98 %: the default takes it for text
    plain = RNG.normal(size=(60, 5))
    assert scalings_to_try(Views([plain])) == ["minmax", "symmetric", "standard", "l2"]
    assert scalings_to_try(Views([counts])) == ["minmax", "symmetric", "standard", "l2", "lsa"]
    assert scalings_to_try(Views([text])) == ["lsa", "minmax", "symmetric", "standard", "l2"]
    assert scalings_to_try(Views([plain, counts]))[-1] == ("minmax", "lsa")
    assert scalings_to_try(Views([sparse.csr_array(counts), plain]))[0] == ("lsa", "minmax")


def test_nearly_parallel_rows_are_not_scaled_to_0_1() -> None:
    parallel = 5 + RNG.uniform(size=(60, 1)) + 0.02 * RNG.uniform(size=(60, 8))
    parallel[0] = 0
    assert scalings_to_try(Views([parallel])) == ["standard", "symmetric", "l2"]
