"""How long a label takes to be safe on the disk, and how long a journal takes to be read again.

    python benchmarks/journal.py            # a few seconds; in the folder of temporary files, or --folder

Labels are appended one by one, each on the disk before it is confirmed; then a journal of 10,000 labels is opened and
replayed, as `anchorview label` does when it starts. Goals: 10 ms a label (99th percentile), one second to open. The
record is added to benchmarks/results/journal.jsonl with the commit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from anchorview.app.label_journal.book import LabelBook
from anchorview.app.label_journal.journal import Event, Header, Journal

HERE = Path(__file__).resolve().parent
HEADER = Header("run", "ids", 0)
N_APPENDED, N_REPLAYED, REPEATS = 1000, 10_000, 5


def make_events(n: int) -> list[Event]:
    return [Event("label", (row,), "ann", f"class {row % 20}", "suggested", ms=800, key=str(row)) for row in range(n)]


def measure(folder: Path) -> dict[str, float]:
    appended, opened = [], []
    with Journal(folder / "short.labels.jsonl", HEADER) as journal:
        for event in make_events(N_APPENDED):
            start = time.perf_counter()
            journal.append(event)
            appended.append(time.perf_counter() - start)
    path = folder / "long.labels.jsonl"
    with Journal(path, HEADER) as journal:
        journal.extend(make_events(N_REPLAYED))
    for _ in range(REPEATS):
        start = time.perf_counter()
        with Journal(path, HEADER) as journal:
            book = LabelBook.replay(journal.events)
        opened.append(time.perf_counter() - start)
        assert len(book.labels) == N_REPLAYED
    ms = 1000 * np.array(appended)
    return {
        "append_ms_median": round(float(np.median(ms)), 3),
        "append_ms_p99": round(float(np.quantile(ms, 0.99)), 3),
        "events": N_REPLAYED,
        "open_seconds": round(float(np.median(opened)), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where to write; by default a temporary folder")
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as folder:
        found = measure(Path(folder))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    print(json.dumps({**found, "commit": commit.stdout.strip()}, indent=1))
    with (HERE / "results" / "journal.jsonl").open("a") as file:
        file.write(json.dumps({**found, "commit": commit.stdout.strip()}) + "\n")


if __name__ == "__main__":
    main()
