"""Packages that only some stores need."""

from __future__ import annotations

import importlib
from typing import Any


def load_optional(package: str, extra: str, what: str) -> Any:
    """Import a package, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ModuleNotFoundError(
            f'{what} needs {package.partition(".")[0]}; install it: pip install "anchorview[{extra}]".'
        ) from error
