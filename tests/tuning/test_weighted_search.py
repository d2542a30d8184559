"""In a search a weight of 2 is the row twice, and a weight of 0 a row that is not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.data.labels import split_labels
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.fitting.ensemble import Ensemble
from anchorview.readers.graph import make_graph, propagate
from anchorview.readers.linear import fit_linear
from anchorview.readers.plain_neighbours import fit_plain_neighbours
from anchorview.readers.temperature import AnyClass, NearOne, average_temperature, choose_temperature
from anchorview.tuning.judging import SearchData, judge
from anchorview.tuning.options import SearchOptions
from anchorview.tuning.search import select
from anchorview.tuning.settings import Setting

HEADS = ("nearest", "knn", "embedding", "codes", "features", "spread")
M = 30


def search_data(views: Any, y: Any, folds: list[Any], landmarks: Any, scaler: Any, weights: Any = None) -> SearchData:
    """A search whose landmarks are given: those of weighted and of repeated rows would be drawn differently."""
    rows = np.flatnonzero((y >= 0) & (True if weights is None else weights > 0))
    data = SearchData(
        views=views,
        present=None,
        weights=weights,
        rows=rows,
        class_ids=y[rows],
        n_classes=3,
        n_landmarks=M,
        other_n_landmarks=[],
        default_scaling="minmax",
        folds=folds,
        seed=0,
        n_threads=1,
        options=SearchOptions(),
        report=lambda judgement: None,
        sample_weights=weights,
    )
    source = represent(views, scaler, landmarks, M, np.random.RandomState(0), 1, weights=weights)
    data._sources[settings(("nearest",))[0].source] = source
    return data


def settings(heads: tuple[str, ...]) -> list[Setting]:
    return [Setting("minmax", M, head=head, strength=0.8 if head == "spread" else 1.0) for head in heads]


@pytest.fixture(scope="module")
def made() -> Any:
    return make_multiview_subspaces(150, 3, (8, 6), noise=0.6, dtype="float64", random_state=1)


@pytest.fixture(scope="module")
def parts(made: Any) -> Any:
    scaler = fit_scaling(made.views, "minmax")
    found = represent(made.views, scaler, "kmeans", M, np.random.RandomState(0), 1)
    return scaler, found.landmarks


def test_judgements_of_weighted_rows_are_those_of_repeated_ones(made: Any, parts: Any) -> None:
    scaler, landmarks = parts
    y = hide_labels(made.target, 0.3, stratified=True, random_state=0)
    counts = np.random.default_rng(0).integers(1, 4, size=150)
    repeated = np.repeat(np.arange(150), counts)
    labelled = np.flatnonzero(y >= 0)
    folds = split_labels(y[labelled], 3, np.random.RandomState(0))
    copies = np.flatnonzero(y[repeated] >= 0)
    copied = [np.flatnonzero(np.isin(repeated[copies], labelled[fold])) for fold in folds]  # copies stay together
    weighted = search_data(made.views, y, folds, landmarks, scaler, counts.astype(float))
    twice = search_data(made.views[repeated], y[repeated], copied, landmarks, scaler)
    plain = search_data(made.views, y, folds, landmarks, scaler)
    tried = settings(HEADS[:-1])  # in the graph copies are neighbours
    for data in (weighted, twice, plain):
        judge(data, tried)
    for setting in tried:
        found, expected, other = (data.judged[setting] for data in (weighted, twice, plain))
        assert found.accuracy == pytest.approx(expected.accuracy, abs=1e-9)
        assert found.split_accuracies == pytest.approx(expected.split_accuracies, abs=1e-9)
        assert found.temperature == pytest.approx(expected.temperature, rel=1e-2)  # regressions stop at 1e-3
        assert found.loss == pytest.approx(expected.loss, rel=1e-2)
        assert found.shrunk_loss == pytest.approx(expected.shrunk_loss, rel=1e-2)
        assert found.loss != pytest.approx(other.loss, rel=1e-2)
    chosen = [[(data.judged[setting], 1.0) for setting in tried] for data in (weighted, twice)]
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    votes = []
    for data, members in zip((weighted, twice), chosen, strict=True):
        ensemble = Ensemble(data)
        ensemble.add(members, data.visible())
        votes.append(ensemble.votes()[0])
    np.testing.assert_allclose(votes[0], votes[1][first], atol=0.03)


def test_a_row_of_weight_zero_is_not_there(made: Any, parts: Any) -> None:
    scaler, landmarks = parts
    y = hide_labels(made.target, 0.3, stratified=True, random_state=0)
    gone = np.arange(150) % 5 == 2
    kept = np.flatnonzero(~gone)
    wrong = np.where(gone, (made.target + 1) % 3, y)  # labels that would do harm
    labelled = y[kept][y[kept] >= 0]
    folds = split_labels(labelled, 3, np.random.RandomState(0))
    weighted = search_data(made.views, wrong, folds, landmarks, scaler, (~gone).astype(float))
    without = search_data(made.views[kept], y[kept], folds, landmarks, scaler)
    tried = settings(HEADS)
    votes = []
    for data in (weighted, without):
        judge(data, tried)
        ensemble = Ensemble(data)
        members = [(data.judged[setting], 1.0) for setting in tried]
        ensemble.add(members, data.visible())
        ensemble.add_sure_rows(members)
        votes.append(ensemble.votes())
    for setting in tried:
        found, expected = weighted.judged[setting], without.judged[setting]
        assert found.loss == pytest.approx(expected.loss, rel=1e-3)
        assert found.temperature == pytest.approx(expected.temperature, rel=1e-3)
        np.testing.assert_allclose(found.held_out, expected.held_out, atol=2e-3)
    np.testing.assert_allclose(votes[0][:, kept], votes[1], atol=0.02)
    assert (votes[0].sum(axis=0).argmax(axis=1) == made.target)[gone].mean() > 0.7  # they get a label all the same


@pytest.mark.parametrize("rule", ["nearest", "knn"])
def test_neighbours_of_weighted_rows(rule: str) -> None:
    rng = np.random.default_rng(0)
    rows, class_ids, queries = rng.normal(size=(20, 3)), np.arange(20) % 3, rng.normal(size=(15, 3))
    counts = rng.integers(1, 4, size=20)
    repeated = np.repeat(np.arange(20), counts)
    weighted = fit_plain_neighbours(rows, class_ids, rule, 5, counts.astype(float)).scores(queries)
    expected = fit_plain_neighbours(rows[repeated], class_ids[repeated], rule, 5).scores(queries)
    np.testing.assert_allclose(weighted, expected, atol=1e-6)
    plain = fit_plain_neighbours(rows, class_ids, rule, 5).scores(queries)
    np.testing.assert_allclose(
        fit_plain_neighbours(rows, class_ids, rule, 5, np.ones(20)).scores(queries), plain, atol=1e-6
    )


def test_regressions_of_weighted_rows() -> None:
    rng = np.random.default_rng(0)
    rows, class_ids = rng.normal(size=(60, 4)), rng.integers(3, size=60)
    counts = rng.integers(1, 4, size=60)
    repeated = np.repeat(np.arange(60), counts)
    weighted = fit_linear(rows, class_ids, 3, 1.0, counts.astype(float)).scores(rows)
    np.testing.assert_allclose(
        weighted, fit_linear(rows[repeated], class_ids[repeated], 3, 1.0).scores(rows), atol=1e-2
    )


def test_temperatures_and_choices_of_weighted_rows() -> None:
    rng = np.random.default_rng(0)
    scores, class_ids = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    counts = rng.integers(1, 4, size=30)
    weights, repeated = counts.astype(float), np.repeat(np.arange(30), counts)
    for prior in (AnyClass, NearOne):
        found = choose_temperature(scores, class_ids, prior(weights=weights))
        assert found == pytest.approx(choose_temperature(scores[repeated], class_ids[repeated], prior()))
    members = [rng.dirichlet(np.ones(3), size=30) for _ in range(5)]
    first = select(members, class_ids, [0.0] * 5, 12, [0], weights)
    assert first == select([part[repeated] for part in members], class_ids[repeated], [0.0] * 5, 12, [0])
    assert average_temperature(members[0], class_ids, weights) == pytest.approx(
        average_temperature(members[0][repeated], class_ids[repeated])
    )


def test_a_heavy_row_speaks_louder_in_the_graph() -> None:
    points = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    rows, class_ids = np.array([3, 17]), np.array([0, 1])
    even = propagate(make_graph(points)[0], [(rows, class_ids)], 2, 0.9)[0]
    same = propagate(make_graph(points, 1, np.full(40, 7.0))[0], [(rows, class_ids)], 2, 0.9)[0]
    np.testing.assert_allclose(same, even, atol=1e-5)
    heavy = np.where(np.arange(40) == 3, 5.0, 1.0)
    loud = propagate(make_graph(points, 1, heavy)[0], [(rows, class_ids)], 2, 0.9)[0]
    others = np.setdiff1d(np.arange(40), rows)
    assert loud[others, 0].mean() > even[others, 0].mean() + 0.1
