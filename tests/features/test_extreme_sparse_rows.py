"""Sparse rows whose squares overflow or vanish: fitted and predicted as if they were of ordinary size."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.core.arrays import unit_rows, unit_sparse_rows
from anchorview.datasets import hide_labels
from support.settled import CHOSEN

FACTORS = [("float32", 3e19), ("float32", 1e-22), ("float64", 1e160), ("float64", 1e300), ("float64", 1e-170)]
TOPICS = np.arange(200) % 4
Y = hide_labels(TOPICS, 0.2, random_state=0)


def counts(dtype: str = "float64") -> list[sparse.csr_array]:
    """Return two views of word counts about four topics."""
    rng = np.random.default_rng(0)
    views = []
    for width in (60, 40):
        rates = np.full((4, width), 0.15)
        for topic in range(4):
            rates[topic, topic * width // 4 : (topic + 1) * width // 4] = 1.2
        views.append(sparse.csr_array(rng.poisson(rates[TOPICS]).astype(dtype)))
    return views


def times(views: list[sparse.csr_array], factors: npt.NDArray[Any]) -> list[sparse.csr_array]:
    return [sparse.csr_array(sparse.diags_array(factors.astype(view.dtype)) @ view) for view in views]


def build(scaling: str) -> FSSMSC:
    """With a scaling, or "auto" to choose it, or "all" to choose everything."""
    settled = {} if scaling == "all" else {**CHOSEN, "scaling": scaling}
    return FSSMSC(**settled, n_landmarks=40, random_state=0, n_jobs=1)


@cache
def fitted(dtype: str, scaling: str) -> FSSMSC:
    """Return the model of rows of ordinary size."""
    return build(scaling).fit(counts(dtype), Y)


def with_all(scalings: list[str]) -> list[Any]:
    """Return the cases of all factors and scalings, and one of each precision with everything to choose."""
    return [(*case, scaling) for case in FACTORS for scaling in scalings] + [(*FACTORS[n], "all") for n in (0, 4)]


@pytest.mark.parametrize(("dtype", "factor", "scaling"), with_all(["l2", "tfidf", "auto", "minmax"]))
def test_a_fit_does_not_see_the_size(dtype: str, factor: float, scaling: str) -> None:
    """Such rows had no codes at all, and labels as good as chance."""
    ordinary, expected = counts(dtype), fitted(dtype, scaling)
    assert (expected.labels_ == TOPICS).mean() > 0.9
    large = times(ordinary, np.full(200, factor))
    model = build(scaling).fit(large, Y)
    assert (np.diff(model.codes_.indptr) > 0).all()
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(large), expected.labels_)
    np.testing.assert_allclose(model.predict_proba(large), expected.predict_proba(ordinary), atol=1e-3)


@pytest.mark.parametrize(("dtype", "factor", "scaling"), with_all(["l2", "tfidf", "auto"]))
def test_rows_of_all_sizes_side_by_side(dtype: str, factor: float, scaling: str) -> None:
    """Each row is scaled by itself; new rows too, by a model that was fitted on ordinary ones."""
    ordinary, expected = counts(dtype), fitted(dtype, scaling)
    mixed = times(ordinary, np.where(np.arange(200) % 3 == 0, factor, 1.0))
    np.testing.assert_array_equal(expected.predict(mixed), expected.labels_)
    np.testing.assert_array_equal(build(scaling).fit(mixed, Y).labels_, expected.labels_)


@pytest.mark.parametrize(("dtype", "factor"), FACTORS[::2])
def test_the_tuned_model(dtype: str, factor: float) -> None:
    ordinary = counts(dtype)
    options: dict[str, Any] = {"scaling": "l2", "n_landmarks": 40, "n_averaged": 2, "n_repeats": 1, "random_state": 0}
    expected = AnchorViewClassifier(**options).fit(ordinary, Y)
    large = times(ordinary, np.full(200, factor))
    model = AnchorViewClassifier(**options).fit(large, Y)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(large), expected.predict(ordinary))


@given(st.integers(0, 10_000), st.sampled_from(["float32", "float64"]))
@settings(max_examples=50, deadline=None)
def test_sparse_and_dense_rows_have_one_guard(seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    limit = 37 if dtype == "float32" else 300
    rows = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.6) * 10.0 ** rng.uniform(-limit, limit, size=(20, 1))
    rows = rows.astype(dtype)
    found = unit_sparse_rows(sparse.csr_array(rows)).toarray()
    np.testing.assert_allclose(found, unit_rows(rows), rtol=1e-5, atol=1e-7)
    lengths = np.linalg.norm(found.astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, (rows != 0).any(axis=1), atol=1e-5)
