"""What can go wrong in the command, and the exit code that says so."""

from __future__ import annotations

FAILED = 1  # no space, no memory, a folder in use
USAGE = 2
BAD_DATA = 3
NOT_CONVERGED = 4

EXIT_CODES = (
    "Exit codes: 0 all went well; 1 no space, no memory, or the folder is in use; 2 an option is wrong; 3 the data "
    "cannot be used; 4 not converged (with --strict); 130 interrupted (143 and 129: by SIGTERM and SIGHUP)."
)


class CommandError(Exception):
    """Something the user can put right; it ends the command with one line and this exit code."""

    code = FAILED


class UsageError(CommandError):
    """Options that cannot be used, alone or together."""

    code = USAGE


class DataError(CommandError):
    """Files that cannot be read, or do not hold what they should."""

    code = BAD_DATA
