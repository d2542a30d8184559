"""Types of arrays, by what they hold, and what is done with rows of numbers everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

Matrix = npt.NDArray[np.floating]  # numbers, in single or double precision
Rows = npt.NDArray[np.intp]  # numbers of rows
ClassIds = npt.NDArray[np.intp]  # class (or cluster) number of each row, −1 where it is not known
Mask = npt.NDArray[np.bool_]
Presence = Mask | None  # which rows have which view (rows × views); None if all rows have all views
Weights = Matrix | None  # weight of each row; None if all are one


# SciPy's own annotation would leave type checkers with a type that has no shape.
is_sparse: Callable[[Any], bool] = sparse.issparse


def unit_rows(rows: Matrix) -> Matrix:
    """Scale rows to unit length; rows of zeros stay.

    Rows whose squares overflow, or vanish, are divided by their largest entry first.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [3e200, 4e200]]))
    array([[0.6, 0.8],
           [0. , 0. ],
           [0.6, 0.8]])
    """
    with np.errstate(over="ignore", under="ignore"):
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    tiny = np.sqrt(np.finfo(rows.dtype).tiny) if rows.dtype.kind == "f" else 0.0
    extreme = np.flatnonzero(~((norms > tiny) & np.isfinite(norms))[:, 0])
    if len(extreme):
        largest = np.abs(rows[extreme]).max(axis=1, keepdims=True, initial=0.0)
        if np.any((largest > 0) & np.isfinite(largest)):
            rows = np.array(rows, dtype=np.result_type(rows, norms))
            rows[extreme] /= np.where((largest > 0) & np.isfinite(largest), largest, 1)
            norms[extreme] = np.linalg.norm(rows[extreme], axis=1, keepdims=True)
    result: Matrix = rows / np.where(norms > 0, norms, 1)
    return result


def softmax(values: Matrix) -> Matrix:
    """Softmax along rows."""
    result: Matrix = special.softmax(values, axis=1)
    return result


def column_slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Return the columns of views of these sizes, side by side.

    Examples
    --------
    >>> column_slices([2, 3])
    (slice(0, 2, None), slice(2, 5, None))
    """
    ends = np.cumsum(sizes)
    return tuple(slice(int(end) - size, int(end)) for size, end in zip(sizes, ends, strict=True))
