"""Labels, probabilities and confidence out of the embedding.

With labels, a row takes the class of its nearest labelled row (the paper's rule, on unit rows by default). Evidence
for a class is how near its nearest labelled row is; a softmax of the evidence gives probabilities, with a
temperature chosen on the labelled rows, each judged by the others. Without labels, clusters come from k-means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .engine.parallel import map_blocks

RULES = ("nearest", "euclidean", "knn")
_BLOCK_ENTRIES = 2**20  # similarities of one block: 4-8 MB
_MAX_JUDGED = 2000  # labelled rows used to choose the temperature

Matrix = npt.NDArray[np.floating]


def unit_rows(rows: Matrix) -> Matrix:
    """Scale rows to unit length; rows of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Matrix = rows / np.where(norms > 0, norms, 1)
    return result


def _with_ones(rows: Matrix) -> Matrix:
    return np.hstack([rows, np.ones((len(rows), 1), dtype=rows.dtype)])


@dataclass(frozen=True)
class LabelledNeighbours:
    """Classes from labelled rows of the embedding.

    Parameters
    ----------
    reference : ndarray of shape (n_labelled, k)
        Embedding of the labelled rows, ordered by class (unit rows, except for the rule "euclidean").
    classes : ndarray of shape (n_labelled,)
        Their class numbers, ascending.
    rule : {"nearest", "euclidean", "knn"}
        Nearest by angle, nearest by plain distance (the paper), or a vote of the `n_neighbors` nearest by angle, each
        weighted by the inverse of its distance.
    temperature : float
        Of the softmax.
    """

    reference: Matrix
    classes: npt.NDArray[np.intp]
    rule: str
    n_neighbors: int
    temperature: float = 1.0

    @property
    def _starts(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    def _nearness(self, rows: Matrix) -> Matrix:
        """Minus the squared distances to the labelled rows, up to a number per row: 2⟨f, r⟩ − ‖r‖² in one product."""
        squared = np.einsum("ij,ij->i", self.reference, self.reference)
        result: Matrix = _with_ones(rows) @ np.vstack([2 * self.reference.T, -squared])
        return result

    def _evidence(self, rows: Matrix, nearness: Matrix) -> Matrix:
        """Turn nearness to the labelled rows into one number per class, larger for likelier."""
        if self.rule != "knn":
            result: Matrix = np.maximum.reduceat(nearness, self._starts, axis=1)
            return result
        n_neighbors = min(self.n_neighbors, nearness.shape[1])
        nearest = np.argpartition(-nearness, n_neighbors - 1, axis=1)[:, :n_neighbors]
        squared = np.einsum("ij,ij->i", rows, rows)[:, None] - np.take_along_axis(nearness, nearest, axis=1)
        weights = 1.0 / np.maximum(np.sqrt(np.maximum(squared, 0.0)), 1e-6)  # distance zero outweighs all others
        votes = np.zeros((len(rows), self.classes[-1] + 1))
        np.add.at(votes, (np.arange(len(votes))[:, None], self.classes[nearest]), weights)
        shares: Matrix = np.log(votes / votes.sum(axis=1, keepdims=True) + 1e-3)
        return shares

    def evidence(self, embedding: Matrix, n_threads: int = 1) -> Matrix:
        """Evidence for each class, in blocks of rows."""
        step = max(1, _BLOCK_ENTRIES // len(self.reference))
        blocks = [embedding[start : start + step] for start in range(0, len(embedding), step)]

        def of_block(block: Matrix) -> Matrix:
            rows = block if self.rule == "euclidean" else unit_rows(block)
            return self._evidence(rows, self._nearness(rows))

        return np.concatenate(map_blocks(of_block, blocks, n_threads))

    def probabilities(self, evidence: Matrix) -> Matrix:
        """Softmax of the evidence."""
        return softmax(evidence / self.temperature)


def fit_neighbours(
    embedding: Matrix, classes: npt.NDArray[np.intp], rule: str, n_neighbors: int, *, calibrate: bool = True
) -> LabelledNeighbours:
    """Keep the labelled rows of the embedding and, to `calibrate`, choose the temperature."""
    order = np.argsort(classes, kind="stable")
    reference = embedding[order] if rule == "euclidean" else unit_rows(embedding[order])
    neighbours = LabelledNeighbours(reference, classes[order], rule, n_neighbors)
    if not calibrate:
        return neighbours
    return LabelledNeighbours(
        reference, neighbours.classes, rule, n_neighbors, temperature=_choose_temperature(neighbours)
    )


def _choose_temperature(neighbours: LabelledNeighbours) -> float:
    """Minimise the log loss of the labelled rows, each judged without itself."""
    classes = neighbours.classes
    step = max(1, len(classes) // _MAX_JUDGED)
    judged = np.arange(0, len(classes), step)
    judged = judged[np.bincount(classes)[classes[judged]] > 1]  # a class's only row has nothing to be near to
    if len(judged) == 0 or len(np.unique(classes)) < 2:
        return 1.0
    rows = neighbours.reference[judged]
    nearness = neighbours._nearness(rows)
    nearness[np.arange(len(judged)), judged] = nearness.min() - 1.0
    evidence = neighbours._evidence(rows, nearness)
    gap = float(np.median(evidence.max(axis=1) - evidence.min(axis=1)))
    if gap < 1e-30:  # nothing tells the classes apart, and dividing by less could overflow
        return 1.0
    candidates = gap * np.logspace(-3, 1, 81)
    losses = [
        -np.mean(np.log(softmax(evidence / t)[np.arange(len(judged)), classes[judged]] + 1e-12)) for t in candidates
    ]
    return float(candidates[int(np.argmin(losses))])


@dataclass(frozen=True)
class ClusterCentres:
    """Clusters without labels: k-means centres on the unit rows of the embedding."""

    centres: Matrix
    temperature: float

    def evidence(self, embedding: Matrix, n_threads: int = 1) -> Matrix:
        """Minus the squared distance to each centre."""
        rows = unit_rows(embedding)
        squared = np.einsum("ij,ij->i", self.centres, self.centres)
        result: Matrix = 2 * (rows @ self.centres.T) - squared - np.einsum("ij,ij->i", rows, rows)[:, None]
        return result

    def probabilities(self, evidence: Matrix) -> Matrix:
        """Softmax of the evidence."""
        return softmax(evidence / self.temperature)


def fit_clusters(
    embedding: Matrix, n_clusters: int, rng: np.random.RandomState, weights: npt.NDArray[np.float64] | None = None
) -> ClusterCentres:
    """Run k-means on the unit rows; the temperature is the mean squared distance within clusters."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    rows = unit_rows(embedding)
    n_sample = min(len(rows), max(20_000, 100 * n_clusters))
    chosen = slice(None) if n_sample == len(rows) else rng.choice(len(rows), n_sample, replace=False)
    sample, weight = rows[chosen], None if weights is None else weights[chosen]
    with threadpool_limits(1):  # the sums of several threads come in any order
        found = KMeans(n_clusters, n_init=10, random_state=rng).fit(sample, sample_weight=weight)
    total = len(sample) if weight is None else weight.sum()
    return ClusterCentres(found.cluster_centers_, max(found.inertia_ / total, 1e-6))


def softmax(values: Matrix) -> Matrix:
    """Softmax along rows."""
    shifted = np.exp(values - values.max(axis=1, keepdims=True))
    result: Matrix = shifted / shifted.sum(axis=1, keepdims=True)
    return result
