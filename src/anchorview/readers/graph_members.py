"""Which rows a graph of some rows has: those that were drawn, and rows whose labels came later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Rows


@dataclass(frozen=True, eq=False)
class GraphMembers:
    """Rows of a graph, and the labelled rows that it was drawn for.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows in the graph, ascending.
    labelled : ndarray of int
        Labelled rows that were there when it was drawn: of many, only some are in the graph.
    """

    rows: Rows
    labelled: Rows

    def with_labelled(self, labelled: Rows) -> GraphMembers:
        """Return the graph with rows whose labels came later.

        Examples
        --------
        >>> members = GraphMembers(np.array([1, 4, 7]), np.array([1, 2]))
        >>> members.with_labelled(np.array([1, 2, 3])).rows.tolist()
        [1, 3, 4, 7]
        """
        new = np.setdiff1d(labelled, self.labelled)
        return GraphMembers(np.union1d(self.rows, new), np.union1d(self.labelled, labelled))
