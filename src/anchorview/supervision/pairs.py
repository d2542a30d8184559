"""Pairs and groups of rows: what constraints say once they name rows, and the matrices that hold it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Rows
from ..solver.laplacian import pair_matrix


@dataclass(frozen=True, eq=False)
class PairList:
    """Weighted pairs, of row numbers or of sample ids."""

    first: npt.NDArray[Any]
    second: npt.NDArray[Any]
    weight: Matrix

    @classmethod
    def empty(cls, dtype: npt.DTypeLike) -> PairList:
        """Return no pairs."""
        return cls(np.empty(0, dtype=dtype), np.empty(0, dtype=dtype), np.empty(0))

    def __len__(self) -> int:
        return len(self.weight)

    def __add__(self, other: PairList) -> PairList:
        return PairList(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.second, other.second]),
            np.concatenate([self.weight, other.weight]),
        )

    def merged(self, n_rows: int) -> PairList:
        """Return each pair of rows once, the smaller number first; weights of equal pairs are added."""
        ends = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return _upper_pairs(sparse.coo_array((self.weight, ends), shape=(n_rows, n_rows)))

    def without(self, left_out: Mask) -> PairList:
        """Return the pairs with neither end among the rows left out; rows keep their numbers."""
        kept = ~(left_out[self.first] | left_out[self.second])
        return PairList(self.first[kept], self.second[kept], self.weight[kept])

    def take(self, index: Rows, n_rows: int) -> PairList:
        """Return the pairs among the rows ``index``, renumbered; a row taken twice has its pairs twice."""
        matrix = pair_matrix(self.first, self.second, self.weight, n_rows)
        return _upper_pairs(sparse.triu(matrix[index][:, index]))


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Groups of rows; the pairs within them are never listed.

    `members` None: rows of one group must link. Else rows of one group and different members must not; a member is a
    row of the data the constraints were made for, so a row that a bootstrap draws twice is not told apart from itself.
    """

    numbers: Rows  # group of each row, −1 without
    weight: float
    members: Rows | None = None

    @property
    def n_groups(self) -> int:
        """Number of the last group plus one."""
        return int(self.numbers.max(initial=-1)) + 1

    def count(self) -> int:
        """Return the number of groups that have a row."""
        return len(np.unique(self.numbers[self.numbers >= 0]))

    def take(self, index: Rows) -> PairGroups:
        """Return the groups of the rows ``index``."""
        return PairGroups(self.numbers[index], self.weight, None if self.members is None else self.members[index])


@dataclass(frozen=True, eq=False)
class ResolvedPairs:
    """Constraints as row numbers: single pairs (each once, first < second; first = second in `must` only) and groups.

    A pair that is stated in several places has the sum of the weights.
    """

    n_rows: int
    must: PairList
    cannot: PairList
    must_groups: tuple[PairGroups, ...] = ()
    cannot_groups: tuple[PairGroups, ...] = ()

    @classmethod
    def empty(cls, n_rows: int) -> ResolvedPairs:
        """Return no pairs."""
        return cls(n_rows, PairList.empty(np.intp), PairList.empty(np.intp))

    def __add__(self, other: ResolvedPairs) -> ResolvedPairs:
        return ResolvedPairs(
            self.n_rows,
            (self.must + other.must).merged(self.n_rows),
            (self.cannot + other.cannot).merged(self.n_rows),
            self.must_groups + other.must_groups,
            self.cannot_groups + other.cannot_groups,
        )

    def take(self, index: Rows) -> ResolvedPairs:
        """Return what holds among the rows ``index``."""
        return ResolvedPairs(
            len(index),
            self.must.take(index, self.n_rows),
            self.cannot.take(index, self.n_rows),
            tuple(groups.take(index) for groups in self.must_groups),
            tuple(groups.take(index) for groups in self.cannot_groups),
        )

    def without(self, left_out: Mask) -> ResolvedPairs:
        """Return what is said of the other rows only; rows keep their numbers."""

        def ungroup(groups: PairGroups) -> PairGroups:
            return replace(groups, numbers=np.where(left_out, -1, groups.numbers))

        return ResolvedPairs(
            self.n_rows,
            self.must.without(left_out),
            self.cannot.without(left_out),
            tuple(ungroup(groups) for groups in self.must_groups),
            tuple(ungroup(groups) for groups in self.cannot_groups),
        )

    def touched(self) -> Mask:
        """Tell which rows are in a pair or a group."""
        result = np.zeros(self.n_rows, dtype=bool)
        for pairs in (self.must, self.cannot):
            result[pairs.first] = result[pairs.second] = True
        for groups in self.must_groups + self.cannot_groups:
            result |= groups.numbers >= 0
        return result


def _upper_pairs(matrix: sparse.coo_array) -> PairList:
    """Return the entries of an upper triangular matrix; equal positions are added, zeros left out."""
    summed = sparse.csr_array(matrix)
    summed.eliminate_zeros()
    listed = sparse.coo_array(summed)
    return PairList(listed.row.astype(np.intp), listed.col.astype(np.intp), listed.data)
