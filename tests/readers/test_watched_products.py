"""Products that are looked at while a solver reads them: each block once, whoever reads it first."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, Views, datasets
from anchorview.features.products import ViewCrossProducts
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.fitting import preparing
from anchorview.readers.watched_products import WatchedProducts
from support.stores import CountingRows

GIVEN: dict[str, Any] = {
    "n_landmarks": 30,
    "scaling": "minmax",
    "ridge": 3.0,
    "must_link_weight": 3.0,
    "view_weights": None,
    "random_state": 0,
}


def test_every_block_is_noted_once() -> None:
    rng = np.random.default_rng(0)
    views = Views([rng.random((1200, 4))])
    cross = ViewCrossProducts(views, fit_scaling(views, "minmax"), rng.random((5, 4)))
    seen: list[int] = []

    def note(block: slice, products: Any) -> float:
        seen.append(len(products))
        return float(products.sum())

    watched = WatchedProducts(cross, note)
    for block in [watched.blocks[1], watched.blocks[1], watched.blocks[0]]:
        np.testing.assert_array_equal(watched.read(block), cross.read(block))
    totals = [watched.noted(block) for block in watched.blocks]  # the last one has not been read
    assert sorted(seen) == sorted(block.stop - block.start for block in watched.blocks)
    assert totals == [float(cross.read(block).sum()) for block in watched.blocks]
    np.testing.assert_array_equal(watched.take(np.array([3, 1100])), cross.take(np.array([3, 1100])))
    assert watched.squared_norm() == cross.squared_norm() and watched.present_in(slice(0, 2)) is None


@pytest.mark.parametrize("readers", [("nearest", "linear"), ("linear", "poisson")])
def test_readings_of_products_need_no_further_pass_over_the_rows(readers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = datasets.make_multiview_subspaces(900, 3, (6, 4), random_state=0)
    y = datasets.hide_labels(made.target, 0.1, random_state=0)
    monkeypatch.setattr(preparing, "represent", partial(represent, cache_bytes=0))  # as where E is large

    def passes(**options: Any) -> tuple[int, FSSMSC]:
        sources = [CountingRows(array) for array in made.views.arrays]
        model = FSSMSC(**GIVEN, **options).fit(sources, y)
        return int(sources[0].n_read.max()), model

    plain, _ = passes(readers="nearest")
    beside, model = passes(readers=readers)
    assert beside == plain
    np.testing.assert_array_equal(model.labels_[y == -1], model.predict(made.views)[y == -1])
    # Nor with so many classes that their votes would take much memory: the products are kept for other labels.
    monkeypatch.setattr(preparing, "_VOTE_BYTES", 0)
    again, other = passes(readers=readers)
    assert again == plain
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.confidence_, model.confidence_, atol=1e-12)
    np.testing.assert_array_equal(passes(readers=readers, relabel=1.0)[1].labels_, model.labels_)
