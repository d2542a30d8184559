"""Fits that get real SIGINTs at many moments: ``python interrupts.py fit 2 search 5`` prints how they ended, as JSON.

Each kind of fit gets so many seconds: "fit" (FSSMSC), "refit" (FSSMSC that was fitted on other rows before), "search"
(AnchorViewClassifier).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from copy import copy
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from anchorview import FSSMSC, AnchorViewClassifier, datasets

MADE = datasets.make_multiview_subspaces(240, 3, (8, 6), random_state=0)
Y = datasets.hide_labels(MADE.target, 0.2, random_state=0)
OTHER = datasets.make_multiview_subspaces(150, 4, (8, 6), random_state=1)
SHORT = {"feature_strengths": (1.0,), "graph_strengths": (0.8,), "ridges": (), "must_link_weights": ()}


class Closing:
    """A callback that notes whether it was closed as often as it was opened."""

    def __init__(self) -> None:
        self.n_open = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.n_open += 1

    def teardown(self, estimator: Any, context: Any) -> None:
        self.n_open -= 1

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Nothing."""


def build(kind: str) -> Any:
    if kind == "search":
        return AnchorViewClassifier(
            n_landmarks=40, scaling="minmax", n_repeats=1, search_options=SHORT, random_state=0, n_jobs=1, n_averaged=3
        )
    return FSSMSC(n_landmarks=40, random_state=0, n_jobs=1)


def says(model: Any, views: Any) -> Any:
    try:
        return model.predict_proba(views)
    except NotFittedError:
        return None


def same(found: Any, expected: Any) -> bool:
    if found is None or expected is None:
        return found is expected
    return found.shape == expected.shape and bool((found == expected).all())


def one(old: Any, delay: float, before: Any, whole: Any) -> str:
    """Interrupt one fit after some seconds, and say how it ended.

    `before` is what the old model says of the other rows (None: it is not fitted), `whole` what the new one should say.
    """
    model, closing = copy(old), Closing()
    if hasattr(model, "set_callbacks"):  # scikit-learn before 1.9 has none
        model.set_callbacks(closing)
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True  # an interrupt within `cancel` can leave its lock held: nobody may wait for it for ever
    try:
        try:
            timer.start()
            model.fit(MADE.views, Y)
            ended = "part" if getattr(model, "interrupted_", False) else "whole"
        finally:
            timer.cancel()
            timer.join(1)
            time.sleep(0.001)  # a signal that is under way arrives here
    except KeyboardInterrupt:
        ended = "interrupt"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    if closing.n_open:
        return f"{ended}, callback open"
    if ended == "interrupt":  # the old model, or if the signal came at the very end the new one
        found = same(says(model, OTHER.views), before) or same(says(model, MADE.views), whole)
        return ended if found else "interrupt, neither old nor new"
    found = says(model, MADE.views)
    if ended == "whole":
        return ended if same(found, whole) else "whole, but other than without interrupt"
    usable = len(model.labels_) == 240 and np.isfinite(found).all() and "interrupted" in model.status_
    return ended if usable and len(model.cv_results_["params"]) > 0 else "part, not usable"


def interrupt(kind: str, seconds: float) -> Counter[str]:
    """Interrupt fits for so many seconds, three of them at least; how they ended, and how often so."""
    old, before = build(kind), None
    if kind == "refit":
        before = old.fit(OTHER.views, OTHER.target).predict_proba(OTHER.views)
    build(kind).fit(MADE.views, Y)  # loads what is compiled
    start = time.perf_counter()
    whole = build(kind).fit(MADE.views, Y).predict_proba(MADE.views)
    usual = time.perf_counter() - start
    rng, ends = np.random.default_rng(0), Counter[str]()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or ends.total() < 3:
        try:
            ends[one(old, rng.uniform(0, 1.05 * usual), before, whole)] += 1
        except KeyboardInterrupt:  # it came between two fits
            ends["between"] += 1
    return ends


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of some shells start with it ignored
    asked = zip(sys.argv[1::2], map(float, sys.argv[2::2]), strict=True)
    print(json.dumps({kind: interrupt(kind, seconds) for kind, seconds in asked}))
