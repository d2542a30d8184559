"""The fits of benchmarks/baselines.py: methods, settings, and how a fit is found among the records."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from anchorview import baselines
from anchorview.bench.methods import METHODS as KNOWN
from anchorview.bench.methods import for_data
from anchorview.bench.records import Records, record_key

_BY_CLASS = {method.class_name: method for method in KNOWN.values() if method.name == "FSSMSC" or not method.fixed}
METHODS = {name: _BY_CLASS[name] for name in ("FSSMSC", *baselines.__all__)}
SYNTHETIC = "synthetic30000"
LARGE = ("ng20", SYNTHETIC)
GRID_DRAWS = 3
# Wider than the grids of `anchorview bench`: also numbers of neighbours, scalings and variants.
GRID: dict[str, dict[str, list[Any]]] = {
    "FSSMSC": {"l1": [0.05, 0.1, 0.2, 0.5], "coupling": [1e-5, 1e-4, 1e-3]},
    "FPMVS": {"n_anchors": [None, 20, 50], "z_weighting": ["released", "exact"]},
    "LMVSC": {"n_anchors": [10, 50, 100, 300], "alpha": [0.01, 1.0, 100.0], "scaling": ["none", "minmax"]},
    "MVAR": {"ridge": [0.1, 1.0, 10.0, 100.0, 1000.0], "labelled_weight": [1.0, 1e2, 1e4]},
    "MLAN": {"coupling": [1.0, 10.0, 30.0], "n_neighbors": [5, 9, 15]},
    "AMGL": {"n_neighbors": [5, 7, 10], "scaling": ["standard", "l2", "none"]},
    "GPSNMF": {"label_weight": [0.01, 0.1, 1.0], "graph_weight": [1e-4, 1e-2, 4e-2], "sparsity": [0.1, 1.0]},
    "CONMF": {"graph_weight": [1e-3, 1e-2, 1e-1], "orthogonality": [0.5, 1.0, 5.0]},
    "ConcatKMeans": {"scaling": ["minmax", "standard", "l2"], "equal_views": [True, False]},
    "ConcatLabelSpreading": {"n_neighbors": [5, 7, 10, 20], "alpha": [0.2, 0.5, 0.8, 0.95]},
    "ConcatLogisticRegression": {"C": [0.1, 1.0, 10.0, 100.0, 1e3, 1e4]},
    "BestViewSpectral": {"view": [0, 1, 2, 3, 4, 5], "n_neighbors": [5, 10, 20]},
}


def grid_of(method: str) -> list[dict[str, Any]]:
    """List all settings of a method's grid; one, the default, if it has none."""
    grid = GRID.get(method, {})
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def large_settings(data: str, method: str) -> dict[str, Any]:
    """Scale rows of text to unit length; scaling its features one by one would blow up rare words."""
    return for_data(METHODS[method], data == "ng20")


@dataclass(frozen=True)
class Fit:
    """A method with its settings on a data set, whatever the draw; `labels` is the labelled part if not usual."""

    data: str
    method: str
    settings: dict[str, Any]
    labels: float | None = None


class RecordedFits:
    """Finds fits among the records.

    Older records hold every parameter, later ones only those that are not off (`Method.all_parameters`); a parameter
    that is off means the same either way, and one that a later version adds leaves the old records valid.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        self._old = {_identity(key): key for key, _ in records}

    def key(self, fit: Fit, seed: int) -> dict[str, Any]:
        """Return the key under which a fit is recorded, or is to be."""
        method = METHODS[fit.method]
        key = {"data": fit.data, "method": fit.method, "parameters": method.all_parameters(fit.settings), "seed": seed}
        if fit.labels is not None and method.uses_labels:
            key["labels"] = fit.labels
        return self._old.get(_identity(key), key)

    def results(self, fit: Fit, draws: int | None = None) -> list[dict[str, Any]]:
        """Return the recorded results of the first seeds, without a gap."""
        results: list[dict[str, Any]] = []
        while draws is None or len(results) < draws:
            result = self.records.get(self.key(fit, len(results)))
            if result is None:
                break
            results.append(result)
        return results


def _identity(key: dict[str, Any]) -> str:
    parameters = {
        name: value
        for name, value in key["parameters"].items()
        if not (value is None or value is False or value in ((), [], {}))
    }
    return record_key({**key, "parameters": parameters})
