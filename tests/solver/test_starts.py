"""Where the codes of rows start from, when landmarks lie close together and codes are long."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.solver.elastic_net import hessian_of, make_starts, optimality_tol, solve_codes

L1 = 0.2


def landmarks(spread: float, n_close: int = 380) -> np.ndarray:
    """Return most landmarks around one point, ten elsewhere."""
    rng = np.random.default_rng(0)
    close = rng.normal(size=30) / np.sqrt(30) * (1 + spread * rng.normal(size=(n_close, 30)))
    rows = np.abs(np.vstack([close, rng.normal(size=(10, 30)) / np.sqrt(30)]))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_close_landmarks_share_a_start(dtype: type) -> None:
    """Without it, the inverses of their long codes would take 400 MB; each row would start from nothing."""
    points = landmarks(1e-3)
    gram, precision = points @ points.T, np.dtype(dtype)
    hessian, tol = hessian_of(gram, 1.0, precision), optimality_tol(gram, precision)
    starts = make_starts(gram, hessian, L1, tol)
    assert starts is not None and starts.codes.shape[0] == 11
    assert len(np.unique(starts.of_landmark[:380])) == 1 and len(np.unique(starts.of_landmark)) == 11
    rows = points[::20] * (1 + 1e-3 * np.random.default_rng(1).normal(size=(20, 30)))
    linear = (rows @ points.T - L1).astype(dtype)
    found, expected = solve_codes(hessian, linear, tol, starts), solve_codes(hessian, linear, tol)
    assert np.diff(found.indptr).max() > 100
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-4 if dtype is np.float32 else 1e-9)


def test_others_have_their_own() -> None:
    points = np.abs(np.random.default_rng(0).normal(size=(40, 30)))
    gram = points @ points.T
    starts = make_starts(gram, hessian_of(gram, 1.0, np.dtype(float)), L1, optimality_tol(gram, np.dtype(float)))
    assert starts is not None
    np.testing.assert_array_equal(starts.of_landmark, np.arange(40))
