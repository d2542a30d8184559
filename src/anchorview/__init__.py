"""Semi-supervised multi-view clustering: every row labelled from a few labels and several feature sets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .core.display import register_form, register_label_page

__version__ = "0.1.0"
__all__ = [
    "ADMM",
    "FSSMSC",
    "ActiveSet",
    "AnchorViewClassifier",
    "Constraints",
    "ImageViews",
    "LabelHidingKFold",
    "ModelFileError",
    "PerView",
    "TableViews",
    "Views",
    "__version__",
    "baselines",
    "datasets",
    "describe_classes",
    "export",
    "load",
    "metrics",
    "open_rows",
    "plotting",
    "report",
    "save",
    "view_importance",
]

if TYPE_CHECKING:
    from . import baselines, datasets, export, metrics, plotting, report, view_importance
    from .app.model_file import ModelFileError, load, save
    from .classifier import AnchorViewClassifier
    from .data.image_views import ImageViews
    from .data.per_view import PerView
    from .data.table_views import TableViews
    from .data.views import Views
    from .engine.sources.opening import open_rows
    from .fssmsc import FSSMSC
    from .model_selection import LabelHidingKFold
    from .report.class_descriptions import describe_classes
    from .solvers import ADMM, ActiveSet
    from .supervision.constraints import Constraints

_MODULE_OF = {
    "ADMM": "solvers",
    "FSSMSC": "fssmsc",
    "ActiveSet": "solvers",
    "AnchorViewClassifier": "classifier",
    "Constraints": "supervision.constraints",
    "LabelHidingKFold": "model_selection",
    "ModelFileError": "app.model_file",
    "PerView": "data.per_view",
    "ImageViews": "data.image_views",
    "TableViews": "data.table_views",
    "Views": "data.views",
    "describe_classes": "report.class_descriptions",
    "load": "app.model_file",
    "save": "app.model_file",
    "open_rows": "engine.sources.opening",
}


def __getattr__(name: str) -> Any:
    """Load public names on first use, so that ``import anchorview`` is quick."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _show_fitted(model: Any) -> str | None:
    """Return what a notebook shows of a fitted model."""
    form: str | None = importlib.import_module(".report.notebook", __name__).fitted_form(model)
    return form


def _open_label_page(model: Any, *arguments: Any) -> Any:
    """Return the labelling page of a fitted model, for a notebook."""
    return importlib.import_module(".app.labelling.notebook", __name__).open_widget(model, *arguments)


register_form(_show_fitted)
register_label_page(_open_label_page)
