"""A small Dask cluster of processes for tests, and what happens to its workers."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started_cluster(n_workers: int = 2, memory_limit: str = "1.5GB") -> Iterator[tuple[Any, Any]]:
    """Start worker processes with one thread each; return cluster and client, both closed at the end."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=n_workers, memory_limit=memory_limit, **options) as cluster, Client(cluster) as client:
        yield cluster, client


def kill_worker(cluster: Any, number: int) -> None:
    """End the process of a worker that is up, with no chance to say anything; its nanny starts another.

    None is killed while it starts: its nanny would give up, and a cluster without workers lets a fit wait for ever.
    """
    nannies = [nanny for nanny in cluster.workers.values() if nanny.worker_address in cluster.scheduler.workers]
    up = [nanny.pid for nanny in nannies if nanny.process is not None and nanny.process.status.name == "running"]
    if up:
        os.kill(up[number % len(up)], signal.SIGKILL)


class AtStage(logging.Handler):
    """Does something a while after a fit has said that a stage begins (`verbose=True`).

    Parameters
    ----------
    actions : dict
        For the beginning of a message, seconds to wait and what to do then; 0 does it before the stage goes on.
    """

    def __init__(self, actions: dict[str, tuple[float, Callable[[], Any]]]) -> None:
        super().__init__()
        self._actions = dict(actions)
        self._timers: list[threading.Timer] = []
        self.done: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage().partition(" s  ")[2]
        for start in [start for start in self._actions if message.startswith(start)]:
            seconds, action = self._actions.pop(start)
            self.done.append(start)
            if seconds:
                self._timers.append(threading.Timer(seconds, action))
                self._timers[-1].start()
            else:
                action()

    def __enter__(self) -> AtStage:
        logging.getLogger("anchorview").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("anchorview").removeHandler(self)
        for timer in self._timers:  # none of them may reach the next test
            timer.join()
