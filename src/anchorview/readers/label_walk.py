"""Labels brought to other rows by damped walks over their neighbour graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows
from ..features.neighbours import nearest_others

N_NEIGHBORS = 10
_DAMPING, _STEPS = 0.97, 60
_NO_DISTANCE, _LEAST = 1e-12, 1e-6


class LabelWalk:
    """Walks over the neighbour graph of rows, of which the first have labels; nearer neighbours are likelier steps.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]], dtype=np.float32)
    >>> walk = LabelWalk(points[[0, 3, 1, 2, 4, 5]], np.array([0, 1]), n_neighbors=1)
    >>> walk.masses(np.arange(2)).argmax(axis=1).tolist()
    [0, 1, 0, 0, 1, 1]
    """

    def __init__(self, points: Matrix, class_ids: ClassIds, n_threads: int = 1, n_neighbors: int = N_NEIGHBORS) -> None:
        n = len(points)
        index, distances = nearest_others(points, n_neighbors, n_threads)
        width = index.shape[1]
        usual = float(np.median(distances[:, -1])) if width else 0.0
        near = np.exp(-0.5 * (distances / max(usual, _NO_DISTANCE)) ** 2).astype(np.float32).ravel()
        starts = np.arange(n + 1) * width
        directed = sparse.csr_array((np.maximum(near, _LEAST), index.ravel(), starts), shape=(n, n))
        graph = sparse.csr_array(directed.maximum(directed.T))
        degrees = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), _LEAST)
        self.steps = sparse.csr_array(sparse.diags_array((_DAMPING / degrees).astype(np.float32)) @ graph)
        self.class_ids, self.n_classes, self.n = class_ids, int(class_ids.max()) + 1, n

    def masses(self, shown: Rows) -> Matrix:
        """Return the share of walks from each row that end at labels of each class; only those shown count."""
        labels = np.zeros((len(shown), self.n_classes), np.float32)
        labels[np.arange(len(shown)), self.class_ids[shown]] = 1.0
        mass = np.zeros((self.n, self.n_classes), np.float32)
        mass[shown] = labels
        for _ in range(_STEPS):
            mass = self.steps @ mass
            mass[shown] = labels
        return mass
