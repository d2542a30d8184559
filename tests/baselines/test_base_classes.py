"""What all methods share, through the smallest that can stand on it."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import Views, baselines
from anchorview.baselines._base import MultiViewClusterer, SemiSupervisedMultiView, relative_change
from anchorview.baselines._graphs import laplacian, pkn_graph
from anchorview.baselines._kmeans import litekmeans
from anchorview.baselines._matrix import multiply, unit_length
from anchorview.baselines._propagation import harmonic
from anchorview.core.arrays import as_dense, squared_norms
from support.slow_ways import made_rows


def test_dense_and_sparse_products_and_rows_of_unit_length_agree() -> None:
    rows = made_rows()
    rows[3] = 0.0
    for left in (rows, sparse.csr_array(rows)):
        for right in (rows.T, sparse.csr_array(rows.T)):
            np.testing.assert_allclose(multiply(left, right), rows @ rows.T, atol=1e-12)
        unit = unit_length(left)
        np.testing.assert_allclose(squared_norms(unit), np.arange(60) != 3)


def test_the_change_of_an_objective_is_relative() -> None:
    assert relative_change([4.0]) == np.inf
    assert relative_change([9.0, 4.0, 3.0]) == 0.25


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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
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


@pytest.mark.parametrize("name", baselines.__all__)
def test_the_docstring_has_every_parameter_once_with_its_default(name: str) -> None:
    method = getattr(baselines, name)
    section = method.__doc__.split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented = dict(re.findall(r"^(\w+) : (.*)$", section, re.MULTILINE))
    parameters = method().get_params()
    assert documented.keys() == parameters.keys() and len(re.findall(r"^\w", section, re.MULTILINE)) == len(parameters)
    for parameter, default in parameters.items():
        stated = re.findall(", default=(.*)", documented[parameter])
        assert [ast.literal_eval(text) for text in stated] == ([] if default is None else [default]), parameter


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


@pytest.mark.parametrize("name", baselines.__all__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_refit_that_fails_leaves_the_old_model_whole(name: str) -> None:
    rows = np.abs(made_rows())
    y = np.where(np.arange(60) < 12, np.arange(60) % 3, -1)
    method = getattr(baselines, name)
    model = method(3, random_state=0) if hasattr(method(), "n_clusters") else method(random_state=0)
    model.fit([rows, rows[:, :2]], y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="contains infinity"):
        model.fit(np.full((60, 3), np.inf), y)
    assert model.__dict__ == before
