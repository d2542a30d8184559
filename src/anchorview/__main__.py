"""``python -m anchorview`` is the command `anchorview`."""

from .app.cli import main

if __name__ == "__main__":
    main()
