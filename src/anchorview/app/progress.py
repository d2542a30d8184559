"""How far the work is: a line that changes on a terminal, plain lines otherwise, nothing with --json."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.printable import printable
from .speaking import in_markup, say
from .stopping import heed_signals

_LOGGER = logging.getLogger("anchorview")
_EVERY = 2.0  # seconds between plain lines of one stage


class Reporter:
    """Says what is going on.

    Parameters
    ----------
    quiet : bool
        Say nothing: the result goes to machines.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.interrupted = quiet, False
        self.warnings: list[str] = []
        self._status: Any = None
        self._start = self._last = time.perf_counter()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        if not self.quiet:
            say(printable(text))

    def step(self, text: str) -> None:
        """Say what begins now."""
        self._last = time.perf_counter()
        self._show(text, always=True)

    def line(self, text: str) -> None:
        """Show a line of progress from within a stage; an interrupt that an estimator has taken ends the work here."""
        if self.interrupted:
            raise KeyboardInterrupt
        now = time.perf_counter()
        if self._status is not None or now - self._last >= _EVERY:
            self._last = now
            self._show(text, always=False)

    def _show(self, text: str, *, always: bool) -> None:
        if self.quiet:
            return
        if self._status is not None:
            self._status.update(in_markup(text))
        else:
            say(f"{time.perf_counter() - self._start:7.1f} s  {printable(text)}", err=True)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within the context, lines of estimators are shown, their warnings are kept, and a signal ends all work."""
        handler = _Handler(self)
        before = _LOGGER.level, _LOGGER.propagate
        _LOGGER.addHandler(handler)
        _LOGGER.setLevel(logging.INFO)
        _LOGGER.propagate = False
        try:
            with self._spinner(), heed_signals(self._stop), warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = self._keep_warning  # type: ignore[assignment]
                yield
        finally:
            _LOGGER.removeHandler(handler)
            _LOGGER.level, _LOGGER.propagate = before

    @contextmanager
    def _spinner(self) -> Iterator[None]:
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status("…") as self._status:
            try:
                yield
            finally:
                self._status = None

    def _stop(self) -> None:
        self.interrupted = True

    def _keep_warning(self, message: Warning | str, category: type[Warning], *place: Any) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, UserWarning) and text not in self.warnings:
            self.warnings.append(text)


class _Handler(logging.Handler):
    """Hands the lines of a fit to a reporter."""

    def __init__(self, reporter: Reporter) -> None:
        super().__init__(logging.INFO)
        self._reporter = reporter

    def emit(self, record: logging.LogRecord) -> None:
        """Show one line."""
        told = record.args if isinstance(record.args, tuple) and len(record.args) == 2 else ()
        self._reporter.line(str(told[1]) if told else record.getMessage())  # the reporter has a clock of its own
