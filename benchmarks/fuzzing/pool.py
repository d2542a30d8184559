"""Worker processes that run cases; one that dies or takes too long is replaced, and its case is blamed."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing as mp
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from .case import DIED, SLOW, VAGUE, Outcome, judge

TOPICS = ("parameters", "features", "labels", "supervision", "prediction", "functions", "files", "command", "valid")
# Shares of the bad and odd inputs; the rest of what is run are random valid problems.
SHARES = {
    **{"parameters": 0.28, "features": 0.22, "labels": 0.12, "supervision": 0.12, "prediction": 0.08},
    **{"functions": 0.06, "files": 0.08, "command": 0.04},
}
Result = tuple[str, str, Outcome, float]  # id, what, outcome, seconds


def make_case(identity: str) -> Any:
    """Make the case of an id, such as labels:0:17; the same one each time. A dotted topic is a module elsewhere."""
    topic, seed, number = identity.split(":")
    rng = np.random.default_rng([int(seed), zlib.crc32(topic.encode()), int(number)])
    return importlib.import_module(topic if "." in topic else f"fuzzing.{topic}").make(rng)


def run_case(identity: str) -> tuple[str, Outcome]:
    """Make and run a case in this process."""
    try:
        case = make_case(identity)
    except Exception as error:
        return "?", Outcome(VAGUE, f"the case itself fails: {type(error).__name__}: {error}")
    return case.what, judge(case)


def _work(link: Connection) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    from threadpoolctl import threadpool_limits

    from .problems import plant, quick

    problem = plant(np.random.default_rng(0))  # loads, on the first run compiles, what is no part of a case's time
    for name in ("FSSMSC", "LMVSC", "AMGL"):  # which have kernels of their own
        for kind in (np.float32, np.float64):
            quick(name, problem.n_classes).fit([view.astype(kind) for view in problem.views], problem.y)
    link.send("ready")
    with threadpool_limits(1), open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        while True:
            try:
                identity = link.recv()
            except EOFError:
                return
            link.send(run_case(identity))


class _Worker:
    def __init__(self) -> None:
        context = mp.get_context("spawn")
        self.link, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.link.recv()
        self.identity: str | None = None
        self.since = 0.0

    def start(self, identity: str) -> None:
        self.identity, self.since = identity, time.monotonic()
        self.link.send(identity)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.link.close()


def run_all(identities: Sequence[str], n_workers: int, seconds: float, until: float) -> Iterator[Result]:
    """Run cases, each for so many `seconds` at most; none is begun after the time `until`."""
    queue = list(reversed(identities))
    workers = [_Worker() for _ in range(max(1, min(n_workers, len(queue))))]
    try:
        while True:
            for worker in workers:
                if worker.identity is None and queue and time.monotonic() < until:
                    worker.start(queue.pop())
            busy = [worker for worker in workers if worker.identity is not None]
            if not busy:
                return
            ready = wait([worker.link for worker in busy], timeout=1.0)
            for place, worker in enumerate(workers):
                if worker.identity is None:
                    continue
                spent = time.monotonic() - worker.since
                if worker.link in ready:
                    try:
                        what, outcome = worker.link.recv()
                        yield worker.identity, what, outcome, spent
                        worker.identity = None
                        continue
                    except (EOFError, OSError):
                        worker.process.join(5)
                        blame = Outcome(DIED, f"exit code {worker.process.exitcode}")
                elif spent > seconds:
                    blame = Outcome(SLOW, f"stopped after {spent:.0f} s")
                else:
                    continue
                yield worker.identity, _describe(worker.identity), blame, spent
                worker.stop()
                workers[place] = _Worker()
    finally:
        for worker in workers:
            worker.stop()


def _describe(identity: str) -> str:
    try:
        return str(make_case(identity).what)
    except Exception:
        return "?"
