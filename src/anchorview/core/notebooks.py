"""Lines of progress in a notebook: one line of the output that changes, where a terminal gets a line each."""

from __future__ import annotations

import logging
import sys


def in_notebook() -> bool:
    """Tell whether this is the kernel of a notebook, whose standard error is shown in red."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookHandler(logging.Handler):
    """Shows the latest line of a fit in place of the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._width = 0  # of the line that is shown

    def emit(self, record: logging.LogRecord) -> None:
        """Show a line."""
        text = " ".join(self.format(record).split("\n"))
        sys.stdout.write(f"\r{text:<{self._width}}")
        sys.stdout.flush()
        self._width = len(text)

    def end_line(self) -> None:
        """Leave the line as it is: what comes next begins below."""
        if self._width:
            sys.stdout.write("\n")
            self._width = 0
