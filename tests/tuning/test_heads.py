"""Classifiers at the end of the pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from anchorview.tuning.heads import fit_linear_head


@pytest.mark.parametrize("shape", [(30, 200), (200, 30)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_linear_head_is_logistic_regression(shape: tuple[int, int], n_classes: int) -> None:
    rng = np.random.RandomState(0)
    rows, classes = rng.normal(size=shape), np.arange(shape[0]) % n_classes
    expected = LogisticRegression(C=2.0, tol=1e-8, max_iter=10_000).fit(rows, classes)
    for features in (rows, sparse.csr_array(rows)):
        head = fit_linear_head(features, classes, n_classes, 2.0)
        np.testing.assert_allclose(softmax(head.scores(features), axis=1), expected.predict_proba(rows), atol=2e-2)


def test_a_class_without_rows_is_the_least_likely() -> None:
    rows = np.random.RandomState(0).normal(size=(30, 4))
    scores = fit_linear_head(rows, np.array([0, 3] * 15), 5, 1.0).scores(rows)
    assert scores.shape == (30, 5)
    assert (scores[:, [1, 2, 4]].max(axis=1) < scores[:, [0, 3]].min(axis=1)).all()
