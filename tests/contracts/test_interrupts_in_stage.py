"""Ctrl-C is answered in the midst of a block, and a long stage says how far it is, however dense the codes are."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.dense_codes import make_labels, make_views

from anchorview import FSSMSC, ActiveSet, AnchorViewClassifier
from anchorview.core import progress
from support.models import SHORT
from support.settled import CHOSEN

SCRIPT = Path(__file__).parents[1] / "support" / "dense_codes.py"
WITHIN = 4.0  # seconds on a busy machine; a twentieth of one on an idle one


@pytest.mark.parametrize(
    ("what", "n_threads"),
    [
        ("fit", 1),
        ("predict", 2),
        *(
            pytest.param(what, n_threads, marks=pytest.mark.slow)
            for what, n_threads in (("fit", 2), ("predict", 1), ("search", 1), ("search", 2))
        ),
    ],
)
def test_a_signal_while_dense_codes_are_computed_is_answered_soon(what: str, n_threads: int) -> None:
    command = [sys.executable, str(SCRIPT), what, str(n_threads)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)  # kills it if it hangs
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["ended"] == "interrupt"
    assert found["seconds"] < WITHIN
    assert found["threads"] == 1  # the blocks that were begun have ended, too


def messages(model: FSSMSC | AnchorViewClassifier, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Fit, and return the lines about blocks."""
    caplog.set_level(logging.INFO, "anchorview")
    model.fit([view[:, :8] for view in make_views(1600)], make_labels(1600))
    return [record.getMessage() for record in caplog.records if " blocks" in record.getMessage()]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", [FSSMSC, AnchorViewClassifier])
def test_a_long_stage_says_how_many_blocks_are_done(
    kind: type[FSSMSC | AnchorViewClassifier],
    n_threads: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.0)  # every stage is long
    chosen = CHOSEN if kind is FSSMSC else {"scaling": "minmax", "n_repeats": 1, "search_options": SHORT}
    model = kind(n_landmarks=30, random_state=0, n_jobs=n_threads, verbose=True, **chosen)
    lines = messages(model, caplog)
    assert any("encoding: 1 of 4 blocks, about 0 s left" in line for line in lines), lines
    caplog.clear()
    assert messages(model.set_params(verbose=False), caplog) == []


def test_short_stages_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(FSSMSC(n_landmarks=30, random_state=0, verbose=True), caplog) == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_dense_codes_do_not_depend_on_threads(n_threads: int) -> None:
    views, y = [view[:700, :20] for view in make_views(700)], make_labels(700)
    model = FSSMSC(n_landmarks=100, scaling="minmax", solver=ActiveSet(max_iter=2), random_state=0)
    one, other = (model.set_params(n_jobs=n).fit(views, y).codes_ for n in (1, n_threads))
    np.testing.assert_array_equal(one.toarray(), other.toarray())
