"""Work on rows with hundreds of non-zeros, interrupted by a real SIGINT: ``python dense_codes.py fit 2``.

The first word is what is done ("fit", "predict", "search"), the second the number of threads. The signal comes while
codes are computed. Prints, as JSON, how the work ended and the seconds from the signal to this end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.solver import row_solver

N_LANDMARKS = 500
ROWS_OF = {"fit": 40_000, "predict": 40_000, "search": 20_000}  # minutes of work, if nothing ends it


def make_views(n_rows: int) -> list[Any]:
    """Signed features without structure: with scaling="minmax", codes have some 150 non-zeros."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n_rows, 60)).astype(np.float32) for _ in range(3)]


def make_labels(n_rows: int) -> Any:
    """Five classes at random, one row in ten labelled."""
    rng = np.random.default_rng(1)
    return np.where(rng.random(n_rows) < 0.1, rng.integers(0, 5, n_rows), -1)


def interrupt_encoding() -> list[float]:
    """Send a SIGINT half a second after the first block of rows is begun; return a list that gets the time of it."""
    sent: list[float] = []
    solve = row_solver.RowSolver.solve
    begun = threading.Event()

    def noted(self: Any) -> Any:
        if len(self._linear) > N_LANDMARKS:  # not the landmarks' own codes
            begun.set()
        return solve(self)

    def send() -> None:
        begun.wait()
        time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    row_solver.RowSolver.solve = noted  # type: ignore[method-assign]
    threading.Thread(target=send, daemon=True).start()
    return sent


def main(what: str, n_threads: int) -> dict[str, Any]:
    """Do the work, and tell how it ended."""
    model: Any = FSSMSC(n_landmarks=N_LANDMARKS, landmarks="random", scaling="minmax", random_state=0, n_jobs=n_threads)
    n_rows, views = ROWS_OF[what], make_views(ROWS_OF[what])
    if what == "search":  # codes come first, and no setting is judged before the signal
        options = {"feature_strengths": (), "graph_strengths": (), "poisson_strengths": ()}
        model = AnchorViewClassifier(n_landmarks=N_LANDMARKS, scaling="minmax", random_state=0, n_jobs=n_threads)
        model.set_params(search_options=options)
    if what == "predict":
        model.set_params(solver__max_iter=1).fit([view[:1600] for view in views], make_labels(1600))
    sent = interrupt_encoding()
    try:
        model.predict(views) if what == "predict" else model.fit(views, make_labels(n_rows))
        ended = "whole"
    except KeyboardInterrupt:
        ended = "interrupt"
    return {"ended": ended, "seconds": time.perf_counter() - sent[0], "threads": threading.active_count()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
