"""Codes of rows on their own: the non-negative elastic net, with the coupling term switched off.

Rows that lack views, completed by their codes.

A row of E over some of the views has another length and direction than one over all of them, so what compares rows of E
would tell rows apart by the views that they have. But a code is shared by all views: the landmarks that rebuild what is
there of a row say what is not there, Σ_{v∉p} U_v (α U_vᵀ z). The ridge and λ_Z make codes short; α is the factor with
which z rebuilds the present views best, so that what is filled in is as long as the rest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, Rows, weight_present
from ..core.cache import Cache
from .codes import gather_rows
from .grams import PatternGrams, pattern_groups, row_grams
from .result import Encoder
from .row_solver import RowSolver, factor_patterns

_MAX_START_BYTES = 64 * 2**20
_MAX_HESSIAN_BYTES = 256 * 2**20  # of rows that lack views, all together
_START_SHARE = 0.2  # entries of a landmark's code below this part of its largest are seldom in a row's code
_CLOSE = 0.05  # distance, to the length of the landmark
UPPER = 1.0  # m_Z of the paper: the largest value an entry of Z may take


def optimality_tol(gram: Matrix, dtype: np.dtype[np.floating]) -> float:
    """Gradient below which an index counts as optimal at zero: a few roundings of the largest entry of G."""
    return 32 * float(np.finfo(dtype).eps) * max(float(np.diagonal(gram).max(initial=0.0)), 1e-30)


def hessian_of(gram: Matrix, ridge: float, dtype: np.dtype[np.floating]) -> Matrix:
    """Return H = G + μ I. A floor on μ keeps H positive definite when there are more landmarks than features."""
    scale = max(float(np.diagonal(gram).max(initial=0.0)), 1e-30)
    floor = (1e-9 if dtype == np.float64 else 1e-5) * scale
    result: Matrix = gram.astype(dtype)
    result[np.diag_indices_from(result)] += max(ridge, floor)
    return result


def solve_codes(
    hessian: Matrix, linear: Matrix, tol: float, start: sparse.csr_array | Starts | None = None
) -> sparse.csr_array:
    """Minimise ½ zᵀHz − bᵀz over 0 ≤ z ≤ 1 for every row b of ``linear``.

    `start` guesses the non-zeros: the pattern of a matrix, row by row, or that of the nearest landmark. It changes how
    long it takes, not the codes.
    """
    n_rows = len(linear)
    none = (np.zeros(0, np.int64), np.zeros(0))
    pattern: Any
    if start is None:
        pattern = (np.full(n_rows, -1), np.zeros(1, np.int32), np.zeros(0, np.int32), *none)
    elif isinstance(start, Starts):
        nearest = np.argmax(linear - start.half_squares, axis=1)  # of the landmarks: the largest b_j − G_jj / 2
        pattern = (start.of_landmark[nearest], start.codes.indptr, start.codes.indices, start.offsets, start.factors)
    else:
        pattern = (np.arange(n_rows), start.indptr, start.indices, *none)
    solver = RowSolver(hessian, linear, pattern, UPPER, tol)
    codes = solver.solve()
    if solver.n_unfinished:
        warnings.warn(
            f"The codes of {solver.n_unfinished} of {n_rows} rows are optimal to less than rounding: landmarks are "
            "nearly linearly dependent. A larger ridge, or fewer landmarks, cures it.",
            stacklevel=2,
        )
    return codes


@dataclass(frozen=True)
class Starts:
    """Where to start the codes of new rows: the codes of the landmarks themselves.

    The factor of H on a landmark's non-zeros does not depend on the row, so it is computed once and each row that is
    nearest to this landmark starts from it with one short triangular solve. Landmarks that are close to each other have
    long codes, nearly the same ones: those beside another one share its start.
    """

    codes: sparse.csr_array  # of the landmarks that have a start of their own
    of_landmark: Rows  # whose start each landmark has
    half_squares: Matrix
    offsets: npt.NDArray[np.int64]
    factors: Matrix


def make_starts(gram: Matrix, hessian: Matrix, l1: float, tol: float) -> Starts | None:
    """Solve the landmarks' own problems and factor H on their patterns; None if that would take much memory."""
    leaders, of_landmark = _leaders(gram)
    codes = solve_codes(hessian, (gram[leaders] - l1).astype(hessian.dtype), tol)
    of_row = np.repeat(np.arange(len(leaders)), np.diff(codes.indptr))
    codes.data[codes.data < _START_SHARE * codes.max(axis=1).toarray().ravel()[of_row]] = 0
    codes.eliminate_zeros()
    sizes = np.diff(codes.indptr).astype(np.int64)
    if 4 * (sizes * (sizes + 1)).sum() > _MAX_START_BYTES:
        return None
    offsets, factors = factor_patterns(hessian, codes)
    return Starts(codes, of_landmark, (np.diagonal(gram) / 2).astype(hessian.dtype), offsets, factors)


def _leaders(gram: Matrix) -> tuple[Rows, Rows]:
    """Return landmarks that are not close to each other, and for each landmark the place of one that is close to it."""
    squares = np.diagonal(gram)
    is_close = squares[:, None] + squares - 2 * gram <= _CLOSE**2 * squares[:, None]
    leader = np.arange(len(gram))
    if np.count_nonzero(is_close) > len(gram):  # seldom: not only each to itself
        leader[:] = -1
        for number in range(len(gram)):
            if leader[number] < 0:
                leader[is_close[number] & (leader < 0)] = number
                leader[number] = number
    leaders, of_landmark = np.unique(leader, return_inverse=True)
    return leaders, of_landmark


@dataclass(frozen=True)
class ElasticNetEncoder:
    """Codes for any rows: argmin over 0 ≤ z ≤ 1 of ½ zᵀ(G + μI)z − (e − λ_Z 1)ᵀz."""

    gram: Matrix  # G of rows that have all views
    ridge: float  # μ
    l1: float  # λ_Z
    grams: PatternGrams | None = None  # G of rows that lack views

    _complete: dict[str, tuple[Matrix, Starts | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _hessians: Cache[Matrix] = field(
        default_factory=partial(Cache, _MAX_HESSIAN_BYTES), init=False, repr=False, compare=False
    )

    def encode(self, cross: Matrix, present: Presence = None) -> sparse.csr_array:
        """Return the codes for some rows of E, in their precision; the code of a row does not depend on the others."""
        if present is None or len(present) == 0:
            return self._encode(cross)
        if (present == present[0]).all():
            return self._encode(cross, present[0])
        groups = pattern_groups(present)
        return gather_rows([self._encode(cross[rows], p) for p, rows in groups], [rows for _, rows in groups])

    def _encode(self, cross: Matrix, pattern: Mask | None = None) -> sparse.csr_array:
        """Return the codes of rows with the same views."""
        linear = np.subtract(cross, cross.dtype.type(self.l1))
        if pattern is None or pattern.all():
            hessian, starts = self.prepare(cross.dtype)
            return solve_codes(hessian, linear, optimality_tol(self.gram, cross.dtype), starts)
        if self.grams is None:
            raise ValueError("Some rows lack views, but the model was made for complete rows only.")
        # No starts: they save a tenth of a row's time, and making them costs as much as a thousand rows.
        gram, dtype = self.grams.of(pattern), cross.dtype
        key, n_bytes = (dtype.name, pattern.tobytes()), gram.size * dtype.itemsize
        hessian = self._hessians.get(key, lambda: hessian_of(gram, self.ridge, dtype), n_bytes)
        return solve_codes(hessian, linear, optimality_tol(gram, dtype))

    def prepare(self, dtype: np.dtype[np.floating]) -> tuple[Matrix, Starts | None]:
        """Compute once what all complete rows share; before threads start, or each of them would."""
        if dtype.name not in self._complete:
            hessian = hessian_of(self.gram, self.ridge, dtype)
            starts = make_starts(self.gram, hessian, self.l1, optimality_tol(self.gram, dtype))
            self._complete[dtype.name] = hessian, starts
        return self._complete[dtype.name]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_complete": {}}


def code_lengths(cross: Matrix, codes: sparse.csr_array, rebuilt: Matrix) -> Matrix:
    """Return α of each row: eᵀz / zᵀG_p z, and 0 where the code is zero; `rebuilt` is z G_p."""
    fit, length = (
        np.asarray(codes.multiply(matrix).sum(axis=1), dtype=np.float64).ravel() for matrix in (cross, rebuilt)
    )
    return np.divide(fit, length, out=np.zeros(len(fit)), where=length > 0)


def complete_products(
    cross: Matrix, present: Presence, encoder: Encoder, codes: sparse.csr_array | None = None
) -> Matrix:
    """Return rows of E as if every row had all views: what it lacks is read from its code, made here if not known.

    Rows that have all views, and those whose code is zero, stay as they are. A row does not depend on the others.
    """
    if present is None or present.all():
        return cross
    if codes is None:
        codes = encoder.encode(cross, present)
    assert isinstance(encoder, ElasticNetEncoder)  # the other one refuses rows that lack views
    result = cross.copy()
    weights, total = weight_present(present, None if encoder.grams is None else encoder.grams.view_weights)
    shares = weights / total
    for gram, rows in row_grams(encoder.gram, encoder.grams, present):
        if present[rows[0]].all():
            continue
        part, own = sparse.csr_array(codes[rows]), cross[rows].astype(np.float64)
        rebuilt, share = part @ gram, shares[rows[0]]
        lengths = code_lengths(own, part, rebuilt)
        missing = part @ encoder.gram - share * rebuilt
        filled = share * own + lengths[:, None] * missing
        result[rows[lengths > 0]] = filled[lengths > 0]
    return result
