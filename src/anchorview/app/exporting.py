"""Columns of a run's table that go along with its labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import DataError
from .inputs.matrices import table_ids
from .inputs.tables import TABLES, read_table, suffix_of, table_names


def further_columns(
    run: Path, record: dict[str, Any], wanted: Sequence[str] | None
) -> dict[Any, dict[str, Any]] | None:
    """Return columns of the table that a run was made on, by the ids of its rows.

    Parameters
    ----------
    run : Path
        The folder of the run, from which its files are named.
    record : dict
        The run.json.
    wanted : sequence of str, optional
        Names of columns; by default those that were text, if the table is still there.
    """
    settings = record["settings"]
    path = None if settings["table"] is None else Path(os.path.normpath(run.resolve() / settings["table"]))
    if path is None or suffix_of(path) not in TABLES:
        if wanted:
            raise DataError("The run was not made on a table, so there are no columns to take along.")
        return None
    if wanted is None:
        texts = [name for name, kind in settings["columns"].items() if kind == "text"]
        if not texts or not path.is_file():
            return None
        wanted = texts
    names = table_names(path)
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise DataError(f"{path} has no column {lacking[0]!r}; it has {', '.join(names[:10])}.")
    id_column = settings["id"]
    of_ids = [id_column] if id_column else []
    table = read_table(path, list(dict.fromkeys([*wanted, *of_ids])), text=of_ids)
    if table.num_rows != record["rows"]:
        raise DataError(f"{path} has {table.num_rows} rows now, and had {record['rows']} when the run was made.")
    ids = table_ids(table, id_column, str(path)).tolist() if id_column else range(table.num_rows)
    rows = table.select(list(wanted)).to_pylist()
    return dict(zip(ids, rows, strict=True))
