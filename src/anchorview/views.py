"""`Views`: several feature sets for the same rows, as one row-sliceable object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

ColumnGroups = Sequence[Any] | Mapping[str, Any]


class Views:
    """Several feature sets ("views") of the same rows.

    Rows can be selected as from an array, so the object goes through ``train_test_split``, ``cross_val_score``,
    ``GridSearchCV`` and ``Pipeline``. The arrays are kept as they are given: nothing is copied, converted or changed.

    Parameters
    ----------
    data : sequence of array-like, mapping of str to array-like, Views, or a 2-D array-like with ``views``
        One 2-D array per view, each with one row per sample. Read-only memory maps are fine.
    views : sequence or mapping, optional
        How to cut one 2-D array or DataFrame into views: sizes (``[76, 216]``), slices, lists of columns (numbers or
        DataFrame names), or a mapping from a view's name to one of the last two.
    names : sequence of str, optional
        Names of the views; by default the mapping's keys, or ``view0``, ``view1``, …

    Attributes
    ----------
    arrays : list of ndarray
        The views.
    names : list of str
        Their names.
    shape : tuple of int
        Number of rows, number of features of all views together.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> X = Views({"image": np.ones((4, 3)), "text": np.zeros((4, 2))})
    >>> X
    Views(4 rows; image: 3, text: 2)
    >>> X[1:3].shape
    (2, 5)
    >>> Views(np.ones((4, 5)), views=[3, 2]).names
    ['view0', 'view1']
    """

    def __init__(self, data: Any, views: ColumnGroups | None = None, names: Sequence[str] | None = None) -> None:
        if isinstance(data, Views):
            if views is not None:
                raise ValueError("views= cuts one 2-D array; the data given is cut into views already.")
            arrays, found = data.arrays, data.names
        elif isinstance(data, Mapping) and not sparse.issparse(data):  # SciPy's DOK matrices are mappings too
            arrays, found = [_as_matrix(a, str(name)) for name, a in data.items()], [str(n) for n in data]
        elif _is_table(data):
            arrays, found = _split_table(data, views)
        elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
            if views is not None:
                raise ValueError(
                    "views= cuts one 2-D array or DataFrame; a list of views is cut already (use names= to name them)."
                )
            found = [f"view{i}" for i in range(len(data))]
            arrays = [_as_matrix(a, name) for a, name in zip(data, found, strict=True)]
        else:
            raise TypeError(
                f"Cannot read views from {type(data).__name__}; pass a list of 2-D arrays, a dict of 2-D arrays, "
                "or one 2-D array with views=."
            )
        if len(arrays) == 0:
            raise ValueError("No view was given; pass at least one 2-D array.")
        self.arrays: list[Any] = list(arrays)
        self.names: list[str] = list(found) if names is None else [str(name) for name in names]
        if len(self.names) != len(self.arrays):
            raise ValueError(f"{len(self.names)} names were given for {len(self.arrays)} views.")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"View names must differ; got {self.names}.")
        for array, name in zip(self.arrays[1:], self.names[1:], strict=True):
            if len(array) != len(self.arrays[0]):
                raise ValueError(
                    f"View {name!r} has {len(array)} rows but view {self.names[0]!r} has {len(self.arrays[0])}; "
                    "every view needs one row per sample."
                )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and total number of features."""
        return len(self.arrays[0]), sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """Number of features of each view."""
        return [array.shape[1] for array in self.arrays]

    @property
    def ndim(self) -> int:
        """Two, as for the concatenated features."""
        return 2

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, key: Any) -> Views:
        """Select rows; an integer gives one row, still as Views."""
        if isinstance(key, tuple):
            if any(part is not Ellipsis and not _is_everything(part) for part in key[1:]):
                raise IndexError("Views selects rows only; use .arrays or .names to reach a view.")
            key = key[0]
        if isinstance(key, int | np.integer):
            position = int(key)
            if not -len(self) <= position < len(self):
                raise IndexError(f"Row {position} is out of range for {len(self)} rows.")
            key = slice(position, position + 1 or None)
        elif not isinstance(key, slice):
            key = np.asarray(key)
            if key.size == 0:
                key = key.astype(np.intp)
        return Views([array[key] for array in self.arrays], names=self.names)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all views side by side, for tools that know one feature set only."""
        return np.concatenate(self.arrays, axis=1, dtype=dtype)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Iterate over names and arrays."""
        return zip(self.names, self.arrays, strict=True)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {array.shape[1]}" for name, array in self.items())
        return f"Views({len(self)} rows; {parts})"


def _is_everything(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _is_table(data: Any) -> bool:
    """Tell a 2-D array or DataFrame from a sequence of views."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return True
    if hasattr(data, "shape"):
        return True
    return isinstance(data, Sequence) and len(data) > 0 and all(_is_row(row) for row in data)


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(np.ndim(item) == 0 for item in value)
    )


def _as_matrix(array: Any, name: str) -> Any:
    """Return a view as a numeric 2-D array, without copying one that is."""
    if sparse.issparse(array):
        raise TypeError(
            f"View {name!r} is sparse; sparse data is not supported yet, pass .toarray() if it fits in memory."
        )
    if hasattr(array, "iloc"):  # a DataFrame
        _check_columns(array, name)
        array = array.to_numpy()
    result = array if isinstance(array, np.ndarray) else np.asarray(array)
    if result.ndim == 1:
        raise ValueError(
            f"View {name!r} is one-dimensional. Reshape your data: use array.reshape(-1, 1) for one feature, or "
            "array.reshape(1, -1) for a single sample. Expected 2D array, got 1D array instead."
        )
    if result.ndim != 2:
        raise ValueError(f"View {name!r} has {result.ndim} dimensions; every view must be 2-D (rows × features).")
    if result.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: view {name!r} is complex.")
    if result.dtype.kind == "O":
        result = _to_numeric(result, name)
    if result.dtype.kind not in "fiub":
        raise ValueError(f"View {name!r} is not numeric (dtype {result.dtype}); encode its columns as numbers first.")
    if result.shape[1] == 0:
        raise ValueError(f"View {name!r} has 0 feature(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result


def _to_numeric(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    for column in range(array.shape[1]):
        for row, value in enumerate(array[:, column]):
            try:
                float(value)
            except (TypeError, ValueError) as error:
                message = (
                    f"View {name!r} is not numeric: column {column}, row {row} holds {value!r} "
                    "(argument must be a string or a real number); encode such columns as numbers first."
                )
                raise type(error)(message) from None
    return array.astype(np.float64)


def _check_columns(frame: Any, name: str) -> None:
    for column, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if getattr(dtype, "kind", "O") not in "fiubO":
            raise ValueError(f"View {name!r}: column {column!r} is not numeric ({dtype}); encode it as numbers first.")


def _split_table(table: Any, views: ColumnGroups | None) -> tuple[list[Any], list[str]]:
    """Cut one table into views."""
    if views is None:
        return [_as_matrix(table, "view0")], ["view0"]
    groups = dict(views.items()) if isinstance(views, Mapping) else {f"view{i}": g for i, g in enumerate(views)}
    if not groups:
        raise ValueError("views= is empty; name at least one group of columns.")
    is_frame = hasattr(table, "iloc")
    matrix = None if is_frame else _as_matrix(table, "X")
    n_columns = table.shape[1] if is_frame else matrix.shape[1]  # type: ignore[union-attr]
    if all(isinstance(group, int | np.integer) for group in groups.values()):
        sizes = [int(group) for group in groups.values()]
        if min(sizes) < 1 or sum(sizes) != n_columns:
            raise ValueError(f"views={list(views)} adds up to {sum(sizes)} features, but X has {n_columns} features.")
        ends = np.cumsum(sizes)
        groups = {n: slice(int(e) - s, int(e)) for n, s, e in zip(groups, sizes, ends, strict=True)}
    arrays = []
    for name, group in groups.items():
        if is_frame:
            arrays.append(_as_matrix(_frame_columns(table, group, name), name))
        else:
            assert matrix is not None
            arrays.append(matrix[:, _column_numbers(group, n_columns, name)])
    return arrays, [str(name) for name in groups]


def _frame_columns(frame: Any, group: Any, name: str) -> Any:
    if isinstance(group, slice):
        return frame.iloc[:, group]
    columns = [group] if isinstance(group, str) else list(group)
    if all(isinstance(column, int | np.integer) for column in columns) and not set(columns) <= set(frame.columns):
        return frame.iloc[:, _column_numbers(columns, frame.shape[1], name)]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"View {name!r} names columns the DataFrame lacks: {missing[:5]}.")
    return frame[columns]


def _column_numbers(group: Any, n_columns: int, name: str) -> Any:
    if isinstance(group, slice):
        return group
    numbers = np.asarray(group)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"View {name!r}: columns of an array are given as a size, a slice or a list of numbers.")
    if numbers.min() < -n_columns or numbers.max() >= n_columns:
        wrong = numbers[(numbers < -n_columns) | (numbers >= n_columns)][0]
        raise ValueError(f"View {name!r} names column {wrong}, but X has {n_columns} features.")
    return numbers
