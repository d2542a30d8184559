"""GPSNMF and CONMF: their steps against slow, literal ones, their objectives, and awkward data."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from anchorview import datasets, metrics
from anchorview.baselines import CONMF, GPSNMF
from anchorview.baselines._class_factors import ClassFactors, fixed_coefficients
from anchorview.baselines._graphs import knn_graph
from anchorview.baselines._nmf import project_views
from anchorview.baselines._partly_shared import PartlyShared, split_components

METHODS = [GPSNMF, CONMF]
FORMS = [np.asarray, sparse.csr_array]
N = 14


def tiny_views(seed: int = 0) -> Any:
    rng = np.random.RandomState(seed)
    views = [rng.rand(N, 5), rng.rand(N, 3)]
    for view in views:
        view[rng.rand(*view.shape) < 0.3] = 0.0
    return views


def tiny_labels() -> Any:
    return np.array([1, 4, 5, 9, 12]), np.eye(3)[[0, 1, 2, 1, 0]]


# GPSNMF, with the matrices as its paper has them: X_p is d × n, V_p = [V_p^s; V^c] is K_p × n


def partly_shared(seed: int = 0, form: Any = np.asarray, **weights: float) -> PartlyShared:
    views, rng = tiny_views(seed), np.random.RandomState(seed + 100)
    labelled, targets = tiny_labels()
    chosen = {"label_weight": 0.7, "graph_weight": 0.3, "sparsity": 0.2, **weights}
    return PartlyShared(
        [form(view) for view in views],
        [knn_graph(view, 3) for view in views],
        split_components(7, 2, 0.6),  # 2 of each view and 3 shared
        rng.rand(N, 7),
        [rng.rand(view.shape[1], 5) for view in views],
        labelled,
        targets,
        **chosen,
    )


def slow_objective(model: PartlyShared) -> float:
    total, shared = 0.0, model.coefficients[:, 4:].T
    for p, view in enumerate(tiny_views()):
        both = np.vstack([model.coefficients[:, 2 * p : 2 * p + 2].T, shared])
        total += np.linalg.norm(view.T - model.bases[p] @ both) ** 2 / 2
        graph = model.graphs[p].toarray()
        for i in range(N):
            for j in range(N):
                total += model.graph_weight / 2 * graph[i, j] * ((both[:, i] - both[:, j]) ** 2).sum()
    misfit = model.weights.T @ model.coefficients[model.labelled].T - model.targets.T
    lengths = np.linalg.norm(model.weights, axis=1)
    penalty = model.sparsity * lengths.sum() + 1e-4 * (lengths**2).sum()
    return float(total + model.label_weight * ((misfit**2).sum() + penalty))


@pytest.mark.parametrize("form", FORMS)
def test_gpsnmf_objective(form: Any) -> None:
    model = partly_shared(form=form)
    model.update_regression()
    np.testing.assert_allclose(model.objective(), slow_objective(model), rtol=1e-6)
    value = model.one_round()
    np.testing.assert_allclose([value, model.objective()], slow_objective(model), rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_gpsnmf_bases(form: Any) -> None:
    model = partly_shared(form=form)
    first = model.bases
    model.update_bases()
    plain = model.bases
    model.rescale_bases()
    for p, view in enumerate(tiny_views()):
        x, both = view.T, np.vstack([model.coefficients[:, 2 * p : 2 * p + 2].T, model.coefficients[:, 4:].T])
        expected = first[p] * (x @ both.T) / (first[p] @ both @ both.T)
        np.testing.assert_allclose(plain[p], expected, rtol=1e-10)
        np.testing.assert_allclose(model.bases[p], expected / expected.sum(axis=0), rtol=1e-10)


def test_gpsnmf_regression_uses_the_lengths_of_the_regression_before() -> None:
    model = partly_shared()
    known, y = model.coefficients[model.labelled].T, model.targets.T
    penalty = np.ones(7)
    for _ in range(3):
        expected = np.linalg.inv(known @ known.T + 0.2 * np.diag(penalty) + 1e-4 * np.eye(7)) @ known @ y.T
        penalty = 1 / (2 * np.linalg.norm(expected, axis=1))
        model.update_regression()
        np.testing.assert_allclose(model.weights, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_gpsnmf_coefficients(form: Any) -> None:
    model = partly_shared(form=form)
    model.update_regression()
    v, w = model.coefficients.T.copy(), model.weights
    q = w @ w.T
    more, less = np.zeros((7, N)), np.zeros((7, N))
    known, y = v[:, model.labelled], model.targets.T
    more[:, model.labelled] = 0.7 * (np.maximum(-q, 0) @ known + np.maximum(w, 0) @ y)
    less[:, model.labelled] = 0.7 * (np.maximum(q, 0) @ known + np.maximum(-w, 0) @ y)
    for p, view in enumerate(tiny_views()):
        s = model.graphs[p].toarray()
        d = np.diag(s.sum(axis=1))
        own, basis = slice(2 * p, 2 * p + 2), model.bases[p]
        both = np.vstack([v[own], v[4:]])
        for rows, part in ((own, basis[:, :2]), (slice(4, 7), basis[:, 2:])):
            more[rows] += part.T @ view.T / 2 + 0.3 * v[rows] @ s
            less[rows] += part.T @ basis @ both / 2 + 0.3 * v[rows] @ d
    model.update_coefficients()
    np.testing.assert_allclose(model.coefficients.T, v * np.sqrt(more / less), rtol=1e-10)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weight", [0.0, 0.1, 30.0])
def test_no_step_of_gpsnmf_raises_the_objective(seed: int, weight: float) -> None:
    model = partly_shared(seed, label_weight=weight, graph_weight=weight / 3, sparsity=0.2)
    model.update_regression()
    values = [model.objective()]
    for _ in range(15):
        model.update_bases()  # but the scaling of the bases, which is left out here, can
        values.append(model.objective())
        model.update_regression()
        values.append(model.objective())
        values.append(model.update_coefficients())
    assert (np.diff(values) <= 1e-10 * values[0]).all()
    assert values[-1] < 0.9 * values[0]


@pytest.mark.parametrize(
    ("n_components", "n_views", "ratio", "own", "shared"),
    [
        (100, 6, 0.6, 13, 22),
        (100, 6, 0.5, 14, 16),
        (100, 1, 0.6, 40, 60),
        (9, 3, 0.0, 3, 0),
        (9, 3, 1.0, 0, 9),
        (5, 2, 0.0, 2, 1),
        (2, 5, 0.1, 0, 2),
    ],
)
def test_components_of_the_views(n_components: int, n_views: int, ratio: float, own: int, shared: int) -> None:
    blocks = split_components(n_components, n_views, ratio)
    assert [len(block) for block in blocks] == [own] * n_views + [shared]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(n_components))


# CONMF, with X_p as d × n and V as n × c


def class_factors(seed: int = 0, form: Any = np.asarray, graph_weight: float = 0.3, mu: float = 0.8) -> ClassFactors:
    views, rng = tiny_views(seed), np.random.RandomState(seed + 100)
    labelled, targets = tiny_labels()
    coefficients = rng.rand(N, 3)
    coefficients[labelled] = fixed_coefficients(targets)
    graphs = [knn_graph(view, 3, "cosine", self_loops=True) for view in views]
    bases = [rng.rand(view.shape[1], 3) for view in views]
    free = np.setdiff1d(np.arange(N), labelled)
    return ClassFactors(
        [form(view) for view in views], graphs[0] + graphs[1], coefficients, bases, free, graph_weight, mu
    )


def products_of(model: ClassFactors) -> Any:
    return project_views(model.views, model.bases, 1), [basis.T @ basis for basis in model.bases]


def slow_class_objective(model: ClassFactors, coefficients: Any) -> float:
    graph = model.graph.toarray()
    total = sum(np.linalg.norm(x.T - u @ coefficients.T) for x, u in zip(tiny_views(), model.bases, strict=True))
    total += model.graph_weight * np.trace(coefficients.T @ (np.diag(graph.sum(axis=1)) - graph) @ coefficients)
    own = coefficients[model.free]
    return float(total + model.orthogonality * np.linalg.norm(own.T @ own - np.eye(3) / 2) ** 2) / 2


def slow_class_step(model: ClassFactors, coefficients: Any) -> Any:
    graph, mu, own = model.graph.toarray(), model.orthogonality, coefficients[model.free]
    more = model.graph_weight * graph[model.free] @ coefficients + mu * own + 2 * mu * own**3
    less = model.graph_weight * np.diag(graph.sum(axis=1))[model.free] @ coefficients
    less += 2 * mu * own @ own.T @ own + 2 * mu * own**3
    for x, u in zip(tiny_views(), model.bases, strict=True):
        w = 1 / (2 * np.linalg.norm(x.T - u @ coefficients.T))
        more += w * x[model.free] @ u
        less += w * own @ u.T @ u
    result = coefficients.copy()
    result[model.free] *= more / less
    return result


def test_fixed_coefficients_are_half_orthogonal() -> None:
    coefficients = fixed_coefficients(tiny_labels()[1])
    np.testing.assert_allclose(coefficients.T @ coefficients, np.eye(3) / 2, atol=1e-15)
    absent = fixed_coefficients(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(absent, np.sqrt([[0.5, 0, 0], [0, 0, 0.5]]))


@pytest.mark.parametrize("form", FORMS)
def test_conmf_objective_and_residuals(form: Any) -> None:
    model = class_factors(form=form)
    value, residuals = model.objective(*products_of(model))
    np.testing.assert_allclose(value, slow_class_objective(model, model.coefficients), rtol=1e-10)
    expected = [np.linalg.norm(x - model.coefficients @ u.T) for x, u in zip(tiny_views(), model.bases, strict=True)]
    np.testing.assert_allclose(residuals, expected, rtol=1e-10)
    np.testing.assert_allclose(model.one_round(), slow_class_objective(model, model.coefficients), rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_conmf_steps(form: Any) -> None:
    model = class_factors(form=form)
    first = [basis.copy() for basis in model.bases]
    model.update_bases()
    for x, before, after in zip(tiny_views(), first, model.bases, strict=True):
        expected = before * (x.T @ model.coefficients) / (before @ model.coefficients.T @ model.coefficients)
        np.testing.assert_allclose(after, expected, rtol=1e-10)
    coefficients = model.coefficients.copy()
    value = model.update_coefficients(*products_of(model), n_steps=1)
    np.testing.assert_allclose(model.coefficients, slow_class_step(model, coefficients), rtol=1e-9)
    labelled, targets = tiny_labels()
    np.testing.assert_array_equal(model.coefficients[labelled], fixed_coefficients(targets))
    np.testing.assert_allclose(value, slow_class_objective(model, model.coefficients), rtol=1e-10)


def test_conmf_makes_several_steps_for_the_coefficients_in_a_round() -> None:
    model, other = class_factors(), class_factors()
    model.one_round()
    other.update_bases()
    for _ in range(5):
        other.update_coefficients(*products_of(other), n_steps=1)
    np.testing.assert_allclose(model.coefficients, other.coefficients, rtol=1e-12)
    np.testing.assert_allclose(model.bases[0], other.bases[0], rtol=1e-12)


def test_a_step_for_the_coefficients_that_overshoots_is_shortened() -> None:
    model = class_factors(mu=50.0)
    model.coefficients[model.free] *= 0.1  # far below the length that is wanted: the published step goes beyond it
    model.update_bases()
    coefficients = model.coefficients.copy()
    before, plain = (slow_class_objective(model, c) for c in (coefficients, slow_class_step(model, coefficients)))
    assert plain > before
    assert model.update_coefficients(*products_of(model), n_steps=1) < before
    own, stepped = coefficients[model.free], slow_class_step(model, coefficients)[model.free]
    exponent = np.log(model.coefficients[model.free] / own) / np.log(stepped / own)
    assert np.allclose(exponent, 0.5) or np.allclose(exponent, 0.25)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("mu", [0.0, 0.5, 5.0, 500.0])
def test_no_round_of_conmf_raises_the_objective(seed: int, mu: float) -> None:
    model = class_factors(seed, graph_weight=0.05 + seed / 4, mu=mu)
    values = [model.objective(*products_of(model))[0]]
    for _ in range(30):
        model.update_bases()
        values.append(model.objective(*products_of(model))[0])
        values.append(model.update_coefficients(*products_of(model), n_steps=1))
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.9 * values[0]


# The estimators


def few_clusters(n: int = 240, **options: Any) -> Any:
    data = datasets.make_multiview_subspaces(n, 3, (20, 12, 8), random_state=0, dtype="float64", **options)
    return data, datasets.hide_labels(data.target, 0.1, random_state=1)


def quick(method: Any, **options: Any) -> Any:
    chosen = {"random_state": 0, "max_iter": 60, "tol": 0.0, **({"n_components": 20} if method is GPSNMF else {})}
    return method(**{**chosen, **options})


def check_fit(model: Any, y: Any) -> None:
    assert np.isfinite(model.objective_history_).all() and len(model.objective_history_) == model.n_iter_
    assert set(model.labels_) <= set(model.classes_)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_found_and_the_same_with_more_threads(method: Any) -> None:
    data, y = few_clusters()
    model = quick(method, n_jobs=1).fit(data.views, y)
    check_fit(model, y)
    assert metrics.clustering_accuracy(data.target[y < 0], model.labels_[y < 0]) > 0.95
    other = quick(method, n_jobs=2).fit(data.views, y)
    np.testing.assert_array_equal(model.objective_history_, other.objective_history_)
    names = np.where(y < 0, None, np.array(["x", "y", "z"])[y])
    assert (np.array(["x", "y", "z"])[model.labels_] == quick(method).fit_predict(data.views, names)).all()


@pytest.mark.parametrize("method", METHODS)
def test_digits(method: Any, digits: Any) -> None:
    views, target = digits.views[::4], digits.target[::4]
    y = datasets.hide_labels(target, 0.1, random_state=0)
    labels = method(random_state=0, max_iter=150, tol=0.0).fit_predict(views, y)
    assert metrics.clustering_accuracy(target[y < 0], labels[y < 0]) > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_rounds_end_when_the_objective_settles(method: Any) -> None:
    data, y = few_clusters()
    long = quick(method, tol=1e-3, max_iter=500).fit(data.views, y)
    h = long.objective_history_
    assert 10 < long.n_iter_ < 500
    assert abs(h[-2] - h[-1]) <= 1e-3 * h[-2] and abs(h[-3] - h[-2]) > 1e-3 * h[-3]
    with pytest.warns(ConvergenceWarning, match=f"{method.__name__} stopped at max_iter=3"):
        quick(method, tol=1e-3, max_iter=3).fit(data.views, y)
    assert quick(method, max_iter=3).fit(data.views, y).n_iter_ == 3  # rounds that tol=0 asks for need no warning
    assert method is GPSNMF or (np.diff(h) <= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_sparse_views_give_what_dense_ones_do(method: Any) -> None:
    data, y = few_clusters(nonnegative=True)
    views = [np.where(view < 0.8, 0.0, view) for view in data.data]
    dense = quick(method, scaling="none").fit(views, y)
    mixed = quick(method, scaling="none").fit([sparse.csr_array(views[0]), sparse.csc_array(views[1]), views[2]], y)
    np.testing.assert_allclose(mixed.objective_history_, dense.objective_history_, rtol=1e-8)
    np.testing.assert_array_equal(mixed.labels_, dense.labels_)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_views_stay_sparse(method: Any) -> None:
    view = sparse.random_array((1500, 20_000), density=1e-3, random_state=np.random.default_rng(0), format="csr")
    y = datasets.hide_labels(np.arange(1500) % 4, 0.1, random_state=0)
    tracemalloc.start()
    model = quick(method, max_iter=2).fit([view, view[:, :9000]], y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    check_fit(model, y)
    assert peak < 1e8  # the first view alone takes 2.4e8 when dense


@pytest.mark.parametrize("method", METHODS)
def test_negative_features(method: Any) -> None:
    data, y = few_clusters()
    views = data.data
    assert views[0].min() < 0
    name = method.__name__
    for scaling in ("none", "l2", "standard"):
        with pytest.raises(ValueError, match=f"Negative values in data passed to {name}: view 'view0', rows .*minmax"):
            quick(method, scaling=scaling).fit(views, y)
    with pytest.raises(ValueError, match=f"Negative values in data passed to {name}: view 'view1'"):
        quick(method).fit([views[0], sparse.csr_array(views[1])], y)
    check_fit(quick(method).fit(views, y), y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
def test_awkward_rows_and_features(method: Any, form: Any) -> None:
    data, y = few_clusters(nonnegative=True)
    first, second, third = (view.copy() for view in data.data)
    first[5] = second[5] = 0.0  # a row of zeros in two views,
    first[6] = second[6] = third[6] = 0.0  # and one in all
    second[:, 3] = 7.0  # a constant feature
    first[20:50] = first[20]  # duplicates
    for scaling in ("minmax", "none"):
        model = quick(method, scaling=scaling).fit([form(first), form(second), form(third), form(first * 0)], y)
        check_fit(model, y)
        assert metrics.clustering_accuracy(data.target[y < 0], model.labels_[y < 0]) > 0.85


@pytest.mark.parametrize("method", METHODS)
def test_one_label_per_class_few_features_and_many_components(method: Any) -> None:
    data, _ = few_clusters()
    y = np.full(240, -1)
    for c in range(3):
        y[np.flatnonzero(data.target == c)[0]] = c
    check_fit(quick(method).fit([data.data[0][:, :1], data.data[1][:, :2]], y), y)
    check_fit(quick(method, n_neighbors=500).fit(data.views[:30], np.arange(30) % 3), np.arange(30) % 3)
    twins = np.ones((12, 3))
    alike = np.array([0, 1] + [-1] * 10)
    check_fit(quick(method).fit(twins, alike), alike)
    if method is GPSNMF:
        check_fit(quick(method, n_components=400, common_ratio=1.0).fit(data.views, y), y)
        check_fit(quick(method, n_components=2).fit(data.views, y), y)


@pytest.mark.parametrize("method", METHODS)
def test_nan_in_sparse_views_is_named(method: Any) -> None:
    data, y = few_clusters(nonnegative=True)
    view = sparse.csr_array(data.data[0])
    view.data[view.indptr[17]] = np.nan
    with pytest.raises(ValueError, match="View 'text' contains (NaN|infinity) in row 17"):
        quick(method).fit({"image": data.data[1], "text": view}, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GPSNMF(0), "n_components must be an integer of at least 1"),
        (GPSNMF(label_weight=-1), "label_weight must be a number of at least 0"),
        (GPSNMF(graph_weight=np.nan), "graph_weight must be a number"),
        (GPSNMF(sparsity="x"), "sparsity must be a number"),
        (GPSNMF(common_ratio=1.2), "common_ratio must be a number of at least 0 and at most 1; got 1.2"),
        (GPSNMF(n_neighbors=0), "n_neighbors must be an integer of at least 1"),
        (CONMF(graph_weight=-1), "graph_weight must be a number of at least 0"),
        (CONMF(orthogonality=-0.1), "orthogonality must be a number of at least 0"),
        (CONMF(max_iter=0), "max_iter must be an integer of at least 1"),
        (CONMF(tol=-1), "tol must be a number of at least 0"),
    ],
)
def test_parameters_are_checked(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(np.ones((4, 2)), [0, 1, -1, -1])
