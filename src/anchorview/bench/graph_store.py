"""Similarity graphs of the fit before: they depend on the rows and not on the labels, so one is enough for all draws.

The seconds that a graph took when it was built are counted in every fit that uses it. A process of its own, as those
that measure memory have, builds its own.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .methods import Method


@dataclass
class GraphTime:
    """Seconds of the graphs of one fit.

    Attributes
    ----------
    seconds : float
        What the graphs took to build, now or before.
    correction : float
        What to add to the time of the fit, so that it is that of a fit which builds its graphs.
    """

    seconds: float = 0.0
    correction: float = 0.0


_store: dict[Any, dict[str, tuple[Any, float]]] = {}  # of one method and one data set: graphs and their seconds


@contextmanager
def stored_graphs(method: Method, data: Any) -> Iterator[GraphTime]:
    """Within the block, let a method's fits take graphs they have built before for the same rows.

    Graphs of one method and one ``data`` are kept; those of the ones before are forgotten.
    """
    spent = GraphTime()
    if method.graph is None:
        yield spent
        return
    if (method.name, data) not in _store:
        _store.clear()
    graphs = _store.setdefault((method.name, data), {})
    module, name = importlib.import_module(method.graph[0]), method.graph[1]
    original = getattr(module, name)

    def build(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        key = _fingerprint([arguments, options])
        if key not in graphs:
            before = time.perf_counter()
            graphs[key] = original(*arguments, **options), time.perf_counter() - before
        graph, seconds = copy.deepcopy(graphs[key][0]), graphs[key][1]  # a copy: the fit may write into it
        spent.seconds += seconds
        spent.correction += seconds - (time.perf_counter() - start)
        return graph

    setattr(module, name, build)
    try:
        yield spent
    finally:
        setattr(module, name, original)


def _fingerprint(value: Any) -> str:
    """Name a value by its content: arrays, sparse arrays, and lists and dicts of them and of plain values."""
    digest = hashlib.blake2b(digest_size=16)
    parts: list[Any]
    if isinstance(value, sparse.csr_array):
        parts = [value.shape, value.indptr, value.indices, value.data]
    elif isinstance(value, dict):
        parts = [item for pair in sorted(value.items()) for item in pair]
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
        return digest.hexdigest()
    else:
        return repr(value)
    for part in [type(value).__name__, *parts]:
        digest.update(_fingerprint(part).encode() + b"\0")
    return digest.hexdigest()
