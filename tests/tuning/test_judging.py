"""How settings are believed in: their loss on hidden labels, prior doubt, and what the search does with both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anchorview.readers.temperature import log_loss
from anchorview.tuning.judging import Judgement, SearchData, judge, prior_doubt
from anchorview.tuning.options import SearchOptions
from anchorview.tuning.search import _best, best_on_codes
from anchorview.tuning.settings import Setting
from support.searches import search_data

OPTIONS = SearchOptions(prior_rows=20.0, change_loss=0.1)


def with_judged_rows(some: Any, count: int) -> SearchData:
    return search_data(some, folds=[np.arange(count)], options=OPTIONS)


@pytest.mark.parametrize(("n_judged", "share"), [(20, 0.5), (5, 0.8)])
def test_prior_doubt_is_that_of_the_head_and_of_each_change(some_digits: Any, n_judged: int, share: float) -> None:
    """It fades as rows are judged: at `prior_rows` of them, half is left."""
    data = with_judged_rows(some_digits, n_judged)
    default = Setting("minmax", 60, head="nearest")
    losses = OPTIONS.prior_losses
    assert losses["codes"] > losses["embedding"] > losses["nearest"] == 0
    for head in losses:
        assert prior_doubt(data, replace(default, head=head)) == pytest.approx(share * losses[head])
    assert prior_doubt(data, replace(default, scaling="l2")) == pytest.approx(share * 0.1)
    assert prior_doubt(data, replace(default, ridge=1.0, l1=0.05)) == pytest.approx(share * 0.2)
    assert prior_doubt(data, replace(default, head="spread", n_landmarks=40)) == pytest.approx(share * 0.1)


def test_a_judgement_is_made_of_hidden_labels_and_prior_doubt(some_digits: Any) -> None:
    data = search_data(some_digits, options=OPTIONS)
    setting = Setting("minmax", 60, head="features", strength=1.0)
    judge(data, [setting])
    found = data.judged[setting]
    truth = data.class_ids[data.judged_rows]
    assert found.loss == pytest.approx(log_loss(found.held_out, truth).mean())
    assert found.accuracy == (found.held_out.argmax(axis=1) == truth).mean()
    weight = data.n_judged / (data.n_judged + 20)
    assert found.shrunk_loss == pytest.approx(weight * found.loss + (1 - weight) * OPTIONS.prior_losses["features"])


def judged(setting: Setting, shrunk_loss: float) -> Judgement:
    return Judgement(setting, shrunk_loss, 0.5, (0.5,), 1.0, 0.0, shrunk_loss, np.empty((0, 2)))


def test_the_search_goes_on_with_what_did_best(some_digits: Any) -> None:
    """A scaling is as good as its best setting; one that was not tried comes last."""
    data = with_judged_rows(some_digits, 5)
    losses = {
        Setting("l2", 60, head="features"): 0.9,
        Setting("l2", 60, head="knn"): 0.3,
        Setting("minmax", 60, head="features"): 0.1,
        Setting("minmax", 60, head="knn"): 0.8,
        Setting("standard", 60, head="spread"): 0.2,
    }
    data.judged = {setting: judged(setting, shrunk_loss) for setting, shrunk_loss in losses.items()}
    scalings = ["symmetric", "l2", "minmax", "standard"]
    assert _best(data, scalings, 2) == ["minmax", "standard"]
    assert _best(data, scalings, 9) == ["minmax", "standard", "l2", "symmetric"]
    base = Setting("minmax", 60)
    assert best_on_codes(data, base) == Setting("l2", 60, head="knn")
    data.judged = {}
    assert best_on_codes(data, base) == base


def test_settings_are_judged_by_the_codes_of_some_rows(some_digits: Any) -> None:
    """All that something is told of are among them, and their codes are those they always have."""
    data = search_data(some_digits, options=replace(OPTIONS, n_coded=100))
    setting = Setting("minmax", 60)
    some, every = data.judged_codes(setting), data.code_set(setting)
    assert some.rows is not None and len(some.rows) == len(data.rows) + 100
    assert np.isin(data.known_rows, some.rows).all()
    np.testing.assert_allclose(some.of(data.rows).toarray(), every.of(data.rows).toarray(), atol=1e-6)
    np.testing.assert_allclose(some.gram, (some.codes.T @ some.codes).toarray(), rtol=1e-4, atol=1e-6)
    fresh = search_data(some_digits, options=OPTIONS).code_set(setting)  # not put together from two parts
    np.testing.assert_allclose(every.codes.toarray(), fresh.codes.toarray(), atol=1e-6)
    np.testing.assert_allclose(every.gram, fresh.gram, rtol=1e-4, atol=1e-6)
    judge(data, [setting])
    full = search_data(some_digits, options=OPTIONS)
    judge(full, [setting])
    assert full.judged_codes(setting) is full.code_set(setting)
    assert abs(data.judged[setting].accuracy - full.judged[setting].accuracy) < 0.15
