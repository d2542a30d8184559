"""How many clusters there are, where nobody says it: by the gaps in the spectrum of the graph of rows and landmarks.

The codes join rows to landmarks; of that graph, made a random walk, as many eigenvalues are near 1 as there are groups
that the walk hardly leaves (von Luxburg, "A tutorial on spectral clustering", 2007). Groups of groups give an earlier
gap, so of gaps of like size the last one counts whose clusters are found again on halves of the rows. Data often hold
no number of clusters at all: then several gaps are alike, or no clusters are found again, and the result says that it
is unclear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix
from ..engine.blocks import one_blas_thread

MOST_CLUSTERS = 50
USUAL = 10  # clusters that a first look assumes: its codes hardly depend on them
_LIKE = 0.5  # share of the largest gap from which on another one is as good
_STABLE = 0.9  # adjusted Rand index of clusters found twice, above which they are the same
_LEFT = 0.5  # share of an eigenvalue that the next one may be if the number is clear
_HALVES = 4  # draws of half the rows


@dataclass(frozen=True)
class ClusterCount:
    """A number of clusters, and how clear it is."""

    n_clusters: int
    candidates: tuple[int, ...]  # numbers that are as good, the chosen one included
    stability: float  # adjusted Rand index between clusters of different halves of the rows
    is_clear: bool

    def describe(self) -> str:
        """Say in words what was chosen.

        Examples
        --------
        >>> ClusterCount(10, (2, 6, 10), 0.99, False).describe()
        'n_clusters="auto" chose 10; that is unclear: 2 and 6 would do as well.'
        """
        if self.is_clear:
            return f'n_clusters="auto" chose {self.n_clusters}, which is clear.'
        others = [str(number) for number in self.candidates if number != self.n_clusters]
        if not others and self.stability >= _STABLE:
            return f'n_clusters="auto" chose {self.n_clusters}; that is unclear: no gap in the spectrum stands out.'
        if others:
            listed = " and ".join([", ".join(others[:-1]), others[-1]] if len(others) > 1 else others)
            return f'n_clusters="auto" chose {self.n_clusters}; that is unclear: {listed} would do as well.'
        return (
            f'n_clusters="auto" chose {self.n_clusters}; that is unclear: halves of the rows give other clusters '
            f"(agreement {self.stability:.2f} of 1)."
        )


def count_clusters(codes: Any, rng: np.random.RandomState) -> ClusterCount:
    """Return how many clusters codes show.

    Parameters
    ----------
    codes : sparse array of shape (n_rows, n_landmarks)
        Non-negative codes of some thousand rows.
    rng : RandomState
        Draws halves of the rows.

    Examples
    --------
    >>> blocks = sparse.block_diag([np.ones((20, 3))] * 4, format="csr")
    >>> count_clusters(blocks, np.random.RandomState(0))
    ClusterCount(n_clusters=4, candidates=(4,), stability=1.0, is_clear=True)
    """
    vectors, values = _spectrum(codes)
    most = min(MOST_CLUSTERS, len(values) - 1, int(np.sqrt(len(vectors))))
    if most < 2:
        return ClusterCount(2, (2,), 0.0, False)
    gaps = values[1:most] - values[2 : most + 1]  # after 2, 3, … eigenvalues
    candidates = tuple(int(place) + 2 for place in np.flatnonzero(gaps >= _LIKE * gaps.max()))
    stability = {number: _stability(vectors[:, :number], number, rng) for number in candidates}
    stable = tuple(number for number in candidates if stability[number] >= _STABLE)
    chosen = stable[-1] if stable else int(np.argmax(gaps)) + 2
    stands_out = bool(values[chosen] <= _LEFT * values[chosen - 1])  # else clusters have clusters in them
    is_clear = len(candidates) == 1 and bool(stable) and stands_out
    return ClusterCount(chosen, stable or (chosen,), stability[chosen], is_clear)


def _spectrum(codes: Any) -> tuple[Matrix, Matrix]:
    """Return the vectors and eigenvalues of the walk from row to landmark to row, the largest first."""
    weights = sparse.csr_array(codes, dtype=np.float64)
    weights = weights[np.asarray(weights.sum(axis=1)).ravel() > 0]
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    walk = sparse.diags_array(1 / degrees) @ weights
    used = np.asarray(walk.sum(axis=0)).ravel()
    kept = np.flatnonzero(used > 0)
    scaled = (walk[:, kept] @ sparse.diags_array(1 / np.sqrt(used[kept]))).toarray()
    with one_blas_thread():  # the same numbers whatever the number of threads
        values, vectors = np.linalg.eigh(scaled.T @ scaled)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = values > 1e-10
    return scaled @ (vectors[:, positive] / np.sqrt(values[positive])), values


def _stability(vectors: Matrix, n_clusters: int, rng: np.random.RandomState) -> float:
    """Return how much clusters agree that k-means finds on different halves of the rows."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score
    from threadpoolctl import threadpool_limits

    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels = []
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        for _ in range(_HALVES):
            half = rng.permutation(len(rows))[: max(len(rows) // 2, n_clusters)]
            labels.append(KMeans(n_clusters, n_init=5, random_state=rng).fit(rows[half]).predict(rows))
    pairs = [(one, other) for one in range(_HALVES) for other in range(one)]
    return float(np.mean([adjusted_rand_score(labels[one], labels[other]) for one, other in pairs]))
