"""Dask arrays as views, worked on by Dask's scheduler in this process: the same as in memory; what cannot be done."""

from __future__ import annotations

import _thread
import logging
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.engine.sources.dask_tasks import ClusterError
from anchorview.export import predict_to
from support.dask_clusters import AtStage
from support.dask_data import N_ROWS, build, check_same, make_data, slow_views


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    return make_data()


def test_missing_views_weights_and_absent_views(data: Any) -> None:
    mask = {"view1": np.arange(N_ROWS) % 7 > 0}
    first = data.arrays[0].copy()
    first[[3, 300]] = np.nan
    weights = np.random.default_rng(1).integers(1, 3, N_ROWS)
    both = [
        build(scaling=["minmax", "standard"]).fit(Views(views, mask=mask), data.y, sample_weight=weights)
        for views in ([da.from_array(first, chunks=(90, 6)), data.on_dask[1]], [first, data.arrays[1]])
    ]
    check_same(*both)
    for model in both:
        only = {"view0": data.on_dask[0]} if model is both[0] else {"view0": data.arrays[0]}
        model.only_first = model.predict(only)
    np.testing.assert_array_equal(both[0].only_first, both[1].only_first)


def test_beyond_the_limit_the_embedding_is_a_dask_array(data: Any) -> None:
    model = build(solver__memory_limit=0).fit(data.on_dask, data.y)
    assert isinstance(model.embedding_, da.Array) and "stays on the cluster" in model.status_
    np.testing.assert_allclose(model.embedding_.compute(), data.model.embedding_, atol=1e-5)
    np.testing.assert_array_equal(model.labels_, data.model.labels_)


def test_without_labels_and_with_what_is_left_to_the_fit(data: Any) -> None:
    clusters = [FSSMSC(3, n_landmarks=16, random_state=0).fit(v) for v in (data.on_dask[:2], data.arrays[:2])]
    check_same(*clusters)
    chosen = [
        FSSMSC(n_landmarks=16, random_state=0, relabel=0.9, readers=readers).fit(v, data.y)
        for v, readers in ((data.on_dask, "auto"), (data.in_memory, "nearest"))  # E is not read again on a cluster
    ]
    assert chosen[0].chosen_ == chosen[1].chosen_
    check_same(*chosen)


def test_one_array_is_cut_into_views_and_views_are_brought_to_the_same_blocks(data: Any, caplog: Any) -> None:
    side_by_side = np.hstack(data.arrays[:2])
    whole = da.from_array(side_by_side, chunks=(70, 4))
    fits = [build(views=[6, 4], scaling="minmax").fit(X, data.y) for X in (whole, side_by_side)]
    check_same(*fits)
    with caplog.at_level(logging.INFO, "anchorview"):
        fits[0].set_params(views=None).fit(data.on_dask[:2], data.y)
    assert "views 'view1' are cut into other blocks of rows than 'view0'" in caplog.text
    check_same(*fits)


def test_values_that_are_not_finite_are_named_by_their_row(data: Any) -> None:
    rows = data.arrays[0].copy()
    rows[277, 2] = np.inf
    bad = {"image": da.from_array(rows, chunks=(90, 6))}
    with pytest.raises(ValueError, match="View 'image' contains infinity in row 277"):
        build(scaling="minmax").fit(bad, data.y)
    model = build(scaling="minmax").fit({"image": data.arrays[0]}, data.y)
    with pytest.raises(ValueError, match="View 'image' contains infinity in row 277"):
        model.predict(bad)
    rows[277] = np.nan
    with pytest.raises(ValueError, match="277"):
        model.predict({"image": da.from_array(rows, chunks=(90, 6))})


def test_bad_dask_input_is_refused_with_the_remedy(data: Any) -> None:
    array = data.on_dask[0]
    of_unknown_size = array[array[:, 0] > 0]
    wrong = array.map_blocks(lambda rows: rows[:-1], dtype=np.float32, meta=np.empty((0, 0), np.float32))
    hidden = array.map_blocks(sparse.csr_matrix, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    blocks = [dask.delayed(np.ones)((3, 2)), dask.delayed(np.ones)((3, 4))]
    for views, message in (
        (of_unknown_size, r"View 'image' is a dask array with chunks of unknown size .* compute_chunk_sizes\(\)"),
        (wrong, r"'image' with rows .* has shape \(39, 6\), but \(40, 6\) was announced"),
        (hidden, "'image' was announced as dense, but the block with rows .* is sparse; .*meta="),
        (array[:, 0], "'image' is a dask array of shape .*; a view needs two dimensions"),
        (array.astype(complex), "holds complex128; a view needs real numbers"),
        (blocks, "Blocks of view 'image' disagree: block 0 has 2 features, block 1 has 4 features"),
    ):
        with pytest.raises(ValueError, match=message):
            build(scaling="minmax").fit({"image": views}, data.y)
    with pytest.raises(ValueError, match=r"View 'text' \(dask array 'text'\) has 319 rows but view 'image'"):
        Views({"image": array, "text": array[1:]})
    with pytest.raises(ValueError, match="another order, which is not done on a cluster"):
        Views([array, array], ids=[np.arange(N_ROWS), np.arange(N_ROWS)[::-1]])


def test_what_cannot_be_done_on_a_cluster_is_said(data: Any) -> None:
    with pytest.raises(ValueError, match="solver='admm' does not support dask arrays"):
        build(solver="admm").fit(data.on_dask, data.y)
    with pytest.raises(ValueError, match="AnchorViewClassifier searches in memory"):
        AnchorViewClassifier().fit(data.on_dask, data.y)


@pytest.fixture
def cluster_here() -> Iterator[Any]:
    """A scheduler and a worker in threads of this process, which start in a moment."""
    from distributed import Client, LocalCluster

    here = {"processes": False, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=1, threads_per_worker=2, **here) as cluster, Client(cluster, timeout=1) as client:
        yield SimpleNamespace(cluster=cluster, client=client)


def test_an_interrupt_cancels_what_is_under_way(cluster_here: Any, data: Any) -> None:
    model, is_over = build(scaling="minmax", verbose=True), threading.Event()

    def interrupt() -> None:
        _thread.interrupt_main()
        if not is_over.wait(1):  # one that strikes in the midst of a garbage collection is lost
            _thread.interrupt_main()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest-xdist ignores it
    try:
        with AtStage({"scaling": (0.1, interrupt)}), pytest.raises(KeyboardInterrupt):
            try:
                model.fit(slow_views(data, 0.1), data.y)
            finally:
                is_over.set()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not hasattr(model, "labels_")
    until = time.monotonic() + 60
    while cluster_here.cluster.scheduler.tasks and time.monotonic() < until:
        time.sleep(0.02)
    assert not cluster_here.cluster.scheduler.tasks


@pytest.mark.parametrize("what", ["fit", "predict_to"])
def test_a_lost_scheduler_is_an_error_and_leaves_nothing_behind(
    cluster_here: Any, data: Any, tmp_path: Path, what: str
) -> None:
    model = build(scaling=["minmax", "standard"], verbose=True).fit(data.arrays[:2], data.y)
    labels, views = model.labels_, Views(slow_views(data, 0.05))
    with pytest.raises(ClusterError, match="connection to the Dask cluster was lost"):
        if what == "fit":
            with AtStage({"scaling": (0.1, cluster_here.cluster.close)}):
                model.fit(views, data.y)
        else:
            threading.Timer(0.1, cluster_here.cluster.close).start()
            predict_to(model, views, tmp_path / "labels")
    assert model.labels_ is labels
    assert not (tmp_path / "labels").exists()
