"""Semi-supervised multi-view clustering: every row labelled from a few labels and several feature sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["FSSMSC", "Views", "__version__", "datasets", "metrics"]

if TYPE_CHECKING:
    from . import datasets, metrics
    from .fssmsc import FSSMSC
    from .views import Views


def __getattr__(name: str) -> Any:
    """Load public names on first use, so that ``import anchorview`` is quick."""
    import importlib

    if name == "FSSMSC":
        return importlib.import_module(".fssmsc", __name__).FSSMSC
    if name == "Views":
        return importlib.import_module(".views", __name__).Views
    if name in ("datasets", "metrics"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
