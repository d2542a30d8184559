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

    `solve` takes a Problem, CrossProducts, `max_iter`, `tol`, `n_threads`, `callback` and its own options.
    """

    solve: Callable[..., SolverResult]
    takes_weights: bool  # rows may count more or less than once
    takes_missing_views: bool  # rows may lack views, in the fit and later
    stores_codes: bool = False  # codes can be kept in files (`code_stack`)
    stops_early: bool = False  # ends after `max_iter` rounds on purpose, far from the optimum


SOLVERS: dict[str, Solver] = {
    "active_set": Solver(solve_active_set, takes_weights=True, takes_missing_views=True, stores_codes=True),
    "admm": Solver(solve_admm, takes_weights=False, takes_missing_views=False, stops_early=True),
}
