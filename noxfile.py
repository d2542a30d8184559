#!/usr/bin/env -S uv run --script
"""Tasks for contributors: ``nox -s lint``, ``tests``, ``docs``, ``build``; plain ``nox`` runs the tests."""

# /// script
# dependencies = ["nox"]
# ///

from __future__ import annotations

import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def tests(session: nox.Session) -> None:
    """Lint, types, import contracts and tests: what CI runs. ``nox -s tests -- --quick`` runs a part."""
    session.install("-e", ".[dev]")
    session.run("python", "scripts/check.py", *session.posargs)


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Run every pre-commit hook on every file."""
    session.install("pre-commit")
    session.run("pre-commit", "run", "--all-files", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site into build/site."""
    session.install("-e", ".[docs]")
    session.run("python", "scripts/docs.py", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build sdist and wheel, then run the demo of the wheel in another folder."""
    session.install("build", "twine")
    session.run("python", "-m", "build")
    packages = sorted(str(path.resolve()) for path in Path("dist").glob("anchorview-*"))
    session.run("twine", "check", "--strict", *packages)
    wheel = next(path for path in packages if path.endswith(".whl"))
    session.install(f"anchorview[cli] @ {Path(wheel).as_uri()}")
    session.chdir(tempfile.mkdtemp())
    session.run("anchorview", "demo")


if __name__ == "__main__":
    nox.main()
