"""LMVSC and FPMVS: each step against a slow way to the same result, the whole on digits, and edge cases."""

from __future__ import annotations

import logging
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from anchorview import Views
from anchorview.baselines import FPMVS, LMVSC
from anchorview.baselines._kmeans import litekmeans
from anchorview.baselines._matrix import leading_vectors
from anchorview.baselines.fpmvs import (
    measure_losses,
    nearest_orthonormal,
    update_anchor_codes,
    update_anchors,
    update_weights,
)
from anchorview.datasets import make_multiview_subspaces
from anchorview.metrics import adjusted_rand, clustering_report

METHODS = [LMVSC, FPMVS]
FORMS = [np.asarray, sparse.csr_array]


@pytest.fixture(scope="module")
def easy() -> Any:
    """Three separate clusters in two views."""
    return make_multiview_subspaces(90, 3, (8, 6), noise=0.1, random_state=0)


def build(method: Any, **parameters: Any) -> Any:
    return method(**{"n_clusters": 3, "random_state": 0, "n_jobs": 1, **parameters})


# LMVSC


def slow_codes(rows: Any, anchors: Any, alpha: float) -> Any:
    def code(row: Any) -> Any:
        return minimize(
            lambda z: ((row - z @ anchors) ** 2).sum() + alpha * (z**2).sum(),
            np.full(len(anchors), 1 / len(anchors)),
            jac=lambda z: 2 * (z @ anchors - row) @ anchors.T + 2 * alpha * z,
            bounds=[(0, None)] * len(anchors),
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x

    return np.array([code(row) for row in rows])


@pytest.mark.parametrize("form", FORMS)
def test_lmvsc_step_by_step(form: Any, easy: Any) -> None:
    views, alpha = [array[::3] for array in easy.views.arrays], 0.3
    model = LMVSC(3, 5, alpha=alpha, random_state=4, n_init=2, n_jobs=1).fit([form(rows) for rows in views])
    rng, codes = np.random.RandomState(4), []
    for rows, objective in zip(views, model.objective_history_, strict=True):
        anchors = litekmeans(rows, 5, rng, n_replicates=2).centres
        code = slow_codes(rows, anchors, alpha)
        np.testing.assert_allclose(objective, ((rows - code @ anchors) ** 2).sum() + alpha * (code**2).sum(), rtol=1e-7)
        codes.append(code)
    left, _, _ = np.linalg.svd(np.hstack(codes), full_matrices=False)
    assert model.embedding_.shape == (30, 3)
    np.testing.assert_allclose(np.abs((left[:, :3] * model.embedding_).sum(axis=0)), 1.0, atol=1e-4)
    np.testing.assert_array_equal(model.labels_, litekmeans(model.embedding_, 3, rng, n_replicates=2).labels)


def test_lmvsc_does_not_see_where_the_origin_is(easy: Any) -> None:
    here = build(LMVSC, n_anchors=6).fit(easy.views)
    there = build(LMVSC, n_anchors=6).fit([array.astype(float) + 1e4 for array in easy.views.arrays])
    np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=1e-6)
    assert adjusted_rand(here.labels_, there.labels_) == 1.0


def test_lmvsc_on_handwritten_digits(digits: Any) -> None:
    scores = [clustering_report(digits.target, LMVSC(10, random_state=s).fit_predict(digits.views)) for s in (0, 1)]
    acc, nmi, ari = (np.mean([score[name] for score in scores]) for name in ("acc", "nmi", "ari"))
    assert abs(acc - 0.900) < 0.015 and abs(nmi - 0.827) < 0.03 and abs(ari - 0.799) < 0.03


def test_leading_vectors_leave_out_null_directions() -> None:
    matrix = np.random.RandomState(0).rand(20, 3) @ np.random.RandomState(1).rand(3, 7)
    found = leading_vectors(matrix, 5)
    assert found.shape == (20, 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-7)
    assert leading_vectors(matrix, 2).shape == (20, 2)


# FPMVS


def slow_fpmvs(views: list[Any], m: int, n_rounds: int, exact: bool) -> tuple[Any, Any, list[float]]:
    """The method as it is written down: features × rows, one row's code at a time."""
    data = [((rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)).T for rows in views]
    alpha = np.full(len(data), 1 / len(data))
    anchors, codes = np.zeros((m, m)), np.zeros((m, data[0].shape[1]))
    codes[:, :m] = np.eye(m)
    history = []
    for _ in range(n_rounds):
        maps = []
        for x in data:
            left, values, right = np.linalg.svd(x @ (anchors @ codes).T, full_matrices=False)
            maps.append(left @ right if values[0] > 0 else np.eye(len(x), m))
        left, _, right = np.linalg.svd(sum(a**2 * w.T @ x @ codes.T for a, w, x in zip(alpha, maps, data, strict=True)))
        anchors = left @ right
        for i in range(codes.shape[1]):
            powers = alpha**2 if exact else np.ones_like(alpha)
            f = sum(p * anchors.T @ w.T @ x[:, i] for p, w, x in zip(powers, maps, data, strict=True))
            target = f / (alpha**2).sum()
            order = np.sort(target)[::-1]
            thetas = (np.cumsum(order) - 1) / np.arange(1, m + 1)
            codes[:, i] = np.maximum(target - thetas[np.flatnonzero(order > thetas)[-1]], 0)
        losses = np.array([((x - w @ anchors @ codes) ** 2).sum() for w, x in zip(maps, data, strict=True)])
        alpha = (1 / losses) / (1 / losses).sum()
        history.append(float((alpha**2 * losses).sum()))
    return codes.T, alpha, history


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("sizes", [(8, 6), (8, 2)])  # with two features a view cannot hold three directions
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fpmvs_round_by_round(exact: bool, sizes: tuple[int, int]) -> None:
    data = make_multiview_subspaces(40, 3, sizes, noise=0.8, random_state=3)
    views = [array.astype(float) for array in data.views.arrays]
    model = build(FPMVS, z_weighting="exact" if exact else "released", max_iter=6).fit(views)
    codes, alpha, history = slow_fpmvs(views, 3, 6, exact)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)
    np.testing.assert_allclose(model.codes_, codes, atol=1e-8)
    np.testing.assert_allclose(model.view_weights_, alpha, rtol=1e-8)


@pytest.fixture
def state() -> Any:
    """A point in the middle of the alternation: views, maps, anchors, codes and weights."""
    rng = np.random.RandomState(0)
    views = [rng.randn(12, 7), rng.randn(12, 5)]
    maps = [np.linalg.qr(rng.randn(7, 4))[0], np.linalg.qr(rng.randn(5, 4))[0]]
    return views, maps, np.linalg.qr(rng.randn(4, 3))[0], rng.dirichlet(np.ones(3), 12), np.array([0.3, 0.7])


def objective(views: Any, maps: Any, anchors: Any, codes: Any, weights: Any) -> float:
    parts = zip(views, maps, weights, strict=True)
    return float(sum(a**2 * ((rows - codes @ anchors.T @ w.T) ** 2).sum() for rows, w, a in parts))


def test_fpmvs_maps_and_anchors_are_the_best_orthonormal_ones(state: Any) -> None:
    views, maps, anchors, codes, weights = state
    moments = [rows.T @ codes for rows in views]
    best_maps = [nearest_orthonormal(moment @ anchors.T) for moment in moments]
    best_anchors = update_anchors(moments, maps, weights)
    np.testing.assert_allclose(best_anchors.T @ best_anchors, np.eye(3), atol=1e-12)
    for seed in range(50):  # no neighbouring orthonormal matrix is better
        turn = np.linalg.qr(np.eye(7) + 0.1 * np.random.RandomState(seed).randn(7, 7))[0]
        turn = turn * np.sign(np.diag(turn))
        other = [turn @ best_maps[0], best_maps[1]]
        assert objective(views, best_maps, anchors, codes, weights) <= objective(views, other, anchors, codes, weights)
        small = np.linalg.qr(np.eye(4) + 0.1 * np.random.RandomState(seed).randn(4, 4))[0]
        moved = small * np.sign(np.diag(small)) @ best_anchors
        assert objective(views, maps, best_anchors, codes, weights) <= objective(views, maps, moved, codes, weights)


def test_fpmvs_codes_weights_and_losses_are_exact(state: Any) -> None:
    views, maps, anchors, codes, weights = state
    bases = [w @ anchors for w in maps]
    found = update_anchor_codes(views, bases, weights, exact=True)
    for i in range(len(found)):
        best = minimize(
            lambda z, i=i: objective([v[i : i + 1] for v in views], maps, anchors, z[None], weights),
            np.full(3, 1 / 3),
            bounds=[(0, None)] * 3,
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(found[i], best.x, atol=1e-5)
    squares = np.array([(rows**2).sum() for rows in views])
    losses = measure_losses(squares, [rows.T @ codes for rows in views], bases, codes.T @ codes)
    np.testing.assert_allclose(losses, [((r - codes @ b.T) ** 2).sum() for r, b in zip(views, bases, strict=True)])
    chosen = update_weights(losses, squares)
    grid = np.linspace(0, 1, 2001)
    np.testing.assert_allclose(chosen[0], grid[(grid**2 * losses[0] + (1 - grid) ** 2 * losses[1]).argmin()], atol=5e-4)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fpmvs_objective_never_rises_with_exact_updates(seed: int, n_anchors: int) -> None:
    data = make_multiview_subspaces(60, 3, (8, 6, 7), noise=1.0, random_state=seed)
    model = build(FPMVS, n_anchors=n_anchors, z_weighting="exact", n_init=1)
    history = model.fit(data.views).objective_history_
    assert (np.diff(history) <= 1e-10 * history[0]).all()
    assert history[-1] < history[0]


def test_fpmvs_on_handwritten_digits(digits: Any) -> None:
    model = FPMVS(10, random_state=0).fit(digits.views)
    score = clustering_report(digits.target, model.labels_)
    assert abs(score["acc"] - 0.824) < 0.015 and abs(score["nmi"] - 0.792) < 0.015 and abs(score["ari"] - 0.727) < 0.015
    assert model.n_iter_ == len(model.objective_history_) < 50
    assert model.view_weights_.argmax() == digits.views.names.index("mor")  # the one with fewer features than clusters
    assert (model.codes_.max(axis=1) > 0.99).mean() > 0.9
    exact = FPMVS(10, z_weighting="exact", random_state=0).fit(digits.views)
    assert clustering_report(digits.target, exact.labels_)["acc"] < 0.6


def test_fpmvs_stops_at_tol_or_warns() -> None:
    data = make_multiview_subspaces(60, 3, (8, 6), noise=1.0, random_state=0)
    early = build(FPMVS, tol=1.0).fit(data.views)
    assert early.n_iter_ == 10
    with pytest.warns(ConvergenceWarning, match="FPMVS stopped at max_iter=3 before it converged"):
        build(FPMVS, max_iter=3).fit(data.views)


def test_fpmvs_with_more_anchors_and_dimensions(easy: Any) -> None:
    model = build(FPMVS, n_anchors=4, n_dims=5).fit(easy.views)
    assert model.codes_.shape == (90, 4)
    np.testing.assert_allclose(model.codes_.sum(axis=1), 1.0)


# Both


@pytest.mark.parametrize("method", METHODS)
def test_every_form_of_input_and_any_number_of_threads_give_the_same(method: Any, easy: Any) -> None:
    first, second = easy.views.arrays
    expected = build(method).fit_predict(easy.views)
    assert adjusted_rand(easy.target, expected) > 0.9
    side_by_side = np.hstack([first, second])
    for X, parameters in (
        ([first, second], {}),
        ({"a": first, "b": second}, {}),
        (side_by_side, {"views": [8, 6]}),
        (sparse.csr_array(side_by_side), {"views": [8, 6], "scaling": "l2"}),
        (Views([first, second]), {"n_jobs": 3}),
    ):
        found = build(method, **parameters).fit(X)
        assert found.n_features_in_ == 14 and found.view_sizes_ == [8, 6]
        if "scaling" in parameters:
            np.testing.assert_array_equal(found.labels_, build(method, scaling="l2").fit_predict(easy.views))
        else:
            np.testing.assert_array_equal(found.labels_, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_degenerate_views(method: Any, easy: Any) -> None:
    first, second = easy.views.arrays
    constant = np.full((90, 4), 7.0)
    duplicates = np.repeat(first[:9], 10, axis=0)
    for views in (
        [first, constant],
        [np.hstack([first, constant]), second],
        [duplicates, duplicates[:, :1]],
        [1e9 * duplicates, second],
        [constant, constant],
        [first[:, :1], second[:, :1]],
    ):
        model = build(method).fit(views)
        assert model.labels_.shape == (90,)
        assert set(model.labels_) <= {0, 1, 2}
        assert np.isfinite(model.objective_history_).all()
    model = build(method).fit([first, constant])
    np.testing.assert_array_equal(model.labels_ >= 0, True)
    alone = build(method).fit([first])
    assert adjusted_rand(model.labels_, alone.labels_) == 1.0


def test_fpmvs_gives_a_constant_view_no_weight(easy: Any) -> None:
    model = build(FPMVS).fit([easy.views.arrays[0], np.full((90, 4), 7.0)])
    np.testing.assert_allclose(model.view_weights_, [1.0, 0.0])


@pytest.mark.parametrize("method", METHODS)
def test_as_many_clusters_as_rows(method: Any) -> None:
    rows = np.arange(12.0).reshape(6, 2) ** 2
    labels = build(method, n_clusters=6).fit_predict([rows, rows[:, :1]])
    assert len(labels) == 6
    assert set(build(method, n_clusters=1).fit_predict(rows)) == {0}


@pytest.mark.parametrize("method", METHODS)
def test_wrong_parameters_are_named(method: Any, easy: Any) -> None:
    for parameters, message in (
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, or None; got 0"),
        ({"n_anchors": 2}, "n_anchors must be an integer of at least 3; got 2"),
        ({"n_anchors": 91}, "n_anchors=91 is above the 90 rows"),
        ({"n_init": 0}, "n_init must be an integer of at least 1"),
        ({"scaling": "log"}, "scaling='log' .* is not known"),
        ({"n_jobs": 0.5}, "n_jobs must be an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            build(method, **parameters).fit(easy.views)


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        (LMVSC, {"alpha": 0.0}, "alpha must be a number above 0"),
        (FPMVS, {"z_weighting": "no"}, "z_weighting='no' is not known; choose one of 'released', 'exact'"),
        (FPMVS, {"n_dims": 2}, "n_dims must be an integer of at least 3"),
        (FPMVS, {"max_iter": 0}, "max_iter must be an integer of at least 1"),
        (FPMVS, {"tol": -1}, "tol must be a number of at least 0"),
    ],
)
def test_wrong_parameters_of_one_method(method: Any, parameters: Any, message: str, easy: Any) -> None:
    with pytest.raises(ValueError, match=message):
        build(method, **parameters).fit(easy.views)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_has_the_size_of_rows_by_rows(method: Any) -> None:
    data = make_multiview_subspaces(5000, 3, (6, 5), random_state=0)
    build(method, n_init=1).fit(data.views[:50])
    tracemalloc.start()
    build(method, n_init=1).fit(data.views)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7  # rows by rows would be 2e8


@pytest.mark.parametrize("method", METHODS)
def test_verbose_logs_each_round(method: Any, easy: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="anchorview"):
        model = build(method, verbose=True).fit(easy.views)
    rounds = [line for line in caplog.messages if "round" in line]
    assert len(rounds) == model.n_iter_
    assert f"{method.__name__}: Views(90 rows; view0: 8, view1: 6)" in caplog.messages[0]


class StopAfter:
    """A scikit-learn callback that counts rounds and asks to stop."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.begun, self.ended = rounds, 0, 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.begun = self.ended = 0

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any, **others: Any) -> None:
        self.begun += context.task_name == "round"

    def on_fit_task_end(self, estimator: Any, context: Any, **others: Any) -> bool:
        self.ended += context.task_name == "round"
        return self.ended >= self.rounds


@pytest.mark.parametrize("method", METHODS)
def test_a_callback_hears_of_rounds_and_may_stop_them(method: Any, easy: Any) -> None:
    pytest.importorskip("sklearn.callback")
    patient, hasty = StopAfter(1000), StopAfter(1)
    model = build(method).set_callbacks(patient).fit(easy.views)
    assert patient.begun == patient.ended == model.n_iter_ > 1
    stopped = build(method).set_callbacks(hasty).fit(easy.views)
    assert hasty.begun == hasty.ended == stopped.n_iter_ == 1
    assert stopped.labels_.shape == (90,)
