"""The parts the baselines are built from, each against a slow or dense way to the same result."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchorview import Views
from anchorview.baselines._base import MultiViewClusterer, SemiSupervisedMultiView, relative_change
from anchorview.baselines._graphs import degrees, knn_graph, laplacian, normalized_laplacian, pkn_graph
from anchorview.baselines._kmeans import litekmeans
from anchorview.baselines._matrix import as_dense, multiply, squared_norms, unit_rows
from anchorview.baselines._neighbours import nearest_rows
from anchorview.baselines._propagation import _solve, conjugate_gradients, harmonic
from anchorview.baselines._scaling import check_nonnegative, scale_views
from anchorview.baselines._simplex import project_rows

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)
FORMS = [np.asarray, sparse.csr_array]


def made_rows(n: int = 60, d: int = 7, seed: int = 0) -> Any:
    rows = np.random.RandomState(seed).randn(n, d)
    rows[np.random.RandomState(seed + 1).rand(n, d) < 0.4] = 0.0
    return rows


# Simplex


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=FINITE))
def test_a_projection_is_on_the_simplex_and_no_other_point_is_nearer(points: Any) -> None:
    found = project_rows(points)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    # The angle between u − z and any step within the simplex is never acute.
    slope = points - found
    assert (slope.max(axis=1) - (slope * found).sum(axis=1) <= 1e-8 * (1 + np.abs(points).max())).all()


@given(arrays(np.float64, (3, 5), elements=st.floats(-10, 10)), st.floats(-1e3, 1e3))
def test_a_projection_does_not_see_a_constant(points: Any, constant: float) -> None:
    np.testing.assert_allclose(project_rows(points + constant), project_rows(points), atol=1e-11)


def test_a_projection_agrees_with_a_general_optimiser() -> None:
    point = np.array([0.3, 1.1, -0.4, 0.9])
    best = minimize(
        lambda z: ((z - point) ** 2).sum(),
        np.full(4, 0.25),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(project_rows(point[None])[0], best.x, atol=1e-6)


def test_a_point_of_the_simplex_stays_and_ties_are_shared() -> None:
    np.testing.assert_allclose(
        project_rows(np.array([[0.2, 0.8, 0.0], [7.0, 7.0, 0.0]])), [[0.2, 0.8, 0], [0.5, 0.5, 0]]
    )


# Scaling


def scaled(array: Any, kind: str) -> Any:
    return scale_views(Views([array]), kind)[0]


def test_scalings_of_dense_views() -> None:
    rows = made_rows()
    np.testing.assert_array_equal(scaled(rows, "none"), rows)
    np.testing.assert_allclose(squared_norms(scaled(rows, "l2")), 1.0)
    np.testing.assert_allclose(np.abs(scaled(rows, "sum")).sum(axis=1), 1.0)
    standard = scaled(rows, "standard")
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(standard.std(axis=0, ddof=1), 1.0)
    by_row = scaled(rows, "row_standard")
    np.testing.assert_allclose(by_row.mean(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(by_row.std(axis=1, ddof=1), 1.0)
    minmax = scaled(rows, "minmax")
    np.testing.assert_allclose(minmax.min(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(minmax.max(axis=0), 1.0)


@pytest.mark.parametrize("kind", ["none", "l2", "sum", "standard", "minmax", "row_standard"])
@pytest.mark.parametrize("form", FORMS)
def test_constant_and_zero_parts_do_not_become_nan(kind: str, form: Any) -> None:
    rows = made_rows()
    rows[:, 2], rows[5], rows[6] = 0.1, 0.0, 3.0
    found = scaled(form(rows), kind)
    assert sparse.issparse(found) == (form is sparse.csr_array)
    dense = found.toarray() if sparse.issparse(found) else found
    assert np.isfinite(dense).all()
    if kind in ("standard", "minmax") and form is np.asarray:
        full = made_rows()
        full[:, 2] = 0.1
        assert (scaled(full, kind)[:, 2] == 0).all()
    if kind == "row_standard" and form is np.asarray:
        assert (dense[5:7] == 0).all()


def test_sparse_views_are_divided_as_dense_ones_but_not_shifted() -> None:
    rows = np.abs(made_rows())
    for kind in ("none", "l2", "sum", "minmax"):
        np.testing.assert_allclose(scaled(sparse.csr_array(rows), kind).toarray(), scaled(rows, kind), atol=1e-14)
    for axis, kind in ((0, "standard"), (1, "row_standard")):
        found = scaled(sparse.csr_array(rows), kind).toarray()
        np.testing.assert_allclose(found, rows / rows.std(axis=axis, ddof=1, keepdims=True), rtol=1e-12)


def test_huge_features_are_scaled_or_refused() -> None:
    rows = made_rows() * 1e200
    for kind in ("l2", "sum", "standard", "minmax", "row_standard"):
        np.testing.assert_allclose(scaled(rows, kind), scaled(made_rows(), kind), atol=1e-12)
    with pytest.raises(ValueError, match="'view0' holds values up to .* overflow"):
        scaled(rows, "none")


def test_scaling_choices_are_checked() -> None:
    views = Views({"a": made_rows(), "b": made_rows()})
    first, second = scale_views(views, ["none", "minmax"])
    assert first.min() < 0 <= second.min()
    with pytest.raises(ValueError, match="scaling='log' \\(view 'a'\\) is not known; choose one of none, l2"):
        scale_views(views, "log")
    with pytest.raises(ValueError, match="lists 1 choices for 2 views"):
        scale_views(views, ["l2"])


@pytest.mark.parametrize("form", FORMS)
def test_negative_features_are_named(form: Any) -> None:
    rows = np.abs(made_rows())
    check_nonnegative([form(rows)], ["text"], "GPSNMF")
    rows[4, 1] = rows[9, 0] = -1.0
    with pytest.raises(ValueError, match="Negative values in data passed to GPSNMF: view 'text', rows 4, 9; use scal"):
        check_nonnegative([form(rows)], ["text"], "GPSNMF")


# Neighbours


def slow_neighbours(rows: Any, count: int) -> Any:
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2, dtype=float)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_neighbours_are_those_of_all_pairs(form: Any, n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anchorview.baselines._neighbours._BLOCK_ENTRIES", 500)
    rows = made_rows()
    index, distances = nearest_rows(form(rows), 6, n_threads=n_threads)
    expected = slow_neighbours(rows, 6)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-2, 2)), st.integers(1, 5)
)
def test_ties_go_by_row_number_and_no_row_is_its_own_neighbour(rows: Any, count: int) -> None:
    count = min(count, len(rows) - 1)
    for form in FORMS:
        index, distances = nearest_rows(form(rows / 3.0 + 1.0), count)
        expected = slow_neighbours(rows, count)
        np.testing.assert_array_equal(index, expected[0])
        np.testing.assert_allclose(distances, expected[1] / 9.0, atol=1e-12)


def test_far_from_the_origin_small_distances_are_kept() -> None:
    rows = 1e5 + np.arange(8.0)[:, None] ** 2 * 1e-3
    index, distances = nearest_rows(rows, 2)
    expected = slow_neighbours(rows, 2)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-6)


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-3])
def test_neighbours_that_single_precision_cannot_tell_apart_are_exact(spread: float) -> None:
    """Two tight clusters far apart: their own distances are below the rounding of single precision."""
    rows = made_rows(400, 20) * spread
    rows[::2] += 30.0
    index, distances = nearest_rows(rows, 6)
    expected = slow_neighbours(rows, 6)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-6)


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_neighbours_of_tiny_and_huge_rows(size: float) -> None:
    rows = made_rows(100)
    np.testing.assert_array_equal(nearest_rows(rows * size, 6)[0], slow_neighbours(rows, 6)[0])


def test_few_rows_have_few_neighbours() -> None:
    assert nearest_rows(np.ones((1, 2)), 3)[0].shape == (1, 0)
    assert nearest_rows(np.ones((3, 2)), 9)[0].tolist() == [[1, 2], [0, 2], [0, 1]]


def test_neighbours_need_little_memory() -> None:
    rows = np.random.RandomState(0).randn(8000, 5)
    tracemalloc.start()
    nearest_rows(rows, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5e8  # all distances would be 5e8


# Graphs


def slow_pkn(rows: Any, k: int) -> Any:
    index, distances = slow_neighbours(rows, k + 1)
    graph = np.zeros((len(rows), len(rows)))
    for i in range(len(rows)):
        far = distances[i, k]
        for j, near in zip(index[i, :k], distances[i, :k], strict=True):
            graph[i, j] = (far - near) / (k * far - distances[i, :k].sum())
    return (graph + graph.T) / 2


@pytest.mark.parametrize("form", FORMS)
def test_pkn_graph(form: Any) -> None:
    rows = made_rows()
    graph = pkn_graph(form(rows), 5)
    np.testing.assert_allclose(graph.toarray(), slow_pkn(rows, 5), atol=1e-12)
    np.testing.assert_allclose(pkn_graph(form(rows), 5, symmetric=False).sum(axis=1), 1.0)
    assert graph.nnz <= 2 * 5 * 60


def test_pkn_graph_of_duplicates_has_no_empty_rows() -> None:
    graph = pkn_graph(np.ones((10, 3)), 4, symmetric=False)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    np.testing.assert_allclose(graph.data, 0.25)
    assert (graph.diagonal() == 0).all()
    mixed = np.repeat(np.array([[0.0], [5.0]]), [7, 3], axis=0)
    assert (degrees(pkn_graph(mixed, 4)) > 0).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_pkn_graph_of_very_few_rows(n: int) -> None:
    sums = pkn_graph(np.arange(n, dtype=float)[:, None] ** 2, 5, symmetric=False).sum(axis=1)
    np.testing.assert_allclose(sums, float(n > 1))


@pytest.mark.parametrize("form", FORMS)
def test_binary_graph(form: Any) -> None:
    rows = made_rows()
    expected = np.zeros((60, 60))
    np.put_along_axis(expected, slow_neighbours(rows, 5)[0], 1.0, axis=1)
    np.testing.assert_array_equal(knn_graph(form(rows), 5).toarray(), np.maximum(expected, expected.T))


@pytest.mark.parametrize("form", FORMS)
def test_cosine_graph(form: Any) -> None:
    rows = np.abs(made_rows())
    rows[7] = 0.0  # its cosine with any row is 0
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -1)
    expected = np.zeros((60, 60))
    nearest = np.argsort(-cosine, axis=1, kind="stable")[:, :5]
    np.put_along_axis(expected, nearest, np.take_along_axis(cosine, nearest, axis=1), axis=1)
    expected = np.maximum(expected, expected.T)
    np.testing.assert_allclose(knn_graph(form(rows), 5, "cosine").toarray(), expected, atol=1e-12)
    looped = knn_graph(form(rows), 5, "cosine", self_loops=True).toarray()
    np.testing.assert_allclose(looped - expected, np.diag(np.arange(60) != 7), atol=1e-12)


def test_laplacians() -> None:
    graph = pkn_graph(made_rows(), 5)
    dense = graph.toarray()
    degree = dense.sum(axis=1)
    np.testing.assert_allclose(laplacian(graph).toarray(), np.diag(degree) - dense, atol=1e-14)
    expected = np.eye(60) - dense / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(normalized_laplacian(graph).toarray(), expected, atol=1e-14)


# k-means


@pytest.mark.parametrize("form", FORMS)
def test_kmeans_is_a_fixed_point_and_finds_clear_clusters(form: Any) -> None:
    centres = np.array([[0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    rows = np.repeat(centres, 20, axis=0) + np.random.RandomState(0).rand(60, 2)
    found = litekmeans(form(rows), 3, np.random.RandomState(0))
    assert len(np.unique(found.labels.reshape(3, 20), axis=1).T) == 1 and len(np.unique(found.labels)) == 3
    np.testing.assert_allclose(found.centres, [rows[found.labels == j].mean(axis=0) for j in range(3)])
    distances = np.linalg.norm(rows[:, None] - found.centres, axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), found.labels)
    np.testing.assert_allclose(found.cost, distances.min(axis=1).sum())


def test_kmeans_keeps_the_replicate_with_the_smallest_sum_of_distances() -> None:
    rows = made_rows(80, 3)
    rng = np.random.RandomState(3)
    costs = [litekmeans(rows, 6, rng, n_replicates=1).cost for _ in range(8)]
    assert litekmeans(rows, 6, np.random.RandomState(3), n_replicates=8).cost == min(costs) < max(costs)


@pytest.mark.parametrize("n_clusters", [1, 4, 6])
def test_kmeans_leaves_no_cluster_empty_among_duplicates(n_clusters: int) -> None:
    rows = np.array([[1.0, 2.0]] * 5 + [[3.0, 0.0]])
    found = litekmeans(rows, n_clusters, np.random.RandomState(0))
    assert len(np.unique(found.labels)) == n_clusters
    assert np.isfinite(found.centres).all()


def test_kmeans_does_not_depend_on_threads_and_wants_enough_rows() -> None:
    rows = made_rows(500, 4)
    one, two = (litekmeans(rows, 5, np.random.RandomState(0), n_threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    with pytest.raises(ValueError, match="n_samples=500 should be >= n_clusters=501"):
        litekmeans(rows, 501, np.random.RandomState(0))


# Propagation


def slow_harmonic(matrix: Any, labelled: Any, targets: Any) -> Any:
    unknown = np.setdiff1d(np.arange(matrix.shape[0]), labelled)
    dense = matrix.toarray()
    result = np.zeros((len(dense), targets.shape[1]))
    result[labelled] = targets
    result[unknown] = -np.linalg.inv(dense[np.ix_(unknown, unknown)]) @ dense[np.ix_(unknown, labelled)] @ targets
    return result


@pytest.mark.parametrize("make", [laplacian, normalized_laplacian])
@pytest.mark.parametrize("dense_rows", [0, 500])
def test_harmonic_solution_equals_the_dense_one(make: Any, dense_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anchorview.baselines._propagation._DENSE_ROWS", dense_rows)
    matrix = make(pkn_graph(np.random.RandomState(0).randn(300, 4), 6))
    labelled, targets = np.array([250, 3, 77, 9]), np.eye(3)[[0, 2, 1, 1]]
    found = harmonic(matrix, labelled, targets)
    np.testing.assert_allclose(found, slow_harmonic(matrix, labelled, targets), atol=1e-7)
    np.testing.assert_array_equal(found[labelled], targets)
    again = harmonic(matrix, labelled, targets, start=found)
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_components_without_labels_get_the_shares_of_the_classes() -> None:
    rows = np.concatenate([np.arange(20.0), 1e4 + np.arange(20.0), [1e7]])[:, None]
    graph = pkn_graph(rows, 3)
    row, column = graph.nonzero()
    graph.data[(row == 40) | (column == 40)] = 0.0  # a row without neighbours, with zeros still stored
    labelled, targets = np.array([0, 7, 19]), np.eye(2)[[1, 0, 1]]
    for matrix in (laplacian(graph), normalized_laplacian(graph)):
        found = harmonic(matrix, labelled, targets)
        np.testing.assert_allclose(found[20:], np.tile([1 / 3, 2 / 3], (21, 1)))
        inner = sparse.csr_array(matrix[:20][:, :20])
        np.testing.assert_allclose(found[:20], slow_harmonic(inner, labelled, targets), atol=1e-9)


def test_every_row_labelled_leaves_nothing_to_solve() -> None:
    matrix = laplacian(pkn_graph(made_rows(10), 3))
    targets = np.eye(2)[np.arange(10) % 2]
    np.testing.assert_array_equal(harmonic(matrix, np.arange(10), targets), targets)


def test_conjugate_gradients_reach_their_tolerance_or_give_up() -> None:
    matrix = laplacian(pkn_graph(np.random.RandomState(0).randn(800, 3), 5))[5:][:, 5:].tocsr()
    right = np.random.RandomState(1).randn(795, 4)
    right[:, 2] = 0.0
    found = conjugate_gradients(matrix, right, tol=1e-10)
    assert found is not None
    assert (np.linalg.norm(matrix @ found - right, axis=0) <= 1.1e-10 * np.linalg.norm(right, axis=0)).all()
    assert conjugate_gradients(matrix, right, tol=1e-10, max_iter=3) is None


def test_a_system_too_hard_for_gradients_is_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anchorview.baselines._propagation._MAX_ITER", 2)
    matrix = laplacian(pkn_graph(np.random.RandomState(0).randn(700, 3), 5))[5:][:, 5:].tocsr()
    right = np.random.RandomState(1).randn(695, 2)
    np.testing.assert_allclose(_solve(matrix, right, None), np.linalg.solve(matrix.toarray(), right), rtol=1e-8)


# Small parts


def test_dense_and_sparse_products_and_unit_rows_agree() -> None:
    rows = made_rows()
    rows[3] = 0.0
    for left in (rows, sparse.csr_array(rows)):
        for right in (rows.T, sparse.csr_array(rows.T)):
            np.testing.assert_allclose(multiply(left, right), rows @ rows.T, atol=1e-12)
        unit = unit_rows(left)
        np.testing.assert_allclose(squared_norms(unit), np.arange(60) != 3)
    assert relative_change([4.0]) == np.inf
    assert relative_change([9.0, 4.0, 3.0]) == 0.25


# The base classes, through the smallest methods that can stand on them


def side_by_side(views: Any) -> Any:
    return np.hstack([as_dense(rows) for rows in views])


class NearestSeed(MultiViewClusterer):
    """k-means on the views side by side."""

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        views: Any = None,
        scaling: Any = "none",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters, self.views, self.scaling = n_clusters, views, scaling
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _cluster(self, task: Any, n_clusters: int) -> Any:
        found = litekmeans(side_by_side(task.views), n_clusters, task.rng)
        task.report(1, found.cost, 0.0)
        self._record([found.cost])
        return found.labels


class OneGraph(SemiSupervisedMultiView):
    """Harmonic labels on the graph of the views side by side."""

    def __init__(
        self,
        *,
        views: Any = None,
        scaling: Any = "none",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.views, self.scaling = views, scaling
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _classify(self, task: Any, labels: Any) -> Any:
        matrix = laplacian(pkn_graph(side_by_side(task.views)))
        self._record([0.0], converged=False)
        return harmonic(matrix, labels.labelled, labels.targets).argmax(axis=1)


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([NearestSeed(n_clusters=3, random_state=0), OneGraph()])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_labelled_rows_keep_their_label_and_the_others_get_one() -> None:
    rows = np.concatenate([np.random.RandomState(0).rand(20, 3), 5 + np.random.RandomState(1).rand(20, 3)])
    y = np.full(40, None)
    y[[0, 1, 39]] = "low", "odd", "high"
    with pytest.warns(UserWarning, match="OneGraph stopped at max_iter=1"):
        model = OneGraph().fit({"a": rows[:, :2], "b": rows[:, 2:]}, y)
    assert model.classes_.tolist() == ["high", "low", "odd"]
    assert model.labels_[[0, 1, 39]].tolist() == ["low", "odd", "high"]
    assert set(model.labels_[20:]) == {"high"} and "high" not in set(model.labels_[:20])
    np.testing.assert_array_equal(model.fit_predict(Views([rows]), y)[20:], "high")
    assert model.view_names_ == ["view0"] and model.n_features_in_ == 3


def test_errors_of_the_base_classes() -> None:
    rows = made_rows()
    with pytest.raises(ValueError, match="NearestSeed needs the number of clusters: pass n_clusters"):
        NearestSeed().fit(rows)
    with pytest.raises(ValueError, match="n_samples=60 should be >= n_clusters=61"):
        NearestSeed(61).fit(rows)
    with pytest.raises(ValueError, match="OneGraph requires y to be passed"):
        OneGraph().fit(rows)
    with pytest.raises(ValueError, match="No row is labelled; OneGraph needs labelled rows of at least two classes"):
        OneGraph().fit(rows, np.full(60, -1))
    with pytest.raises(ValueError, match="Only one class is labelled"):
        OneGraph().fit(rows, np.zeros(60))
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="View 'text' contains NaN .* row 3"):
        NearestSeed(3).fit({"image": made_rows(), "text": rows})
