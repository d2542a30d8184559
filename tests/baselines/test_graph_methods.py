"""AMGL and MLAN against dense transcriptions of their equations, and at the edges of their definitions."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from anchorview import Views, datasets, metrics
from anchorview.baselines import AMGL, MLAN
from anchorview.baselines._base import Labels
from anchorview.baselines._graph_builder import GraphBuilder
from anchorview.baselines._graphs import normalized_laplacian, pkn_graph
from anchorview.baselines.amgl import Propagation
from support.slow_ways import FORMS, slow_distances, slow_pkn

METHODS = [AMGL, MLAN]


def made_data(n: int = 150, seed: int = 0, n_classes: int = 3) -> Any:
    """Three overlapping classes in two views with many zeros, and a few labels."""
    rng = np.random.RandomState(seed)
    target = np.arange(n) % n_classes
    views = []
    for d in (9, 14):
        rows = rng.randn(n_classes, d)[target] + 0.9 * rng.randn(n, d)
        rows[rng.rand(n, d) < 0.4] = 0.0
        views.append(rows)
    y = np.where(rng.rand(n) < 0.1, target, -1)
    y[:n_classes] = target[:n_classes]
    return views, target, y


def blobs() -> Any:
    """Two classes that no edge joins in either view."""
    rng = np.random.RandomState(0)
    rows = np.concatenate([rng.rand(20, 3), 9 + rng.rand(20, 3)])
    y = np.full(40, -1)
    y[[2, 33]] = 0, 1
    return rows, np.repeat([0, 1], 20), y


# Dense transcriptions


def slow_solve(matrix: Any, y: Any) -> Any:
    known, unknown = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    scores = np.zeros((len(y), y.max() + 1))
    scores[known, y[known]] = 1.0
    scores[unknown] = -np.linalg.inv(matrix[np.ix_(unknown, unknown)]) @ matrix[np.ix_(unknown, known)] @ scores[known]
    return scores


def slow_amgl(views: Any, y: Any, k: int, n_rounds: int) -> Any:
    laplacians = []
    for rows in views:
        graph = slow_pkn(slow_distances(rows), k)
        graph = (graph + graph.T) / 2
        root = np.diag(graph.sum(axis=1) ** -0.5)
        laplacians.append(np.eye(len(graph)) - root @ graph @ root)
    weights, history = np.full(len(views), 1 / len(views)), []
    for _ in range(n_rounds):
        scores = slow_solve(sum(w * m for w, m in zip(weights, laplacians, strict=True)), y)
        traces = [np.trace(scores.T @ m @ scores) for m in laplacians]
        weights = np.array([1 / (2 * np.sqrt(t)) for t in traces])
        history.append(np.sqrt(traces).sum())
    return scores.argmax(axis=1), weights / weights.sum(), history


def slow_simplex(points: Any) -> Any:
    """Project each row by bisection."""
    low, high = points.min(axis=1, keepdims=True) - 1, points.max(axis=1, keepdims=True)
    for _ in range(200):
        middle = (low + high) / 2
        above = np.maximum(points - middle, 0).sum(axis=1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(points - (low + high) / 2, 0)


def slow_mlan(views: Any, y: Any, k: int, coupling: float, n_rounds: int) -> Any:
    distances = [slow_distances(rows) for rows in views]
    mean = sum(distances) / len(views)
    order = [[j for j in np.argsort(row, kind="stable") if j != i][: k + 1] for i, row in enumerate(mean)]
    ridge = np.mean([(k * mean[i, o[k]] - mean[i, o[:k]].sum()) / 2 for i, o in enumerate(order)])

    def propagate(graph: Any) -> Any:
        both = (graph + graph.T) / 2
        return slow_solve(np.diag(both.sum(axis=1)) - both, y)

    graph, history = slow_pkn(mean, k), []
    scores = propagate(graph)
    for _ in range(n_rounds):
        weights = np.array([1 / (2 * np.sqrt((d * graph).sum())) for d in distances])
        costs = sum(w * d for w, d in zip(weights, distances, strict=True)) + coupling * slow_distances(scores)
        graph, nearest = np.zeros_like(mean), np.array(order)[:, :k]
        shares = slow_simplex(-np.take_along_axis(costs, nearest, axis=1) / (2 * ridge))
        np.put_along_axis(graph, nearest, shares, axis=1)
        scores = propagate(graph)
        both = (graph + graph.T) / 2
        smooth = np.trace(scores.T @ (np.diag(both.sum(axis=1)) - both) @ scores)
        roots = sum(np.sqrt((d * graph).sum()) for d in distances)
        history.append(roots + ridge * (graph**2).sum() + 2 * coupling * smooth)
    return scores.argmax(axis=1), weights / weights.sum(), history, both


class SmallBlocks(GraphBuilder):
    """Looks for neighbours in many blocks."""

    def build(self, make: Any, /, *arguments: Any, **options: Any) -> Any:
        return make(*arguments, **options, block_entries=2000)


def by_row(rows: Any) -> Any:
    return (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, ddof=1, keepdims=True)


# Up to 500 unlabelled rows a dense system is solved, above that conjugate gradients are used.
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [150, 700])
def test_amgl_equals_its_dense_transcription(form: Any, n_rows: int) -> None:
    views, _, y = made_data(n_rows)
    model = AMGL(4).fit([form(rows) for rows in views], y)
    labels, weights, history = slow_amgl([rows / rows.std(axis=0, ddof=1) for rows in views], y, 4, model.n_iter_)
    np.testing.assert_array_equal(model.labels_, np.where(y >= 0, y, labels))
    np.testing.assert_allclose(model.view_weights_, weights, rtol=1e-7)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)


@pytest.mark.parametrize(
    ("forms", "coupling", "n_rows"),
    [(FORMS[:1] * 2, 0.5, 150), (FORMS[1:] * 2, 0.5, 150), (FORMS, 60.0, 150), (FORMS, 60.0, 700)],
    ids=["dense", "sparse", "mixed", "conjugate gradients"],
)
def test_mlan_equals_its_dense_transcription(forms: Any, coupling: float, n_rows: int) -> None:
    views, _, y = made_data(n_rows)
    model = MLAN(6, coupling=coupling, n_jobs=2)
    model._graphs = SmallBlocks()
    model.fit([form(v) for form, v in zip(forms, views, strict=True)], y)
    labels, weights, history, graph = slow_mlan([by_row(v) for v in views], y, 6, coupling, model.n_iter_)
    np.testing.assert_array_equal(model.labels_, np.where(y >= 0, y, labels))
    np.testing.assert_allclose(model.view_weights_, weights, rtol=1e-7)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)
    np.testing.assert_allclose(model.graph_.toarray(), graph, atol=1e-6)
    first = slow_pkn(sum(slow_distances(by_row(v)) for v in views), 6)
    assert (coupling == 60.0) == (model.graph_.nnz < np.count_nonzero(first + first.T))  # the labels cut edges


def test_scalings_per_view_reach_mlan() -> None:
    views, _, y = made_data()
    kinds = ["row_standard", "none"]
    dense, mixed = (MLAN(6, scaling=kinds).fit([f(views[0]), f(views[1])], y) for f in FORMS)
    np.testing.assert_allclose(mixed.objective_history_, dense.objective_history_, rtol=1e-9)
    labels, _, history, _ = slow_mlan([by_row(views[0]), views[1]], y, 6, 10.0, dense.n_iter_)
    np.testing.assert_allclose(dense.objective_history_, history, rtol=1e-9)
    np.testing.assert_array_equal(dense.labels_, np.where(y >= 0, y, labels))


# What the theory promises


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_the_objective_never_rises(method: Any, seed: int) -> None:
    views, _, y = made_data(seed=seed)
    options = {"coupling": 200.0} if method is MLAN else {}
    found = method(**options).fit(views, y).objective_history_
    assert (np.diff(found) <= 1e-12 * found[0]).all()
    assert found[-1] < found[0] * (1 - 1e-6)


def test_no_other_scores_have_a_smaller_amgl_objective() -> None:
    views, _, y = made_data()
    laplacians = [normalized_laplacian(pkn_graph(rows, 5)) for rows in views]
    labels = Labels(y, 3)
    result = Propagation(laplacians, labels)
    objective = [result.one_round() for _ in range(40)][-1]
    np.testing.assert_array_equal(result.scores[labels.labelled], labels.targets)
    rng = np.random.RandomState(0)
    for size in (1e-3, 1e-2, 1.0):  # the objective is convex, so nearby scores would do
        other = result.scores.copy()
        other[labels.unlabelled] += size * rng.randn(len(labels.unlabelled), 3)
        assert sum(np.sqrt(np.trace(other.T @ (m @ other))) for m in laplacians) > objective


def test_amgl_trusts_the_view_that_fits_the_labels() -> None:
    views, target, y = made_data(200)
    noise = np.random.RandomState(5).randn(200, 8)
    model = AMGL().fit({"good": np.hstack(views), "noise": noise}, y)
    assert model.view_weights_[0] > model.view_weights_[1]
    np.testing.assert_allclose(model.view_weights_.sum(), 1.0)
    hidden = y == -1
    alone = AMGL().fit([noise], y).labels_
    assert np.mean(model.labels_[hidden] == target[hidden]) > np.mean(alone[hidden] == target[hidden]) + 0.2


@pytest.mark.parametrize("method", METHODS)
def test_threads_rows_and_names_do_not_matter(method: Any) -> None:
    views, _, y = made_data()
    one, two = (method(n_jobs=jobs).fit(views, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.objective_history_, two.objective_history_)
    order = np.random.RandomState(0).permutation(len(y))
    shuffled = method().fit([rows[order] for rows in views], y[order])
    np.testing.assert_array_equal(shuffled.labels_, one.labels_[order])
    table = method(views={"a": range(9), "b": range(9, 23)}).fit(np.hstack(views), np.array(["x", "y", "z", None])[y])
    np.testing.assert_array_equal(table.labels_, np.array(["x", "y", "z"])[one.labels_])
    assert table.view_names_ == ["a", "b"] and table.classes_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(("method", "low", "high"), [(AMGL, 0.83, 0.91), (MLAN, 0.965, 0.985)])
def test_handwritten_digits_as_published(method: Any, low: float, high: float, digits: Any) -> None:
    found = []
    for seed in range(3):
        y = datasets.hide_labels(digits.target, 0.05, random_state=seed)
        labels = method().fit(digits.views, y).labels_
        found.append(metrics.clustering_accuracy(digits.target[y == -1], labels[y == -1]))
    assert low < np.mean(found) < high  # FSSMSC's table: 86.1 and 97.3


# Edges


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_no_path_joins_to_a_label_take_the_commonest_class(method: Any, form: Any) -> None:
    rng = np.random.RandomState(0)
    rows = np.concatenate([rng.rand(20, 3), 50 + rng.rand(20, 3), 500 + rng.rand(12, 3)])
    y = np.full(52, -1)
    y[[0, 1, 25, 26, 27]] = 4, 4, 7, 7, 7
    model = method(3, scaling="none").fit([form(rows), form(rows**2)], y)
    np.testing.assert_array_equal(model.labels_, np.repeat([4, 7, 7], [20, 20, 12]))
    assert np.isfinite(model.objective_history_).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scaling", ["standard", "l2", "row_standard", "none"])
def test_duplicates_constant_features_and_constant_rows(method: Any, form: Any, scaling: str) -> None:
    rows, target, y = blobs()
    rows[:8], rows[30:] = rows[0], rows[39]  # more duplicates than neighbours
    wide = np.concatenate([rows * [1, -1, 3], np.full((40, 1), 2.0)], axis=1)  # the last feature is constant
    wide[7] = 0.0
    wide[12] = 5.0  # constant rows, zero and not
    model = method(4, scaling=scaling).fit([form(rows), form(wide)], y)
    assert np.isfinite(model.objective_history_).all() and np.isfinite(model.view_weights_).all()
    if scaling in ("standard", "none"):
        usual = np.setdiff1d(np.arange(40), [7, 12])
        np.testing.assert_array_equal(model.labels_[usual], target[usual])


@pytest.mark.parametrize("method", METHODS)
def test_a_view_that_says_nothing_does_no_harm(method: Any) -> None:
    views, target, y = made_data(200)
    hidden = y == -1
    alone = method().fit(views, y).labels_
    model = method().fit([*views, np.ones((200, 4))], y)
    assert np.isfinite(model.view_weights_).all()
    assert np.mean(model.labels_[hidden] == target[hidden]) > np.mean(alone[hidden] == target[hidden]) - 0.1
    if method is MLAN:  # all its distances are 0; the means over the views only get smaller
        assert model.view_weights_[2] == 0


@pytest.mark.parametrize("method", METHODS)
def test_all_rows_alike(method: Any) -> None:
    y = np.full(30, -1)
    y[:3] = 0, 1, 1
    model = method().fit([np.ones((30, 2)), sparse.csr_array((30, 3))], y)
    assert np.isfinite(model.objective_history_).all() and np.isfinite(model.view_weights_).all()
    np.testing.assert_array_equal(model.labels_[:3], y[:3])


def test_perfectly_smooth_labels_leave_amgl_weights_finite() -> None:
    rows = np.repeat([[0.0], [1.0]], 6, axis=0)  # two complete graphs of equal degree: Tr(Fᵀ L F) = 0
    y = np.array([0] + [-1] * 10 + [1])
    other = np.random.RandomState(0).rand(12, 3)
    model = AMGL(5).fit([rows, rows, rows, other], y)  # three: one alone would not outweigh the other view
    assert np.isfinite(model.view_weights_).all() and model.view_weights_[3] < 1e-5
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 6))
    smooth = np.eye(2)[model.labels_]
    matrix = normalized_laplacian(pkn_graph(other / other.std(axis=0, ddof=1), 5))
    np.testing.assert_allclose(model.objective_history_[-1], np.sqrt(np.trace(smooth.T @ (matrix @ smooth))), rtol=1e-4)
    both = AMGL(5).fit([rows, rows], y)
    np.testing.assert_allclose(both.objective_history_, 0.0, atol=1e-6)
    np.testing.assert_allclose(both.view_weights_, 0.5)


def test_mlan_where_all_distances_are_equal_has_equal_shares() -> None:
    model = MLAN(3, scaling="none").fit([np.eye(8)], np.array([0, 1] + [-1] * 6))
    matrix = np.zeros((8, 8))
    for i in range(8):
        matrix[i, [j for j in range(8) if j != i][:3]] = 1
    assert set(zip(*model.graph_.nonzero(), strict=True)) <= set(zip(*(matrix + matrix.T).nonzero(), strict=True))
    np.testing.assert_allclose(model.graph_.sum(), 8.0)
    assert np.isfinite(model.objective_history_).all()


@pytest.mark.parametrize("method", METHODS)
def test_very_few_rows_and_no_unlabelled_one(method: Any) -> None:
    assert method().fit([[[0.0, 1.0], [1.0, 0.0]], [[3.0], [2.0]]], [0, 1]).labels_.tolist() == [0, 1]
    three = method(scaling="none").fit([np.array([[0.0], [1.0], [9.0]])], [0, -1, 1])
    assert three.labels_.tolist() == [0, 0, 1]
    views, target, _ = made_data(20)
    np.testing.assert_array_equal(method().fit(views, target).labels_, target)


@pytest.mark.parametrize("method", METHODS)
def test_a_class_with_one_label_among_many_is_kept(method: Any) -> None:
    rows, _, y = blobs()
    y[5] = 2
    model = method(scaling="none").fit([rows, rows], y)
    assert model.classes_.tolist() == [0, 1, 2] and model.labels_[5] == 2
    assert set(model.labels_[20:]) == {1}


@pytest.mark.parametrize("method", METHODS)
def test_errors_and_warnings(method: Any) -> None:
    views, _, y = made_data()
    for name, value in {"n_neighbors": 0, "max_iter": 0, "tol": -1.0}.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            method(**{name: value}).fit(views, y)
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=2 before it converged"):
        method(max_iter=2).fit(views, y)
    if method is MLAN:
        with pytest.raises(ValueError, match="coupling must be a number of at least 0; got -1"):
            MLAN(coupling=-1).fit(views, y)
    bad = sparse.csr_array(views[1])
    bad.data[3] = np.nan
    with pytest.raises(ValueError, match="View 'text' contains NaN"):
        method().fit(Views({"image": views[0], "text": bad}), y)


# Size


@pytest.mark.parametrize("method", METHODS)
def test_memory_does_not_grow_with_the_square_of_the_rows(method: Any) -> None:
    data = datasets.make_multiview_subspaces(7000, 4, (6, 5, 4), random_state=0)
    y = datasets.hide_labels(data.target, 0.05, random_state=0)
    tracemalloc.start()
    method(max_iter=3, tol=1.0, n_jobs=1).fit(data.views, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e8  # one matrix of all distances would be 3.9e8
