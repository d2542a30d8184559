"""Neighbour graphs of the fits before: they depend on the rows and not on the labels, so one is enough for all draws.

The seconds that a graph took when it was built are counted in every fit that uses it. A process of its own, as those
that measure memory have, builds its own.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from ..baselines._graph_builder import GraphBuilder
from ..core.digest import content_key

P = ParamSpec("P")
T = TypeVar("T")
Kept = dict[str, tuple[Any, float]]  # graphs by their function and its arguments, and the seconds they took


class StoredGraphs(GraphBuilder):
    """Builds each graph once, and counts what the graphs of a fit took to build, now or before.

    Parameters
    ----------
    kept : dict
        Graphs built before, to which new ones are added.
    source : GraphBuilder, optional
        Builds those that are missing.

    Attributes
    ----------
    seconds : float
        What the graphs that were asked for took to build, now or before.
    correction : float
        What to add to the time of the fits, so that it is that of fits which build their graphs.
    n_built : int
        Graphs that were built, not taken from those before.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.baselines._graphs import knn_graph
    >>> graphs = StoredGraphs({})
    >>> rows = np.array([[0.0], [1.0], [5.0]])
    >>> first, second = (graphs.build(knn_graph, rows, n_neighbors=1) for _ in range(2))
    >>> graphs.n_built, first is second
    (1, False)
    """

    def __init__(self, kept: Kept, source: GraphBuilder | None = None) -> None:
        self._kept, self._source = kept, GraphBuilder() if source is None else source
        self.seconds = self.correction = 0.0
        self.n_built = 0

    def build(self, make: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """Return a copy of the graph that was built for the same arguments, and build it if there is none."""
        start = time.perf_counter()
        key = f"{make.__module__}.{make.__qualname__} {content_key([arguments, options])}"
        if key not in self._kept:
            before = time.perf_counter()
            self._kept[key] = self._source.build(make, *arguments, **options), time.perf_counter() - before
            self.n_built += 1
        kept, seconds = self._kept[key]
        graph: T = copy.deepcopy(kept)  # a copy, as a fit can write into it
        self.seconds += seconds
        self.correction += seconds - (time.perf_counter() - start)
        return graph


def graphs_of(method: str, data: Hashable) -> StoredGraphs:
    """Return a builder that holds the graphs of earlier fits of a method on a data set.

    Graphs of one method and one data set are kept; those of another are forgotten.
    """
    return StoredGraphs(_kept(method, data))


def forget_graphs() -> None:
    """Forget all graphs."""
    _kept.cache_clear()


@lru_cache(maxsize=1)
def _kept(method: str, data: Hashable) -> Kept:
    return {}
