"""Neighbour graphs against graphs of all pairs, and their Laplacians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.baselines._graphs import degrees, knn_graph, laplacian, normalized_laplacian, pkn_graph, to_csr
from support.slow_ways import FORMS, made_rows, slow_distances, slow_neighbours, slow_pkn


@pytest.mark.parametrize("form", FORMS)
def test_pkn_graph(form: Any) -> None:
    rows = made_rows()
    graph, expected = pkn_graph(form(rows), 5), slow_pkn(slow_distances(rows), 5)
    np.testing.assert_allclose(graph.toarray(), (expected + expected.T) / 2, atol=1e-12)
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


def test_a_graph_leaves_the_arrays_it_is_made_of_as_they_are() -> None:
    index, weights = np.array([[2, 1], [2, 0], [1, 0]]), np.array([[0.9, 0.1], [1.0, 0.0], [0.7, 0.3]])
    copies = index.copy(), weights.copy()
    graph = to_csr(index, weights, 3)
    np.testing.assert_array_equal(index, copies[0])
    np.testing.assert_array_equal(weights, copies[1])
    np.testing.assert_array_equal(graph.toarray(), [[0, 0.1, 0.9], [0, 0, 1], [0.3, 0.7, 0]])
