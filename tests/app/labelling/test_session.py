"""A session: several people, updates that never block, the same state after a restart."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC
from anchorview.app.label_journal.book import LabelBook
from anchorview.app.label_journal.journal import Event
from anchorview.app.labelling.dealing import LEASE, Dealer
from support.labelling import FixedModel, digits_session, plain_session, wait_until


def test_two_people_get_different_rows_until_a_lease_ends() -> None:
    now = [0.0]
    dealer, book = Dealer(np.arange(100), lambda: now[0]), LabelBook()
    dealer.suggest([(row, "") for row in range(50, 100)])
    ann = {card.row for card in dealer.hand("ann", book)}
    bob = {card.row for card in dealer.hand("bob", book)}
    assert len(ann) == len(bob) == 6 and not ann & bob
    now[0] = LEASE + 1
    assert {card.row for card in dealer.hand("carl", book)} == ann


def test_one_row_in_twenty_goes_to_a_second_person_blind() -> None:
    dealer = Dealer(np.arange(500))
    dealer.suggest([(row, "") for row in range(500)])
    book = LabelBook.replay([Event("label", (row,), "ann", "a", number=row + 1) for row in range(40)])
    whys = []
    for number in range(40):
        card = dealer.hand("bob", book)[0]
        whys.append(card.why)
        assert (card.why == "second") == (card.row < 40) and card.is_blind == (card.why != "suggested")
        book._take(Event("label", (card.row,), "bob", "a", card.why, number=100 + number), False)
    assert whys.count("second") == 2 and whys.count("random") == 6
    assert book.agreement().n_rows == 2


def test_the_newest_labels_win_and_nobody_waits(tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl")
    model: FixedModel = session.model  # type: ignore[assignment]
    wait_until(lambda: session.state.version)
    model.wait = 0.3
    start = time.perf_counter()
    for row in range(20):
        session.take("ann", [{"kind": "label", "rows": [row], "label": "a"}])
    assert time.perf_counter() - start < 0.3 + 0.5
    wait_until(lambda: len(model.seen[-1].labels) == 20)
    assert len(model.seen) < 8
    session.close()


def test_a_restart_gives_the_same_state(tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl")
    for row in range(9):
        event = {"kind": ("label", "skip", "none")[row % 3], "rows": [row]}
        session.take("ann", [event | {"label": "c"} if row % 3 == 0 else event])
    session.undo("ann")
    before = session.book
    session.close()
    again = plain_session(tmp_path / "run.labels.jsonl")
    assert again.book == before
    again.close()


@pytest.mark.slow
def test_labels_of_digits_lead_to_an_honest_accuracy(tmp_path: Path, some_digits: Any) -> None:
    fitted = FSSMSC(10, n_landmarks=40, random_state=0).fit(some_digits.views)
    session = digits_session(tmp_path / "run.labels.jsonl", some_digits, fitted, tuple("0123456789"))
    truth = some_digits.target
    for number in range(75):
        row = session.queue("ann")[0]["row"]
        session.take("ann", [{"kind": "label", "rows": [row], "label": str(truth[row])}])
        if number % 25 == 24:
            wait_until(lambda: not session.updating, 60)
    state, figures = session.state, session.figures
    right = np.mean([session.guess(row) == str(truth[row]) for row in range(len(truth))])
    assert right > 0.8
    assert figures.accuracy is not None and figures.accuracy.rests_on == "audit" and figures.accuracy.n_judged >= 14
    assert figures.accuracy.low <= right <= figures.accuracy.high + 0.05
    assert figures.n_trusted == 0 and figures.n_more is not None  # 59 are needed
    assert len(figures.suggested) > 50 and state.share_changed is not None
    session.close()
