"""Progress of a fit: log lines when verbose, and scikit-learn's callbacks where they exist (1.9 and later).

Lines inside a long stage: blocks done of all, and about how long the others will take.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from .notebooks import NotebookHandler, in_notebook

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for releases without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = [
    "CallbackSupportMixin",
    "Iteration",
    "Outcome",
    "Progress",
    "ProgressCallback",
    "as_interrupt",
    "with_callbacks",
]

_LOGGER = logging.getLogger("anchorview")


def as_interrupt(error: BaseException) -> BaseException:
    """Return a KeyboardInterrupt in place of a SystemError that one caused; any other error as it is.

    Ctrl-C while compiled code runs may surface as "SystemError: ... returned a result with an exception set", with the
    KeyboardInterrupt at the end of the chain of its causes.

    Examples
    --------
    >>> error = SystemError("returned a result with an exception set")
    >>> error.__cause__ = KeyboardInterrupt()
    >>> as_interrupt(error), as_interrupt(ValueError("x"))
    (KeyboardInterrupt(), ValueError('x'))
    """
    cause: BaseException | None = error
    seen: set[int] = set()  # a chain may come back to itself
    while isinstance(cause, SystemError) and id(cause) not in seen:
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return KeyboardInterrupt() if isinstance(cause, KeyboardInterrupt) and cause is not error else error


class Outcome(Enum):
    """What happened in a fit, each member a sentence for the user."""

    CONVERGED = "converged: the optimality residual fell below tol."
    MAX_ITER = (
        "stopped at max_iter before the optimality residual fell below tol; "
        "raise max_iter or tol if the objective is still falling."
    )
    STEP_SHORTENED = "a step had to be shortened so that the objective did not rise."
    THEOREM_NOT_MET = (
        "the convergence theorem's condition on the penalty (lambda > L_h + 2 + 2 L_h^2) is not met; "
        "the steps are safeguarded instead."
    )
    DIVERGED = "the unguarded step diverged (NaN or infinity); use fixed_step=False."
    DENOMINATOR_GUARDED = "the trace-ratio denominator was not positive definite and was shifted."
    FEWER_CLASSES = "fewer classes are labelled than clusters were asked for: rows can only get a labelled class."
    MORE_CLASSES = "more classes are labelled than n_clusters: the number of labelled classes was used instead."
    NO_LABELS = "no labels were given: clusters come from k-means on the embedding."
    LANDMARKS_CAPPED = "n_landmarks was lowered: there are fewer than three rows per landmark."
    FEW_DIFFERENT_ROWS = "n_landmarks was lowered: there are not so many rows that are different."
    GRAPH_IN_PARTS = (
        "the graph of the landmarks falls into more parts than there are classes: the embedding has further dimensions "
        "for the parts that its first ones leave out."
    )
    ROWS_NOT_LINKED = (
        "some rows lie in parts of the graph without any labelled row: their labels rest on the features of the "
        "landmarks alone, and their confidence is low; a smaller l1 links more rows."
    )
    SINGLE_FEATURE = (
        "a view of a single feature keeps only its sign once rows have unit length: put it in a view with others, or "
        "scale it yourself, add a column of ones and pass scaling='none' for that view."
    )
    DENSE_CODES_MENDED = (
        "codes would have had more than 120 non-zeros: ridge was lowered, or l1 raised, to keep them sparse."
    )
    STOPPED_BY_CALLBACK = "stopped by a callback."
    INTERRUPTED = "interrupted: the settings judged until then are used."


@dataclass(frozen=True)
class Iteration:
    """One finished round, as handed to a progress callback."""

    number: int
    objective: float
    residual: float


ProgressCallback = Callable[[Iteration], bool]  # returns True to stop


class Progress:
    """Tells the user, and scikit-learn's callbacks, how far a fit is; the estimator is None for a picture, say.

    If `verbose` it writes a line per stage and round to the logger "anchorview"; unless that is configured, to stderr,
    and in a notebook to one line of the output that changes. At most `max_iter` rounds are to be expected, if that is
    known, and the rounds end at a residual of `tol`.
    """

    def __init__(self, estimator: BaseEstimator | None, verbose: bool, max_iter: int | None, tol: float) -> None:
        self._estimator, self._verbose, self._max_iter, self._tol = estimator, verbose, max_iter, tol
        self._start = self._stage_start = time.perf_counter()
        self._stage: str | None = None
        self.seconds: dict[str, float] = {}  # of each finished stage
        if verbose and not _LOGGER.hasHandlers():
            handler = NotebookHandler() if in_notebook() else logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
            _LOGGER.addHandler(handler)
        if verbose and _LOGGER.level == logging.NOTSET:  # else the root logger's WARNING would hide the lines
            _LOGGER.setLevel(logging.INFO)
        self._context: Any = None
        if estimator is not None and hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)
            self._context.call_on_fit_task_begin(estimator=estimator)
        self._round: Any = None

    def stage(self, name: str, message: str, *values: Any) -> None:
        """Begin a stage; the time until the next one counts as its own."""
        self._close_stage()
        self._stage, self._stage_start = name, time.perf_counter()
        self.log(message, *values)

    def _close_stage(self) -> None:
        if self._stage is not None:
            self.seconds[self._stage] = time.perf_counter() - self._stage_start
            self._stage = None

    def log(self, message: str, *values: Any) -> None:
        """Write a line if verbose; `values` are put into the message only then, as in `logging`."""
        if self._verbose:
            _LOGGER.info("%6.2f s  %s", time.perf_counter() - self._start, message % values if values else message)

    def watch(self) -> AbstractContextManager[None]:
        """Within the context, long work by blocks writes a line every few seconds, if verbose."""
        return watch(self.log if self._verbose else None)

    def begin_round(self) -> None:
        """Open scikit-learn's task for the next round."""
        if self._context is not None:
            self._round = self._context.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(estimator=self._estimator)

    def end_round(self, iteration: Iteration) -> bool:
        """Report a finished round; True if a callback asks to stop."""
        self.log(f"round {iteration.number}: objective {iteration.objective:.8g}, residual {iteration.residual:.2e}")
        stop = self.end_task()
        most = iteration.number if self._max_iter is None else self._max_iter
        if self._context is not None and not stop and iteration.number < most and iteration.residual > self._tol:
            self.begin_round()
        return stop

    def end_task(self) -> bool:
        """Close the task that is open, or one that was not announced; True if a callback asks to stop."""
        if self._context is None:
            return False
        if self._round is None:
            self.begin_round()
        stop = bool(self._round.call_on_fit_task_end(estimator=self._estimator))
        self._round = None
        return stop

    def finish(self) -> None:
        """Close what is open."""
        self._close_stage()
        for handler in _LOGGER.handlers if self._verbose else ():
            if isinstance(handler, NotebookHandler):
                handler.end_line()
        if self._round is not None:
            self._round.call_on_fit_task_end(estimator=self._estimator)
            self._round = None
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)


_EVERY = 2.0  # seconds between two lines, and before the first: short work stays silent
watcher = threading.local()  # `write` of who wants to know, in this thread


@contextmanager
def watch(write: Callable[[str], None] | None) -> Iterator[None]:
    """Write lines about the work by blocks that this thread begins within the context; None keeps it silent."""
    before = getattr(watcher, "write", None)
    try:
        watcher.write = write
        yield
    finally:
        watcher.write = before


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
        self._write = None if name is None else getattr(watcher, "write", None)
        self._lock = threading.Lock()
        self._start = self._last = time.perf_counter()
        self._shares: dict[int, float] = {}  # done of the block that each thread works on
        self.n_done = 0

    def done(self, count: int = 1) -> None:
        """Count a finished block, or what was in it."""
        with self._lock:
            self.n_done += count
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
        text = f"{self._name}: {self.n_done:,} of {self._total:,} {self._unit}"
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
