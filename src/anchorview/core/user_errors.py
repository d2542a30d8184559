"""What a user can put right, with the exit code that the command ends with."""

from __future__ import annotations

FAILED = 1  # no space, no memory, a folder in use
USAGE = 2
BAD_DATA = 3


class CommandError(Exception):
    """Something the user can put right; it ends the command with one line and this exit code."""

    code = FAILED


class UsageError(CommandError):
    """Options that cannot be used, alone or together."""

    code = USAGE


class DataError(CommandError):
    """Files that cannot be read, or do not hold what they should."""

    code = BAD_DATA
