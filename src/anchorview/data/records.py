"""Raw tables in the forms that programs have them: records (dicts), one record, or the path of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.arrays import is_sparse
from ..core.user_errors import CommandError
from ..files.record_tables import flat_record
from ..files.sources import folder_of
from ..files.tables import read_table


class RecordTable:
    """Rows that were given as dicts, column by column; a key that a record lacks is an empty cell.

    Examples
    --------
    >>> table = RecordTable([{"text": "good", "stars": 5}, {"text": "bad"}])
    >>> len(table), table.columns["stars"].tolist()
    (2, [5, None])
    """

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        flat = [flat_record(record, f"record {number}") for number, record in enumerate(records)]
        names = dict.fromkeys(name for record in flat for name in record)
        self.columns = {name: _objects([record.get(name) for record in flat]) for name in names}
        self._n_rows = len(flat)

    def __len__(self) -> int:
        return self._n_rows


class RawTable(NamedTuple):
    """A table, and the folder that relative paths in it start from; None for the current one."""

    table: Any
    folder: Path | None


def read_raw(X: Any) -> RawTable:
    """Return records and paths as tables; anything else as it is.

    Parameters
    ----------
    X : path, mapping, list of mappings, table or array
        A path is a file that the command reads, too (CSV, JSON lines, Excel, …), or a folder of photos.
    """
    if isinstance(X, str | os.PathLike):
        path = Path(X)
        try:
            return RawTable(read_table(path), folder_of(path))
        except CommandError as error:
            raise (ImportError if "not installed" in str(error) else ValueError)(str(error)) from None
    if isinstance(X, Mapping) and not is_sparse(X):  # one kind of sparse matrix is a dict
        X = [X]
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        try:
            return RawTable(RecordTable(X), None)
        except CommandError as error:
            raise ValueError(str(error)) from None
    if X is None or isinstance(X, int | float) or (isinstance(X, list | tuple) and all(map(_is_cell, X))):
        raise ValueError(
            f"{_named(X)} is not a table. Give a DataFrame, a dict with the names of the columns, such as "
            '{"text": "…"}, a list of such dicts, or the path of a file.'
        )
    return RawTable(X, None)


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _named(X: Any) -> str:
    if not isinstance(X, list | tuple):
        return repr(X)
    return f"A list of {type(X[0]).__name__}" if len(X) else "An empty list"


def _objects(cells: list[Any]) -> npt.NDArray[Any]:
    """Return cells as an array of objects, lists among them as they are."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
