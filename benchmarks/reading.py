"""How long it takes to read a table, beside pyarrow's own read of it; and to show the help.

    python benchmarks/reading.py
    python benchmarks/reading.py --rows 100000 --columns 50 --repeats 3

A Parquet file of single-precision columns is read as a view (`anchorview fit --view a=*` does that first), and by
``pyarrow.parquet.read_table``, in turns, each in this process and with the file in the cache of the system; the least
of the times counts, and the least work of the processors, which says more on a busy machine. ``anchorview --help`` is
a process of its own, beside one that only starts Python.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anchorview.app.inputs.gathering import gather
from anchorview.app.settings import RunSettings


def write(path: Path, n_rows: int, n_columns: int) -> None:
    """Write random numbers, 100,000 rows at a time."""
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"c{number}", pa.float32()) for number in range(n_columns)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, 100_000):
            block = rng.random((n_columns, min(100_000, n_rows - start)), dtype=np.float32)
            writer.write_table(pa.table(list(block), schema=schema))


def least(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, tuple[float, float]]:
    """Return the least time of each, called in turns, and the least time of the processor."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start, worked = time.perf_counter(), _worked()
            function()
            times[name].append((time.perf_counter() - start, _worked() - worked))
    return {name: (min(one for one, _ in taken), min(one for _, one in taken)) for name, taken in times.items()}


def _worked() -> float:
    """Return the seconds that processors have spent on this process and its children."""
    return sum(os.times()[:4])


def run(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the file is written; by default a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.parquet"
        write(path, options.rows, options.columns)
        settings = RunSettings(table=path, views=["a=*"], clusters=2)
        taken = least({"pyarrow": lambda: pq.read_table(path), "anchorview": lambda: gather(settings)}, options.repeats)
        print(f"{options.rows:,} rows × {options.columns} float32, {path.stat().st_size / 1e6:.0f} MB of Parquet")
    for name, (seconds, worked) in taken.items():
        own, least_work = taken["pyarrow"][0], max(taken["pyarrow"][1], 0.01)
        print(f"  {name:12s} {seconds:6.2f} s ({seconds / own:.2f} ×), of the processors", end=" ")
        print(f"{worked:6.2f} s ({worked / least_work:.2f} ×)")
    starts = {"python": ["-c", "pass"], "anchorview --help": ["-m", "anchorview", "--help"]}
    taken = least({name: partial(run, *words) for name, words in starts.items()}, 5)
    for name, (seconds, worked) in taken.items():
        print(f"{name}: {seconds:.2f} s, of the processors {worked:.2f} s")


if __name__ == "__main__":
    main()
