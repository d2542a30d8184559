"""Ctrl-C ends a fit as a KeyboardInterrupt, wherever it strikes: the old model stays whole, a search keeps its part."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.core.progress import as_interrupt
from support.processes import run

SCRIPT = Path(__file__).parents[1] / "support" / "interrupts.py"
GOOD = {"interrupt", "whole", "part", "between"}


def interrupted(**seconds: float) -> dict[str, dict[str, int]]:
    """Interrupt fits of each kind by real signals for so many seconds; how they ended, and how often so."""
    asked = [str(part) for item in seconds.items() for part in item]
    done = run([sys.executable, str(SCRIPT), *asked], seconds=sum(seconds.values()) + 150)
    ends: dict[str, dict[str, int]] = json.loads(done.stdout)
    return ends


def test_signals_at_any_moment() -> None:
    ends = interrupted(fit=0.5, refit=0.5, search=2)
    assert {end for part in ends.values() for end in part} <= GOOD, ends
    assert all(sum(part.values()) >= 3 for part in ends.values())


@pytest.mark.slow
def test_many_signals() -> None:
    ends = interrupted(fit=60, refit=60, search=120)
    assert {end for part in ends.values() for end in part} <= GOOD, ends
    assert all(part["interrupt"] > 20 for part in ends.values())
    assert ends["search"]["part"] > 20


def test_an_interrupt_is_found_at_the_end_of_the_chain() -> None:
    inner, outer, other = SystemError("inner"), SystemError("outer"), SystemError("of another kind")
    inner.__context__, outer.__cause__, other.__cause__ = KeyboardInterrupt(), inner, ValueError()
    assert isinstance(as_interrupt(outer), KeyboardInterrupt)
    assert as_interrupt(other) is other
    wrapped = ValueError()
    wrapped.__cause__ = KeyboardInterrupt()
    assert as_interrupt(wrapped) is wrapped  # only compiled code hides an interrupt


def test_a_chain_of_causes_that_comes_back_to_itself_ends() -> None:
    error, cause = SystemError("one"), SystemError("two")
    error.__cause__, cause.__cause__ = cause, error
    assert as_interrupt(error) is error


class Compiled(np.ndarray):
    """Rows that end any work on them as an interrupt of compiled code does."""

    armed = False

    def __getitem__(self, key: Any) -> Any:
        if Compiled.armed and isinstance(key, np.ndarray):
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return super().__getitem__(key)


@pytest.mark.parametrize("kind", [FSSMSC, AnchorViewClassifier])
def test_a_system_error_of_an_interrupt_is_an_interrupt(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = datasets.make_multiview_subspaces(120, 3, (8, 6), random_state=0)
    views = [made.data[0].view(Compiled), made.data[1]]
    model = kind(n_landmarks=20, random_state=0)
    monkeypatch.setattr(Compiled, "armed", True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views, made.target)
    with pytest.raises(NotFittedError):
        model.predict(views)
