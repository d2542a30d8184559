"""Which readings go together, judged by the probabilities that they gave to hidden rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import Views
from anchorview.supervision.given import read_known
from anchorview.tuning.auto import _sample, forms_of
from anchorview.tuning.judging import Judgement, SearchData, join
from anchorview.tuning.settings import Setting


@pytest.fixture
def data() -> SearchData:
    rng = np.random.default_rng(0)
    target = np.arange(300) % 2
    made = _sample(read_known(Views([rng.normal(size=(300, 3))]), None, None, target, None, None, None), "minmax", 0, 1)
    assert made is not None
    return made


def add(data: SearchData, head: str, right: Any, scaling: str = "minmax", **changes: Any) -> Setting:
    """Judge a setting as if it had given these probabilities to the right classes."""
    class_ids = data.class_ids[data.judged_rows]
    own = np.broadcast_to(right, len(class_ids))
    held_out = np.where(np.arange(2) == class_ids[:, None], own[:, None], 1 - own[:, None])
    setting = Setting(scaling, 10, head=head, **changes)
    loss = float(-np.log(own).mean())
    data.judged[setting] = Judgement(setting, loss, 0.0, (), 1.0, 0.0, loss, held_out)
    return setting


def losses(data: SearchData, *, with_rule: bool = True, readers: tuple[str, ...] | None = None) -> dict[str, float]:
    joined = join(data, ["minmax"], forms_of(readers), with_rule=with_rule)
    return {"+".join(setting.head for setting in each.parts): each.shrunk_loss for each in joined}


def test_readings_that_err_on_different_rows_are_better_together(data: SearchData) -> None:
    part = np.arange(len(data.judged_rows)) % 10
    add(data, "nearest", np.where(part < 7, 0.7, 0.3))  # as sure as it is right
    add(data, "features", np.where(part < 3, 0.3, 0.7))
    add(data, "poisson", np.where(part < 7, 0.7, 0.3))  # errs where the nearest does
    found = losses(data)
    assert set(found) == {"nearest", "nearest+features", "nearest+poisson", "nearest+features+poisson"}
    assert found["nearest+features"] < found["nearest"] - 0.05
    assert found["nearest+poisson"] == pytest.approx(found["nearest"], abs=0.05)


def test_the_best_of_each_kind_takes_part(data: SearchData) -> None:
    add(data, "nearest", 0.6)
    votes = add(data, "knn", 0.8)
    add(data, "features", 0.7, strength=1.0)
    strong = add(data, "features", 0.9, strength=100.0)
    add(data, "features", 0.99, scaling="standard")
    best = join(data, ["minmax"], [("linear",)], with_rule=True)[0]
    assert best.parts == (votes, strong) and best.beside == ("linear",)


def test_what_was_not_judged_takes_no_part(data: SearchData) -> None:
    add(data, "features", 0.8)
    assert losses(data) == {}
    assert set(losses(data, with_rule=False, readers=("linear",))) == {"features"}
    assert join(data, ["standard"], forms_of(None), with_rule=True) == []


def test_forms_are_those_asked_for() -> None:
    assert forms_of(None) == ((), ("linear",), ("poisson",), ("linear", "poisson"))
    assert forms_of(("knn", "poisson")) == (("poisson",),) and forms_of(("paper",)) == ((),)
