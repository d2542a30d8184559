"""The second fit: which rows count as labelled there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.core.arrays import temper
from anchorview.fitting import ensemble as ensembles
from anchorview.fitting.ensemble import Ensemble
from anchorview.model.predicting import add_vote, empty_votes
from anchorview.readers.base import to_space
from anchorview.tuning.judging import judge
from anchorview.tuning.options import SearchOptions
from anchorview.tuning.settings import Setting
from support.searches import search_data


class Noted(Ensemble):
    """Keeps what it is visible of each fit."""

    visible: Any = None

    def add(self, chosen: Any, visible: Any, saw_guesses: bool = False) -> None:
        self.visible = visible
        super().add(chosen, visible, saw_guesses)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_each_class_the_surest_rows_are_taken(some_digits: Any, weighted: bool) -> None:
    weights = np.random.RandomState(0).choice([0.0, 1.0, 2.0], len(some_digits.y)) if weighted else None
    if weights is not None:
        weights[some_digits.y >= 0] = 1.0
    data = search_data(some_digits, options=SearchOptions(sure_share=0.5), sample_weights=weights)
    judge(data, [Setting("minmax", 60, head="features", strength=1.0)])
    chosen = [(judgement, 1.0) for judgement in data.judged.values()]
    ensemble = Noted(data)
    ensemble.add(chosen, data.visible())
    shares = temper(ensemble.votes()[0], 1.0)
    ensemble.add_sure_rows(chosen)
    taken = np.isin(np.arange(len(shares)), ensemble.visible.rows)
    each = np.ones(len(shares)) if weights is None else weights
    open_rows = some_digits.hidden & (each > 0)
    numbers, sure = shares.argmax(axis=1), shares.max(axis=1)
    for number in range(10):
        members = open_rows & (numbers == number)
        assert sure[members & taken].min(initial=1.0) >= sure[members & ~taken].max()
        given = (some_digits.y == number).sum()
        half = max(0.5 * (each[members].sum() + given), given)
        assert half - 2 < each[members & taken].sum() + given <= half
    assert not taken[each == 0].any()
    np.testing.assert_array_equal(
        ensemble.visible.class_ids[~np.isin(ensemble.visible.rows, data.rows)], numbers[taken & some_digits.hidden]
    )


def test_what_several_experts_read_is_computed_once(some_digits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two heads on one embedding and two on the codes: their votes are those of each alone, from two readings."""
    data = search_data(some_digits)
    settings = [Setting("minmax", 60, head=head, strength=1.0) for head in ("nearest", "embedding", "codes")]
    judge(data, settings)
    ensemble = Ensemble(data)
    ensemble.add([(judgement, 1.0) for judgement in data.judged.values()], data.visible())
    (branch,) = ensemble.branches()
    fits = [(settings[0], member) for member in (*branch.members, *branch.members)]
    codes = data.code_set(settings[0]).codes[:50]
    alone, together, n_read = empty_votes([], 50, 10), empty_votes([], 50, 10), []
    for _, member in fits:
        add_vote(member, to_space(member.reader.reads, codes, member.embedding), alone)
    monkeypatch.setattr(ensembles, "to_space", lambda *given: n_read.append(given) or to_space(*given))
    ensembles._add_by_codes(fits, codes, together)
    np.testing.assert_array_equal(together, alone)
    assert together.sum() > 0 and len(n_read) == 2
