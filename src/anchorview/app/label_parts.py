"""Labels of blocks of rows as parts of one table: each is kept when it is done, and all become the output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from ..core.files import replacing
from ..core.partial_results import PartialResults
from ..files.csv_cells import mark_table
from .errors import DataError


def label_parts(output: Path, fingerprint: str) -> PartialResults:
    """Return the parts of an output, which are made from what the fingerprint names."""
    output = output.absolute()
    return PartialResults(output.with_name(f".{output.name}.parts"), output, {"made from": fingerprint}, ".parquet")


def save_part(part: tuple[Any, dict[str, Any]], stream: BinaryIO) -> None:
    """Write the labels of a block, and what was ignored in it."""
    import pyarrow.parquet

    table, unseen = part
    pyarrow.parquet.write_table(table.replace_schema_metadata({"unseen": json.dumps(unseen)}), stream)


def put_together(parts: PartialResults, n_parts: int) -> dict[str, Any]:
    """Write the output, remove its parts, and return what they say as a whole."""
    import pyarrow.parquet
    from pyarrow import csv

    if not n_parts:
        raise DataError("The files have no rows, so there is nothing to label.")
    unseen: dict[str, list[Any]] = {}
    n_rows = 0
    is_csv = parts.output.suffix.lower() == ".csv"
    with replacing(parts.output) as stream:
        writer: Any = None
        for number in range(n_parts):
            table = pyarrow.parquet.read_table(parts.path(number))
            for name, (what, count, total) in json.loads(table.schema.metadata[b"unseen"]).items():
                before = unseen.setdefault(name, [what, 0, 0])
                unseen[name] = [what, before[1] + count, before[2] + total]
            table = table.replace_schema_metadata(None)
            table = mark_table(table) if is_csv else table
            if writer is None:
                writer = (csv.CSVWriter if is_csv else pyarrow.parquet.ParquetWriter)(stream, table.schema)
            writer.write_table(table)
            n_rows += table.num_rows
        writer.close()
    parts.clear()
    return {"output": str(parts.output), "rows": n_rows, "unseen": unseen}
