"""The column of ids of one table, where nobody has named it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ...data.column_kinds import ColumnKind, is_named_as_id
from ...files.tables import read_table
from ..errors import DataError
from .matrices import table_ids


def find_ids(columns: Mapping[str, ColumnKind], path: Path) -> tuple[str | None, npt.NDArray[Any] | None]:
    """Return the column that names each row of a table, and the ids in it; None without such a column.

    Of several the first that is called an id is taken, else the first.

    Parameters
    ----------
    columns : mapping of str to ColumnKind
        What the columns were taken for.
    path : Path
        The table. The column is read again, as text: zeros in front belong to an id.
    """
    candidates = [name for name, found in columns.items() if found.kind == "id"]
    for name in sorted(candidates, key=lambda name: not is_named_as_id(name)):
        try:
            return name, table_ids(read_table(path, [name], text=[name]), name, str(path))
        except DataError:  # a row has no id, or two have the same
            continue
    return None, None
