"""Progress of a fit: log lines when verbose, and scikit-learn's callbacks where they exist (1.9 and later)."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from .solver.result import Iteration

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

__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

_LOGGER = logging.getLogger("anchorview")


class Progress:
    """Tells the user, and scikit-learn's callbacks, how far a fit is.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is.
    verbose : bool
        Write a line per stage and round to the logger "anchorview" (to stderr unless it is configured).
    max_iter : int
        Rounds to expect at most.
    tol : float
        Residual at which the rounds end.
    n_solves : int, default=1
        How often the rounds may start again.
    """

    def __init__(
        self, estimator: BaseEstimator, verbose: bool, max_iter: int, tol: float, *, n_solves: int = 1
    ) -> None:
        self._estimator, self._verbose, self._max_iter, self._tol = estimator, verbose, max_iter, tol
        self._start = self._stage_start = time.perf_counter()
        self._stage: str | None = None
        self.seconds: dict[str, float] = {}  # of each finished stage
        if verbose and not _LOGGER.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
            _LOGGER.addHandler(handler)
        if verbose and _LOGGER.level == logging.NOTSET:  # else the root logger's WARNING would hide the lines
            _LOGGER.setLevel(logging.INFO)
        self._context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=n_solves * max_iter)
            self._context.call_on_fit_task_begin(estimator=estimator)
        self._round: Any = None

    def stage(self, name: str, message: str) -> None:
        """Begin a stage; the time until the next one counts as its own."""
        self._close_stage()
        self._stage, self._stage_start = name, time.perf_counter()
        self.log(message)

    def _close_stage(self) -> None:
        if self._stage is not None:
            self.seconds[self._stage] = time.perf_counter() - self._stage_start
            self._stage = None

    def log(self, message: str) -> None:
        """Write a line if verbose."""
        if self._verbose:
            _LOGGER.info("%6.2f s  %s", time.perf_counter() - self._start, message)

    def begin_round(self) -> None:
        """Open scikit-learn's task for the next round."""
        if self._context is not None:
            self._round = self._context.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(estimator=self._estimator)

    def end_round(self, iteration: Iteration) -> bool:
        """Report a finished round; True if a callback asks to stop."""
        self.log(f"round {iteration.number}: objective {iteration.objective:.8g}, residual {iteration.residual:.2e}")
        stop = False
        if self._context is not None:
            if self._round is None:
                self.begin_round()
            stop = bool(self._round.call_on_fit_task_end(estimator=self._estimator))
            self._round = None
            if not stop and iteration.number < self._max_iter and iteration.residual > self._tol:
                self.begin_round()
        return stop

    def finish(self) -> None:
        """Close what is open."""
        self._close_stage()
        if self._round is not None:
            self._round.call_on_fit_task_end(estimator=self._estimator)
            self._round = None
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)
