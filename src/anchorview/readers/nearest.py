"""Labels, probabilities and confidence out of the embedding.

With labels, a row takes the class of its nearest labelled row (the paper's rule, on unit rows by default). Evidence
for a class is how near its nearest labelled row is; a softmax gives probabilities, with a temperature chosen on
labelled rows: here each judged by the others, in `held_out` by models that did not see its label.

A vote of several neighbours counts how they agree, and five that agree may be near or far. So their votes stay votes,
not shares of a sum, and every class has some beforehand (`doubt`): far from all labelled rows these outweigh the rest.

With many labelled rows, most of them are too far from a group of rows to be nearest to any of it, and are not looked at
(`candidates`); the nearest one of each class is found without a matrix of distances (`nearest_kernel`). Answers stay
the same.

Everything here is in double precision, and distances that matter are computed from differences: what is said of a row
does not depend on the rows beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows, softmax_at, squared_norms, unit_rows
from ..engine.blocks import even_size, iter_blocks, map_blocks, one_blas_thread, row_blocks
from .base import Reader, Space, TopTwo, class_probabilities
from .candidates import COPIES, EVERY, MIN_LABELLED, MIN_ROWS, TOGETHER, CandidateFilter, split_rows
from .temperature import Mistakes, choose_temperature, usual_temperature

_BLOCK_ENTRIES = 2**20  # similarities of one block: 4-8 MB
_COPIES = 4  # of similarities that a vote makes: their order, and which come near
_SMALLEST = 1e-3  # squared distance, to that of a labelled row from the origin
SAME = 1e-6  # distances below are zero: such a neighbour outweighs all others
NO_VOTE = 1e-3  # share of the votes that a class without any has
_FARTHEST = np.finfo(np.float64).max
READ_ROWS = 2**16  # whose probabilities are held at a time
_PAIRS = 2**16  # differences of rows made at a time
_WORTH_COMPILING = 2**22  # similarities: fewer take ten milliseconds, about as long as to load compiled code
_ALL = slice(None)  # labelled rows


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
    doubt : float
        Votes that every class has beforehand, for the rule "knn".
    """

    reference: Matrix
    class_ids: ClassIds
    rule: str
    n_neighbors: int
    temperature: float = 1.0
    doubt: float = 0.0
    reads: ClassVar[Space] = "embedding"

    def _starts(self, among: Rows | slice = _ALL) -> Rows:
        return self._starts_of_all if among is _ALL else _starts(self.class_ids[among])

    @cached_property
    def _starts_of_all(self) -> Rows:
        return _starts(self.class_ids)

    @property
    def _n_classes(self) -> int:
        return int(self.class_ids[-1]) + 1

    @cached_property
    def _of_all(self) -> tuple[Matrix, Matrix]:
        """The middle of all labelled rows, and what rows are multiplied by: computed once for many single rows."""
        return _centre(self.reference)

    @cached_property
    def _floor(self) -> float:
        """The least squared distance that counts."""
        return _SMALLEST * float(np.mean(squared_norms(self.reference)))

    @cached_property
    def _points(self) -> Matrix:
        """The factor of `_of_all` as `nearest_kernel` reads it."""
        return np.ascontiguousarray(self._of_all[1][:-1].T)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _nearness(self, among: Rows | slice = _ALL) -> Callable[[Matrix], Matrix]:
        """Return the function that gives minus the squared distances of rows to the labelled rows, by one product."""
        middle, factor = self._of_all if among is _ALL else _centre(self.reference[among])

        def nearness(rows: Matrix) -> Matrix:
            moved = np.empty((len(rows), rows.shape[1] + 2))
            np.subtract(rows, middle, out=moved[:, :-2])
            moved[:, -2], moved[:, -1] = 1.0, np.einsum("ij,ij->i", moved[:, :-2], moved[:, :-2])
            result: Matrix = moved @ factor
            return result

        return nearness

    def _unit(self, embedding: Matrix) -> Matrix:
        wide = embedding.astype(np.float64)
        return wide if self.rule == "euclidean" else unit_rows(wide)

    def _evidence(self, rows: Matrix, nearness: Matrix, among: Rows | slice = _ALL) -> Matrix:
        """Turn nearness to (some of) the labelled rows into one number per class, larger for likelier."""
        if self.rule != "knn":
            result: Matrix = np.maximum.reduceat(nearness, self._starts(among), axis=1)
            return result
        row, neighbour, distances = self._nearest(rows, nearness, self.reference[among])
        votes = np.zeros((len(rows), self._n_classes))
        np.add.at(votes, (row, self.class_ids[among][neighbour]), 1.0 / np.maximum(distances, SAME))
        counted: Matrix = np.log(votes + NO_VOTE * votes.sum(axis=1, keepdims=True))
        return counted

    def _nearest(self, rows: Matrix, nearness: Matrix, reference: Matrix) -> tuple[Rows, Rows, Matrix]:
        """Return pairs of a row and one of its nearest labelled rows, and their distances; of ties the first classes.

        Nearness is rounded, by more than the small distances themselves, so it only tells which could be nearest; where
        it is minus infinity a row is not to be looked at.
        """
        count = min(self.n_neighbors, len(reference))
        last = np.partition(nearness, -count, axis=1)[:, -count]
        rounding = (16 + rows.shape[1]) * np.finfo(np.float64).eps
        slack = rounding * (squared_norms(rows) + squared_norms(reference).max())
        could_be = nearness >= np.maximum(last - slack, -_FARTHEST)[:, None]
        row, neighbour = np.divmod(np.flatnonzero(could_be), len(reference))  # few: much faster than both by nonzero()
        parts = row_blocks(len(row), _PAIRS)
        squared = np.concatenate([squared_norms(rows[row[p]] - reference[neighbour[p]]) for p in parts])
        if np.bincount(row, minlength=1).max() > count:
            order = np.lexsort((neighbour, squared, row))
            starts = np.searchsorted(row, np.arange(len(rows)))
            chosen = order[np.arange(len(row)) - starts[row] < count]
            row, neighbour, squared = row[chosen], neighbour[chosen], squared[chosen]
        return row, neighbour, np.sqrt(squared)

    def evidence(self, embedding: Matrix, n_threads: int = 1, block_entries: int = _BLOCK_ENTRIES) -> Matrix:
        """Evidence for each class, in blocks of rows with so many similarities.

        For the rules of the nearest row that is minus the squared distance; for a vote the logarithm of the votes.
        """
        entries = block_entries // _COPIES if self.rule == "knn" else block_entries
        parts = row_blocks(len(embedding), READ_ROWS)
        found = [self._of_part(embedding[part], n_threads, entries) for part in parts]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _of_part(self, embedding: Matrix, n_threads: int, entries: int) -> Matrix:
        """Return the evidence for some rows: from the candidates of their groups if these are few, else from all."""
        if len(embedding) >= MIN_ROWS and len(self.reference) >= MIN_LABELLED:
            with one_blas_thread():
                candidates = CandidateFilter(
                    self.reference, None if self.rule == "knn" else self._starts(), self.n_neighbors
                )
                if candidates.are_few(self._unit(embedding[::EVERY])):
                    return self._compare_groups(embedding, candidates, n_threads, entries)
        return self._compare(embedding, n_threads, entries)

    def _compare(self, embedding: Matrix, n_threads: int, entries: int) -> Matrix:
        """Return the evidence from all labelled rows."""
        compiled = self.rule != "knn" and len(embedding) * len(self.reference) >= _WORTH_COMPILING
        nearness = self._nearness()

        def of_block(block: slice) -> Matrix:
            rows = self._unit(embedding[block])
            if compiled:
                found = np.empty((len(rows), self._n_classes), dtype=embedding.dtype)
                self._write_nearness(rows, np.arange(len(rows)), _ALL, found)
                return found
            return self._evidence(rows, nearness(rows)).astype(embedding.dtype)

        blocks = row_blocks(len(embedding), max(1, entries // len(self.reference)))
        if len(blocks) == 1:
            with one_blas_thread():
                return of_block(blocks[0])
        return np.concatenate(map_blocks(of_block, blocks, n_threads))

    def _compare_groups(self, embedding: Matrix, candidates: CandidateFilter, n_threads: int, entries: int) -> Matrix:
        """Return the same evidence, for each group of rows from its candidates."""
        rows = self._unit(embedding)
        groups = split_rows(rows)
        result = np.empty((len(rows), self._n_classes), dtype=embedding.dtype)

        def of_groups(block: slice) -> None:
            for group, among in zip(groups[block], candidates.of(rows, groups[block]), strict=True):
                if self.rule == "knn":
                    result[group] = self._vote(rows[group], among, entries)
                else:
                    self._write_nearness(rows, group, among, result)

        together = max(1, min(TOGETHER, entries // (COPIES * len(self.reference))))
        map_blocks(of_groups, row_blocks(len(groups), together), n_threads)
        return result

    def _vote(self, rows: Matrix, among: Rows, entries: int) -> Matrix:
        nearness = self._nearness(among)
        blocks = row_blocks(len(rows), max(1, entries // len(among)))
        return np.concatenate([self._evidence(rows[block], nearness(rows[block]), among) for block in blocks])

    def _write_nearness(self, rows: Matrix, members: Rows, among: Rows | slice, nearness: Matrix) -> None:
        """Write the nearness of some rows to the nearest of each class among (some of) the labelled rows."""
        from ..core.vectors import WIDTH  # with numba, which small problems do without
        from .nearest_kernel import write_nearness

        numbers = among if isinstance(among, np.ndarray) else np.arange(len(self.reference))
        starts = np.append(self._starts(among), len(numbers))
        panel = np.empty((rows.shape[1] + 3, WIDTH))
        write_nearness(rows, members, self._of_all[0], self._points, numbers, starts, panel, nearness)

    def logits(self, evidence: Matrix) -> Matrix:
        """Turn evidence into the logits of a softmax, but for the temperature.

        Squared distances d² become −√d. The likelihood of a class does not fall with d² but slower, since rows far
        from all labels are the doubtful ones; of d², d, √d and log d, √d was best calibrated (docs/lab/confidence.md).
        Distances are kept above what rounding makes of zero, which the root would enlarge. Votes get those that every
        class has.
        """
        if self.rule == "knn":
            with np.errstate(divide="ignore"):  # no doubt: minus infinity adds nothing
                doubted: Matrix = np.logaddexp(evidence, np.log(self.doubt).astype(evidence.dtype))
            return doubted
        logits: Matrix = -((np.maximum(-evidence, 0.0) + self._floor) ** 0.25)
        return logits

    def scores(self, rows: Matrix, n_threads: int = 1) -> Matrix:
        """Return the logits of embedded rows, but for the temperature."""
        return self.logits(self.evidence(rows, n_threads))

    def probabilities(self, evidence: Matrix) -> Matrix:
        """Class probabilities out of the evidence."""
        return softmax_at(self.logits(evidence), self.temperature)


def _starts(class_ids: ClassIds) -> Rows:
    """Return where each class begins."""
    return np.flatnonzero(np.diff(class_ids, prepend=-1))


def _centre(reference: Matrix) -> tuple[Matrix, Matrix]:
    """Return the middle of labelled rows, and the factor whose product with other rows gives minus squared distances.

    Both are taken from the middle, else −‖f‖² + 2⟨f, r⟩ − ‖r‖² would round small ones away.
    """
    middle = reference.mean(axis=0)
    centred = reference - middle
    return middle, np.vstack([2 * centred.T, -squared_norms(centred), -np.ones(len(centred))])


def likeliest(reader: Reader, embedding: Any, n_threads: int) -> TopTwo:
    """Return the likeliest classes of each row, without holding the probabilities of all classes and rows.

    Parameters
    ----------
    reader : Reader
        Of embedded rows.
    embedding : ndarray of shape (n_rows, k), or rows on a cluster
        The rows.
    """
    parts: Iterable[TopTwo]
    n_rows = embedding.shape[0]
    blocks = row_blocks(n_rows, even_size(n_rows, READ_ROWS, n_threads))
    if hasattr(embedding, "map_rows"):
        parts = embedding.map_rows(partial(_read_labels, reader=reader))
    elif len(blocks) < n_threads:  # threads share a block
        parts = (_read_labels(embedding[block], block, reader, n_threads) for block in blocks)
    else:
        parts = iter_blocks(lambda block: _read_labels(embedding[block], block, reader), blocks, n_threads)
    return TopTwo.joined(parts, n_rows)


def _read_labels(rows: Matrix, block: slice, reader: Reader, n_threads: int = 1) -> TopTwo:
    return TopTwo.of(class_probabilities(reader, rows, n_threads))


def keep_labelled(embedding: Matrix, class_ids: ClassIds, rule: str, n_neighbors: int) -> LabelledNeighbours:
    """Keep the labelled rows of the embedding, with a temperature of 1."""
    rule = "euclidean" if rule == "paper" else rule
    order = np.argsort(class_ids, kind="stable")
    wide = embedding[order].astype(np.float64)
    reference = wide if rule == "euclidean" else unit_rows(wide)
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
        return max(usual_temperature(neighbours.logits(neighbours.evidence(neighbours.reference))), 1e-6)
    rows = neighbours.reference[judged]
    nearness = neighbours._nearness()(rows)
    nearness[np.arange(len(judged)), judged] = -np.inf
    return choose_temperature(neighbours.logits(neighbours._evidence(rows, nearness)), class_ids[judged], Mistakes())
