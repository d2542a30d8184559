"""Other multi-view methods to compare with, each written from its paper and released code.

All take the same input as `FSSMSC` and follow scikit-learn. LMVSC and FPMVS cluster without labels; the others carry
a few labels to all rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES: dict[str, str] = {
    "AMGL": "amgl",
    "BestViewSpectral": "best_view_spectral",
    "CONMF": "conmf",
    "ConcatKMeans": "concat_kmeans",
    "ConcatLabelSpreading": "concat_label_spreading",
    "ConcatLogisticRegression": "concat_logistic",
    "FPMVS": "fpmvs",
    "GPSNMF": "gpsnmf",
    "LMVSC": "lmvsc",
    "MLAN": "mlan",
    "MVAR": "mvar",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a method on first use, so that ``import anchorview.baselines`` is quick."""
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
