"""Data for fits on Dask, in memory and as dask arrays, and what makes two fits the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import numpy as np
from scipy import sparse

from anchorview import FSSMSC, datasets

N_ROWS, N_BLOCKS = 320, 8
WEIGHTS = {"view_weights": None, "ridge": 3.0, "must_link_weight": 3.0}
SETTLED = {**WEIGHTS, "readers": "nearest", "n_landmarks": 16, "random_state": 0}


def build(**options: Any) -> FSSMSC:
    return FSSMSC().set_params(**{**SETTLED, "scaling": ["minmax", "standard", "lsa"], "n_jobs": 1, **options})


def make_data() -> SimpleNamespace:
    """Return three views, the last of counts, in memory and as dask arrays with other chunks in each view."""
    made = datasets.make_multiview_subspaces(N_ROWS, 3, (6, 4), random_state=0)
    counts = np.random.default_rng(0).poisson(0.5 + 2 * (np.arange(30) % 3 == made.target[:, None]))
    arrays = [*(array.astype(np.float32) for array in made.views.arrays), counts.astype(np.float32)]
    y = datasets.hide_labels(made.target, 0.2, random_state=0)
    meta = sparse.csr_matrix((0, 0), dtype=np.float32)
    text = da.from_array(arrays[2], chunks=(100, 30)).map_blocks(sparse.csr_matrix, meta=meta)
    on_dask = [
        da.from_array(arrays[0], chunks=(N_ROWS // N_BLOCKS, 4)),
        da.from_array(arrays[1], chunks=(150, 4)),
        text,
    ]
    in_memory = [*arrays[:2], sparse.csr_array(arrays[2])]
    return SimpleNamespace(y=y, arrays=arrays, in_memory=in_memory, on_dask=on_dask, model=build().fit(in_memory, y))


def slow_views(data: Any, seconds: float) -> list[Any]:
    """Return the dense views in delayed blocks that take a while to load."""

    def load(rows: np.ndarray, seconds: float) -> np.ndarray:
        import time

        time.sleep(seconds)
        return rows

    cut = [np.array_split(array, N_BLOCKS) for array in data.arrays[:2]]
    return [[dask.delayed(load)(part, seconds) for part in parts] for parts in cut]


def check_same(model: FSSMSC, expected: FSSMSC) -> None:
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.codes_[:].toarray(), expected.codes_[:].toarray(), atol=1e-5)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-5)
    np.testing.assert_allclose(model.confidence_, expected.confidence_, atol=1e-5)
