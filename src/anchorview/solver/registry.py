"""The solvers by name, and what each of them can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .active_set import solve_active_set
from .admm import solve_admm
from .result import SolverResult


@dataclass(frozen=True)
class Solver:
    """A solver and its capabilities; whoever chooses one checks these, nobody asks for its name.

    Parameters
    ----------
    solve : callable
        Takes a Problem, CrossProducts, `max_iter`, `tol`, `n_threads`, `callback` and its own options.
    takes_weights : bool
        Rows may count more or less than once.
    takes_missing_views : bool
        Rows may lack views, in the fit and later.
    stores_codes : bool
        Codes can be kept in files (`code_stack`).
    stops_early : bool
        Ends after `max_iter` rounds on purpose, far from the optimum.
    """

    solve: Callable[..., SolverResult]
    takes_weights: bool
    takes_missing_views: bool
    stores_codes: bool = False
    stops_early: bool = False


SOLVERS: dict[str, Solver] = {
    "active_set": Solver(solve_active_set, takes_weights=True, takes_missing_views=True, stores_codes=True),
    "admm": Solver(solve_admm, takes_weights=False, takes_missing_views=False, stops_early=True),
}
