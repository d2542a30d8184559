"""The solvers of :class:`FSSMSC` as parameters: objects with parameters of their own, which a grid search can reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

from .core.checks import COUNT, WEIGHT, Flag, Number, OneOf, OneOfKinds, Parts, Rule
from .solver.weights import UNITS

__all__ = ["ADMM", "ActiveSet"]

OMITTABLE = ("l1", "must_link", "cannot_link", "smoothness", "coupling")
_SHARED: dict[str, Rule] = {"max_iter": COUNT, "tol": WEIGHT, "units": OneOf(UNITS), "omit": Parts(OMITTABLE)}


class ActiveSet(BaseEstimator):
    """The default solver of `FSSMSC`: exact codes, row by row.

    Parameters
    ----------
    max_iter : int, default=30
        Maximum number of rounds.
    tol : float, default=1e-4
        Optimality residual at which to stop.
    units : {"data", "paper"}, default="data"
        Units of the four weights. "data": relative to the data, so that they mean the same for any number of views and
        any features (see the Notes of `FSSMSC`). "paper": as in the paper's objective; "auto" is then 0.2 for `l1`, 1
        for `ridge`, 1e4 for `must_link_weight` and 1e-4 for `coupling`.
    omit : sequence of {"l1", "must_link", "cannot_link", "smoothness", "coupling"}, default=()
        Parts of the model to leave out, as in the paper's ablation study.
    memory_limit : float, optional
        Bytes that a fit may take beyond its input before codes are kept in files, in the folder for temporary files
        (``TMPDIR``); by default half of what is free. The result is the same. Of dask arrays codes always stay on the
        workers, and beyond this limit `embedding_` does too.

    Examples
    --------
    >>> from anchorview import FSSMSC, ActiveSet
    >>> FSSMSC(solver=ActiveSet(max_iter=50, omit=("coupling",))).set_params(solver__tol=1e-6).solver
    ActiveSet(max_iter=50, omit=('coupling',), tol=1e-06)
    """

    name = "active_set"
    dtype = "auto"  # that of the products
    _rules = _SHARED | {"memory_limit": Number(0, optional=True)}

    def __init__(
        self,
        *,
        max_iter: int = 30,
        tol: float = 1e-4,
        units: str = "data",
        omit: Sequence[str] = (),
        memory_limit: float | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.units = units
        self.omit = omit
        self.memory_limit = memory_limit

    def options(self) -> dict[str, Any]:
        """Return the options that only this solver has."""
        return {}


class ADMM(BaseEstimator):
    """Algorithm 1 of the paper; ``FSSMSC(solver=ADMM(), ridge=0)`` is the paper's model with its solver.

    It always runs `max_iter` rounds, as in the paper. Missing views, weights of rows and dask arrays are not supported.

    Parameters
    ----------
    mode : {"paper", "released"}, default="paper"
        The steps as printed in the paper, or as in the authors' released program.
    fixed_step : bool, default=False
        Use the step size of the paper without checking that it lowers the objective.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the codes. "auto" is single precision, or double precision for long or nearly parallel landmarks.
    max_iter : int, default=30
        Maximum number of rounds.
    tol : float, default=1e-4
        Largest change of an entry at which to stop.
    units : {"data", "paper"}, default="paper"
        What the four weights of the model are measured in; see :class:`ActiveSet`.
    omit : sequence of {"l1", "must_link", "cannot_link", "smoothness", "coupling"}, default=()
        Parts of the model to leave out, as in the paper's ablation study.

    Examples
    --------
    >>> from anchorview import ADMM, FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> model = FSSMSC(n_landmarks=30, solver=ADMM(max_iter=10), ridge=0, random_state=0)
    >>> model.fit(made.views, datasets.hide_labels(made.target, 0.3, random_state=0)).n_iter_
    10
    """

    name = "admm"
    memory_limit = None  # its states are always in memory
    _rules = _SHARED | {
        "mode": OneOf(("paper", "released")),
        "fixed_step": Flag(),
        "dtype": OneOf(("auto", "float32", "float64")),
    }

    def __init__(
        self,
        *,
        mode: str = "paper",
        fixed_step: bool = False,
        dtype: str = "auto",
        max_iter: int = 30,
        tol: float = 1e-4,
        units: str = "paper",
        omit: Sequence[str] = (),
    ) -> None:
        self.mode = mode
        self.fixed_step = fixed_step
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.units = units
        self.omit = omit

    def options(self) -> dict[str, Any]:
        """Return the options that only this solver has."""
        dtype = None if self.dtype == "auto" else self.dtype
        return {"mode": self.mode, "fixed_step": bool(self.fixed_step), "dtype": dtype}


SolverParameters = ActiveSet | ADMM
_NAMED: dict[str, type[SolverParameters]] = {kind.name: kind for kind in (ActiveSet, ADMM)}


SOLVER_RULE = OneOfKinds(_NAMED)


def resolve_solver(solver: Any) -> SolverParameters:
    """Return the solver that a name stands for, with its defaults, or the one that is given; an error for nonsense.

    Examples
    --------
    >>> resolve_solver("admm").units, resolve_solver(ActiveSet(max_iter=5)).max_iter
    ('paper', 5)
    """
    SOLVER_RULE.check("solver", solver)
    found: SolverParameters = _NAMED[solver]() if isinstance(solver, str) else solver
    return found
