"""Tables read in blocks of rows, so that files larger than the memory can be labelled."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..csv_cells import unmark_table
from ..errors import DataError
from .tables import csv_delimiter, csv_error, one_line, stored_names, suffix_of, table_names

_BYTES = 2**24  # of a CSV file, parsed together


def table_blocks(path: Path, columns: Sequence[str], text: Collection[str], n_rows: int) -> Iterator[Any]:
    """Iterate over a file in tables of as many rows, the last one perhaps shorter.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    columns : sequence of str
        The columns to read.
    text : collection of str
        Those that are text whatever they look like. Of a CSV file, the others are numbers where all of a block are.
    n_rows : int
        Rows of a block.
    """
    import pyarrow as pa

    lacking = [name for name in columns if name not in table_names(path)]
    if lacking:
        shown = ", ".join(table_names(path)[:10])
        raise DataError(f"{path} lacks columns of the fit: {', '.join(map(repr, lacking[:5]))}; it has {shown}.")
    try:
        batches = _parquet(path, columns, n_rows) if suffix_of(path) == ".parquet" else _csv(path, columns)
        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            n_waiting = sum(part.num_rows for part in waiting)
            while n_waiting >= n_rows:
                table = pa.concat_tables(waiting)
                yield _typed(table.slice(0, n_rows), text)
                waiting, n_waiting = [table.slice(n_rows)], n_waiting - n_rows
        if sum(part.num_rows for part in waiting):
            yield _typed(pa.concat_tables(waiting), text)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: {csv_error(error)}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {one_line(error)}") from None


def count_rows(paths: Sequence[Path]) -> int:
    """Return about how many rows files have; of CSV files the lines but one, as texts may have several.

    Of packed files nothing is known beforehand: 0 then.
    """
    import pyarrow.parquet

    total = 0
    for path in paths:
        if suffix_of(path) == ".parquet":
            total += pyarrow.parquet.read_metadata(path).num_rows
        elif path.suffix.lower() in (".csv", ".tsv"):
            with path.open("rb") as stream:
                total += sum(block.count(b"\n") for block in iter(partial(stream.read, _BYTES), b"")) - 1
        else:
            return 0
    return max(total, 0)


def _parquet(path: Path, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
            yield pa.Table.from_batches([batch])


def _csv(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    stored = stored_names(path)
    wanted = [stored.get(name, name) for name in columns]
    converting = csv.ConvertOptions(
        column_types={name: pa.string() for name in wanted}, include_columns=wanted, check_utf8=True
    )
    with csv.open_csv(
        path,
        csv.ReadOptions(block_size=_BYTES, use_threads=False),  # errors then name the line
        csv.ParseOptions(delimiter=csv_delimiter(path), newlines_in_values=True),
        converting,
    ) as reader:
        for batch in reader:
            yield unmark_table(pa.Table.from_batches([batch]))


def _typed(table: Any, text: Collection[str]) -> Any:
    """Turn columns of text that are numbers throughout into numbers; an empty cell is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, field in enumerate(table.schema):
        if field.name in text or not pa.types.is_string(field.type):
            continue
        column = table.column(number)
        try:
            values = pc.cast(pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column), pa.float64())
        except pa.ArrowInvalid:
            continue
        table = table.set_column(number, field.name, values)
    return table
