"""Graphs kept from fit to fit: the same scores and a time that counts them, but built once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview.baselines._graph_builder import GraphBuilder
from anchorview.baselines._graphs import knn_graph
from anchorview.bench import jobs
from anchorview.bench.graph_store import StoredGraphs, forget_graphs, graphs_of
from anchorview.bench.methods import METHODS
from anchorview.datasets import hide_labels, make_multiview_subspaces

GRAPH_METHODS = [name for name, method in METHODS.items() if method.keeps_graphs]
QUICK: dict[str, dict[str, Any]] = {"GPSNMF": {"n_components": 10, "max_iter": 20}, "CONMF": {"max_iter": 20}}


class SlowGraphs(GraphBuilder):
    """Takes a tenth of a second more for every graph."""

    def build(self, make: Any, /, *arguments: Any, **options: Any) -> Any:
        time.sleep(0.1)
        return make(*arguments, **options)


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(200, 3, nonnegative=True, random_state=0)
    return made.views, hide_labels(made.target, 0.1, random_state=0), hide_labels(made.target, 0.1, random_state=1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    made = make_multiview_subspaces(200, 3, nonnegative=True, random_state=0)
    np.savez(tmp_path / "some.npz", y=made.target, **{f"v{i}": view for i, view in enumerate(made.data)})
    forget_graphs()
    yield str(tmp_path / "some.npz")
    forget_graphs()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", GRAPH_METHODS)
def test_a_graph_is_built_once_and_counted_in_each_fit(name: str, data: Any) -> None:
    views, first_y, second_y = data
    kept: Any = {}
    first, second = (StoredGraphs(kept, SlowGraphs()) for _ in range(2))
    METHODS[name].make(QUICK.get(name, {}), 3, 0, first).fit(views, first_y)
    assert first.seconds >= 0.1 * first.n_built > 0
    assert -0.5 < first.correction <= 0  # its graphs were built within the fit
    again = METHODS[name].make(QUICK.get(name, {}), 3, 1, second).fit(views, second_y)
    assert second.n_built == 0
    assert second.seconds == first.seconds
    assert 0 < second.correction <= second.seconds
    alone = METHODS[name].make(QUICK.get(name, {}), 3, 1).fit(views, second_y)
    np.testing.assert_array_equal(again.labels_, alone.labels_)
    np.testing.assert_array_equal(again.objective_history_, alone.objective_history_)


def test_jobs_keep_the_graphs_of_one_method_and_one_data_set(place: str) -> None:
    first = jobs.fit_once(place, "AMGL", {}, 0, 0.1)
    second = jobs.fit_once(place, "AMGL", {}, 1, 0.1)
    assert second["graph_seconds"] == first["graph_seconds"] > 0  # the very same graphs
    assert second["seconds"] >= second["graph_seconds"]
    jobs.fit_once(place, "MVAR", {}, 0, 0.1)  # a method without graphs leaves them alone
    assert jobs.fit_once(place, "AMGL", {}, 1, 0.1)["graph_seconds"] == first["graph_seconds"]
    assert jobs.fit_once(place, "AMGL", {"scaling": "l2"}, 0, 0.1)["graph_seconds"] != first["graph_seconds"]
    jobs.fit_once(place, "CONMF", {"max_iter": 2}, 0, 0.1)
    assert jobs.fit_once(place, "AMGL", {}, 1, 0.1)["graph_seconds"] != first["graph_seconds"]


def test_a_setting_is_chosen_by_hidden_labels_on_graphs_built_once(place: str) -> None:
    settings = [{"scaling": "l2"}, {"n_neighbors": -1}, {"scaling": "standard"}]
    chosen = jobs.choose_setting(place, "AMGL", settings, 0, 0.2)
    assert chosen["parameters"] in (settings[0], settings[2])  # one that fails is not chosen
    assert 0 < chosen["hidden_acc"] <= 100
    only = jobs.choose_setting(place, "AMGL", settings[:1], 0, 0.2)
    assert only == {"parameters": settings[0], "hidden_acc": None, "seconds": 0.0}


def test_a_fit_may_write_into_its_graph() -> None:
    rows = np.arange(6.0)[:, None]
    graphs = graphs_of("some method", "some data")
    graphs.build(knn_graph, rows, 1).data[:] = 7.0
    np.testing.assert_array_equal(graphs.build(knn_graph, rows, 1).toarray(), knn_graph(rows, 1).toarray())
    assert graphs.build(knn_graph, rows, 2).nnz > graphs.build(knn_graph, rows, 1).nnz
    assert graphs.n_built == 2
