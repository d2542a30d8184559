"""How many clusters there are, where nobody says it: by the gaps in the spectrum of the graph of rows and landmarks.

The codes join rows to landmarks; of that graph, made a random walk, as many eigenvalues are near 1 as there are groups
that the walk hardly leaves (von Luxburg, "A tutorial on spectral clustering", 2007). Groups of groups give an earlier
gap, so of gaps of like size the last one counts whose clusters are found again on halves of the rows.

Data often hold no number of clusters at all. The number is called clear if all signs agree: its gap is the largest in
every half of the rows; different halves give the same clusters; and these lie apart, further than those of other large
gaps, and by the silhouette from which Kaufman and Rousseeuw ("Finding groups in data", 1990) speak of a reasonable
structure. Clear groups may still hold smaller ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

from ..core.arrays import Matrix, Rows, unit_rows
from ..engine.blocks import one_blas_thread

MOST_CLUSTERS = 50
USUAL = 10  # clusters that a first look assumes: its codes hardly depend on them
_LIKE = 0.5  # share of the largest gap from which on another one is as good
_STABLE = 0.9  # adjusted Rand index of clusters found twice, above which they are the same
_APART = 0.5  # mean silhouette of clusters that lie apart
_HALVES = 4  # draws of half the rows
_SOME_ROWS = 1000  # whose silhouette is taken: its mean is then right to a hundredth


@dataclass(frozen=True)
class ClusterCount:
    """A number of clusters, and how clear it is."""

    n_clusters: int
    rivals: tuple[int, ...]  # numbers that some of the signs speak for
    stability: float  # adjusted Rand index between clusters of different halves of the rows
    silhouette: float  # how far the clusters lie apart, at most 1

    @property
    def is_clear(self) -> bool:
        """Whether all signs agree on the number."""
        return not self.rivals and self.stability >= _STABLE and self.silhouette >= _APART

    def describe(self) -> str:
        """Say in words what was chosen.

        Examples
        --------
        >>> ClusterCount(10, (2, 6), 0.99, 0.7).describe()
        'n_clusters="auto" chose 10; that is unclear: 2 and 6 would do about as well.'
        """
        chosen = f'n_clusters="auto" chose {self.n_clusters}'
        return f"{chosen}, which is clear." if self.is_clear else f"{chosen}; that is unclear: {self._doubt()}."

    def _doubt(self) -> str:
        if self.stability < _STABLE:
            return f"halves of the rows give other clusters (agreement {self.stability:.2f} of 1)"
        if self.rivals:
            *first, last = map(str, self.rivals)
            return f"{' and '.join([*([', '.join(first)] if first else []), last])} would do about as well"
        return f"the clusters run into each other (silhouette {self.silhouette:.2f} of 1)"


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
    >>> found = count_clusters(blocks, np.random.RandomState(0))
    >>> found.n_clusters, found.is_clear
    (4, True)
    """
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):  # the same whatever the number of threads
        return _count(_walk(codes), rng)


def _count(walk: Any, rng: np.random.RandomState) -> ClusterCount:
    vectors, values = _spectrum(walk)
    most = min(MOST_CLUSTERS, len(values) - 1, int(np.sqrt(len(vectors))))
    if most < 2:
        return ClusterCount(2, (), 0.0, 0.0)
    halves = [rng.permutation(len(vectors))[: max(len(vectors) // 2, most)] for _ in range(_HALVES)]
    candidates, gaps = _large_gaps(values, most)
    stability = {number: _stability(_places(vectors, number), number, halves, rng) for number in candidates}
    stable = [number for number in candidates if stability[number] >= _STABLE]
    chosen = stable[-1] if stable else int(np.argmax(gaps)) + 2
    largest = [int(np.argmax(_large_gaps(_spectrum(walk[half])[1], most)[1])) + 2 for half in halves]
    silhouettes = {number: _silhouette(_places(vectors, number), number, rng) for number in candidates}
    further_apart = [number for number in candidates if silhouettes[number] > silhouettes[chosen]]
    rivals = {*largest, *further_apart} - {chosen}
    return ClusterCount(chosen, tuple(sorted(rivals)), stability[chosen], silhouettes[chosen])


def _large_gaps(values: Matrix, most: int) -> tuple[tuple[int, ...], Matrix]:
    """Return after how many eigenvalues there is a large gap, and all gaps after 2, 3, … of them."""
    padded = np.concatenate([values, np.zeros(max(most + 1 - len(values), 0))])
    gaps = padded[1:most] - padded[2 : most + 1]
    return tuple(int(place) + 2 for place in np.flatnonzero(gaps >= _LIKE * gaps.max())), gaps


def _walk(codes: Any) -> Any:
    """Return the steps of a random walk from rows to landmarks, without rows that have none."""
    weights = sparse.csr_array(codes, dtype=np.float64)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    used = np.flatnonzero(degrees > 0)
    return sparse.csr_array(sparse.diags_array(1 / degrees[used]) @ weights[used])


def _spectrum(walk: Any) -> tuple[Matrix, Matrix]:
    """Return the vectors and eigenvalues of the walk from row to landmark to row, the largest first."""
    used = np.asarray(walk.sum(axis=0)).ravel()
    kept = np.flatnonzero(used > 0)
    scaled = (walk[:, kept] @ sparse.diags_array(1 / np.sqrt(used[kept]))).toarray()
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = values > 1e-10
    return scaled @ (vectors[:, positive] / np.sqrt(values[positive])), values


def _places(vectors: Matrix, n_clusters: int) -> Matrix:
    """Return rows as clusters are looked for in them: the first vectors, of unit length."""
    return unit_rows(vectors[:, :n_clusters])


def _cluster(rows: Matrix, n_clusters: int, rng: np.random.RandomState) -> Any:
    from sklearn.cluster import KMeans  # loads a tenth of a second's worth of modules, and fits with labels need none

    return KMeans(n_clusters, n_init=5, random_state=rng).fit(rows)


def _stability(rows: Matrix, n_clusters: int, halves: Sequence[Rows], rng: np.random.RandomState) -> float:
    """Return how much clusters agree that k-means finds on different halves of the rows."""
    labels = [_cluster(rows[half], n_clusters, rng).predict(rows) for half in halves]
    pairs = [(one, other) for one in range(len(labels)) for other in range(one)]
    return float(np.mean([adjusted_rand_score(labels[one], labels[other]) for one, other in pairs]))


def _silhouette(rows: Matrix, n_clusters: int, rng: np.random.RandomState) -> float:
    """Return how far clusters lie apart: 1 if each is a point, 0 if they run into each other."""
    some = rows[rng.permutation(len(rows))[:_SOME_ROWS]]
    labels = _cluster(some, n_clusters, rng).labels_
    return float(silhouette_score(some, labels)) if len(np.unique(labels)) > 1 else 0.0
