"""The forms in which constraints are given, read into pairs and groups: one group per row, pairs, a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Rows
from ..core.checks import is_plain_number, is_sequence, shorten
from ..data.labels import is_unlabelled
from ..data.tables import as_column
from .pairs import PairList, ResolvedPairs


def read_groups(values: Any) -> Rows:
    """Return the number of each row's group, in order of appearance; −1 where there is none."""
    if not is_sequence(values):
        raise ValueError(f"Groups are given as a {type(values).__name__}; give a sequence with one value per row.")
    values = values.tolist() if isinstance(values, np.ma.MaskedArray) else as_column(values)  # None where it is masked
    array = np.asarray(values if hasattr(values, "dtype") else np.array(list(values), dtype=object))
    if array.ndim != 1:
        raise ValueError(f"Groups have shape {array.shape}; give one value per row.")
    seen: dict[Any, int] = {}
    items = array.tolist()
    check_hashable(items, "Groups hold")
    return np.array([-1 if is_unlabelled(v) else seen.setdefault(v, len(seen)) for v in items], dtype=np.intp)


def check_hashable(items: Iterable[Any], what: str) -> None:
    """Raise an error that names the first item that cannot be looked up, such as a list."""
    for item in items:
        if not isinstance(item, Hashable):
            raise ValueError(f"{what} {shorten(item)}, a {type(item).__name__}; use texts or numbers.")


def as_list(values: Iterable[Any]) -> list[Any]:
    """Return plain Python values, which compare equal to those of any array."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def read_pairs(pairs: Any, weight: npt.ArrayLike | None, name: str) -> PairList:
    """Read pairs or triples, of anything."""
    if not is_sequence(pairs) and not isinstance(pairs, Iterator):
        raise ValueError(f"{name} must be a sequence of pairs (a, b) or triples (a, b, weight); got {shorten(pairs)}.")
    listed = np.asarray(pairs).tolist() if hasattr(pairs, "shape") else list(pairs)  # a DataFrame iterates its columns
    sizes = {len(pair) if isinstance(pair, list | tuple | np.ndarray) else 0 for pair in listed}
    if not sizes <= {2, 3}:
        wrong = next(p for p in listed if not isinstance(p, list | tuple | np.ndarray) or len(p) not in (2, 3))
        raise ValueError(f"{name} holds {wrong!r}; each entry is a pair (a, b) or a triple (a, b, weight).")
    if weight is not None and 3 in sizes:
        raise ValueError(f"{name} holds weights and {name}_weight= gives them too; use one of the two.")
    try:
        given = [1.0 if len(pair) == 2 else float(pair[2]) for pair in listed] if weight is None else weight
        weights = np.broadcast_to(np.asarray(given, dtype=np.float64), (len(listed),))
    except (TypeError, ValueError) as error:
        raise ValueError(f"The weights of {name} are not one number for each of {len(listed)} pairs: {error}") from None
    is_wrong = ~(np.isfinite(weights) & (weights >= 0))
    if is_wrong.any():
        place = int(np.flatnonzero(is_wrong)[0])
        raise ValueError(
            f"{name} gives the pair {tuple(listed[place][:2])} the weight {weights[place]}; weights are finite and not "
            "negative (put a pair that must not link in cannot=)."
        )
    ends = np.empty((len(listed), 2), dtype=object)
    for place, pair in enumerate(listed):
        check_hashable(pair[:2], f"{name} pairs")
        ends[place, 0], ends[place, 1] = pair[0], pair[1]
    return PairList(ends[:, 0], ends[:, 1], weights.copy())


def as_rows(pairs: PairList, n_rows: int, name: str) -> PairList:
    """Check that the ends are row numbers, and make them integers."""
    for a, b in zip(pairs.first, pairs.second, strict=True):
        for end in (a, b):
            if not (is_plain_number(end) and 0 <= end < n_rows and int(end) == end):
                raise ValueError(
                    f"{name} holds the pair ({a!r}, {b!r}); with n_rows={n_rows} its ends are row numbers from 0 to "
                    f"{n_rows - 1}. Leave n_rows= out if they are sample ids."
                )
    return PairList(pairs.first.astype(np.intp), pairs.second.astype(np.intp), pairs.weight)


def renumber(pairs: PairList, position: dict[Any, int]) -> PairList:
    """Replace ids by their numbers; pairs with an id that has none are left out."""
    first, second = (
        np.array([position.get(name, -1) for name in end], dtype=np.intp) for end in (pairs.first, pairs.second)
    )
    kept = (first >= 0) & (second >= 0)
    return PairList(first[kept], second[kept], pairs.weight[kept])


def _as_numbers(matrix: Any) -> Any:
    """Return a matrix, dense or sparse, of real numbers."""
    try:
        values: Any = matrix if sparse.issparse(matrix) else np.asarray(matrix)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"it is of type {values.dtype}")
        if sparse.issparse(values) and values.format in ("csr", "csc"):
            values.check_format(full_check=True)  # an index out of range would be read from beyond the arrays
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The matrix is not one of numbers, as many rows as columns: {error}.") from None


def read_matrix(matrix: Any) -> ResolvedPairs:
    """Read each pair of rows once."""
    values = _as_numbers(matrix)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"The matrix has shape {values.shape}; it needs one row and one column per sample.")
    n_rows = values.shape[0]
    weights: Any = sparse.csr_array(values)
    listed = sparse.coo_array(weights)
    is_wrong = ~np.isfinite(listed.data) | ((listed.row == listed.col) & (listed.data < 0))
    if is_wrong.any():
        i, j, value = (part[is_wrong][0] for part in (listed.row, listed.col, listed.data))
        raise ValueError(
            f"The matrix holds {value} at ({i}, {j}); weights are finite, and those of a row with itself not negative."
        )
    upper, lower = sparse.triu(weights), sparse.triu(weights.T, 1)
    if sparse.triu(weights, 1).count_nonzero() == 0:
        upper = upper + lower
    elif lower.count_nonzero() > 0:
        gap = sparse.coo_array(sparse.triu(weights, 1) - lower)
        is_wrong = np.abs(gap.data) > 1e-8 * np.abs(listed.data).max()
        if is_wrong.any():
            i, j = gap.row[is_wrong][0], gap.col[is_wrong][0]
            raise ValueError(
                f"The matrix is not symmetric: it holds {weights[i, j]} at ({i}, {j}) but {weights[j, i]} at "
                f"({j}, {i}). Fill both alike, or one triangle only."
            )
    once = sparse.coo_array(upper)
    must, cannot = (PairList(once.row, once.col, np.maximum(sign * once.data, 0)).merged(n_rows) for sign in (1, -1))
    return ResolvedPairs(n_rows, must, cannot)
