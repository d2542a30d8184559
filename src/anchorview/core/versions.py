"""Versions of the packages that a result was made with."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import metadata

PACKAGES = ("anchorview", "numpy", "scipy", "scikit-learn", "numba")


def package_versions(names: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return the installed version of each package.

    Examples
    --------
    >>> package_versions(["no-such-package"])
    {'no-such-package': 'not installed'}
    """
    return {name: _version(name) for name in names}


def python_version() -> str:
    """Return the version of Python, and the system it runs on."""
    return f"{platform.python_version()} ({platform.system()} {platform.machine()})"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
