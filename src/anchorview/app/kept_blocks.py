"""Labels of blocks of rows, kept beside the output until all are there: what was done is not done again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from ..core.locks import InUseError, hold
from ..report.files import replacing
from .csv_cells import mark_table
from .errors import CommandError, DataError

_MANIFEST, _LOCK = "manifest.json", ".lock"


class KeptBlocks:
    """Labels of blocks, each in a file of its own beside the output, until all are there.

    Parameters
    ----------
    output : Path
        The file that they become.
    fingerprint : str
        What they are made from; parts of another are removed.
    """

    def __init__(self, output: Path, fingerprint: str) -> None:
        self._output = output.absolute()
        self._folder = self._output.with_name(f".{self._output.name}.parts")
        self._fingerprint, self._count = fingerprint, 0

    def __enter__(self) -> KeptBlocks:
        self._folder.mkdir(exist_ok=True)
        try:
            self._stream = hold(self._folder / _LOCK)
        except InUseError as error:
            raise CommandError(f"Another process is writing {self._output} ({error}); wait for it.") from None
        manifest = self._folder / _MANIFEST
        if not manifest.is_file() or manifest.read_text() != self._fingerprint:
            for path in self._folder.iterdir():
                if path.name != _LOCK:
                    path.unlink()
            with replacing(manifest, overwrite=True) as stream:
                stream.write(self._fingerprint.encode())
        return self

    def __exit__(self, *error: object) -> None:
        if not any(self._folder.glob("*.parquet")):  # nothing is done that could be kept
            shutil.rmtree(self._folder, ignore_errors=True)
        self._stream.close()

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06d}.parquet"

    def has(self, number: int) -> bool:
        """Tell whether a block is done already."""
        self._count = number + 1
        return self._path(number).is_file()

    def add(self, number: int, table: Any, unseen: dict[str, Any]) -> None:
        """Keep the labels of a block, and what was ignored in it."""
        import pyarrow.parquet

        table = table.replace_schema_metadata({"unseen": json.dumps(unseen)})
        with replacing(self._path(number), overwrite=True) as stream:
            pyarrow.parquet.write_table(table, stream)

    def finish(self) -> dict[str, Any]:
        """Put the parts together, and return what they say as a whole."""
        import pyarrow.parquet
        from pyarrow import csv

        if not self._count:
            raise DataError("The files have no rows, so there is nothing to label.")
        unseen: dict[str, list[Any]] = {}
        n_rows = 0
        with replacing(self._output, overwrite=True) as stream:
            writer: Any = None
            for number in range(self._count):
                table = pyarrow.parquet.read_table(self._path(number))
                for name, (what, count, total) in json.loads(table.schema.metadata[b"unseen"]).items():
                    before = unseen.setdefault(name, [what, 0, 0])
                    unseen[name] = [what, before[1] + count, before[2] + total]
                table = table.replace_schema_metadata(None)
                is_csv = self._output.suffix.lower() == ".csv"
                table = mark_table(table) if is_csv else table
                if writer is None:
                    kind = csv.CSVWriter if is_csv else pyarrow.parquet.ParquetWriter
                    writer = kind(stream, table.schema)
                writer.write_table(table)
                n_rows += table.num_rows
            writer.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return {"output": str(self._output), "rows": n_rows, "unseen": unseen}
