"""Fits on a Dask cluster of worker processes: the same as in memory, whatever becomes of the workers."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC
from anchorview.engine.sources.dask_tasks import ClusterError
from support.dask_clusters import AtStage, kill_worker, started_cluster
from support.dask_data import N_ROWS, build, check_same, make_data, slow_views


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with started_cluster() as (cluster, client):
        yield SimpleNamespace(cluster=cluster, client=client)


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    return make_data()


def test_a_fit_on_workers_is_the_fit_in_memory(cluster: Any, data: Any) -> None:
    """Dense and sparse views, chunks that differ; codes stay there, and predictions bring no rows here."""
    model = build().fit(data.on_dask, data.y)
    check_same(model, data.model)
    assert model.codes_.shape == data.model.codes_.shape and model.nonzeros_ == pytest.approx(data.model.nonzeros_)
    assert not sparse.issparse(model.codes_) and "lost" not in model.status_
    np.testing.assert_allclose(model.objective_history_, data.model.objective_history_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(data.on_dask), data.model.predict(data.in_memory))
    for method in ("predict_proba", "transform"):
        found, expected = getattr(model, method)(data.on_dask), getattr(data.model, method)(data.in_memory)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    kept = pickle.loads(pickle.dumps(model))  # codes come along: a model must outlive the cluster
    assert sparse.issparse(kept.codes_)
    np.testing.assert_array_equal(kept.predict(data.in_memory), data.model.predict(data.in_memory))


def fit_with_kills(cluster: Any, data: Any, kills: dict[str, float]) -> FSSMSC:
    """Fit slow blocks, and kill a worker some seconds after each of these stages has begun."""
    actions = {
        stage: (after, partial(kill_worker, cluster.cluster, n)) for n, (stage, after) in enumerate(kills.items())
    }
    with AtStage(actions) as at_stage, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = build(scaling=["minmax", "standard"], verbose=True).fit(slow_views(data, 0.05), data.y)
    assert at_stage.done == list(kills)
    assert any("lost during the fit" in str(warning.message) for warning in caught)
    return model


@pytest.fixture(scope="module")
def two_views(data: Any) -> FSSMSC:
    return build(scaling=["minmax", "standard"]).fit(data.arrays[:2], data.y)


def test_killed_workers_do_not_change_the_result(cluster: Any, data: Any, two_views: FSSMSC) -> None:
    """In scaling, in encoding, and in the rounds, when all codes of a worker are lost."""
    model = fit_with_kills(cluster, data, {"scaling": 0.1, "solving": 0.1, "round 1": 0.0})
    check_same(model, two_views)
    assert "lost during the fit" in model.status_ and "computed again" in model.status_


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.2, 0.5, 1.0])
def test_workers_killed_at_many_moments(cluster: Any, data: Any, two_views: FSSMSC, after: float) -> None:
    stages = ("scaling", "choosing", "solving", "round 1", "reading labels")
    check_same(fit_with_kills(cluster, data, dict.fromkeys(stages, after)), two_views)


def test_a_worker_without_memory_is_an_error_with_the_remedy(cluster: Any, data: Any) -> None:
    def fill(rows: np.ndarray) -> np.ndarray:
        import time

        import numpy

        held = []
        while True:  # until the nanny ends this process
            held.append(numpy.ones(2**23))
            time.sleep(0.01)

    scheduler = cluster.cluster.scheduler
    before, scheduler.allowed_failures = scheduler.allowed_failures, 0  # at once: each death takes seconds
    array = da.from_array(data.arrays[0], chunks=(160, 6)).map_blocks(
        fill, dtype=np.float32, meta=np.empty((0, 0), "f4")
    )
    try:
        with pytest.raises(ClusterError, match=r"ran out of memory. Use smaller chunks of rows .* more memory"):
            build(scaling="minmax").fit([array], data.y)
    finally:
        scheduler.allowed_failures = before


def moved_bytes(cluster: Any) -> int:
    """Return the bytes that workers and scheduler have sent, by Dask's own counters."""
    logs = cluster.client.run(lambda dask_worker: sum(entry["total"] for entry in dask_worker.transfer_outgoing_log))
    return sum(logs.values()) + sum(stream.byte_count for stream in cluster.cluster.scheduler.stream_comms.values())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bytes_moved_in_a_round_do_not_grow_with_the_rows(cluster: Any, data: Any) -> None:
    """They are O(workers · m²), and some kilobytes for each task."""
    m, n_workers, n_blocks, per_round = 16, 2, 8, {}
    for times in (1, 8):
        rows = [np.tile(array, (times, 1)) for array in data.arrays[:2]]
        views = [da.from_array(array, chunks=(N_ROWS * times // n_blocks, -1)).persist() for array in rows]
        y = np.concatenate([data.y, np.full((times - 1) * N_ROWS, -1)])
        seen: list[int] = []

        def count(seen: list[int] = seen) -> None:
            seen.append(moved_bytes(cluster))

        with AtStage({f"round {number}:": (0.0, count) for number in range(1, 30)}):
            build(scaling="minmax", coupling=1.0, solver__max_iter=4, verbose=True).fit(views, y)
        assert len(seen) > 2
        per_round[times] = np.diff(seen).max()
    assert per_round[8] <= n_workers * 8 * m**2 + n_blocks * 4096
    assert per_round[8] <= 1.2 * per_round[1]
