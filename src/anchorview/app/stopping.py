"""Signals that end the command: SIGTERM and SIGHUP clean up as Ctrl-C does, and the exit code tells which it was."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# A service or a scheduler ends a program by SIGTERM, a terminal that is closed by SIGHUP (which Windows does not have).
_OTHERS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_received: list[int] = []


def exit_code() -> int:
    """Return the exit code of a command that was ended: 128 and the number of the signal, as shells have it."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


@contextmanager
def heed_signals(on_stop: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Within the context, signals that end the command raise a KeyboardInterrupt, after which everything is cleaned up.

    Parameters
    ----------
    on_stop : callable
        What to do first.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        if number != signal.SIGINT:
            for other in _OTHERS:  # cleaning up is short; who cannot wait sends SIGKILL
                signal.signal(other, signal.SIG_IGN)
        on_stop()
        raise KeyboardInterrupt

    # One that is ignored stays so: nohup asks for that.
    heeded = [signal.SIGINT, *(number for number in _OTHERS if signal.getsignal(number) is not signal.SIG_IGN)]
    before = {number: signal.signal(number, stop) for number in heeded}
    _received.clear()
    try:
        yield
    finally:
        for number, handler in before.items():
            if number == signal.SIGINT or not _received:  # else the command is about to end: no second signal
                signal.signal(number, handler)
