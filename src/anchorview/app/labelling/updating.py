"""Updates of the model, away from the server: in a process of its own, one at a time, the newest labels first."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable
from typing import Any

from .given import GivenLabels
from .live_model import Learner, State


class RemoteModel:
    """A model in another process, so that the server answers while it computes.

    Parameters
    ----------
    make : callable
        A function of a module; it makes the model there.
    *arguments : object
        What it is given.
    """

    def __init__(self, make: Callable[..., Learner], *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, make, arguments), daemon=True)
        self._process.start()
        theirs.close()

    def update(self, given: GivenLabels) -> State:
        """Return what the labels lead to; an error there is raised here."""
        try:
            self._pipe.send(given)
            answer = self._pipe.recv()
        except (EOFError, OSError):
            raise RuntimeError("The process that updates the model has ended; labels are still kept.") from None
        if isinstance(answer, State):
            return answer
        raise RuntimeError(str(answer))

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(0.2)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(2)


def _work(pipe: Any, make: Callable[..., Learner], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
    model: Learner | None = None
    with contextlib.suppress(EOFError, OSError):  # the server has ended
        while True:
            given = pipe.recv()
            try:
                model = make(*arguments) if model is None else model
                pipe.send(model.update(given))
            except Exception as error:
                pipe.send(f"{type(error).__name__}: {error}")


class Updater:
    """Keeps a model up to date: while it computes, only the newest labels wait.

    Parameters
    ----------
    model : Learner
        The model.
    on_state : callable
        Called with each new state, in a thread of its own.
    on_error : callable
        Called with what went wrong, in words.
    """

    def __init__(self, model: Learner, on_state: Callable[[State], None], on_error: Callable[[str], None]) -> None:
        self._model, self._on_state, self._on_error = model, on_state, on_error
        self._waiting: GivenLabels | None = None
        self._changed, self._ends = threading.Condition(), False
        self.busy = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, given: GivenLabels) -> None:
        """Ask for an update; one that waits already is replaced."""
        with self._changed:
            self._waiting, self.busy = given, True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting is not None or self._ends)
                if self._ends:
                    return
                given, self._waiting = self._waiting, None
            assert given is not None
            try:
                state = self._model.update(given)
            except Exception as error:
                self.busy = self._waiting is not None
                self._on_error(str(error))
                continue
            self.busy = self._waiting is not None
            if not self._ends:
                self._on_state(state)

    def close(self) -> None:
        """Stop; an update under way is not waited for."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
