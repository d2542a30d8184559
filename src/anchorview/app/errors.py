"""What can go wrong in the command, and the exit code that says so."""

from __future__ import annotations

from ..core.user_errors import BAD_DATA, FAILED, USAGE, CommandError, DataError, UsageError

__all__ = ["BAD_DATA", "EXIT_CODES", "FAILED", "NOT_CONVERGED", "USAGE", "CommandError", "DataError", "UsageError"]

NOT_CONVERGED = 4

EXIT_CODES = (
    "Exit codes: 0 all went well; 1 no space, no memory, or the folder is in use; 2 an option is wrong; 3 the data "
    "cannot be used; 4 not converged (with --strict); 130 interrupted (143 and 129: by SIGTERM and SIGHUP)."
)
