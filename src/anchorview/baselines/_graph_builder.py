"""Where a method gets its neighbour graphs from."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class GraphBuilder:
    """Builds the neighbour graphs of a fit; a subclass can keep them from fit to fit.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.baselines._graphs import knn_graph
    >>> GraphBuilder().build(knn_graph, np.array([[0.0], [1.0], [5.0]]), n_neighbors=1).nnz
    4
    """

    def build(self, make: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """Return what `make`, a function that builds graphs or lists of neighbours, returns for these arguments."""
        return make(*arguments, **options)
