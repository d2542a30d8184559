"""Laplacians of weighted pairs of rows: of single pairs, and of groups whose pairs are never listed.

A symmetric matrix W ≥ 0 holds the weight of each ordered pair. Its Laplacian, divided by the number of pairs
ΣW, is

    L = (diag(W 1) − W) / ΣW,   Tr(Fᵀ L F) = Σ_ij W_ij ‖f_i − f_j‖² / (2 ΣW)

A pair i=i moves nothing but counts in ΣW, as it does in the paper. Single pairs are a sparse W. Groups are
W = SᵀS − TᵀT, where S has one row per group and T one per member of a group, so that time and memory are linear in
the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Rows
from .codes import code_gram
from .spectrum import lanczos_bound

_CHUNK = 4096  # rows whose weighted sums of codes are held at a time


class Laplacian(Protocol):
    """A symmetric positive semi-definite operator on the rows with supervision."""

    def apply(self, values: Matrix) -> Matrix:
        """Return ``L @ values`` for one row of values per labelled row."""
        ...

    def quadratic(self, codes: sparse.csr_array) -> Matrix:
        """Return ``codesᵀ L codes`` (m×m) for the codes of the labelled rows."""
        ...

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L, or an upper bound of it."""
        ...


@dataclass(frozen=True)
class PairLaplacian:
    """The Laplacian of single pairs.

    Examples
    --------
    >>> PairLaplacian(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))).apply(np.array([[1.0], [3.0]]))
    array([[-1.],
           [ 1.]])
    """

    weights: sparse.csr_array  # W, symmetric, not negative, not all zero

    @cached_property
    def n_pairs(self) -> float:
        """ΣW, the number of ordered pairs."""
        return float(self.weights.sum())

    @cached_property
    def _links(self) -> sparse.csr_array:
        """W/ΣW without the pairs i=i."""
        links = self.weights - sparse.diags_array(self.weights.diagonal())
        return sparse.csr_array(links / self.n_pairs)

    @cached_property
    def _degrees(self) -> Matrix:
        """Row sums of the links."""
        result: Matrix = self._links @ np.ones(self.weights.shape[0])
        return result

    def apply(self, values: Matrix) -> Matrix:
        """Return ``L @ values``."""
        result: Matrix = self._degrees[:, None] * values - self._links @ values
        return result

    def quadratic(self, codes: sparse.csr_array) -> Matrix:
        """Return ``codesᵀ L codes``."""
        pairs = np.zeros((codes.shape[1], codes.shape[1]))
        for start in range(0, codes.shape[0], _CHUNK):
            chunk = slice(start, start + _CHUNK)
            pairs += (codes[chunk].T @ (self._links[chunk] @ codes)).toarray()
        return code_gram(codes, self._degrees) - 0.5 * (pairs + pairs.T)

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L, or slightly more."""
        return self._largest_eigenvalue

    @cached_property
    def _largest_eigenvalue(self) -> float:
        return lanczos_bound(self.apply, len(self._degrees), 2 * float(self._degrees.max()))  # Gershgorin


@dataclass(frozen=True)
class GroupLaplacian:
    """The Laplacian of all pairs within groups, or of all pairs of different members within groups.

    With row weights s: W_ij = s_i s_j [same group] for must-link, and W_ij = s_i s_j ([same group] − [same member])
    for cannot-link. For labels, must-link groups are the classes; the cannot-link group is all labelled rows together
    and its members are the classes. Without members the groups are must-link groups.
    """

    groups: sparse.csr_array  # S: s_i in the row of the group of i; rows without a group have an empty column
    members: sparse.csr_array | None = None  # T: likewise for the members, each of which lies in one group

    @cached_property
    def _row_sums(self) -> Matrix:
        """W 1."""
        ones = np.ones(self.groups.shape[1])
        result: Matrix = self.groups.T @ (self.groups @ ones)
        if self.members is not None:
            result = result - self.members.T @ (self.members @ ones)
        return result

    @cached_property
    def n_pairs(self) -> float:
        """ΣW, the number of ordered pairs; exactly 0 if no group has two members."""
        return float(self._row_sums.sum())

    def apply(self, values: Matrix) -> Matrix:
        """Return ``L @ values``."""
        neighbours = self.groups.T @ (self.groups @ values)
        if self.members is not None:
            neighbours -= self.members.T @ (self.members @ values)
        result: Matrix = (self._row_sums / self.n_pairs)[:, None] * values - neighbours / self.n_pairs
        return result

    def quadratic(self, codes: sparse.csr_array) -> Matrix:
        """Return ``codesᵀ L codes``."""
        pairs = _gram_of_sums(self.groups, codes)
        if self.members is not None:
            pairs -= _gram_of_sums(self.members, codes)
        return code_gram(codes, self._row_sums / self.n_pairs) - pairs / self.n_pairs

    def largest_eigenvalue(self) -> float:
        """Return a bound of the largest eigenvalue of L, exact for must-link groups with equal row weights."""
        largest = float(self._row_sums.max()) / self.n_pairs
        # Must-link: W = SᵀS has no negative eigenvalue, so L cannot exceed its degrees. Else Gershgorin.
        return largest if self.members is None else 2 * largest


def _gram_of_sums(groups: sparse.csr_array, codes: sparse.csr_array) -> Matrix:
    """Return (S codes)ᵀ (S codes): by a dense product if the sums are dense, else by their non-zeros."""
    sums = sparse.csr_array(groups @ codes)
    if 4 * sums.nnz > sums.shape[0] * sums.shape[1]:
        dense = sums.toarray()
        result: Matrix = dense.T @ dense
        return result
    sums.sort_indices()
    return code_gram(sums)


@dataclass(frozen=True)
class CombinedLaplacian:
    """A weighted sum of Laplacians on the same rows."""

    parts: tuple[Laplacian, ...]  # L_k
    shares: tuple[float, ...]  # n_k / Σ_k n_k
    n_rows: int

    def apply(self, values: Matrix) -> Matrix:
        """Return ``L @ values``."""
        result: Matrix = np.zeros(values.shape)
        for part, share in zip(self.parts, self.shares, strict=True):
            result += share * part.apply(values)
        return result

    def quadratic(self, codes: sparse.csr_array) -> Matrix:
        """Return ``codesᵀ L codes``."""
        result = np.zeros((codes.shape[1], codes.shape[1]))
        for part, share in zip(self.parts, self.shares, strict=True):
            result += share * part.quadratic(codes)
        return result

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L, or slightly more."""
        return self._largest_eigenvalue

    @cached_property
    def _largest_eigenvalue(self) -> float:
        largest = sum(share * part.largest_eigenvalue() for part, share in zip(self.parts, self.shares, strict=True))
        return lanczos_bound(self.apply, self.n_rows, largest)


def quadratic_forms(
    must: Laplacian | None, cannot: Laplacian | None, codes: sparse.csr_array
) -> tuple[Matrix | None, Matrix | None]:
    """Return Z_lᵀ L_M Z_l and Z_lᵀ L_C Z_l for the codes of the labelled rows; None where there is no such term."""
    return None if must is None else must.quadratic(codes), None if cannot is None else cannot.quadratic(codes)


Part = tuple[GroupLaplacian | PairLaplacian, float]  # L_k and n_k


def pool(parts: Sequence[Part], n_rows: int) -> Laplacian | None:
    """Return L = Σ_k n_k L_k / Σ_k n_k, where n_k is the number of ordered pairs of source k, weights summed.

    That is what a matrix with all the pairs would give; None if there is no pair at all.
    """
    total = sum(n_pairs for _, n_pairs in parts)
    used = [(part, n_pairs) for part, n_pairs in parts if n_pairs > 0]
    if len(used) <= 1:
        return used[0][0] if used else None
    return CombinedLaplacian(tuple(part for part, _ in used), tuple(n_pairs / total for _, n_pairs in used), n_rows)


def group_matrix(numbers: Rows, n_groups: int, row_weights: Matrix) -> sparse.csr_array:
    """Return the matrix S of some groups: s_i at (group of i, i), nothing where the group is −1.

    Examples
    --------
    >>> group_matrix(np.array([1, -1, 0, 1]), 2, np.array([1.0, 1.0, 1.0, 2.0])).toarray()
    array([[0., 0., 1., 0.],
           [1., 0., 0., 2.]])
    """
    rows = np.flatnonzero(numbers >= 0)
    # As codes have it: SciPy widens the indices of both factors of a product to those of the wider one.
    index = np.int32 if len(numbers) <= np.iinfo(np.int32).max else np.int64
    places = numbers[rows].astype(index), rows.astype(index)
    return sparse.csr_array((row_weights[rows], places), shape=(n_groups, len(numbers)))


def pair_matrix(first: Rows, second: Rows, weight: Matrix, n_rows: int) -> sparse.csr_array:
    """Return the symmetric W of pairs that are listed once each; a pair i=i is counted once.

    Examples
    --------
    >>> pair_matrix(np.array([0, 1]), np.array([1, 1]), np.array([2.0, 3.0]), 2).toarray()
    array([[0., 2.],
           [2., 3.]])
    """
    listed = sparse.coo_array((weight, (first, second)), shape=(n_rows, n_rows)).tocsr()
    return sparse.csr_array(listed + listed.T - sparse.diags_array(listed.diagonal()))
