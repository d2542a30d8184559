"""Regressions, and plain distances to labelled rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from anchorview.readers.linear import fit_linear
from anchorview.readers.nearest import keep_labelled
from anchorview.readers.plain_neighbours import fit_plain_neighbours


@pytest.mark.parametrize("shape", [(30, 200), (200, 30)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_linear_reader_is_logistic_regression(shape: tuple[int, int], n_classes: int) -> None:
    rng = np.random.RandomState(0)
    rows, classes = rng.normal(size=shape), np.arange(shape[0]) % n_classes
    expected = LogisticRegression(C=2.0, tol=1e-8, max_iter=10_000).fit(rows, classes)
    for features in (rows, sparse.csr_array(rows)):
        head = fit_linear(features, classes, n_classes, 2.0)
        np.testing.assert_allclose(softmax(head.scores(features), axis=1), expected.predict_proba(rows), atol=2e-2)


@pytest.mark.parametrize("scale", [1e3, 1e18])
def test_rows_that_nobody_scaled_are_read_alike_at_any_scale(scale: float) -> None:
    rng = np.random.RandomState(0)
    rows, classes = rng.normal(size=(40, 600)).astype(np.float32), np.arange(40) % 4
    for features in (rows, sparse.csr_array(rows)):
        head, other = (fit_linear(features * np.float32(by), classes, 4, 10.0) for by in (2.0, scale))
        assert head.converged and other.converged
        np.testing.assert_allclose(other.scores(features * np.float32(scale)), head.scores(features * 2), atol=0.02)


def test_a_class_without_rows_is_the_least_likely() -> None:
    rows = np.random.RandomState(0).normal(size=(30, 4))
    scores = fit_linear(rows, np.array([0, 3] * 15), 5, 1.0).scores(rows)
    assert scores.shape == (30, 5)
    assert (scores[:, [1, 2, 4]].max(axis=1) < scores[:, [0, 3]].min(axis=1)).all()


@pytest.mark.parametrize("rule", ["nearest", "knn"])
def test_plain_neighbours_have_the_evidence_of_the_rule(rule: str) -> None:
    rng = np.random.RandomState(0)
    rows, classes, queries = rng.normal(size=(60, 4)), np.arange(60) % 3, rng.normal(size=(30, 4))
    expected = keep_labelled(rows, classes, rule, 5).evidence(queries)
    np.testing.assert_allclose(fit_plain_neighbours(rows, classes, rule, 5).scores(queries), expected, atol=1e-6)


@pytest.mark.parametrize("weights", [None, np.ones(9002)])
@pytest.mark.parametrize("rule", ["nearest", "knn"])
def test_of_many_labelled_rows_some_of_every_class_are_compared_with(rule: str, weights: np.ndarray | None) -> None:
    rng = np.random.RandomState(0)
    classes = np.r_[np.arange(9000) % 3, 3, 3]  # a rare class too
    rows = np.eye(4)[classes] + 0.2 * rng.normal(size=(9002, 4))
    head = fit_plain_neighbours(rows, classes, rule, 5, weights)
    assert 1000 < len(head.labelled.reference) < 3000
    expected = np.arange(200) % 3
    scores = head.scores(np.eye(4)[expected] + 0.1 * rng.normal(size=(200, 4)))
    assert scores.shape == (200, 4)
    assert (scores.argmax(axis=1) == expected).all()
    assert head.scores(rows[-2:]).argmax(axis=1).tolist() == [3, 3] or rule == "knn"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_that_are_nearly_the_same_in_single_precision(as_sparse: bool, scale: float) -> None:
    rng = np.random.RandomState(0)
    classes = np.arange(300) % 3
    rows = (scale * (rng.rand(3, 500)[classes] + 1e-3 * rng.rand(300, 500))).astype(np.float32)
    features = sparse.csr_array(rows) if as_sparse else rows
    scores = fit_linear(features, classes, 3, 1.0).scores(features)
    wide = fit_linear(rows.astype(np.float64), classes, 3, 1.0).scores(rows)
    np.testing.assert_allclose(scores, wide, rtol=0.05, atol=0.05 * np.abs(wide).max())
    assert scale < 1 or (scores.argmax(axis=1) == classes).all()
