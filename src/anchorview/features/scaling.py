"""Scaled rows: the scaling of all views, fitted on the training rows, stored, and applied block by block.

The paper does not scale; it matters more than any parameter of the model (docs/method.md). Every choice but "none"
ends with rows of unit length in each view, so that views count the same, or by their weights (`view_weights`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Mask, Matrix, Presence, Rows, Weights, is_sparse, squared_norms
from ..core.checks import NotFiniteError
from ..core.progress import Ticker
from ..data.view_errors import name_cell
from ..data.views import Views
from ..engine.blocks import map_blocks, rows_of
from .text import PASS_ROWS, TextScaler, check_finite_sparse, fit_text
from .view_weights import ViewWeights

if TYPE_CHECKING:
    from .dense import DenseScaler

TextScalers = dict[tuple[int, str, int], TextScaler]  # by number of the view, kind and seed
BLOCK_ROWS = 256  # a block of a few thousand features then stays in a core's cache


@dataclass(frozen=True)
class ScaledRows:
    """Rows in the scaled feature space."""

    parts: list[tuple[slice, Any]]  # columns and the rows' values there; neighbouring dense views share one array
    n_rows: int
    n_features: int
    dtype: np.dtype[np.floating]  # working precision

    def __len__(self) -> int:
        return self.n_rows

    def product(self, matrix: Matrix, out: Matrix | None = None) -> Matrix:
        """Return ``rows @ matrix`` for a dense matrix with one row per feature."""
        result = np.empty((self.n_rows, matrix.shape[1]), dtype=self.dtype) if out is None else out
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are reported by those who meet them
            for number, (columns, values) in enumerate(self.parts):
                if number == 0 and not is_sparse(values):
                    np.matmul(values, matrix[columns], out=result)
                elif number == 0:
                    result[:] = values @ matrix[columns]
                else:
                    result += values @ matrix[columns]
        return result

    def stacked(self) -> Any:
        """Return the rows as one matrix: dense, or CSR if a view is sparse."""
        if any(is_sparse(values) for _, values in self.parts):
            parts = [sparse.csr_array(values) for _, values in self.parts]
            return sparse.csr_array(sparse.hstack(parts, format="csr"))
        return self.dense()

    def columns(self, columns: slice, projection: Matrix | None = None) -> Matrix:
        """Return the columns of one view as a dense array, or their product with a projection."""
        for covered, values in self.parts:
            if covered.start <= columns.start and columns.stop <= covered.stop:
                local = values[:, columns.start - covered.start : columns.stop - covered.start]
                result = local if projection is None else local @ projection
                dense: Matrix = result.toarray() if is_sparse(result) else result
                return dense
        raise IndexError(f"{columns} are not the columns of a view")

    def squared_norm(self) -> float:
        """Sum of the squares of all entries."""
        parts = [values.data if is_sparse(values) else values for _, values in self.parts]
        with np.errstate(invalid="ignore", over="ignore"):
            return float(sum(np.vdot(part, part) for part in parts))

    def squared_norms(self) -> Matrix:
        """Squared length of each row."""
        total = np.zeros(self.n_rows, dtype=self.dtype)
        for _, values in self.parts:
            total += squared_norms(values)
        return total

    def sum_by(self, labels: ClassIds, n_groups: int, weights: Weights = None) -> Matrix:
        """Sum the rows of each group, as a product with a sparse indicator: many times faster than ``np.add.at``."""
        entries = np.ones(self.n_rows, dtype=self.dtype) if weights is None else weights.astype(self.dtype)
        indicator = sparse.csr_array((entries, (labels, np.arange(self.n_rows))), shape=(n_groups, self.n_rows))
        sums = np.empty((n_groups, self.n_features), dtype=self.dtype)
        for columns, values in self.parts:
            part = indicator @ values
            sums[:, columns] = part.toarray() if is_sparse(part) else part
        return sums

    def dense(self) -> Matrix:
        """All columns as one array; only for a few rows when views are sparse."""
        if len(self.parts) == 1 and not is_sparse(self.parts[0][1]):
            only: Matrix = self.parts[0][1]
            return only
        result = np.empty((self.n_rows, self.n_features), dtype=self.dtype)
        for columns, values in self.parts:
            result[:, columns] = values.toarray() if is_sparse(values) else values
        return result


@dataclass(frozen=True)
class ViewsScaler:
    """Scalers of all views; turns rows of Views into one block of scaled features side by side."""

    scalers: tuple[DenseScaler | TextScaler, ...]
    dtype: np.dtype[np.floating]
    sizes: tuple[int, ...]  # number of scaled features of each view
    view_weights: ViewWeights = None  # how much each view counts; None if all do the same

    @property
    def has_directions(self) -> bool:
        """Whether views are scaled to directions of a latent semantic analysis."""
        return any(isinstance(one, TextScaler) and one.components is not None for one in self.scalers)

    def of_view(self, number: int) -> ViewsScaler:
        """Return what scales one view alone, as it is scaled beside the others."""
        weights = None if self.view_weights is None else self.view_weights[number : number + 1]
        return ViewsScaler(self.scalers[number : number + 1], self.dtype, self.sizes[number : number + 1], weights)

    def read(self, views: Views, block: slice, present: Presence = None) -> ScaledRows:
        """Return the scaled features of consecutive rows; zero where a view is missing by `present` (of all rows)."""
        return self.scale(
            [rows_of(array, block) for array in views.arrays], None if present is None else present[block]
        )

    def take(self, views: Views, rows: Rows, present: Presence = None) -> ScaledRows:
        """Return the scaled features of rows by their numbers."""
        return self.scale([rows_of(array, rows) for array in views.arrays], None if present is None else present[rows])

    def scale(self, parts: list[Any], present: Presence = None) -> ScaledRows:
        """Scale the rows that were read of each view; `present` is of these rows."""
        n_rows = parts[0].shape[0]
        if present is not None:
            parts = [_blank(part, ~present[:, number]) for number, part in enumerate(parts)]
        scaled, factors = [], [] if self.view_weights is None else np.sqrt(self.view_weights).tolist()
        for first, last, start, stop in self._runs():
            if self.scalers[first].is_sparse:
                rows = self.scalers[first].rows(parts[first])  # type: ignore[union-attr]
                scaled.append((slice(start, stop), rows * factors[first] if self.view_weights else rows))
                continue
            out = np.empty((n_rows, stop - start), dtype=self.dtype)
            column = 0
            for number in range(first, last):
                scaler = self.scalers[number]
                scaler.write(parts[number], out, column)
                if self.view_weights is not None:
                    out[:, column : column + scaler.n_out] *= factors[number]
                if present is not None:
                    out[~present[:, number], column : column + scaler.n_out] = 0
                column += scaler.n_out
            scaled.append((slice(start, stop), out))
        return ScaledRows(scaled, n_rows, sum(self.sizes), self.dtype)

    def _runs(self) -> list[tuple[int, int, int, int]]:
        """Neighbouring views with dense results, each sparse view alone: first view, last, first column, last."""
        runs: list[tuple[int, int, int, int]] = []
        column = 0
        for number, scaler in enumerate(self.scalers):
            stop = column + scaler.n_out
            if runs and not scaler.is_sparse and not self.scalers[runs[-1][0]].is_sparse:
                runs[-1] = (runs[-1][0], number + 1, runs[-1][2], stop)
            else:
                runs.append((number, number + 1, column, stop))
            column = stop
        return runs


def _blank(block: Any, lacks: Mask) -> Any:
    """Return a block with zeros in the rows that lack the view, whatever stands there."""
    if not lacks.any():
        return block
    block = block.copy()
    if is_sparse(block):
        block.data[np.repeat(lacks, np.diff(block.indptr))] = 0
    else:
        block[lacks] = 0
    return block


def fit_scaling(
    views: Views,
    scaling: str | Sequence[str],
    n_threads: int = 1,
    *,
    rng: np.random.RandomState | None = None,
    present: Presence = None,
    weights: Weights = None,
    known: TextScalers | None = None,
    view_weights: ViewWeights = None,
) -> ViewsScaler:
    """Fit the scaling of every view, one kind for all or one each, in one pass, which also finds NaN and infinity.

    "auto" is replaced before, by `resolve_scaling`. `rng` is for "lsa". Rows that lack the view are not looked at; a
    row of weight 2 counts as two rows, one of weight 0 not at all. Scalers of text that earlier calls on the same rows
    have fitted are in `known`; those of this call are added. `view_weights` say how much each view counts.

    Examples
    --------
    >>> X = Views([np.array([[0.0, 3.0], [4.0, 3.0], [4.0, 7.0]])])
    >>> fit_scaling(X, "minmax").read(X, slice(0, 3)).dense().round(2)
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.71, 0.71]])
    """
    from .dense import fit_dense  # loads numba, which takes most of a second: not before a fit needs it

    kinds = [scaling] * len(views.names) if isinstance(scaling, str) else scaling
    dtype = working_dtype(views)
    rng = np.random.RandomState(0) if rng is None else rng
    is_text = [known or kind in ("tfidf", "lsa") for known, kind in zip(views.is_sparse_view, kinds, strict=True)]
    # Each view has a seed of its own: what is found for it does not depend on how the others are scaled.
    seeds = [int(rng.randint(2**31 - 1)) if kind == "lsa" else 0 for kind in kinds]
    known = {} if known is None else known
    ticker = Ticker("scaling", len(views.names), "views")

    def fit_view(number: int, n_threads: int) -> DenseScaler | TextScaler:
        name, array, kind = views.names[number], views.arrays[number], kinds[number]
        has_view = None if present is None else present[:, number]
        counted = _counted(has_view, weights)
        scaler: DenseScaler | TextScaler
        with _naming_cells(views, number):
            if not is_text[number]:
                if weights is not None:
                    _check_view(views, number, n_threads, has_view)  # rows of weight 0 must be finite too
                scaler = fit_dense(array, kind, name, dtype, n_threads, counted, weights)
            else:
                key = number, kind, seeds[number]
                if key not in known:
                    _check_view(views, number, n_threads, has_view)
                    own = np.random.RandomState(seeds[number])
                    known[key] = fit_text(array, kind, name, dtype, own, counted, weights, n_threads)
                scaler = known[key]
        ticker.done()
        return scaler

    numbers = range(len(views.names))
    if sum(is_text) > 1 and len(views) <= PASS_ROWS and not views.is_on_cluster:
        # Each text is a single block, so threads work on several views.
        scalers = map_blocks(partial(fit_view, n_threads=1), numbers, n_threads)
    else:
        scalers = [fit_view(number, n_threads) for number in numbers]
    return ViewsScaler(tuple(scalers), dtype, tuple(map(attrgetter("n_out"), scalers)), view_weights)


def _counted(has_view: Mask | None, weights: Weights) -> Mask | None:
    """Rows that the scaling of a view is fitted on; None for all."""
    if weights is None:
        return has_view
    return weights > 0 if has_view is None else has_view & (weights > 0)


def working_dtype(views: Views) -> np.dtype[np.floating]:
    """Return float32 when every view fits in it without loss, else float64."""
    narrow = all(np.can_cast(array.dtype, np.float32) for array in views.arrays)
    return np.dtype(np.float32 if narrow else np.float64)


def check_finite(views: Views, n_threads: int = 1, present: Presence = None) -> None:
    """Raise an error naming the view and the first rows that hold NaN or infinity."""
    for number, array in enumerate(views.arrays):
        if array.dtype.kind == "f":
            with _naming_cells(views, number):
                _check_view(views, number, n_threads, None if present is None else present[:, number])


@contextmanager
def _naming_cells(views: Views, number: int) -> Iterator[None]:
    """Add the names of row and column, where the view has some, to an error about NaN or infinity."""
    try:
        yield
    except NotFiniteError as error:
        raise ValueError(f"{error}{name_cell(views, number, error.row)}") from None


def _check_view(views: Views, number: int, n_threads: int, has_view: Mask | None) -> None:
    name, array = views.names[number], views.arrays[number]
    if views.is_sparse_view[number]:
        check_finite_sparse(array, name, has_view, n_threads)
    else:
        from .dense import column_extremes

        column_extremes(array, name, n_threads, has_view)  # finds NaN and infinity
