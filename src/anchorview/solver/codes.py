"""Sparse codes (CSR, one row per sample): put together, and summed as far as J needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import iadd
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Matrix, Rows, Weights, is_sparse
from ..engine.blocks import checkpoint, iter_blocks, reduce_rows, row_blocks
from ..engine.sources.derived import ReplacedRows, exchange_rows

R = TypeVar("R")
Codes = Any  # csr_array, or rows in a store (`engine.sources`) of which indexing gives a csr_array
_BLOCK_ROWS = 4096  # copied at a time
_SQUARE = 64  # rows and columns mirrored at a time
_PAIRS = 50_000_000  # of non-zeros, between two chances to interrupt
_GROWTH = 1.1  # of arrays that are too short


def map_codes(
    function: Callable[[sparse.csr_array, slice], R], codes: Codes, blocks: Sequence[slice], n_threads: int = 1
) -> Iterator[R]:
    """Apply ``function`` to the codes of each block, and to the block; results in the order of the blocks.

    Codes that are better worked on where they are, on a cluster, have `map_rows(function)`, with blocks of their own.
    """
    if hasattr(codes, "map_rows"):
        yield from codes.map_rows(function)
        return
    yield from iter_blocks(lambda block: function(codes[block], block), blocks, n_threads)


def code_gram(codes: Codes, weights: Weights = None) -> Matrix:
    """Return ``codesᵀ diag(weights) codes`` as a dense float64 matrix.

    Examples
    --------
    >>> code_gram(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    from .kernels import add_code_gram

    m = codes.shape[1]
    gram = np.zeros((m, m))
    if not is_sparse(codes):  # in a store
        total: Matrix = reduce_rows(_gram_of_block, iadd, gram, codes, _BLOCK_ROWS, 1, (weights,))
        return total
    weights = np.ones(codes.shape[0]) if weights is None else weights
    for part in _pieces(codes, codes.shape[0]):
        add_code_gram(codes.indptr[part.start : part.stop + 1], codes.indices, codes.data, weights[part], gram)
    _mirror_upper(gram)
    return gram


def _mirror_upper(matrix: Matrix) -> None:
    """Copy the upper triangle to the lower one, which holds zeros, in pieces that fit in the cache."""
    for first in range(0, len(matrix), _SQUARE):
        last = first + _SQUARE
        corner = matrix[first:last, first:last]
        corner += np.triu(corner, 1).T
        matrix[last:, first:last] = matrix[first:last, last:].T


def _gram_of_block(codes: sparse.csr_array, block: slice, weights: Weights) -> Matrix:
    return code_gram(codes, weights)


def _pieces(codes: sparse.csr_array, n_rows: int) -> Iterator[slice]:
    """Cut so many rows of the codes so that a sum over pairs of non-zeros can be interrupted between two pieces."""
    mean = codes.nnz / max(codes.shape[0], 1)
    for part in row_blocks(n_rows, max(1, int(_PAIRS / max(mean, 1.0) ** 2))):
        yield part
        checkpoint(1.0)


@dataclass
class CodeStack:
    """Blocks of codes put under one another, each as it comes.

    The arrays grow by little at a time, which moves no memory where the system can map it elsewhere. To hold all blocks
    until the end would take twice the memory, and what many blocks leave behind is not given back.

    Examples
    --------
    >>> stack = CodeStack(2)
    >>> for _ in range(2):
    ...     stack.add(sparse.csr_array([[1.0, 0.0], [0.0, 3.0]]))
    >>> stack.codes().toarray().sum(axis=1)
    array([1., 3., 1., 3.])
    """

    n_columns: int
    _indices: npt.NDArray[np.int32] | None = field(default=None, init=False, repr=False)
    _data: Matrix | None = field(default=None, init=False, repr=False)
    _lengths: list[npt.NDArray[Any]] = field(default_factory=list, init=False, repr=False)
    _n_stored: int = field(default=0, init=False, repr=False)

    def add(self, block: sparse.csr_array) -> None:
        """Append the rows of a block."""
        if self._data is None or self._indices is None:
            self._indices, self._data = np.empty(0, np.int32), np.empty(0, block.dtype)
        end = self._n_stored + block.nnz
        if end > len(self._data):
            size = max(end, int(_GROWTH * len(self._data)))
            for array in (self._indices, self._data):
                array.resize(size, refcheck=False)
        place = slice(self._n_stored, end)
        self._indices[place], self._data[place] = block.indices, block.data
        self._lengths.append(np.diff(block.indptr))
        self._n_stored = end

    def codes(self) -> sparse.csr_array:
        """Return all rows; nothing can be added afterwards."""
        if self._data is None or self._indices is None:
            return sparse.csr_array((0, self.n_columns))
        for array in (self._indices, self._data):
            array.resize(self._n_stored, refcheck=False)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths), dtype=np.int64)])
        if self._n_stored <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        return sparse.csr_array((self._data, self._indices, indptr), shape=(len(indptr) - 1, self.n_columns))


def stack_codes(blocks: Iterable[sparse.csr_array], n_columns: int) -> sparse.csr_array:
    """Put blocks of codes under one another."""
    stack = CodeStack(n_columns)
    for block in blocks:
        stack.add(block)
    return stack.codes()


def gather_rows(parts: Sequence[sparse.csr_array], places: Sequence[Rows]) -> sparse.csr_array:
    """Put codes that were computed in parts, at least one, into the order of their rows.

    Examples
    --------
    >>> parts = [sparse.csr_array([[1.0], [3.0]]), sparse.csr_array([[2.0]])]
    >>> gather_rows(parts, [np.array([0, 2]), np.array([1])]).toarray().ravel()
    array([1., 2., 3.])
    """
    return in_order(stack_codes(parts, parts[0].shape[1]), places)


def in_order(codes: sparse.csr_array, places: Sequence[Rows]) -> sparse.csr_array:
    """Bring rows that were stacked in parts into the order of their numbers."""
    order = np.concatenate(places)
    if (np.diff(order) > 0).all():
        return codes
    return sparse.csr_array(codes[np.argsort(order)])


def replace_rows(codes: Codes, index: Rows, rows: sparse.csr_array) -> Codes:
    """Return the codes with the rows ``index`` (ascending) replaced.

    Written block by block into the arrays of the result: beside codes and result nothing of their size is held. Codes
    in a store stay there, and are replaced when they are read.

    Examples
    --------
    >>> codes = sparse.csr_array([[1.0, 0.0], [2.0, 0.0]])
    >>> replace_rows(codes, np.array([1]), sparse.csr_array([[0.0, 3.0]])).toarray()
    array([[1., 0.],
           [0., 3.]])
    """
    if len(index) == 0:
        return codes
    if not is_sparse(codes):
        return codes.with_rows(index, rows) if hasattr(codes, "with_rows") else ReplacedRows(codes, index, rows)
    lengths = np.diff(codes.indptr)
    lengths[index] = np.diff(rows.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    indices, data = np.empty(indptr[-1], codes.indices.dtype), np.empty(indptr[-1], codes.dtype)
    for block in row_blocks(codes.shape[0], _BLOCK_ROWS):
        first, last = np.searchsorted(index, [block.start, block.stop])
        part = exchange_rows(sparse.csr_array(codes[block]), index[first:last] - block.start, rows[first:last])
        place = slice(indptr[block.start], indptr[block.stop])
        indices[place], data[place] = part.indices, part.data
    return sparse.csr_array((data, indices, indptr.astype(codes.indptr.dtype)), shape=codes.shape)


@dataclass(frozen=True)
class Reduction:
    """Weighted sums over rows. Those of blocks add up; those of moved rows are exchanged by a difference."""

    gram: Matrix  # Σ w z zᵀ
    fit: float  # Σ w eᵀz
    total: float  # Σ w 1ᵀz
    quadratic: float = 0.0  # Σ w zᵀ G_p z with missing views; else it is ⟨G, Σ w z zᵀ⟩, and this stays 0

    def __add__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram + other.gram, self.fit + other.fit, self.total + other.total, self.quadratic + other.quadratic
        )

    def __sub__(self, other: Reduction) -> Reduction:
        return Reduction(
            self.gram - other.gram, self.fit - other.fit, self.total - other.total, self.quadratic - other.quadratic
        )


def reduce_codes(
    codes: sparse.csr_array, cross: Matrix, weights: Weights = None, groups: Sequence[tuple[Matrix, Rows]] = ()
) -> Reduction:
    """Sum over the rows of a block, whose codes have sorted indices; the weight of a row is 1 by default.

    With missing views, `groups` are the Gram matrices G_p, each with the rows it belongs to.
    """
    from .kernels import dot_codes, quadratic_codes

    arrays = codes.indptr, codes.indices, codes.data
    each = np.ones(codes.shape[0]) if weights is None else weights
    if weights is None:
        total = float(codes.data.sum(dtype=np.float64))
    else:
        total = float(np.repeat(weights, np.diff(codes.indptr)) @ codes.data)
    quadratic = 0.0
    for gram, rows in groups:
        quadratic += sum(float(quadratic_codes(*arrays, each, gram, rows[part])) for part in _pieces(codes, len(rows)))
    return Reduction(code_gram(codes, each), dot_codes(*arrays, each, cross), total, quadratic)
