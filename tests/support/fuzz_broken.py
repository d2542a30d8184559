"""Cases that come out badly, each in its own way: what the fuzzer must notice."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from fuzzing.case import REFUSE, WORK, Broken, Case
from fuzzing.problems import plant, quick


def _raise(error: BaseException) -> Any:
    raise error


def _fail() -> None:
    raise Broken("two and two are five")


def _unnamed() -> None:
    problem = plant(np.random.default_rng(0), n_views=2)
    quick("FSSMSC", 2, l1=-1).fit(problem.views, problem.y)


CASES = {
    "child died": Case("dies", lambda: os._exit(11), REFUSE),
    "over a minute": Case("sleeps", lambda: time.sleep(100), REFUSE),
    "silent nonsense": Case("is taken", lambda: None, REFUSE, ("l1",)),
    "silent nonsense, by an oracle": Case("answers wrongly", _fail, WORK),
    "vague error, of another kind": Case("IndexError", lambda: [][1], REFUSE, ("list",)),
    "vague error, not on purpose": Case("broadcasting", lambda: np.ones(2) + np.ones(3), REFUSE, ("operands",)),
    "vague error, outside": Case("elsewhere", lambda: _raise(ValueError("l1 is bad")), REFUSE, ("l1",)),
    "vague error, names nothing": Case("another parameter", _unnamed, REFUSE, ("n_landmarks",)),
    "vague error, should work": Case("refused", _unnamed, WORK, ("l1",)),
    "clear error": Case("refused by name", _unnamed, REFUSE, ("l1",)),
    "fine": Case("works", lambda: None, WORK),
}


def make(rng: np.random.Generator) -> Case:
    """Return one of the cases: which one is all that a test needs to find out beforehand."""
    return list(CASES.values())[int(rng.integers(len(CASES)))]
