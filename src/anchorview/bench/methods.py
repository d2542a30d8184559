"""The methods that are compared: the paper's eight, the paper's own algorithm, and plain references.

Grids are those of the paper for FSSMSC, LMVSC and FPMVS (its section "Implementation Details"), and of the methods'
own papers and programs for the others.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ..baselines._graph_builder import GraphBuilder
from ..fitting.spec import resolve_readers
from ..solvers import resolve_solver

_NOT_A_SETTING = ("n_clusters", "views", "random_state", "n_jobs", "verbose")
_ALWAYS_WAS = {"units": "paper"}  # until there were others


@dataclass(frozen=True)
class Method:
    """A method and its parameters.

    Attributes
    ----------
    name : str
        As in the tables.
    module, class_name : str
        Where the estimator is.
    uses_labels : bool
        Methods without labels get the number of clusters, and all rows are scored.
    fixed : dict
        Parameters that make this the method.
    grid : dict
        Values to try of each parameter; "k" stands for the number of classes.
    keeps_graphs : bool
        Whether neighbour graphs are kept from fit to fit, and their seconds reported.
    in_paper : bool
        Whether the paper's table has it.
    ours : bool
        Whether tables mark it as a method of this library.
    """

    name: str
    module: str
    class_name: str
    uses_labels: bool = True
    fixed: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    keeps_graphs: bool = False
    in_paper: bool = True
    ours: bool = False

    def make(self, parameters: dict[str, Any], n_classes: int, seed: int, graphs: GraphBuilder | None = None) -> Any:
        """Return an unfitted estimator, which gets its neighbour graphs from `graphs`."""
        number = {} if self.uses_labels else {"n_clusters": n_classes}
        model = self.estimator()().set_params(**self.fixed, **number, random_state=seed).set_params(**parameters)
        if graphs is not None and self.keeps_graphs:
            model._graphs = graphs
        return model

    def estimator(self) -> Any:
        """Return the class."""
        return getattr(importlib.import_module(self.module), self.class_name)

    def settings(self, n_rows: int, n_classes: int) -> list[dict[str, Any]]:
        """List the grid; more anchors than a third of the rows, or fewer than classes, are left out."""
        values = {name: self._values(name, n_rows, n_classes) for name in self.grid}
        return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]

    def _values(self, name: str, n_rows: int, n_classes: int) -> list[Any]:
        values = [n_classes if value == "k" else value for value in self.grid[name]]
        if name == "n_anchors":
            values = [value for value in dict.fromkeys(values) if n_classes <= value <= max(n_rows // 3, n_classes)]
        return values

    def all_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return every parameter of a fit that is not off, so that a changed default is another fit.

        What is off (None, False, empty), or as it always was, is left out: a parameter that a later version adds leaves
        old fits as they are.
        """
        given = _recorded(self.estimator()().set_params(**self.fixed).set_params(**parameters))
        return {
            name: value
            for name, value in given.items()
            if name not in _NOT_A_SETTING
            and not (value is None or value is False or value in ((), [], {}) or _ALWAYS_WAS.get(name) == value)
        }


def _recorded(model: Any) -> dict[str, Any]:
    """Return parameters by the names that records have: they are older than solvers and readers of today's form."""
    given: dict[str, Any] = model.get_params(deep=False)
    if "solver" not in given:
        return given
    how = resolve_solver(given.pop("solver"))
    options = {name: value for name, value in how.options().items() if value != type(how)().options()[name]}
    shared = {name: value for name, value in how.get_params().items() if name not in how.options()}
    inference = readers_text(given.pop("readers"))
    return given | shared | {"solver": how.name, "solver_options": options, "inference": inference}


def readers_text(readers: Any) -> str:
    """Return readers as one text, as records have them: Poisson learning was called "graph" there.

    Examples
    --------
    >>> readers_text(("nearest", "poisson")), readers_text("auto")
    ('nearest+graph', 'auto')
    """
    return "+".join(resolve_readers(readers) or ("auto",)).replace("poisson", "graph")


_GRID = {
    "must_link_weight": (1e1, 1e2, 1e3, 1e4, 1e5),
    "l1": (0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.5),
    "coupling": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
}
_ANCHORS = ("k", 100, 200, 300, 500)
_BASELINES = "anchorview.baselines"
# The model as the paper has it: its own weights, at constants that suit its data, and its rule for labels.
_PAPER = {
    "solver__units": "paper",
    "l1": 0.2,
    "ridge": 1.0,
    "must_link_weight": 1e4,
    "coupling": 1e-4,
    "readers": "nearest",
    "n_neighbors": 5,
}
_ADMM = {**_PAPER, "solver": "admm", "solver__mode": "released", "ridge": 0.0, "scaling": "l2"}

TUNED = "AnchorViewClassifier"  # chooses by the given labels, whatever is asked of the others

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("FPMVS", f"{_BASELINES}.fpmvs", "FPMVS", uses_labels=False, grid={"n_anchors": _ANCHORS}),
        Method(
            "LMVSC",
            f"{_BASELINES}.lmvsc",
            "LMVSC",
            uses_labels=False,
            grid={"n_anchors": _ANCHORS, "alpha": (0.01, 1.0, 100.0)},
        ),
        Method(
            "MVAR",
            f"{_BASELINES}.mvar",
            "MVAR",
            grid={"ridge": (0.1, 1.0, 10.0, 100.0, 1000.0), "labelled_weight": (1.0, 1e2, 1e4)},
        ),
        Method(
            "MLAN",
            f"{_BASELINES}.mlan",
            "MLAN",
            grid={"coupling": (1.0, 10.0, 30.0)},
            keeps_graphs=True,
        ),
        Method(
            "AMGL",
            f"{_BASELINES}.amgl",
            "AMGL",
            grid={"scaling": ("standard", "l2")},
            keeps_graphs=True,
        ),
        Method(
            "GPSNMF",
            f"{_BASELINES}.gpsnmf",
            "GPSNMF",
            grid={"label_weight": (0.01, 0.1, 1.0), "graph_weight": (1e-4, 1e-2, 4e-2), "sparsity": (0.1, 1.0)},
            keeps_graphs=True,
        ),
        Method(
            "CONMF",
            f"{_BASELINES}.conmf",
            "CONMF",
            grid={"graph_weight": (1e-3, 1e-2, 1e-1), "orthogonality": (0.5, 1.0, 5.0)},
            keeps_graphs=True,
        ),
        Method("FSSMSC", "anchorview.fssmsc", "FSSMSC", fixed=_PAPER, grid=_GRID, ours=True),
        Method(TUNED, "anchorview.classifier", "AnchorViewClassifier", in_paper=False, ours=True),
        Method("FSSMSC-ADMM", "anchorview.fssmsc", "FSSMSC", fixed=_ADMM, grid=_GRID, in_paper=False),
        Method("k-means", f"{_BASELINES}.concat_kmeans", "ConcatKMeans", uses_labels=False, in_paper=False),
        Method("Spectral", f"{_BASELINES}.best_view_spectral", "BestViewSpectral", uses_labels=False, in_paper=False),
        Method("LabelSpreading", f"{_BASELINES}.concat_label_spreading", "ConcatLabelSpreading", in_paper=False),
        Method("Logistic", f"{_BASELINES}.concat_logistic", "ConcatLogisticRegression", in_paper=False),
    )
}
WITH_LABELS = tuple(name for name, method in METHODS.items() if method.uses_labels)
BOTH_SOLVERS = ("FSSMSC", "FSSMSC-ADMM")
OURS = [name for name, method in METHODS.items() if method.ours]


def choose_methods(names: Sequence[str], among: Sequence[str] = tuple(METHODS)) -> list[Method]:
    """Return methods by name, all if none is named, in the order of the tables; case does not matter.

    Examples
    --------
    >>> [method.name for method in choose_methods(["fssmsc", "MVAR"])]
    ['MVAR', 'FSSMSC']
    """
    known = {name.lower(): name for name in METHODS}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise ValueError(f"There is no method {unknown[0]!r}; there are {', '.join(METHODS)}.")
    wanted = {known[name.lower()] for name in names} or set(among)
    return [METHODS[name] for name in METHODS if name in wanted and name in among]


def for_data(method: Method, is_sparse: bool) -> dict[str, Any]:
    """Return parameters that the kind of data asks for: for counts of words rows of unit length, or LSA for ours."""
    if method.class_name == "FSSMSC":
        return {} if "scaling" in method.fixed else {"scaling": "lsa" if is_sparse else "minmax"}
    return {"scaling": "l2"} if is_sparse and method.class_name != "AnchorViewClassifier" else {}
