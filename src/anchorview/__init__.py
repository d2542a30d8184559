"""Semi-supervised multi-view clustering: every row labelled from a few labels and several feature sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "FSSMSC",
    "FSSMSCCV",
    "Constraints",
    "LabelHidingKFold",
    "Views",
    "__version__",
    "baselines",
    "datasets",
    "metrics",
]

if TYPE_CHECKING:
    from . import baselines, datasets, metrics
    from .constraints import Constraints
    from .fssmsc import FSSMSC
    from .fssmsc_cv import FSSMSCCV
    from .label_splits import LabelHidingKFold
    from .views import Views


_WHERE = {
    "FSSMSC": "fssmsc",
    "FSSMSCCV": "fssmsc_cv",
    "Constraints": "constraints",
    "LabelHidingKFold": "label_splits",
    "Views": "views",
}


def __getattr__(name: str) -> Any:
    """Load public names on first use, so that ``import anchorview`` is quick."""
    import importlib

    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    if name in ("baselines", "datasets", "metrics"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
