"""Lines inside a long stage: blocks done of all, and about how long the others will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY = 2.0  # seconds between two lines, and before the first: short work stays silent
_watcher = threading.local()  # `write` of who wants to know, in this thread


@contextmanager
def watch(write: Callable[[str], None] | None) -> Iterator[None]:
    """Write lines about the work by blocks that this thread begins within the context; None keeps it silent."""
    before = getattr(_watcher, "write", None)
    try:
        _watcher.write = write
        yield
    finally:
        _watcher.write = before


class Ticker:
    """Counts blocks, from any thread, and now and then writes a line to who watches the thread that made it.

    The name says what is done to the blocks; None writes nothing. The unit says what is counted.

    Examples
    --------
    >>> ticker = Ticker("encoding", 80)
    >>> ticker.n_done = 12
    >>> ticker.line(60.0)
    'encoding: 12 of 80 blocks, about 6 min left'
    """

    def __init__(self, name: str | None, total: int, unit: str = "blocks") -> None:
        self._name, self._total, self._unit = name, total, unit
        self._write = None if name is None else getattr(_watcher, "write", None)
        self._lock = threading.Lock()
        self._start = self._last = time.perf_counter()
        self._shares: dict[int, float] = {}  # done of the block that each thread works on
        self.n_done = 0

    def done(self) -> None:
        """Count a finished block."""
        with self._lock:
            self.n_done += 1
            self._shares.pop(threading.get_ident(), None)
        self.tick()

    def tick(self, share: float = 0.0) -> None:
        """Write a line if it is time for one; `share` is what this thread has done of its block."""
        if self._write is None:
            return
        now, line = time.perf_counter(), None
        with self._lock:
            if share > 0.0:
                self._shares[threading.get_ident()] = share
            if now - self._last >= _EVERY and self.n_done < self._total:
                self._last, line = now, self.line(now - self._start)
        if line is not None:
            self._write(line)

    def line(self, seconds: float) -> str:
        """Say how far the work is after so many seconds."""
        text = f"{self._name}: {self.n_done} of {self._total} {self._unit}"
        done = self.n_done + sum(self._shares.values())
        return text if done == 0 else f"{text}, {time_left(seconds * (self._total / done - 1))}"


def time_left(seconds: float) -> str:
    """Say about how long something will take.

    Examples
    --------
    >>> time_left(35.2), time_left(240), time_left(9000)
    ('about 35 s left', 'about 4 min left', 'about 2.5 h left')
    """
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
