"""The reference methods: plain scikit-learn on the views side by side, and one view alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.semi_supervised import LabelSpreading

from anchorview import Views, datasets
from anchorview.baselines import BestViewSpectral, ConcatKMeans, ConcatLabelSpreading, ConcatLogisticRegression
from anchorview.baselines._best_setting import best_setting
from anchorview.baselines._concat import concatenate_views, view_factors
from anchorview.baselines._graphs import degrees, knn_graph
from anchorview.baselines.best_view_spectral import connect, leading_eigenvectors

SEMI_SUPERVISED = [ConcatLabelSpreading, ConcatLogisticRegression]
CLUSTERERS = [ConcatKMeans, BestViewSpectral]


@pytest.fixture
def blobs() -> tuple[Views, Any, Any]:
    """Two views of three clusters, and y with 10 % labels."""
    rows, target = make_blobs(240, 6, centers=3, cluster_std=1.5, random_state=0)
    y = datasets.hide_labels(target, 0.1, random_state=0)
    return Views({"left": rows[:, :4], "right": rows[:, 4:]}), target, y


def features(views: Views) -> Any:
    """Scale features to 0 … 1, then each view to a total variance of 1."""
    parts = []
    for x in views.arrays:
        unit = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
        parts.append(unit / np.sqrt(unit.var(axis=0).sum()))
    return np.hstack(parts)


# Parts


def test_views_side_by_side() -> None:
    rows = np.random.RandomState(0).rand(20, 5)
    views = [rows[:, :3] * 50, sparse.csr_array(rows[:, 3:])]
    found = concatenate_views(views, view_factors(views, True))
    assert sparse.issparse(found)
    variance = found.toarray().var(axis=0)
    np.testing.assert_allclose([variance[:3].sum(), variance[3:].sum()], 1.0)
    plain = concatenate_views([rows, rows], view_factors([rows, rows], False))
    np.testing.assert_array_equal(plain, np.hstack([rows, rows]))
    constant = [np.ones((4, 2)), sparse.csr_array(np.full((4, 2), 0.1)), sparse.csr_array((4, 2))]
    assert np.isfinite(concatenate_views(constant, view_factors(constant, True)).toarray()).all()


def test_where_nothing_can_be_hidden_the_first_setting_is_taken() -> None:
    assert best_setting([7, 8], np.array([0, 1]), [], lambda *_: np.empty((2, 2))) == 7


def test_the_best_setting_guesses_most_and_of_equals_is_the_likeliest() -> None:
    class_ids, folds = np.array([0, 1, 0, 1]), [np.array([0, 1]), np.array([2, 3])]
    seen = []

    def sure(setting: float, known: Any) -> Any:
        seen.append(known.tolist())
        share = np.where(class_ids == 0, setting, 1 - setting)
        return np.column_stack([share, 1 - share])

    assert best_setting([0.2, 0.6, 0.9, 0.7], class_ids, folds, sure) == 0.9
    assert seen[:2] == [[-1, -1, 0, 1], [0, 1, -1, -1]]


# Label spreading


@pytest.mark.parametrize(("n_neighbors", "alpha"), [(7, 0.2), (12, 0.9)])
def test_label_spreading_is_that_of_scikit_learn(blobs: Any, n_neighbors: int, alpha: float) -> None:
    views, _, y = blobs
    plain = LabelSpreading(kernel="knn", n_neighbors=n_neighbors, alpha=alpha, max_iter=300)
    plain.fit(features(views), y)
    model = ConcatLabelSpreading(n_neighbors=n_neighbors, alpha=alpha).fit(views, y)
    hidden = y == -1
    np.testing.assert_array_equal(model.labels_[hidden], plain.transduction_[hidden])
    assert model.n_iter_ == plain.n_iter_


def test_label_spreading_chooses_what_guesses_hidden_labels() -> None:
    # Two interleaved rings of rows: many neighbours reach across, few do not.
    angle = np.linspace(0, 2 * np.pi, 160, endpoint=False)
    radius = np.where(np.arange(160) % 2, 1.0, 1.25)[:, None]
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * radius
    target = np.arange(160) % 2
    y = datasets.hide_labels(target, 0.4, random_state=0)
    setting: dict[str, Any] = {"scaling": "none", "equal_views": False, "random_state": 0}
    model = ConcatLabelSpreading(**setting).fit([rows], y)
    assert model.n_neighbors_ == 5
    far = ConcatLabelSpreading(n_neighbors=60, alpha=0.2, **setting).fit([rows], y)
    assert (model.labels_ == target).mean() > 0.9 > (far.labels_ == target).mean()
    only_alpha = ConcatLabelSpreading(n_neighbors=9, **setting).fit([rows], y)
    assert only_alpha.n_neighbors_ == 9 and only_alpha.alpha_ in (0.2, 0.5, 0.8, 0.95)


# Logistic regression


def test_logistic_regression_is_that_of_the_labelled_rows(blobs: Any) -> None:
    views, _, y = blobs
    rows, known = features(views), y != -1
    plain = LogisticRegression(C=3.0, max_iter=1000).fit(rows[known], y[known])
    model = ConcatLogisticRegression(C=3.0).fit(views, y)
    np.testing.assert_array_equal(model.labels_[~known], plain.predict(rows)[~known])
    np.testing.assert_array_equal(model.predict(views), plain.predict(rows))


def test_the_strength_is_chosen_by_hidden_labels() -> None:
    rng = np.random.RandomState(0)
    target = np.arange(400) % 2
    noisy = rng.randn(400, 60)
    noisy[:, 0] += 1.5 * target  # one feature of sixty tells: a weak penalty fits the noise
    y = datasets.hide_labels(target, 0.2, random_state=0)
    setting: dict[str, Any] = {"scaling": "standard", "equal_views": False}
    chosen = ConcatLogisticRegression(random_state=0, **setting).fit([noisy], y)
    weak = ConcatLogisticRegression(C=1e4, **setting).fit([noisy], y)
    assert chosen.C_ <= 1.0
    assert (chosen.labels_ == target).mean() > (weak.labels_ == target).mean()


def test_text_labels_new_rows_and_new_scales(blobs: Any) -> None:
    views, target, y = blobs
    names = np.array(["x", "y", "z"])
    model = ConcatLogisticRegression(random_state=0).fit(views, np.where(y >= 0, names[y], ""))
    assert (model.predict(views[:50]) == names[target[:50]]).mean() > 0.9
    np.testing.assert_array_equal(model.predict(views[:1]), model.predict(views)[:1])


# k-means and spectral clustering


def test_kmeans_is_that_of_scikit_learn(blobs: Any) -> None:
    views, target, _ = blobs
    plain = KMeans(3, n_init=10, random_state=0).fit(features(views))
    model = ConcatKMeans(3, random_state=0).fit(views)
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
    assert model.inertia_ == pytest.approx(plain.inertia_)
    assert adjusted_rand_score(model.labels_, target) > 0.8


def test_equal_views_keep_a_wide_view_from_drowning_a_narrow_one() -> None:
    rng = np.random.RandomState(0)
    target = np.arange(150) % 3
    narrow = np.eye(3)[target] + 0.05 * rng.rand(150, 3)
    noise = rng.rand(150, 400)
    scores = [
        adjusted_rand_score(ConcatKMeans(3, equal_views=e, random_state=0).fit_predict([narrow, noise]), target)
        for e in (True, False)
    ]
    assert scores[0] == 1.0 > scores[1]


@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_eigenvectors_are_those_of_the_dense_matrix(dense_rows: int) -> None:
    graph = knn_graph(np.random.RandomState(0).randn(250, 3), 8)
    values, vectors = leading_eigenvectors(graph, 5, np.random.RandomState(0), dense_rows=dense_rows)
    root = 1 / np.sqrt(degrees(graph))
    dense = graph.toarray() * np.outer(root, root)
    np.testing.assert_allclose(values, 1 - np.linalg.eigvalsh(dense)[::-1][:6], atol=1e-6)
    np.testing.assert_allclose(dense @ vectors, vectors * (1 - values[:5]), atol=1e-4)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_parts_of_a_graph_are_joined_where_they_are_near(form: Any) -> None:
    rows = np.repeat(np.array([[0.0, 1.0], [0.0, 2.0], [50.0, 0.0], [50.0, 1.0], [50.0, 3.0]]), 20, axis=0)
    graph = knn_graph(rows, 4)
    assert connected_components(graph)[0] == 5
    joined = connect(graph, form(rows), block_entries=300)
    assert connected_components(joined)[0] == 1
    assert (joined != joined.T).nnz == 0 and (joined.minimum(graph) != graph).nnz == 0
    first, second = (joined - graph).nonzero()
    far = np.abs(rows[first, 0] - rows[second, 0]) > 1
    assert far.sum() <= 4  # both ways, and at most one from either side


@pytest.mark.parametrize("criterion", ["silhouette", "eigengap"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_view_with_clusters_is_chosen(criterion: str, form: Any) -> None:
    rows, target = make_blobs(400, 4, centers=4, cluster_std=0.6, random_state=1)
    noise = np.random.RandomState(0).rand(400, 4)
    views = {"noise": noise, "clusters": form(rows - rows.min(axis=0)), "more noise": noise[::-1]}
    model = BestViewSpectral(4, criterion=criterion, random_state=0).fit(views)
    assert model.view_ == "clusters" and model.n_iter_ == 3
    assert model.view_scores_["clusters"] == max(model.view_scores_.values())
    assert adjusted_rand_score(model.labels_, target) > 0.9
    for fixed in ("noise", 0, -3):
        other = BestViewSpectral(4, view=fixed, criterion=criterion, random_state=0).fit(views)
        assert other.view_ == "noise" and adjusted_rand_score(other.labels_, target) < 0.3
    with pytest.raises(ValueError, match="view='sound' is not known; give a number below 3 or one of .'noise'"):
        BestViewSpectral(4, view="sound").fit(views)


def test_as_many_clusters_as_rows_and_one_cluster() -> None:
    rows = np.random.RandomState(0).randn(6, 3)
    for model in (ConcatKMeans(6, random_state=0), BestViewSpectral(6, random_state=0)):
        assert len(set(model.fit(rows).labels_)) <= 6
    assert set(BestViewSpectral(1, random_state=0).fit(rows).labels_) == {0}
    groups = np.repeat(np.arange(40.0), 3)[:, None] * 100  # forty graphs of their own, more than clusters
    assert len(set(BestViewSpectral(5, n_neighbors=2, random_state=0).fit(groups).labels_)) == 5


# All of them


@pytest.mark.parametrize("method", SEMI_SUPERVISED)
def test_a_class_with_one_labelled_row(method: Any, blobs: Any) -> None:
    views, target, _ = blobs
    y = np.full(len(target), -1)
    for number, count in ((0, 6), (1, 2), (2, 1)):
        y[np.flatnonzero(target == number)[:count]] = number
    assert (method(random_state=0).fit(views, y).labels_ == target).mean() > 0.8
    singles = np.full(len(target), -1)
    for number in range(3):
        singles[np.flatnonzero(target == number)[0]] = number
    assert (method(random_state=0).fit(views, singles).labels_ == target).mean() > 0.7


@pytest.mark.parametrize("method", SEMI_SUPERVISED)
def test_sparse_views_and_awkward_columns(method: Any, blobs: Any) -> None:
    views, target, y = blobs
    left, right = (x - x.min(axis=0) for x in views.arrays)
    left = np.column_stack([left, np.full(len(left), 5.0)])
    right = np.vstack([right[:-1], np.zeros(2)])  # a row of zeros
    dense, thin = (method(random_state=0).fit(v, y) for v in ([left, right], [sparse.csr_array(left), right]))
    assert (dense.labels_ == target).mean() > 0.9
    assert (thin.labels_ == target).mean() > 0.9


@pytest.mark.parametrize("method", CLUSTERERS)
def test_clusterers_take_sparse_views_and_duplicates(method: Any) -> None:
    rows, target = make_blobs(200, 5, centers=3, cluster_std=0.4, random_state=0)
    rows = np.repeat(rows - rows.min(axis=0), 2, axis=0)
    model = method(3, random_state=0).fit([sparse.csr_array(rows), rows])
    assert adjusted_rand_score(model.labels_, np.repeat(target, 2)) > 0.9
    np.testing.assert_array_equal(model.labels_, method(3, random_state=0).fit_predict([sparse.csr_array(rows), rows]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ConcatLabelSpreading(n_neighbors=0), "n_neighbors must be an integer"),
        (ConcatLabelSpreading(alpha=1.0), "alpha must be a number above 0 and below 1, or 'cv'; got 1.0"),
        (ConcatLabelSpreading(n_folds=1), "n_folds must be an integer of at least 2"),
        (ConcatLogisticRegression(C=0.0), "C must be a number above 0"),
        (ConcatLogisticRegression(C="best"), "C must be a number above 0"),
        (ConcatKMeans(3, n_init=0), "n_init must be an integer"),
        (BestViewSpectral(3, criterion="accuracy"), "criterion='accuracy' is not known"),
        (BestViewSpectral(3, n_neighbors=0), "n_neighbors must be an integer"),
    ],
)
def test_parameters_are_checked(model: Any, message: str, blobs: Any) -> None:
    views, _, y = blobs
    with pytest.raises(ValueError, match=message):
        model.fit(views, y)
