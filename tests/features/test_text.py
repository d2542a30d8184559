"""Scalings of sparse views against scikit-learn and their formulas."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from anchorview.features.text import (
    check_finite_sparse,
    directions_of_few,
    fit_text,
    leading_directions,
    products_of,
)

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.3, size=(30, 12)) * RNG.integers(1, 4, size=(30, 12))
WEIGHTS = RNG.integers(0, 3, size=30).astype(float)


def fit(kind: str, counts: np.ndarray = COUNTS, **options: object) -> np.ndarray:
    matrix = sparse.csr_array(counts.astype(float))
    scaler = fit_text(matrix, kind, "words", np.dtype(float), np.random.RandomState(0), **options)  # type: ignore[arg-type]
    if scaler.is_sparse:
        return scaler.rows(sparse.csr_array(COUNTS.astype(float))).toarray()
    out = np.empty((len(COUNTS), scaler.n_out))
    scaler.write(sparse.csr_array(COUNTS.astype(float)), out, 0)
    return out


def test_tfidf_is_that_of_scikit_learn() -> None:
    np.testing.assert_allclose(fit("tfidf"), TfidfTransformer().fit_transform(COUNTS).toarray())


@pytest.mark.parametrize("kind", ["tfidf", "minmax"])
def test_a_row_of_weight_two_is_the_row_twice(kind: str) -> None:
    """One of weight 0 is not there."""
    weighted = fit(kind, counted=WEIGHTS > 0, weights=WEIGHTS)
    np.testing.assert_allclose(weighted, fit(kind, np.repeat(COUNTS, WEIGHTS.astype(int), axis=0)))
    assert np.abs(weighted - fit(kind)).max() > 1e-3


def test_minmax_divides_by_the_largest_value() -> None:
    largest = np.maximum(COUNTS.max(axis=0), 1)
    scaled = COUNTS / largest
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(fit("minmax"), scaled / np.where(lengths > 0, lengths, 1))


def test_lsa_keeps_the_angles_of_tfidf_in_its_leading_directions() -> None:
    weighted = TfidfTransformer().fit_transform(COUNTS).toarray()
    directions = np.linalg.svd(weighted)[2][:11].T
    expected = weighted @ directions
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected /= np.where(lengths > 0, lengths, 1)
    found = fit("lsa")
    assert found.shape == (30, 11)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=0.01)  # directions are in whole steps


def test_leading_directions_are_the_right_singular_vectors_in_order() -> None:
    matrix = RNG.normal(size=(40, 25)) * np.linspace(3, 0.1, 25) ** 2
    products = partial(products_of, sparse.csr_array(matrix))
    found = leading_directions(products, matrix.shape, matrix.dtype, 3, np.random.RandomState(0))
    expected = np.linalg.svd(matrix)[2][:3].T
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_of_few_rows_are_the_right_singular_vectors_in_order(dtype: type) -> None:
    matrix = (RNG.normal(size=(25, 40)) * np.linspace(3, 0.1, 25)[:, None] ** 2).astype(dtype)
    found = directions_of_few(sparse.csr_array(matrix), 3, np.random.RandomState(0))
    expected = np.linalg.svd(matrix)[2][:3].T
    assert found.dtype == dtype
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-5)
    of_zeros = directions_of_few(sparse.csr_array((3, 9), dtype=dtype), 2, np.random.RandomState(0))
    assert np.isfinite(of_zeros).all()


def test_few_rows_of_low_rank_and_rows_that_repeat_have_finite_directions() -> None:
    rows = sparse.csr_array(np.repeat(RNG.integers(0, 3, size=(2, 30)).astype(np.float32), 6, axis=0))
    found = fit_text(rows, "lsa", "words", np.dtype(np.float32), np.random.RandomState(0))
    coordinates = np.empty((12, found.n_out), dtype=np.float32)
    found.write(rows, coordinates, 0)
    assert np.isfinite(coordinates).all()
    cosines = coordinates @ coordinates.T
    np.testing.assert_allclose(cosines[:6, :6], 1, atol=1e-5)


def test_the_first_bad_rows_are_named() -> None:
    matrix = sparse.csr_array(np.where(np.arange(30)[:, None] == 4, np.nan, COUNTS))
    with pytest.raises(ValueError, match="in row 4;"):
        check_finite_sparse(matrix, "words")
    check_finite_sparse(matrix, "words", np.arange(30) != 4)
