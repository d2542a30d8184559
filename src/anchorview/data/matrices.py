"""One view, in whatever form it is given, as a numeric 2-D array or a sound CSR array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import is_sparse
from ..engine.sources.base import StoredRows
from .tables import is_table, numbers_of, table_matrix


def as_matrix(array: Any, name: str) -> Any:
    """Return a view as a numeric 2-D array or CSR array, without copying one that is; rows in a store as they are."""
    if isinstance(array, StoredRows):
        return array
    if array is None:
        raise ValueError(
            f"View {name!r} is None. A view can be left out as a whole when a fitted model predicts; otherwise tell "
            "which rows have it, by mask=, ids= or rows of NaN."
        )
    if not isinstance(array, np.ndarray) and not is_sparse(array) and is_table(array):
        array = table_matrix(array, name)
    if isinstance(array, np.ma.MaskedArray):  # a masked value is one that is not there
        array = np.ma.filled(array.astype(np.float64), np.nan) if np.ma.is_masked(array) else np.asarray(array)
    if isinstance(array, np.matrix):  # whose rows have two dimensions
        array = np.asarray(array)
    result = array if isinstance(array, np.ndarray) or is_sparse(array) else _as_array(array, name)
    if result.ndim == 1:
        raise ValueError(
            f"View {name!r} is one-dimensional. Reshape your data: use array.reshape(-1, 1) for one feature, or "
            "array.reshape(1, -1) for a single sample. Expected 2D array, got 1D array instead."
        )
    if result.ndim != 2:
        raise ValueError(f"View {name!r} has {result.ndim} dimensions; every view must be 2-D (rows × features).")
    if result.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: view {name!r} is complex.")
    if result.dtype.kind == "O" and not is_sparse(result):
        columns = [numbers_of(column, f"View {name!r}", str(number)) for number, column in enumerate(result.T)]
        result = np.column_stack(columns) if columns else np.empty(result.shape)
    if result.dtype.kind not in "fiub":
        raise ValueError(f"View {name!r} is not numeric (dtype {result.dtype}); encode its columns as numbers first.")
    if result.shape[1] == 0:
        raise ValueError(f"View {name!r} has 0 feature(s) (shape={result.shape}) while a minimum of 1 is required.")
    if is_sparse(result):
        result = checked_csr(result, name)
    return _as_double(result, name) if result.dtype.kind == "f" and result.dtype.itemsize > 8 else result


def _as_array(array: Any, name: str) -> npt.NDArray[Any]:
    """Return nested lists, and whatever else NumPy can read, as an array."""
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(f"View {name!r} is not a table of numbers: {error}") from None


def _as_double(matrix: Any, name: str) -> Any:
    """Return long doubles as float64; an error names the first that are too large for it."""
    with np.errstate(over="ignore"):
        result = matrix.astype(np.float64)
    entries, before = (result.data, matrix.data) if is_sparse(matrix) else (result, matrix)
    beyond = np.isinf(entries) & np.isfinite(before)
    if beyond.any():
        where = np.argwhere(beyond)[0]
        row = int(np.searchsorted(matrix.indptr, where[0], "right") - 1) if is_sparse(matrix) else int(where[0])
        column = matrix.indices[where[0]] if is_sparse(matrix) else where[1]
        raise ValueError(
            f"View {name!r} holds {matrix.dtype} numbers beyond the range of float64, the first in row {row}, "
            f"column {column}; rescale the view (divide it by its largest entry, say)."
        )
    return result


def checked_csr(matrix: Any, name: str) -> sparse.csr_array:
    """Return a CSR array with sorted, distinct entries in each row, on the user's own arrays if they are so.

    Raises
    ------
    ValueError
        If indices point outside the matrix, which would read, or write, beyond the arrays.
    """
    kinds = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}
    if matrix.format in kinds:
        try:
            data = matrix.data.astype(np.float32) if matrix.data.dtype == np.float16 else matrix.data  # SciPy has none
            parts = (data, matrix.indices, matrix.indptr)
            checked = kinds[matrix.format](parts, shape=matrix.shape)  # not the user's object
            checked.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"View {name!r} is a malformed sparse matrix: {error}.") from None
        matrix = checked
    elif matrix.format == "coo" and not all(
        ((places >= 0) & (places < size)).all() for places, size in zip(matrix.coords, matrix.shape, strict=True)
    ):
        raise ValueError(f"View {name!r} is a malformed sparse matrix: an index lies outside its shape {matrix.shape}.")
    # A new object: flags that SciPy notes on the way are not the user's.
    result = checked if matrix.format == "csr" else sparse.csr_array(matrix)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result
