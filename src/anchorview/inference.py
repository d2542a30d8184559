"""Labels, probabilities and confidence out of the embedding.

With labels, a row takes the class of its nearest labelled row (the paper's rule, on unit rows by default). Evidence
for a class is how near its nearest labelled row is; a softmax gives probabilities, with a temperature chosen on
labelled rows: here each judged by the others, in `calibration` by models that did not see its label. Without labels,
clusters come from k-means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from .engine.parallel import map_blocks

RULES = ("nearest", "euclidean", "knn")
_BLOCK_ENTRIES = 2**20  # similarities of one block: 4-8 MB
_MAX_JUDGED = 2000  # labelled rows used to choose the temperature
_SMALLEST = 1e-3  # squared distance, to that of a labelled row from the origin
_USUAL = 0.15  # usual temperature of held-out rows, in units of the spread of the logits
_DOUBT = 0.5  # rows that are added as mistakes: without any, the temperature of faultless rows would be zero

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
        """Minus the squared distances to the labelled rows, but for ‖f‖² of the row: 2⟨f, r⟩ − ‖r‖² in one product."""
        squared = np.einsum("ij,ij->i", self.reference, self.reference)
        result: Matrix = _with_ones(rows) @ np.vstack([2 * self.reference.T, -squared])
        return result

    def _evidence(self, rows: Matrix, nearness: Matrix) -> Matrix:
        """Turn nearness to the labelled rows into one number per class, larger for likelier."""
        norms = np.einsum("ij,ij->i", rows, rows)[:, None]
        if self.rule != "knn":
            result: Matrix = np.maximum.reduceat(nearness, self._starts, axis=1) - norms
            return result
        n_neighbors = min(self.n_neighbors, nearness.shape[1])
        nearest = np.argpartition(-nearness, n_neighbors - 1, axis=1)[:, :n_neighbors]
        squared = norms - np.take_along_axis(nearness, nearest, axis=1)
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

    def logits(self, evidence: Matrix) -> Matrix:
        """Turn evidence into the logits of a softmax, but for the temperature.

        Squared distances d² become −√d. The likelihood of a class does not fall with d² but slower, since rows far
        from all labels are the doubtful ones; of d², d, √d and log d, √d was best calibrated (docs/confidence.md).
        Distances are kept above what rounding makes of zero, which the root would enlarge.
        """
        if self.rule == "knn":
            return evidence
        floor = _SMALLEST * np.mean(np.einsum("ij,ij->i", self.reference, self.reference))
        logits: Matrix = -((np.maximum(-evidence, 0.0) + floor) ** 0.25)
        return logits

    def probabilities(self, evidence: Matrix) -> Matrix:
        """Class probabilities out of the evidence."""
        return softmax(self.logits(evidence) / self.temperature)


def fit_neighbours(
    embedding: Matrix, classes: npt.NDArray[np.intp], rule: str, n_neighbors: int, *, calibrate: bool = True
) -> LabelledNeighbours:
    """Keep the labelled rows of the embedding and, to `calibrate`, choose the temperature on them."""
    order = np.argsort(classes, kind="stable")
    reference = embedding[order] if rule == "euclidean" else unit_rows(embedding[order])
    neighbours = LabelledNeighbours(reference, classes[order], rule, n_neighbors)
    return replace(neighbours, temperature=_temperature_of_seen(neighbours)) if calibrate else neighbours


def _temperature_of_seen(neighbours: LabelledNeighbours) -> float:
    """Choose the temperature on the labelled rows, each judged without itself, though the embedding has seen it."""
    classes = neighbours.classes
    step = max(1, len(classes) // _MAX_JUDGED)
    judged = np.arange(0, len(classes), step)
    judged = judged[np.bincount(classes)[classes[judged]] > 1]  # a class's only row has nothing to be near to
    if len(np.unique(classes)) < 2:
        return 1.0
    if len(judged) == 0:
        return max(_USUAL * _spread(neighbours.logits(neighbours.evidence(neighbours.reference))), 1e-6)
    rows = neighbours.reference[judged]
    nearness = neighbours._nearness(rows)
    nearness[np.arange(len(judged)), judged] = nearness.min() - 1.0
    return choose_temperature(neighbours.logits(neighbours._evidence(rows, nearness)), classes[judged])


def _spread(logits: Matrix) -> float:
    """How far apart the likeliest and the unlikeliest class of a row are, usually."""
    return float(np.median(logits.max(axis=1) - logits.min(axis=1)))


def choose_temperature(logits: Matrix, classes: npt.NDArray[np.intp]) -> float:
    """Return the temperature at which the softmax of the logits has the least log loss on rows of known classes.

    Half a row counts as one whose second-best class is the right one.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> T = choose_temperature(logits, np.array([0, 0, 0, 0]))  # 3 of 4 right, 3 of 4.5 with the doubt
    >>> float(round(softmax(logits / T)[0, 0], 2))
    0.67
    """
    logits = np.asarray(logits, dtype=np.float64)
    gap = _spread(logits)
    if gap < 1e-30:  # nothing tells the classes apart, and dividing by less could overflow
        return 1.0
    each = np.arange(len(logits))
    second = np.argsort(logits, axis=1)[:, -2]

    def loss(log_temperature: float) -> float:
        scaled = logits / (gap * np.exp(log_temperature))
        scaled -= scaled.max(axis=1, keepdims=True)
        log_likelihood = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return -float(log_likelihood[each, classes].sum() + _DOUBT * log_likelihood[each, second].mean())

    # Convex in 1/T, so with a single minimum.
    found = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(10.0)), method="bounded", options={"xatol": 0.01})
    return gap * float(np.exp(found.x))


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
