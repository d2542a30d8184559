"""``python -m anchorview`` is the command `anchorview`."""

from __future__ import annotations

import importlib.util
import sys

_NEEDED = ("typer", "rich", "matplotlib")


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


if __name__ == "__main__":
    main()
