"""The table of labels of a run, read from its folder and written in the forms that other tools take."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import Matrix
from ..core.files import check_output, replacing
from ..files.csv_cells import mark_text
from ..readers.audit import AUDITED, audit_order, next_audit_rows
from ..readers.group_tree import make_group_tree
from ..readers.label_sources import UNKNOWN
from ..readers.suggest import make_queue
from .label_studio import make_tasks

FORMATS = ("label-studio", "jsonl", "csv")
_COLUMNS = ("id", "label", "confidence", "second_label", "second_confidence", "source", "x", "y")
_NEEDED = ("id", "label")
_BATCH = 65_536  # rows in memory at a time
_INSTALL = "pip install pyarrow"


def read_labels(run: Path) -> Iterator[dict[str, Any]]:
    """Return the rows of a run's labels, one at a time.

    Parameters
    ----------
    run : Path
        The folder of a run, or its labels.parquet.

    Yields
    ------
    dict
        With ``id``, ``label`` and what else the file has of ``confidence``, ``second_label``, ``second_confidence``,
        ``source``, ``x`` and ``y``; None where there is nothing.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is something else; at the first row.
    """
    path = run / "labels.parquet" if run.is_dir() else run
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; give the folder of a run, or its labels.parquet.")
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError(f"Reading {path} needs pyarrow: {_INSTALL}") from None
    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a Parquet file, or a damaged one ({error}).") from None
    with file:
        there = file.schema_arrow.names
        lacking = [name for name in _NEEDED if name not in there]
        if lacking:
            raise ValueError(f"{path} has no column {lacking[0]!r}; it has {', '.join(there[:10])}.")
        for batch in file.iter_batches(_BATCH, columns=[name for name in _COLUMNS if name in there]):
            yield from batch.to_pylist()


def least_sure(rows: Iterable[dict[str, Any]], n_rows: int) -> list[dict[str, Any]]:
    """Return the rows that the model is least sure of, the least sure first; labels that were given are left out.

    Examples
    --------
    >>> rows = [{"id": i, "label": "a", "confidence": c, "source": "model"} for i, c in enumerate([0.9, 0.4, 0.6])]
    >>> [row["id"] for row in least_sure(rows, 2)]
    [1, 2]
    """
    import heapq

    of_model = (row for row in rows if row.get("source") != "given")
    return heapq.nsmallest(n_rows, of_model, key=lambda row: row.get("confidence") or 0.0)


def suggested(rows: Iterable[dict[str, Any]], n_rows: int, coordinates: Matrix) -> list[dict[str, Any]]:
    """Return the rows to label next, the most useful first, as `suggest_labels` chooses them.

    Parameters
    ----------
    rows : iterable of dict
        As `read_labels` gives them. Labels that were given, and rows about which nothing is known, are left out.
    n_rows : int
        How many; fewer if there are not so many.
    coordinates : ndarray of shape (n_all_rows, p)
        Where rows that are alike lie together: codes.npy of the run.
    """
    listed = list(rows)
    if len(coordinates) != len(listed):
        raise ValueError(f"The run has codes of {len(coordinates)} rows, and labels of {len(listed)}; fit again.")
    is_open = np.array([row.get("source") != "given" and row.get("label") is not None for row in listed], dtype=bool)
    n_rows = min(n_rows, int(is_open.sum()))
    if n_rows == 0:
        return []
    confidence = np.array([row.get("confidence") or 0.0 for row in listed])
    doubt = np.where(is_open, 1 - confidence, 0.0)
    given = np.array([row.get("source") == "given" for row in listed], dtype=bool)
    order = audit_order(len(listed), usable=given | is_open)
    drawn = next_audit_rows(order, np.where(given, UNKNOWN, ""), n_rows, is_open)
    n_classes = len({row["label"] for row in listed if row.get("label") is not None})
    queue = make_queue(
        make_group_tree(coordinates),
        coordinates,
        doubt,
        is_open,
        n_rows,
        drawn,
        share=AUDITED,
        labelled=np.flatnonzero(given),
        n_classes=n_classes,
    )
    return [listed[row] for row in queue.rows.tolist()]


def write_labels(
    rows: Iterable[dict[str, Any]],
    path: Path,
    form: str,
    columns: Mapping[Any, Mapping[str, Any]] | None = None,
    *,
    overwrite: bool = False,
    label_column: str | None = None,
    id_column: str | None = None,
) -> int:
    """Write rows of labels to a file, and return how many.

    Parameters
    ----------
    rows : iterable of dict
        As `read_labels` gives them.
    path : Path
        The file; it gets its name when it is whole.
    form : {"label-studio", "jsonl", "csv"}
        A list of tasks with predictions, a JSON object on each line, or comma-separated values.
    columns : mapping, optional
        By the ids of rows, further columns.
    overwrite : bool
        Whether a file that exists may be replaced.
    label_column, id_column : str, optional
        Columns of the run's table with its labels and ids, which tasks of Label Studio name.
    """
    if form not in FORMATS:
        raise ValueError(f"There is no format {form!r}; there are {', '.join(FORMATS)}.")
    check_output(path, overwrite=overwrite)
    counted = _Count(rows)
    if form == "label-studio":
        pieces = _tasks(make_tasks(counted, columns, label_column=label_column, id_column=id_column))
    else:
        pieces = {"jsonl": _lines, "csv": _csv}[form](counted, columns)
    with replacing(path, overwrite=overwrite) as stream:
        for piece in pieces:
            stream.write(piece.encode("utf-8", "surrogatepass"))
    return counted.n_rows


class _Count:
    """An iterable that counts."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows, self.n_rows = rows, 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            self.n_rows += 1
            yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Return a value that JSON has: times as text, no NaN."""
    if isinstance(value, float):
        return None if math.isnan(value) or math.isinf(value) else round(value, 6)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _tasks(tasks: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "["
    for number, task in enumerate(tasks):
        yield ("\n" if number == 0 else ",\n") + json.dumps(task, ensure_ascii=True, default=str)
    yield "\n]\n"


def _lines(rows: Iterable[dict[str, Any]], columns: Mapping[Any, Mapping[str, Any]] | None) -> Iterator[str]:
    for row in rows:
        yield json.dumps({**row, **((columns or {}).get(row["id"]) or {})}, ensure_ascii=True, default=str) + "\n"


def _csv(rows: Iterable[dict[str, Any]], columns: Mapping[Any, Mapping[str, Any]] | None) -> Iterator[str]:
    further = list(dict.fromkeys(name for parts in (columns or {}).values() for name in parts))
    names: list[str] | None = None
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        if names is None:
            names = [*row, *(name for name in further if name not in row)]
            writer.writerow(map(mark_text, names))
        whole = {**row, **((columns or {}).get(row["id"]) or {})}
        writer.writerow(["" if whole.get(name) is None else mark_text(whole[name]) for name in names])
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    if names is None:
        yield ",".join(_COLUMNS) + "\n"
