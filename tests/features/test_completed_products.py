"""What rows lack, filled in from their codes: in E and in the features alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import Views
from anchorview.datasets import make_multiview_subspaces
from anchorview.features.products import CompletedProducts, complete_features
from anchorview.features.representation import Representation, represent
from anchorview.features.scaling import fit_scaling
from anchorview.solver.elastic_net import ElasticNetEncoder

N_ROWS = 700


@pytest.fixture(scope="module", params=["dense", "with a sparse view"])
def case(request: pytest.FixtureRequest) -> tuple[Views, Representation, ElasticNetEncoder]:
    arrays: list[Any] = list(make_multiview_subspaces(N_ROWS, 3, (8, 6, 5), random_state=0).data)
    if request.param != "dense":
        arrays[1] = sparse.csr_array(np.abs(arrays[1]).round(1))
    rng = np.random.default_rng(0)
    present = rng.random((N_ROWS, 3)) > 0.4
    present[:, 0] |= ~present.any(axis=1)
    views = Views(arrays, mask=present)
    scaler = fit_scaling(views, ["minmax", "l2", "minmax"], present=present)
    source = represent(views, scaler, "kmeans", 20, np.random.RandomState(0), present=present)
    return views, source, ElasticNetEncoder(source.grams.complete, 0.5, 0.1, source.grams)


def test_rows_by_number_and_by_block_agree(case: Any) -> None:
    _, source, encoder = case
    completed = CompletedProducts(source.cross, encoder)
    assert completed.n_rows == N_ROWS and len(completed.blocks) == 2
    rows = np.array([3, 600, 699])
    by_block = np.concatenate([completed.read(block) for block in completed.blocks])
    np.testing.assert_allclose(completed.take(rows), by_block[rows], atol=1e-6)
    assert np.abs(by_block - source.cross.take(np.arange(N_ROWS))).max() > 0.1


def test_completed_features_have_the_completed_products(case: Any) -> None:
    """But for what a sparse view lacks, which stays empty."""
    views, source, encoder = case
    present, rows = views.present, np.arange(N_ROWS)
    scaled = source.scaler.take(views, rows, present)
    before = scaled.dense().copy()
    products = source.cross.take(rows)
    filled = complete_features(scaled, products, present, encoder, source.landmarks)
    np.testing.assert_array_equal(scaled.dense(), before)  # not changed in place
    has = np.repeat(present, source.scaler.sizes, axis=1)
    np.testing.assert_array_equal(filled.dense()[has], before[has])
    is_sparse = any(sparse.issparse(values) for _, values in scaled.parts)
    same = present[:, 1] if is_sparse else np.ones(N_ROWS, dtype=bool)
    expected = CompletedProducts(source.cross, encoder).take(rows)
    np.testing.assert_allclose(filled.dense()[same] @ source.landmarks.T, expected[same], atol=1e-5)
    if is_sparse:
        assert (filled.dense()[~same][:, 8:14] == 0).all()
    assert complete_features(scaled, products, None, encoder, source.landmarks) is scaled
