"""Poisson learning over the neighbour graph: labels as sources and sinks of a potential (Calder et al., 2020).

With the graph's weights W, degrees D and labels Y of the labelled rows, the potential u solves (D − W) u = Y − ȳ, where
ȳ is the mean label: a class flows out of its own labelled rows and into those of the others. Unlike labels that spread
and fade, it does not forget how many labels there are of each class, and with one or two of each it is often the best
that can be done. It grows with the number of labels, so that a temperature chosen while some are hidden would be too
sure with all of them: it is scaled to a range of one between the classes of a row, on average. The equation is
singular, and parts of the graph need not be in balance; so u is damped a little:

    (I − α S) D^½ u = D^-½ (Y − ȳ),    S = D^-½ W D^-½.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows
from .base import Space
from .spread import sum_walks

_LEFT = 0.01  # part of the solution that may be missing


def solve_potential(
    graph: sparse.csr_array,
    inverse_root: Matrix,
    labels: Sequence[tuple[Rows, ClassIds]],
    n_classes: int,
    alpha: float,
) -> npt.NDArray[np.float32]:
    """Return the potential of each class at each row, for several sets of labels.

    Parameters
    ----------
    graph : csr_array
        S, whose eigenvalues lie in [−1, 1].
    inverse_root : ndarray of shape (n_rows,)
        The diagonal of D^-½.
    labels : sequence of (rows, classes)
        Several sets of labels.
    alpha : float
        How little it is damped, below 1.

    Returns
    -------
    ndarray of shape (n_sets, n_rows, n_classes)
        Zero where no label is felt; of a range, between classes, whose mean over the rows is one.
    """
    n = graph.shape[0]
    sources = np.zeros((n, len(labels), n_classes), np.float32)
    for number, (rows, classes) in enumerate(labels):
        if len(rows):
            own = np.eye(n_classes, dtype=np.float32)[classes]
            sources[rows, number] = own - own.mean(axis=0)
    root = inverse_root.astype(np.float32)[:, None]
    solved = root * sum_walks(graph, root * sources.reshape(n, -1), alpha, _LEFT)
    by_set = solved.reshape(n, len(labels), n_classes).transpose(1, 0, 2)
    potential: npt.NDArray[np.float32] = np.ascontiguousarray(by_set)
    ranges = np.ptp(potential, axis=2).mean(axis=1)
    potential /= np.where(ranges > 0, ranges, 1)[:, None, None]
    return potential


@dataclass(frozen=True)
class PoissonReader:
    """Potentials of the rows of a graph; a new row takes the weighted mean of its nearest ones."""

    potential: npt.NDArray[np.float32]
    temperature: float = 1.0
    is_double: bool = False  # whether scores are in double precision
    reads: ClassVar[Space] = "graph"

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class, for weights of the rows of the graph."""
        result: Matrix = rows @ self.potential
        return np.asarray(result, dtype=np.float64) if self.is_double else result
