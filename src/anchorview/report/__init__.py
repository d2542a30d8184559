"""Tables, figures and pages, for the bench, the command and whoever fits a model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run_page import write_run_page
    from .run_summary import RunSummary, summarise_run

__all__ = ["RunSummary", "summarise_run", "write_run_page"]

_MODULE_OF = {"RunSummary": "run_summary", "summarise_run": "run_summary", "write_run_page": "run_page"}


def __getattr__(name: str) -> Any:
    """Load these names on first use: who needs a table only need not load what summarises fits."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
