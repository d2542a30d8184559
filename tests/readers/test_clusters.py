"""Clusters of the embedding, without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from anchorview.core.arrays import unit_rows
from anchorview.readers.base import class_probabilities
from anchorview.readers.clusters import ClusterCentres, fit_clusters

Array = npt.NDArray[Any]


def clustered(n_rows: int = 90) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % 3
    return (np.eye(3)[truth] + 0.05 * rng.normal(size=(n_rows, 3))) * rng.uniform(0.1, 9, (n_rows, 1)), truth


def test_clusters_by_angle() -> None:
    rows, truth = clustered()
    model = fit_clusters(rows, 3, np.random.RandomState(0))
    found = model.scores(rows).argmax(axis=1)
    assert len({(a, b) for a, b in zip(truth, found, strict=True)}) == 3
    probabilities = class_probabilities(model, rows)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities.max(axis=1).mean() > 0.95


def test_evidence_of_clusters_is_minus_the_squared_distance() -> None:
    rng = np.random.default_rng(0)
    model = ClusterCentres(rng.normal(size=(4, 3)), 1.0)
    rows = rng.normal(size=(20, 3))
    expected = -((unit_rows(rows)[:, None] - model.centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.scores(rows), expected, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_temperature_is_the_mean_squared_distance_within_clusters(weighted: bool) -> None:
    rows, _ = clustered()
    weights = np.random.default_rng(1).integers(1, 4, size=len(rows)).astype(float) if weighted else None
    model = fit_clusters(rows, 3, np.random.RandomState(0), weights)
    expected = np.average(-model.scores(rows).max(axis=1), weights=weights)
    assert model.temperature == pytest.approx(expected, rel=1e-6)


def test_clusters_do_not_depend_on_anything_but_the_seed() -> None:
    rows, _ = clustered()
    first, second = (fit_clusters(rows, 3, np.random.RandomState(1)) for _ in range(2))
    np.testing.assert_array_equal(first.centres, second.centres)
    assert first.temperature == second.temperature


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_clusters_of_identical_rows_and_of_zeros_are_finite() -> None:
    for rows in (np.ones((5, 2)), np.zeros((5, 2)), np.vstack([np.zeros((2, 2)), np.eye(2)])):
        model = fit_clusters(rows, 2, np.random.RandomState(0))
        assert np.isfinite(class_probabilities(model, rows)).all()
        assert model.temperature > 0


def test_rows_of_weight_zero_do_not_move_the_clusters() -> None:
    rows, _ = clustered()
    far = np.vstack([rows, -np.ones((20, 3))])
    weights = np.r_[np.ones(len(rows)), np.zeros(20)]
    plain = fit_clusters(rows, 3, np.random.RandomState(0))
    weighted = fit_clusters(far, 3, np.random.RandomState(0), weights)
    order = (plain.centres @ weighted.centres.T).argmax(axis=1)
    np.testing.assert_allclose(weighted.centres[order], plain.centres, atol=1e-9)
    assert weighted.temperature == pytest.approx(plain.temperature)
