"""Labels spread over a graph of neighbours."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from anchorview.readers.graph import (
    FittedRows,
    SpreadReader,
    make_graph,
    make_space,
    propagate,
    share_scores,
    solve_potential,
)

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
    graph, _ = make_graph(points)
    assert abs(graph - graph.T).max() < 1e-6
    assert graph.diagonal().max() == 0
    assert np.linalg.eigvalsh(graph.toarray()).max() <= 1 + 1e-5
    if n_rows == 60:
        distances = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * np.eye(60)
        assert (graph.toarray()[np.arange(60), distances.argmin(axis=1)] > 0).all()


def test_doubles_do_not_break_the_graph() -> None:
    places = np.array([[0.0, 1.0], [0.0, 1.2], [3.0, 0.0], [3.0, 0.2]])
    points = np.repeat(places, 15, axis=0).astype(np.float32)
    graph, inverse_root = make_graph(points)
    assert np.isfinite(graph.data).all()
    assert abs(graph - graph.T).max() < 1e-6
    labels = [(np.array([0, 30]), np.array([0, 1]))]  # the second and fourth place have no label of their own
    potential = solve_potential(graph, inverse_root, labels, 2, 0.99)[0]
    assert (potential.argmax(axis=1) == np.repeat([0, 0, 1, 1], 15)).all()


def test_rows_that_are_all_the_same_have_a_graph() -> None:
    graph, _ = make_graph(np.ones((40, 2), np.float32))
    assert np.isfinite(graph.data).all()
    assert graph.diagonal().max() == 0


def test_spreading_is_the_sum_over_walks() -> None:
    points = RNG.normal(size=(50, 3)).astype(np.float32)
    graph, _ = make_graph(points)
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
    head = SpreadReader(shares)
    np.testing.assert_allclose(head.scores(rows.weights(landmarks @ landmarks.T)), share_scores(shares), atol=1e-3)
    middle = np.exp(head.scores(rows.weights(np.array([[5.0, 0.0]]) @ landmarks.T)))[0]
    assert 0.2 < middle[0] < 0.9


def test_rows_alone_have_the_weights_that_they_have_together_and_nothing_is_kept_with_the_graph() -> None:
    landmarks = np.random.RandomState(0).normal(size=(40, 6))
    space = make_space(landmarks)
    rows = FittedRows(space, space.coordinates(landmarks @ landmarks.T))
    before = pickle.dumps(rows)
    new = np.random.RandomState(1).normal(size=(5, 6)) @ landmarks.T
    together = rows.weights(new).toarray()
    alone = [rows.weights(new[[number]]).toarray()[0] for number in range(5)]
    np.testing.assert_allclose(alone, together, rtol=1e-5)
    assert pickle.dumps(rows) == before


def test_the_potential_solves_its_equation() -> None:
    """Against dense linear algebra, for two sets of labels at once."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3)).astype(np.float32)
    graph, inverse_root = make_graph(points)
    sets = [(np.array([0, 5, 9]), np.array([0, 1, 1])), (np.array([3, 4]), np.array([2, 0]))]
    found = solve_potential(graph, inverse_root, sets, 3, 0.99)
    for (rows, classes), potential in zip(sets, found, strict=True):
        own = np.eye(3)[classes]
        sources = np.zeros((60, 3))
        sources[rows] = own - own.mean(axis=0)
        matrix = np.diag(1 / inverse_root) @ (np.eye(60) - 0.99 * graph.toarray()) @ np.diag(1 / inverse_root)
        expected = np.linalg.solve(matrix, sources)
        expected /= np.ptp(expected, axis=1).mean()
        np.testing.assert_allclose(potential, expected, atol=0.01 * np.abs(expected).max())
        np.testing.assert_array_equal(potential[rows].argmax(axis=1), classes)


def test_the_potential_does_not_grow_with_the_number_of_labels() -> None:
    """Or a temperature chosen while some labels are hidden would be too sure with all of them."""
    points = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    rows, classes = np.arange(120), np.arange(120) % 2
    sets = [(rows, classes), (rows[:80], classes[:80])]
    for potential in solve_potential(*make_graph(points), sets, 2, 0.99):
        assert np.ptp(potential, axis=1).mean() == pytest.approx(1.0, rel=1e-5)


def test_a_part_of_the_graph_without_labels_has_no_potential() -> None:
    points = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)) + shift for shift in (0, 100)])
    graph, inverse_root = make_graph(points.astype(np.float32))
    labels = [(np.array([0, 1]), np.array([0, 1]))]
    potential = solve_potential(graph, inverse_root, labels, 2, 0.99)[0]
    assert np.abs(potential[:30]).min() > 0
    np.testing.assert_array_equal(potential[30:], 0.0)
    assert not solve_potential(graph, inverse_root, [(np.array([], int), np.array([], int))], 2, 0.99).any()
