"""Models away from the server: in processes of their own, one update at a time, the newest labels first."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .given import GivenLabels
from .live_model import Learner
from .state import Figures, State


class RemoteModel:
    """A model in two other processes, so that the server answers while it computes, and labels never wait for figures.

    Parameters
    ----------
    make : callable
        A function of a module; it makes the model there.
    *arguments : object
        What it is given.
    """

    def __init__(self, make: Callable[..., Learner], *arguments: Any) -> None:
        self._labels = _Process(make, arguments)
        self._figures: _Process | None = None  # started after the first labels: both would read the same files
        self._make, self._arguments = make, arguments

    def update(self, given: GivenLabels) -> State:
        """Return the label of each row; an error there is raised here."""
        state: State
        (state,) = self._labels.ask("update", given)
        if self._figures is None:
            self._figures = _Process(self._make, self._arguments, niceness=5)
        return state

    def judge(self, given: GivenLabels) -> Iterator[Figures]:
        """Return how good the labels are."""
        process = self._figures
        return iter(()) if process is None else process.ask("judge", given)

    def save(self, form: str) -> bytes:
        """Return a file of the model."""
        data: bytes
        (data,) = self._labels.ask("save", form)
        return data

    def close(self) -> None:
        """End the processes."""
        for process in (self._labels, self._figures):
            if process is not None:
                process.close()


class _Process:
    def __init__(self, make: Callable[..., Learner], arguments: tuple[Any, ...], niceness: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._lock = threading.Lock()  # one question at a time
        self._process = context.Process(target=_work, args=(theirs, make, arguments, niceness), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, method: str, argument: Any) -> Iterator[Any]:
        with self._lock:
            try:
                self._pipe.send((method, argument))
                while (answer := self._pipe.recv()) is not None:
                    if isinstance(answer, _Problem):
                        raise RuntimeError(answer.text)
                    yield answer
            except (EOFError, OSError):
                raise RuntimeError("The process that updates the model has ended.") from None

    def close(self) -> None:
        self._pipe.close()
        self._process.join(0.2)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(2)


class _Problem:
    def __init__(self, text: str) -> None:
        self.text = text


def _work(pipe: Any, make: Callable[..., Learner], arguments: tuple[Any, ...], niceness: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    model: Learner | None = None
    with contextlib.suppress(EOFError, OSError):  # the server has ended
        while True:
            method, argument = pipe.recv()
            try:
                model = make(*arguments) if model is None else model
                answer = getattr(model, method)(argument)
                for part in answer if isinstance(answer, Iterator) else (answer,):
                    pipe.send(part)
                pipe.send(None)
            except Exception as error:
                pipe.send(_Problem(str(error) or type(error).__name__))


class Updater:
    """Calls a function with the newest labels, again and again; while it works, only the newest ones wait.

    Parameters
    ----------
    work : callable
        Returns results of labels, one or several.
    on_result : callable
        Called with each, in a thread of its own.
    on_end : callable
        Called after the last one with None, or with what went wrong, in words.
    """

    def __init__(
        self,
        work: Callable[[GivenLabels], Iterable[Any]],
        on_result: Callable[[Any], None],
        on_end: Callable[[str | None], None],
    ) -> None:
        self._work, self._on_result, self._on_end = work, on_result, on_end
        self._waiting: GivenLabels | None = None
        self._changed, self._ends = threading.Condition(), False
        self.busy = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, given: GivenLabels) -> None:
        """Ask for results; labels that wait already are replaced."""
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
                for result in self._work(given):
                    if not self._ends:
                        self._on_result(result)
                problem = None
            except Exception as error:
                problem = str(error)
            self.busy = self._waiting is not None
            self._on_end(problem)

    def close(self) -> None:
        """Stop; work under way is not waited for."""
        with self._changed:
            self._ends = True
            self._changed.notify()
