"""Columns of a run's table that go along with its labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import Matrix
from ..files.sources import TABLES, check_readable, map_files, suffix_of
from ..files.tables import read_table, table_names
from .errors import DataError
from .inputs.matrices import table_ids
from .run_folder import CODES
from .settings import NO_ID


def columns_of_run(record: dict[str, Any]) -> dict[str, str | None]:
    """Return the columns of labels and ids of a run's table, as tasks name them."""
    settings = record["settings"]
    if settings["table"] is None:
        return {}
    named = {"label_column": settings["label"], "id_column": settings["id"]}
    return {field: None if name == NO_ID else name for field, name in named.items()}


def read_codes(run: Path) -> Matrix:
    """Return what rows to label next are chosen by."""
    path = run / CODES
    if not path.is_file():
        raise DataError(f"There is no {path}, by which rows to label next are chosen; fit again.")
    try:
        codes: Matrix = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return codes


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
    folder = run.resolve()
    path = None
    if settings["table"] is not None:
        path = map_files(Path(settings["table"]), lambda file: Path(os.path.normpath(folder / file)))
    if path is None or suffix_of(path) not in TABLES:
        if wanted:
            raise DataError("The run was not made on a table, so there are no columns to take along.")
        return None
    if wanted is None:
        texts = [name for name, kind in settings["columns"].items() if kind == "text"]
        if not texts or not _is_there(path):
            return None
        wanted = texts
    names = table_names(path)
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise DataError(f"{path} has no column {lacking[0]!r}; it has {', '.join(names[:10])}.")
    id_column = None if settings["id"] == NO_ID and NO_ID not in names else settings["id"]
    of_ids = [id_column] if id_column else []
    table = read_table(path, list(dict.fromkeys([*wanted, *of_ids])), text=of_ids)
    if table.num_rows != record["rows"]:
        raise DataError(f"{path} has {table.num_rows} rows now, and had {record['rows']} when the run was made.")
    ids = table_ids(table, id_column, str(path)).tolist() if id_column else range(table.num_rows)
    rows = table.select(list(wanted)).to_pylist()
    return dict(zip(ids, rows, strict=True))


def _is_there(path: Path) -> bool:
    try:
        check_readable(path)
    except DataError:
        return False
    return True
