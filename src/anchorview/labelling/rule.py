"""Labels, probabilities and confidence out of the embedding.

With labels, a row takes the class of its nearest labelled row (the paper's rule, on unit rows by default). Evidence
for a class is how near its nearest labelled row is; a softmax gives probabilities, with a temperature chosen on
labelled rows: here each judged by the others, in `held_out` by models that did not see its label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from ..core.arrays import ClassIds, Matrix, Rows, unit_rows
from ..engine.blocks import map_blocks, row_blocks
from .temperature import Mistakes, choose_temperature, spread

RULES = ("nearest", "euclidean", "knn", "paper")  # "paper" is "euclidean" from the codes of the joint problem
_BLOCK_ENTRIES = 2**20  # similarities of one block: 4-8 MB
_SMALLEST = 1e-3  # squared distance, to that of a labelled row from the origin
_USUAL = 0.15  # usual temperature of held-out rows, in units of the spread of the logits


def _with_ones(rows: Matrix) -> Matrix:
    return np.hstack([rows, np.ones((len(rows), 1), dtype=rows.dtype)])


@dataclass(frozen=True)
class LabelledNeighbours:
    """Classes from labelled rows of the embedding.

    Parameters
    ----------
    reference : ndarray of shape (n_labelled, k)
        Embedding of the labelled rows, ordered by class (unit rows, except for the rule "euclidean").
    class_ids : ndarray of shape (n_labelled,)
        Their class numbers, ascending.
    rule : {"nearest", "euclidean", "knn"}
        Nearest by angle, nearest by plain distance (the paper), or a vote of the `n_neighbors` nearest by angle, each
        weighted by the inverse of its distance.
    temperature : float
        Of the softmax.
    """

    reference: Matrix
    class_ids: ClassIds
    rule: str
    n_neighbors: int
    temperature: float = 1.0

    @property
    def _starts(self) -> Rows:
        return np.flatnonzero(np.diff(self.class_ids, prepend=-1))

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
        votes = np.zeros((len(rows), self.class_ids[-1] + 1))
        np.add.at(votes, (np.arange(len(votes))[:, None], self.class_ids[nearest]), weights)
        shares: Matrix = np.log(votes / votes.sum(axis=1, keepdims=True) + 1e-3)
        return shares

    def evidence(self, embedding: Matrix, n_threads: int = 1, block_entries: int = _BLOCK_ENTRIES) -> Matrix:
        """Evidence for each class, in blocks of rows with so many similarities."""

        def of_block(block: slice) -> Matrix:
            rows = embedding[block] if self.rule == "euclidean" else unit_rows(embedding[block])
            return self._evidence(rows, self._nearness(rows))

        blocks = row_blocks(len(embedding), max(1, block_entries // len(self.reference)))
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

    def read(self, embedding: Matrix, n_threads: int = 1) -> Matrix:
        """Return the class probabilities of embedded rows."""
        return self.probabilities(self.evidence(embedding, n_threads))

    def probabilities(self, evidence: Matrix) -> Matrix:
        """Class probabilities out of the evidence."""
        result: Matrix = softmax(self.logits(evidence) / self.temperature, axis=1)
        return result


def keep_labelled(embedding: Matrix, class_ids: ClassIds, rule: str, n_neighbors: int) -> LabelledNeighbours:
    """Keep the labelled rows of the embedding, with a temperature of 1."""
    rule = "euclidean" if rule == "paper" else rule
    order = np.argsort(class_ids, kind="stable")
    reference = embedding[order] if rule == "euclidean" else unit_rows(embedding[order])
    return LabelledNeighbours(reference, class_ids[order], rule, n_neighbors)


def calibrate_on_seen(neighbours: LabelledNeighbours, max_judged: int = 2000) -> LabelledNeighbours:
    """Choose the temperature on (at most so many) labelled rows, each judged without itself.

    The embedding has seen their labels, so that this is too sure; it is what can be done where none can be held out.
    """
    return replace(neighbours, temperature=_temperature_of_seen(neighbours, max_judged))


def _temperature_of_seen(neighbours: LabelledNeighbours, max_judged: int) -> float:
    class_ids = neighbours.class_ids
    step = max(1, len(class_ids) // max_judged)
    judged = np.arange(0, len(class_ids), step)
    judged = judged[np.bincount(class_ids)[class_ids[judged]] > 1]  # a class's only row has nothing to be near to
    if len(np.unique(class_ids)) < 2:
        return 1.0
    if len(judged) == 0:
        return max(_USUAL * spread(neighbours.logits(neighbours.evidence(neighbours.reference))), 1e-6)
    rows = neighbours.reference[judged]
    nearness = neighbours._nearness(rows)
    nearness[np.arange(len(judged)), judged] = nearness.min() - 1.0
    return choose_temperature(neighbours.logits(neighbours._evidence(rows, nearness)), class_ids[judged], Mistakes())
