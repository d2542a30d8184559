"""The compiled row solver, called in pieces: its work space, its results, and chances to interrupt it.

A kernel does not hear Ctrl-C. So it gets a budget of work, and is called again until all rows are done. It keeps its
place within a row, so the codes do not depend on where it paused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Matrix
from ..engine.blocks import checkpoint

BUDGET = 50_000_000  # multiplications between two chances to interrupt: some hundredths of a second
_MAX_SWEEPS = 10_000  # of coordinate descent: where landmarks are nearly dependent it creeps, near the optimum
_CAPACITY = 104  # indices at first; strides of a power of two would fall on the same lines of the cache
_LINE = 64  # bytes of a line of the cache
_USUAL = 32  # non-zeros of a row for which there is room at first


class RowSolver:
    """Rows of one block: the problem, the work space of the kernel, and the codes so far.

    The pattern, where rows start, is `start_row`, `start_indptr`, `start_indices`, `offsets` and `factors` of
    `kernels.solve_rows`, which says what the other parameters are.
    """

    def __init__(
        self, hessian: Matrix, linear: Matrix, pattern: tuple[npt.NDArray[Any], ...], upper: float, tol: float
    ) -> None:
        from ..core.vectors import WIDTH
        from .kernels import MOVES, NEEDED
        from .moves import GROUP

        self._hessian, self._linear, self._pattern = hessian, linear, pattern
        self._upper, self._tol = upper, tol
        n_rows, m = linear.shape
        padded = -(-m // GROUP) * GROUP
        self._state = np.zeros(NEEDED + 1, np.int64)
        self._state[MOVES] = -1
        double, single, whole = np.float64, linear.dtype, np.int32
        self._factor, self._x, self._passive, *others = _make_zeros(
            [
                ((_CAPACITY, _CAPACITY), double),
                ((padded,), double),
                ((m,), whole),
                ((WIDTH,), whole),
                ((m + 1, WIDTH), double),
                ((1, m), double),
                ((m,), double),
                ((m,), whole),
                ((padded // GROUP,), whole),
                ((padded,), single),
                ((padded // GROUP,), single),
                ((2, m), double),
            ]
        )
        self._before, (current, *rest) = others[:3], others[3:]
        self._behind = current, self._passive, *rest
        self._indptr = np.zeros(n_rows + 1, np.int64)
        self._indices = np.empty(n_rows * _USUAL + m, np.int32)
        self._data = np.empty(len(self._indices), linear.dtype)
        self.n_unfinished = 0  # rows that are optimal to less than `tol`, because coordinate descent was cut short

    def solve(self) -> sparse.csr_array:
        """Return the codes of all rows."""
        from . import kernels

        n_rows, m = self._linear.shape
        problem: Any = (self._hessian, self._linear, *self._pattern, self._upper, self._tol, BUDGET, self._state)
        while True:
            kernels.solve_rows(  # type: ignore[call-arg]
                *problem, self._factor, *self._before, self._x, *self._behind, self._indptr, self._indices, self._data
            )
            row, reason = int(self._state[kernels.ROW]), self._state[kernels.REASON]
            if reason == kernels.FINISHED:
                break
            checkpoint(row / n_rows)
            if reason == kernels.SHORT_OF_ROOM:
                self._make_room(row)
            elif reason == kernels.SHORT_OF_SPACE:
                self._make_space(int(self._state[kernels.NEEDED]), int(self._state[kernels.SIZE]))
            elif reason == kernels.NOT_SOLVED:
                self._finish_in_box(row, int(self._state[kernels.SIZE]))
                self._state[[kernels.ROW, kernels.MOVES]] = row + 1, -1
        end = self._indptr[-1]
        arrays = self._data[:end].copy(), self._indices[:end].copy(), self._indptr.astype(np.int32)
        return sparse.csr_array(arrays, shape=(n_rows, m))

    def _make_room(self, row: int) -> None:
        """Lengthen the arrays that take the codes; they hold those of the rows before."""
        end = self._indptr[row]
        for name in ("_indices", "_data"):
            array = getattr(self, name)
            longer = np.empty(2 * len(array) + self._linear.shape[1], array.dtype)
            longer[:end] = array[:end]
            setattr(self, name, longer)

    def _make_space(self, needed: int, size: int) -> None:
        """Make room for larger passive sets; the factor on the present one is kept."""
        capacity = (2 * needed + 15) // 16 * 16 + 8
        (larger,) = _make_zeros([((capacity, capacity), np.float64)])
        kept = min(size, len(self._factor))
        larger[:kept, :kept] = self._factor[:kept, :kept]
        self._factor = larger

    def _finish_in_box(self, row: int, size: int) -> None:
        """Solve by coordinate descent a row that the active set does not solve, and store its code."""
        from .kernels import INEXACT, box_descent

        m = self._linear.shape[1]
        z, w = np.zeros(m), np.empty(m)
        x = self._x[:size]
        z[self._passive[:size]] = np.where(x > 0.0, np.minimum(x, self._upper), 0.0)  # NaN counts as zero
        at_once, is_solved, n_done = max(1, BUDGET // m**2), False, 0
        while not is_solved and n_done < _MAX_SWEEPS:
            n_sweeps = min(at_once, _MAX_SWEEPS - n_done)
            is_solved = box_descent(
                self._hessian, self._linear[row], z, w, self._upper, INEXACT * self._tol, n_done == 0, n_sweeps
            )
            n_done += n_sweeps
            checkpoint(row / len(self._linear))
        self.n_unfinished += not is_solved
        positive = np.flatnonzero(z > 0.0)
        place = slice(self._indptr[row], self._indptr[row] + len(positive))
        self._indices[place], self._data[place] = positive, z[positive]
        self._indptr[row + 1] = place.stop


def _make_zeros(wanted: Sequence[tuple[tuple[int, ...], npt.DTypeLike]]) -> list[npt.NDArray[Any]]:
    """Return zeros of these shapes and types that begin with a line of the cache, out of one piece of memory.

    NumPy's begin anywhere, and can be a third slower to use.
    """
    starts, end = [], 0
    for shape, dtype in wanted:
        starts.append(end)
        end += -(-math.prod(shape) * np.dtype(dtype).itemsize // _LINE) * _LINE
    memory = np.zeros(end + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    return [
        np.ndarray(shape, dtype, memory, first + start) for (shape, dtype), start in zip(wanted, starts, strict=True)
    ]


def factor_patterns(hessian: Matrix, codes: sparse.csr_array) -> tuple[npt.NDArray[np.int64], Matrix]:
    """Return the factors of H on the non-zeros of each row, their lower triangles row by row, and where each begins.

    A set on which H is numerically singular gets offset −1.
    """
    from ..core.vectors import WIDTH
    from .passive_set import ANY, add_indices

    m, lengths = len(hessian), np.diff(codes.indptr).astype(np.int64)
    largest = int(lengths.max(initial=1))
    nothing, y, passive = np.zeros(m, hessian.dtype), np.zeros((1, m)), np.empty(m, np.int32)
    factor, panel, chosen = np.zeros((largest, largest)), np.zeros((largest + 1, WIDTH)), np.empty(WIDTH, np.int32)
    ends = np.cumsum(lengths * (lengths + 1) // 2)
    offsets, factors = np.concatenate([[0], ends[:-1]]), np.empty(int(ends[-1]))
    for row, count in enumerate(lengths):
        first, last = codes.indptr[row : row + 2].tolist()
        which = codes.indices, first, last, ANY
        size = add_indices(hessian, nothing, factor, y, passive, 0, *which, chosen, panel)
        if size < count:
            offsets[row] = -1
        else:
            factors[offsets[row] : ends[row]] = factor[np.tril_indices(count)]
    return offsets, factors
