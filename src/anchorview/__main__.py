"""``python -m anchorview`` is the command `anchorview`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; Ctrl-C while it is still loading is no reason for a traceback."""
    try:
        from .app.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
