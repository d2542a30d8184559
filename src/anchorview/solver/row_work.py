"""The rows that may move in one round of the active-set solver: their residual and their new codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Rows
from ..engine.blocks import iter_blocks, map_blocks, row_blocks
from .codes import CodeStack, Reduction, gather_rows, in_order, reduce_codes
from .elastic_net import UPPER, hessian_of, optimality_tol, solve_codes
from .grams import patterns, row_grams
from .objective import CouplingGradient
from .problem import CrossProducts, Problem

_CHUNK = 1024  # rows of a dense working block


def active_rows(problem: Problem, above: Rows, moved: Rows) -> Rows:
    """Return the rows that may violate the optimality conditions: labelled, moved before, or with a gradient above tol.

    `above` are those whose upper bound of the coupling's gradient is above it. Rows of weight 0 are no part of J.
    """
    if problem.coupling == 0:
        return np.empty(0, dtype=np.intp)
    active = np.unique(np.concatenate([above, moved, problem.labelled]))
    return active if problem.weights is None else active[problem.weights[active] > 0]


@dataclass
class RowWork:
    """The rows that may move in one round, in chunks: their residual, and their new codes for a given L."""

    problem: Problem
    cross: CrossProducts
    gradient: CouplingGradient
    rows: Rows
    codes: sparse.csr_array
    n_threads: int
    chunk_rows: int = _CHUNK

    def __post_init__(self) -> None:
        self._weights = None if self.problem.weights is None else self.problem.weights[self.rows]
        self._present = self.cross.present_in(self.rows)
        is_labelled = np.isin(self.rows, self.problem.labelled)
        self.chunks: list[Rows] = []
        for positions in (np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)):
            if self._present is not None:  # rows with the same views together: few Gram matrices per chunk
                positions = positions[np.argsort(patterns(self._present[positions])[1], kind="stable")]
            self.chunks += [positions[part] for part in row_blocks(len(positions), self.chunk_rows)]
        self.n_labelled_chunks = -(-int(is_labelled.sum()) // self.chunk_rows)

    def _coupling(self, chunk: Rows) -> Matrix:
        """∇g of the rows of a chunk."""
        rows = self.rows[chunk]
        result = self.gradient.of_unlabelled(self.codes[chunk])
        place = np.searchsorted(self.problem.labelled, rows)
        labelled = np.flatnonzero(np.isin(rows, self.problem.labelled))
        result[labelled] += self.gradient.label_pull[place[labelled]] @ self.gradient.embedding
        return result

    def _grams(self, chunk: Rows) -> list[tuple[Matrix, Rows]]:
        """Return the Gram matrices that a chunk needs, each with its rows; none if all rows have all views."""
        return [] if self._present is None else row_grams(self.problem.gram, self.problem.grams, self._present[chunk])

    def residual(self, scale: float) -> float:
        """Return the largest |z − clip(z − ∇J/s, 0, 1)| over the rows.

        With s the largest G_jj, ∇J/s is a step in codes, whatever the units of the features. Dividing the
        projected step instead, which is 1 at most, would let large features pass as solved.
        """

        def of_chunk(chunk: Rows) -> float:
            codes, grams, coupling = self.codes[chunk], self._grams(chunk), self._coupling(chunk)
            if grams:
                products = np.empty(codes.shape)
                for gram, rows in grams:
                    products[rows] = codes[rows] @ gram
            else:
                products = codes @ self.problem.gram
            slope = products - self.cross.take(self.rows[chunk]) + self.problem.l1
            slope += coupling
            dense = codes.toarray().astype(np.float64)
            slope += self.problem.ridge * dense
            return float(np.abs(dense - np.clip(dense - slope / scale, 0.0, UPPER)).max(initial=0.0))

        return max(map_blocks(of_chunk, self.chunks, self.n_threads), default=0.0)

    def solve(self, proximal: float) -> tuple[sparse.csr_array, Reduction, Reduction]:
        """Return the new codes of the rows and the reductions of old and new codes.

        In the labelled rows the must-link term is convex along the rows of A, with curvatures between 0 and c:
        linearised alone, steps overshoot and swing once c exceeds the curvature of the row problem. A proximal term
        (c/4) ‖A (z − z_t)‖² for those rows contracts for every curvature in between.
        """
        dtype, ridge = self.codes.dtype, self.problem.ridge + proximal
        pull = 0.5 * self.gradient.label_curvature * (self.gradient.embedding.T @ self.gradient.embedding)
        complete = self.problem.gram
        shared = [hessian_of(gram, ridge, dtype) for gram in (complete + pull, complete)]

        def solve(
            linear: Matrix, old: sparse.csr_array, is_labelled: bool, grams: list[tuple[Matrix, Rows]]
        ) -> sparse.csr_array:
            if not grams:
                return solve_codes(shared[0 if is_labelled else 1], linear, optimality_tol(complete, dtype), start=old)
            parts = []
            for gram, rows in grams:
                hessian = shared[0 if is_labelled else 1]
                if gram is not complete:
                    hessian = hessian_of(gram + pull if is_labelled else gram, ridge, dtype)
                parts.append(solve_codes(hessian, linear[rows], optimality_tol(gram, dtype), start=old[rows]))
            return gather_rows(parts, [rows for _, rows in grams])

        def of_chunk(number: int) -> tuple[sparse.csr_array, Reduction, Reduction]:
            is_labelled = number < self.n_labelled_chunks
            chunk = self.chunks[number]
            old, cross, grams = self.codes[chunk], self.cross.take(self.rows[chunk]), self._grams(chunk)
            linear = cross - self.problem.l1 - self._coupling(chunk) + proximal * old.toarray()
            if is_labelled:
                linear += old @ pull
            new = solve(linear.astype(dtype), old, is_labelled, grams)
            weights = None if self._weights is None else self._weights[chunk]
            return new, reduce_codes(old, cross, weights, grams), reduce_codes(new, cross, weights, grams)

        nothing = Reduction(np.zeros_like(complete), 0.0, 0.0)
        old_sums, new_sums = nothing, nothing  # added up as they come: those of all chunks are many m×m matrices
        stack = CodeStack(len(complete))
        for codes, old, new in iter_blocks(of_chunk, range(len(self.chunks)), self.n_threads, "moving codes"):
            stack.add(codes)
            old_sums, new_sums = old_sums + old, new_sums + new
        return in_order(stack.codes(), self.chunks), old_sums, new_sums
