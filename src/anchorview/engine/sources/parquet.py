"""Rows of Parquet files: some columns side by side, or one column whose entries are lists of a fixed size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.arrays import Rows
from .base import StoredRows
from .optional import load_optional

_KEPT_GROUPS = 3  # decoded row groups: those that blocks side by side, in several threads, are read from
_SMALL = 4096  # rows up to which row groups are decoded together


class ParquetRows(StoredRows):
    """Rows of a Parquet file, or of all Parquet files in a folder in the order of their names.

    `columns` names one column of lists, or columns of numbers; by default all are taken.
    """

    def __init__(self, path: str | Path, columns: str | Sequence[str] | None = None) -> None:
        self.files = [str(file) for file in parquet_files(Path(path))]
        opened = [_open(file) for file in self.files]
        schema = opened[0].schema_arrow
        names = [columns] if isinstance(columns, str) else list(schema.names if columns is None else columns)
        lacking = [name for name in names if name not in schema.names]
        if lacking or not names:
            raise ValueError(f"{path} has no column {', '.join(map(repr, lacking))}; it has {', '.join(schema.names)}.")
        self._names, self._is_list = names, len(names) == 1 and hasattr(schema.field(names[0]).type, "value_type")
        fields = [schema.field(name) for name in names]
        for file, other in zip(self.files[1:], opened[1:], strict=True):
            _check_same(file, self.files[0], fields, other.schema_arrow)
        self._groups = [
            (number, group, metadata.row_group(group).num_rows)
            for number, metadata in enumerate(file.metadata for file in opened)
            for group in range(metadata.num_row_groups)
        ]
        self._starts = np.concatenate([[0], np.cumsum([group[2] for group in self._groups], dtype=np.int64)])
        width = fields[0].type.list_size if self._is_list and hasattr(fields[0].type, "list_size") else len(names)
        if self._is_list and not hasattr(fields[0].type, "list_size"):
            raise ValueError(
                f"{path}: the lists of column {names[0]!r} may differ in length; write it as a fixed-size list."
            )
        super().__init__(str(path), (int(self._starts[-1]), width), _dtype(path, fields, opened, self._is_list))
        self.columns = None if self._is_list else names
        self._start_cache()
        self.keep_stamp()

    def _start_cache(self) -> None:
        self._kept: OrderedDict[int, tuple[npt.NDArray[Any], int]] = OrderedDict()  # by first group: rows, group after
        self._opened: tuple[int, Any] | None = None  # file that was read last
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_kept", "_opened", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._start_cache()

    def _runs(self, wanted: Rows) -> list[Rows]:
        group = np.searchsorted(self._starts, wanted, side="right")
        return np.split(wanted, np.flatnonzero(np.diff(group)) + 1)

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        last = int(np.searchsorted(self._starts, stop, side="left"))
        parts = []
        with self._lock:  # a second thread mostly wants the same groups
            while first < last:
                rows, following = self._groups_from(first, last)
                offset = int(self._starts[first])
                parts.append(rows[max(start - offset, 0) : stop - offset])
                first = following
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _groups_from(self, first: int, last: int) -> tuple[npt.NDArray[Any], int]:
        """Return the rows of a row group, with those of small ones that follow, and the group after them.

        The last few are kept, as blocks are mostly smaller than groups.
        """
        if first not in self._kept:
            file, following, n_rows = self._groups[first][0], first, 0
            while following < last and self._groups[following][0] == file and (n_rows < _SMALL or following == first):
                n_rows += self._groups[following][2]
                following += 1
            if self._opened is None or self._opened[0] != file:
                self._opened = file, _open(self.files[file])
            groups = [self._groups[number][1] for number in range(first, following)]
            table = self._opened[1].read_row_groups(groups, columns=self._names)
            self._kept[first] = self._decode(table), following
            while len(self._kept) > _KEPT_GROUPS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(first)
        return self._kept[first]

    def _decode(self, table: Any) -> npt.NDArray[Any]:
        if self._is_list:
            column = table.column(0).combine_chunks()
            chunk = column.chunk(0) if hasattr(column, "chunk") else column
            if chunk.null_count:
                raise ValueError(f"column {self._names[0]!r} has rows without a list")
            values = chunk.flatten().to_numpy(zero_copy_only=False)
            return np.asarray(values, dtype=self.dtype).reshape(-1, self.shape[1])
        out = np.empty((table.num_rows, self.shape[1]), dtype=self.dtype)
        for place, name in enumerate(self._names):
            out[:, place] = table.column(name).to_numpy()  # null becomes NaN
        return out


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a path, without hidden ones."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise ValueError(f"The folder {path} has no .parquet files.")
    return files


def _open(path: str) -> Any:
    load_optional("pyarrow", "parquet", path)
    parquet = load_optional("pyarrow.parquet", "parquet", path)
    try:
        return parquet.ParquetFile(path)
    except (FileNotFoundError, PermissionError, ModuleNotFoundError):
        raise
    except Exception as error:  # pyarrow's own, of several kinds
        raise ValueError(f"{path} is no complete Parquet file (it may be cut off): {error}") from error


def _check_same(path: str, first: str, fields: list[Any], schema: Any) -> None:
    """Raise an error if a file of a folder has other columns than the first."""
    for field in fields:
        if field.name not in schema.names or not schema.field(field.name).type.equals(field.type):
            found = schema.field(field.name).type if field.name in schema.names else "no such column"
            raise ValueError(f"Column {field.name!r} is {field.type} in {first} but {found} in {path}.")


def _dtype(path: Any, fields: list[Any], opened: list[Any], is_list: bool) -> np.dtype[Any]:
    """Return the common type of the columns; floating-point where integers may be null."""
    kinds = []
    for field in fields:
        kind = field.type.value_type if is_list else field.type
        try:
            dtype = np.dtype(kind.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            dtype = np.dtype(object)
        if dtype.kind not in "fiub":
            raise ValueError(
                f"{path}: column {field.name!r} is {field.type}, which is no number; name the columns of the view: "
                "columns=[...]."
            )
        if dtype.kind in "iub" and not is_list and _may_be_null(field.name, opened):
            dtype = np.dtype(np.float64)
        kinds.append(dtype)
    return np.result_type(*kinds)


def _may_be_null(name: str, opened: list[Any]) -> bool:
    """Tell whether the statistics of the files leave it open that a column has nulls."""
    for file in opened:
        place = file.schema_arrow.names.index(name)
        for group in range(file.metadata.num_row_groups):
            found = file.metadata.row_group(group).column(place)
            if found.statistics is None or found.statistics.null_count != 0:
                return True
    return False
