"""The table of labels of a run, read from its folder and written in the forms that other tools take."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..report.files import replacing
from .label_studio import Columns, columns_of, make_tasks

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
    pa = _pyarrow(path)
    import pyarrow.parquet as parquet

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


def read_columns(path: Path, names: Sequence[str] | None = None, id_column: str | None = None) -> Columns:
    """Return columns of the table that a run was made on, by the ids of its rows as text.

    Parameters
    ----------
    path : Path
        A .csv, .tsv (or .gz of them) or .parquet file.
    names : sequence of str, optional
        The columns; by default all.
    id_column : str, optional
        The column of the ids; without it, rows go by their numbers, as in a run without ids.
    """
    pa = _pyarrow(path)
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    try:
        if suffixes[-1:] == [".parquet"]:
            table = parquet.read_table(path)
        else:
            options = arrow_csv.ParseOptions(delimiter="\t" if ".tsv" in suffixes else ",", newlines_in_values=True)
            texts = {} if id_column is None else {id_column: pa.string()}
            converting = arrow_csv.ConvertOptions(column_types=texts)
            table = arrow_csv.read_csv(path, parse_options=options, convert_options=converting)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    wanted = [name for name in table.column_names if name != id_column] if names is None else list(names)
    lacking = [name for name in (*wanted, *filter(None, [id_column])) if name not in table.column_names]
    if lacking:
        raise ValueError(f"{path} has no column {lacking[0]!r}; it has {', '.join(table.column_names[:20])}.")
    ids = range(table.num_rows) if id_column is None else table.column(id_column).to_pylist()
    rows = [{name: _plain(value) for name, value in row.items()} for row in table.select(wanted).to_pylist()]
    found = dict(zip(map(str, ids), rows, strict=True))
    if len(found) < table.num_rows:
        raise ValueError(f"{path}: ids in the column {id_column!r} repeat, so rows cannot be told apart by them.")
    return found


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"Reading {path} needs pyarrow: {_INSTALL}") from None
    return pyarrow


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


def write_labels(
    rows: Iterable[dict[str, Any]],
    path: Path,
    form: str,
    columns: Columns | None = None,
    *,
    overwrite: bool = False,
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
        By the ids of rows, as text, further columns.
    overwrite : bool
        Whether a file that exists may be replaced.
    """
    if form not in FORMATS:
        raise ValueError(f"There is no format {form!r}; there are {', '.join(FORMATS)}.")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; choose another name, or allow that it is replaced.")
    counted = _Count(rows)
    pieces = {"label-studio": _tasks, "jsonl": _lines, "csv": _csv}[form](counted, columns)
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


def _tasks(rows: Iterable[dict[str, Any]], columns: Columns | None) -> Iterator[str]:
    yield "["
    for number, task in enumerate(make_tasks(rows, columns)):
        yield ("\n" if number == 0 else ",\n") + json.dumps(task, ensure_ascii=True, default=str)
    yield "\n]\n"


def _lines(rows: Iterable[dict[str, Any]], columns: Columns | None) -> Iterator[str]:
    for row in rows:
        yield json.dumps({**row, **columns_of(row, columns)}, ensure_ascii=True, default=str) + "\n"


def _csv(rows: Iterable[dict[str, Any]], columns: Columns | None) -> Iterator[str]:
    further = list(dict.fromkeys(name for parts in (columns or {}).values() for name in parts))
    names: list[str] | None = None
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        if names is None:
            names = [*row, *(name for name in further if name not in row)]
            writer.writerow(names)
        whole = {**row, **columns_of(row, columns)}
        writer.writerow(["" if whole.get(name) is None else whole[name] for name in names])
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    if names is None:
        yield ",".join(_COLUMNS) + "\n"
