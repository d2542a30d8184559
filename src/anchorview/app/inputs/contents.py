"""The rows of a table as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...files.tables import read_table, table_names
from ..errors import CommandError
from .gathering import RunData

_MOST_COLUMNS = 200  # to choose from


def photo_files(data: RunData) -> Callable[[Sequence[int]], list[Path | None]] | None:
    """Return what finds the photos of rows; None if the table has no column of photos."""
    columns = {} if data.table is None else data.table.columns_
    name = next((name for name, found in columns.items() if found.kind == "image"), None)
    if data.table is None or data.file is None or name is None:
        return None
    try:
        cells = read_table(data.file, [name], text=[name]).column(name).to_pylist()
    except CommandError:
        return None
    folder = Path(data.table.image_folder or ".")
    return lambda rows: [folder / cells[row] if row < len(cells) and cells[row] else None for row in rows]


def read_contents(data: RunData) -> Any:
    """Read the table of a run again, without ids and labels: it is not kept while the model is fitted.

    None if the rows do not come from one table, or it has changed in the meantime.
    """
    if data.file is None:
        return None
    try:
        columns = [name for name in table_names(data.file) if name not in data.unread][:_MOST_COLUMNS]
        table = read_table(data.file, columns) if columns else None
    except CommandError:  # it is gone: the report can do without
        return None
    return table if table is not None and table.num_rows == len(data.views) else None
