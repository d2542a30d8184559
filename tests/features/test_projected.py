"""Coordinates of texts, computed once for all scalings of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import AnchorViewClassifier, Views
from anchorview.features.projected import Coordinates
from anchorview.features.representation import represent
from anchorview.features.scaling import TextScalers, fit_scaling
from anchorview.features.text import TextScaler


def text_and_numbers(lacking: bool) -> tuple[Views, Any]:
    rng = np.random.RandomState(0)
    words = sparse.random(120, 60, 0.1, format="csr", random_state=rng, dtype=np.float32)
    present = None if not lacking else np.column_stack([np.arange(120) % 7 > 0, np.arange(120) % 5 > 0])
    views = Views({"words": words, "numbers": rng.rand(120, 5).astype(np.float32)})
    return views, present


@pytest.mark.parametrize("lacking", [False, True])
def test_landmarks_products_and_features_are_the_same_to_the_last_bit(lacking: bool) -> None:
    views, present = text_and_numbers(lacking)
    scalers: TextScalers = {}
    coordinates: Coordinates = {}
    for kind in ("minmax", "standard"):
        scaler = fit_scaling(views, ("lsa", kind), rng=np.random.RandomState(1), present=present, known=scalers)
        plain, shared = (
            represent(views, scaler, "kmeans", 20, np.random.RandomState(2), present=present, coordinates=kept)
            for kept in (None, coordinates)
        )
        np.testing.assert_array_equal(shared.landmarks, plain.landmarks)
        for block in plain.cross.blocks:
            np.testing.assert_array_equal(shared.cross.read(block), plain.cross.read(block))
        rows = np.array([3, 70, 35])  # 35 lacks both views in one case
        np.testing.assert_array_equal(shared.cross.features(rows).dense(), plain.cross.features(rows).dense())
        assert shared.scaler is scaler  # what a model keeps scales new rows, too
    assert len(coordinates) == 1


def test_a_search_scales_a_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    views, _ = text_and_numbers(False)
    written = []
    plain = TextScaler.write

    def write(self: TextScaler, block: Any, out: Any, start: int) -> None:
        written.append(block.shape[0])
        plain(self, block, out, start)

    monkeypatch.setattr(TextScaler, "write", write)
    y = np.where(np.arange(120) < 40, np.arange(120) % 2, -1)
    model = AnchorViewClassifier(n_landmarks=20, n_repeats=1, n_jobs=1, view_weights=None, random_state=0)
    model.fit(views, y)
    assert len({str(scaling) for scaling in model.cv_results_["param_scaling"]}) > 1
    assert sum(written) == 120
