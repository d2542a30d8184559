"""A solved problem with its parts in hand, to be judged without the estimator around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorview import Views
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.readers.nearest import LabelledNeighbours, keep_labelled
from anchorview.solver.active_set import solve_active_set
from anchorview.solver.problem import Problem
from anchorview.solver.result import SolverResult
from anchorview.supervision.given import read_known
from anchorview.supervision.known import Supervision, supervision_laplacians


@dataclass
class Solved:
    """What a fit knows when it comes to reading labels."""

    known: Supervision
    problem: Problem
    result: SolverResult
    embedding: npt.NDArray[np.floating]  # of all rows

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        """The labelled rows."""
        return self.known.labelled

    def rule(self, rule: str = "nearest", n_neighbors: int = 5) -> LabelledNeighbours:
        """Return the rule made of the labelled rows."""
        return keep_labelled(self.embedding[self.rows], self.known.class_ids[self.rows], rule, n_neighbors)


def solve(data: Any, y: npt.NDArray[Any], n_landmarks: int) -> Solved:
    """Solve the problem of some labels as `FSSMSC` does by default."""
    views, rng = Views(data), np.random.RandomState(0)
    known = read_known(views, None, None, y, None, None, None).known
    source = represent(views, fit_scaling(views, "minmax"), "kmeans", n_landmarks, rng)
    labelled, must, cannot = supervision_laplacians(known.class_ids, len(known.classes), known.pairs)
    problem = Problem(
        gram=source.grams.complete,
        n_components=len(known.classes),
        l1=0.2,
        ridge=1.0,
        coupling=1e-4,
        must_link_weight=1e4,
        labelled=labelled,
        must=must,
        cannot=cannot,
    )
    result = solve_active_set(problem, source.cross)
    return Solved(known, problem, result, result.encoded @ result.embedding.T)


def swap_neighbours(class_ids: npt.NDArray[np.intp], fold: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Exchange the classes of neighbouring rows of a fold: wrong labels that leave every fold as it is.

    A row takes its neighbour's place among the rows of the neighbour's class, and folds are dealt out by these places.
    """
    result = class_ids.copy()
    free = np.isin(np.arange(len(class_ids)), fold)
    for row in range(len(class_ids) - 1):
        if free[row] and free[row + 1] and class_ids[row] != class_ids[row + 1]:
            result[[row, row + 1]] = class_ids[[row + 1, row]]
            free[[row, row + 1]] = False
    return result
