"""Label Laplacians without their matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anchorview.supervision.known import label_laplacians
from support.oracle import dense_laplacians


@settings(deadline=None)  # the first call loads the compiled kernels
@given(st.lists(st.integers(0, 4), min_size=2, max_size=30), st.integers(0, 1000))
def test_operators_equal_the_dense_matrices(labels: list[int], seed: int) -> None:
    _, classes = np.unique(labels, return_inverse=True)
    must, cannot = label_laplacians(classes, int(classes.max()) + 1)
    values = np.random.default_rng(seed).normal(size=(len(classes), 3))
    codes = sparse.csr_array(np.abs(values))
    if len(np.unique(classes)) == 1:
        assert cannot is None
        dense = [
            (must, dense_laplacians(np.append(classes, 1))[0][:-1, :-1] * (len(classes) ** 2 + 1) / len(classes) ** 2)
        ]
    else:
        dense = list(zip((must, cannot), dense_laplacians(classes), strict=True))
    for operator, matrix in dense:
        np.testing.assert_allclose(operator.apply(values), matrix @ values, atol=1e-12)
        np.testing.assert_allclose(operator.quadratic(codes), codes.T @ matrix @ codes, atol=1e-12)
        assert np.linalg.eigvalsh(matrix)[-1] <= operator.largest_eigenvalue() + 1e-12


def test_many_labels_need_no_pair_matrix() -> None:
    """200,000 labelled rows: a pair matrix would take 320 GB."""
    classes = np.random.default_rng(0).integers(10, size=200_000)
    must, cannot = label_laplacians(classes, 10)
    ones = np.ones((len(classes), 2))
    np.testing.assert_allclose(must.apply(ones), 0, atol=1e-12)
    np.testing.assert_allclose(cannot.apply(ones), 0, atol=1e-12)
