"""Codes of all rows, or of some, for one setting, shared by everything that reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows, Weights
from ..engine.blocks import iter_blocks, one_blas_thread, row_blocks
from ..features.representation import Representation
from ..readers.linear import LinearReader
from ..solver.codes import code_gram, stack_codes
from ..solver.coverage import cover_landmarks
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.laplacian import Laplacian, quadratic_forms
from ..solver.objective import CodeSums, embedding_matrices
from ..solver.problem import Problem
from ..solver.trace_ratio import solve_trace_ratio
from ..supervision.known import supervision_laplacians
from ..supervision.pairs import ResolvedPairs

_BLOCK_ROWS = 512  # of some rows, so that threads end together
_KEPT = 6  # folds, of up to two rounds, whose sums are kept: a few MB each with 500 landmarks


@dataclass(frozen=True)
class VisibleLabels:
    """What a fit may learn from: rows with a class, given or passed on by must-links, and pairs."""

    rows: Rows  # ascending
    class_ids: ClassIds
    weights: Weights  # of these rows
    pairs: ResolvedPairs | None
    all_weights: Weights  # of all rows
    n_rows: int  # number of all rows
    n_classes: int
    # of single views, by what scales them: scalings that differ in other views share them
    regressions: dict[Any, tuple[Any, LinearReader]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def laplacians(self) -> tuple[Rows, Laplacian | None, Laplacian | None]:
        """The rows with supervision and their Laplacians; many settings share them."""
        everyone = np.full(self.n_rows, -1, dtype=np.intp)
        everyone[self.rows] = self.class_ids
        return supervision_laplacians(everyone, self.n_classes, self.pairs, self.all_weights)


@dataclass(frozen=True)
class CodeSet:
    """Codes of all rows, or of some, for one setting, without coupling, and their Gram matrix."""

    encoder: ElasticNetEncoder
    codes: sparse.csr_array
    gram: Matrix
    rows: Rows | None = None  # the numbers of these rows, ascending; None if they are all
    _sums: dict[int, tuple[VisibleLabels, CodeSums]] = field(default_factory=dict, repr=False, compare=False)

    def of(self, rows: Rows) -> sparse.csr_array:
        """Return the codes of some of these rows, by their numbers."""
        return sparse.csr_array(self.codes[rows if self.rows is None else np.searchsorted(self.rows, rows)])

    def sums(self, visible: VisibleLabels) -> CodeSums:
        """Return what an embedding needs to know of the codes, which does not depend on λ_M; kept for some time."""
        if id(visible) not in self._sums:
            rows, must, cannot = visible.laplacians
            forms = quadratic_forms(must, cannot, self.of(rows))
            if len(self._sums) == _KEPT:
                self._sums.pop(next(iter(self._sums)))
            self._sums[id(visible)] = visible, CodeSums(self.gram, 0.0, 0.0, *forms)
        return self._sums[id(visible)][1]


def encode(
    source: Representation, l1: float, ridge: float, weights: Weights, n_threads: int, rows: Rows | None = None
) -> CodeSet:
    """Solve the codes of all rows, or of some, ascending."""
    encoder = ElasticNetEncoder(source.grams.complete, ridge, l1, source.grams)
    cross = source.cross
    encoder.prepare(cross.dtype)  # before the threads start

    def of_block(block: slice) -> tuple[sparse.csr_array, Matrix]:
        part = block if rows is None else rows[block]
        present = cross.present_in(part)
        codes = encoder.encode(cross.read(block) if rows is None else cross.take(rows[block]), present)
        return codes, code_gram(codes, None if weights is None else weights[part])

    m = len(source.landmarks)
    cut = cross.blocks if rows is None else row_blocks(len(rows), _BLOCK_ROWS)
    blocks, gram = [], np.zeros((m, m))
    for codes, part in iter_blocks(of_block, cut, n_threads, "encoding"):
        blocks.append(codes)
        gram += part
    return CodeSet(encoder, stack_codes(blocks, m), gram, rows)


def join_codes(first: CodeSet, second: CodeSet) -> CodeSet:
    """Return the codes of all rows from those of some and those of the others."""
    assert first.rows is not None and second.rows is not None
    order = np.argsort(np.concatenate([first.rows, second.rows]), kind="stable")
    both = sparse.vstack([first.codes, second.codes], format="csr")
    return CodeSet(first.encoder, sparse.csr_array(both[order]), first.gram + second.gram)


def embed_code_set(
    code_set: CodeSet,
    visible: VisibleLabels,
    must_link_weight: float,
    start: Matrix | None = None,
    tol: float = 3e-2,
) -> Matrix:
    """Learn the landmarks' embedding from the labels and pairs that a fit may see."""
    rows, must, cannot = visible.laplacians
    problem = Problem(
        gram=code_set.encoder.gram,
        n_components=visible.n_classes,
        l1=0.0,
        ridge=0.0,
        coupling=0.0,
        must_link_weight=must_link_weight,
        labelled=np.arange(len(rows)),
        must=must,
        cannot=cannot,
    )
    with one_blas_thread():
        sums = code_set.sums(visible)
        solved = solve_trace_ratio(*embedding_matrices(problem, sums), problem.n_components, start=start, tol=tol)
        return cover_landmarks(solved.embedding, problem, sums).embedding if solved.is_partial else solved.embedding
