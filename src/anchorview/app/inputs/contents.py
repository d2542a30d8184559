"""The rows of a table as a person reads them."""

from __future__ import annotations

from typing import Any

from ...files.tables import read_table, table_names
from ..errors import CommandError
from .gathering import RunData

_MOST_COLUMNS = 200  # to choose from


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
