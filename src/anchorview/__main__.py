"""``python -m anchorview`` is the command `anchorview`."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib.util
import os
import sys

_NEEDED = ("typer", "rich", "matplotlib")
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


def main() -> None:
    """Run the command; what it needs is looked for first, and Ctrl-C is heeded while it is still loading."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(f"The command needs {', '.join(missing)}: pip install 'anchorview[cli]'\n")
        raise SystemExit(1)
    try:
        from .app.cli import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    finally:
        # Python ends by SIGINT, whatever the exit code, if the last text that it ran was interrupted (a dataclass is
        # made of text, while modules load); another text makes it forget.
        exec("")


def command() -> None:
    """Run the command as a process of its own, which starts and ends half a second sooner than `main`.

    Loaded modules are hundreds of thousands of objects that stay. Python would look through them for unused cycles
    hundreds of times while more are loaded, and take them apart one by one at the end; the system frees them at once.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    ended_with: list[int] = []

    def end() -> None:  # whatever is registered later has run: threads have ended, folders are removed
        if ended_with:
            with contextlib.suppress(OSError, ValueError):  # closed by whoever read them: Python itself says so
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(ended_with[0])

    atexit.register(end)
    try:
        main()
        ended_with.append(0)
    except SystemExit as exit:
        if exit.code is None or isinstance(exit.code, int):
            ended_with.append(exit.code or 0)
        raise


if __name__ == "__main__":
    command()
