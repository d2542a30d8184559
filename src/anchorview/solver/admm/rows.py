"""ADMM, all rows: the states B⁰, B, Y and Z in memory, passed over block by block.

A pass applies `step` to each block, in parallel, and adds up what the landmarks need to know: ZᵀZ and a
few scalars, in float64 and in the order of the blocks, so that sums do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...core.arrays import Matrix, Rows
from ...engine.blocks import map_blocks
from ..codes import stack_codes
from ..problem import CrossProducts
from .landmarks import LandmarkSummary
from .step import Push, RowModel, first_codes, first_consensus, update_codes, update_consensus

BLOCKS_PER_SUM = 16  # m×m matrices that wait to be added up at any time


class _Part(NamedTuple):
    """What a pass returns for one block: a matrix and numbers to add up, and numbers whose maximum counts."""

    gram: Matrix
    sums: tuple[float, ...]
    largest: tuple[float, ...]


@dataclass(frozen=True)
class Proposal:
    """A candidate Z⁺, as the landmarks see it."""

    summary: LandmarkSummary
    change: float  # of λ_Z ΣZ + (μ/2)‖Z‖² + (λ/2)‖Z − B − Y‖²
    magnitude: float  # the absolute terms of that change, added up: the scale of its rounding error
    squared: float  # ‖Z⁺ − Z‖²
    largest: float  # ‖Z⁺ − Z‖∞


class RowStates:
    """The states of all rows; E is read when it is made, once."""

    def __init__(self, model: RowModel, cross: CrossProducts, labelled: Rows, n_threads: int) -> None:
        self.model = model
        self._blocks = cross.blocks
        self._labelled = labelled
        self._n_threads = n_threads
        shape = (cross.n_rows, len(model.inverse))
        self._first = np.empty(shape, dtype=model.inverse.dtype)  # B⁰ = E K
        self.codes = np.empty_like(self._first)  # Z
        self._proposed = np.empty_like(self._first)  # Z⁺
        self.dual = np.zeros_like(self._first)  # Y = Λ/λ

        def start(block: slice) -> _Part:
            rows = cross.read(block)
            first = first_consensus(model, rows)
            codes = first_codes(model, first)
            self._first[block], self.codes[block] = first, codes
            return _Part(codes.T @ codes, (_dot(rows, first),), ())

        total = self._pass(start)
        self._explained = total.sums[0]  # <E, B⁰>
        self.consensus = self._first.copy()  # B
        self.summary = self._summarise(self.codes, total.gram)

    def propose(self, push: Push, embedding: Matrix, pairs: Matrix | None) -> Proposal:
        """Compute Z⁺ beside Z; `pairs` (n_l×k) times A is what pairs add to the labelled rows' gradient."""
        model = self.model

        def step(block: slice) -> _Part:
            codes, target = self.codes[block], self.consensus[block] + self.dual[block]
            moved = update_codes(model, push, codes, target, self._pairs_in(block, pairs, embedding))
            self._proposed[block] = moved
            delta = moved - codes
            terms = (model.penalty + model.ridge) / 2 * (moved + codes) - model.penalty * target
            terms += codes.dtype.type(model.l1)
            terms *= delta
            sums = (_sum(terms), _sum(np.abs(terms)), _dot(delta, delta))
            return _Part(moved.T @ moved, sums, (_largest(delta),))

        total = self._pass(step)
        change, magnitude, squared = total.sums
        summary = self._summarise(self._proposed, total.gram)
        return Proposal(summary, change, magnitude, squared, total.largest[0])

    def swap(self) -> None:
        """Exchange Z and the last proposal."""
        self.codes, self._proposed = self._proposed, self.codes

    def update_consensus(self) -> tuple[float, float, float]:
        """Update B and Y from Z; return the rows' part of the augmented Lagrangian, ‖ΔB‖∞ and ‖B − Z‖∞.

        That part is −<E, B> + ½<BG, B> + λ_Z ΣZ + (μ/2)‖Z‖² + λ<Y, B − Z> + (λ/2)‖B − Z‖². The B step makes
        E = BG + λY, hence its first two terms are −½<E, B> − ½λ<Y, B>; and B = B⁰ + λ(Z − Y_old)K makes
        <E, B> = <E, B⁰> + λ<B⁰, Z − Y_old>. So neither E nor BG is needed.
        """
        model = self.model

        def step(block: slice) -> _Part:
            first, codes, old = self._first[block], self.codes[block], self.dual[block]
            consensus, dual = update_consensus(model, first, old, codes)
            gap = consensus - codes
            inner = _dot(dual, gap) + (_dot(gap, gap) - _dot(first, codes - old) - _dot(dual, consensus)) / 2
            value = model.penalty * inner + model.l1 * _sum(codes) + model.ridge / 2 * _dot(codes, codes)
            largest = (_largest(consensus - self.consensus[block]), _largest(gap))
            self.consensus[block], self.dual[block] = consensus, dual
            return _Part(np.zeros((0, 0)), (value,), largest)

        total = self._pass(step)
        moved, apart = total.largest
        return total.sums[0] - self._explained / 2, moved, apart

    def finish(self) -> sparse.csr_array:
        """Return Z, sparse, and let go of the states: beside them a Z without zeros would not fit."""
        del self._first, self._proposed, self.dual, self.consensus
        blocks = (sparse.csr_array(self.codes[block]) for block in self._blocks)
        codes = stack_codes(blocks, self.codes.shape[1])
        del self.codes
        return codes

    def _pass(self, function: Callable[[slice], _Part]) -> _Part:
        """Run one pass and add up its parts, a few blocks at a time."""
        gram: Matrix | float = 0.0
        sums, largest = [], []
        for start in range(0, len(self._blocks), BLOCKS_PER_SUM):
            some = self._blocks[start : start + BLOCKS_PER_SUM]
            for part in map_blocks(function, some, self._n_threads):
                gram = gram + part.gram.astype(np.float64)
                sums.append(part.sums)
                largest.append(part.largest)
        return _Part(np.asarray(gram), tuple(np.sum(sums, axis=0)), tuple(np.max(largest, axis=0)))

    def _summarise(self, codes: Matrix, gram: Matrix) -> LandmarkSummary:
        return LandmarkSummary(gram.astype(np.float64), codes[self._labelled].astype(np.float64))

    def _pairs_in(self, block: slice, pairs: Matrix | None, embedding: Matrix) -> tuple[Rows, Matrix] | None:
        if pairs is None:
            return None
        low, high = np.searchsorted(self._labelled, [block.start, block.stop])
        values = (pairs[low:high] @ embedding).astype(self.codes.dtype)
        return self._labelled[low:high] - block.start, values


def _dot(a: Matrix, b: Matrix) -> float:
    """Return <a, b>, rows added up in float64."""
    return float(np.einsum("ij,ij->i", a, b).sum(dtype=np.float64))


def _sum(a: Matrix) -> float:
    return float(a.sum(axis=1).sum(dtype=np.float64))


def _largest(a: Matrix) -> float:
    return float(np.abs(a).max())
