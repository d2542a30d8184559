"""How long the report of many rows takes, and how large it is.

    python benchmarks/report_page.py                    # 100,000 rows, 20 classes
    python benchmarks/report_page.py --rows 1000000

The rows are made (their features do not matter to a report). The fit is not counted; what follows it is: the map, the
rows to label next and the rest of the summary, and the page.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.report.run_page import write_run_page
from anchorview.report.run_summary import map_rows, summarise_run

SETTLED = {"scaling": "l2", "ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--out", type=Path, help="where to keep the page")
    given = parser.parse_args()
    made = datasets.make_multiview_subspaces(given.rows, given.classes, (20, 15), noise=0.3, random_state=0)
    y = datasets.hide_labels(made.target, min(1.0, 2000 / given.rows), random_state=0)
    model = FSSMSC(n_landmarks=200, random_state=0, **SETTLED).fit(made.views, y)
    seconds, clocks = {}, (time.perf_counter(), time.process_time())

    def lap(name: str) -> None:
        nonlocal clocks
        now = time.perf_counter(), time.process_time()
        seconds[name] = now[0] - clocks[0], now[1] - clocks[1]
        clocks = now

    places = map_rows(model)
    lap("map")
    summary = summarise_run(model, y, xy=places, ids=np.array([f"row-{row:07d}" for row in range(given.rows)]))
    lap("summary")
    with tempfile.TemporaryDirectory() as folder:
        path = given.out or Path(folder, "report.html")
        write_run_page(summary, path)
        lap("page")
        size = path.stat().st_size
    print(f"{given.rows:,} rows, {given.classes} classes, {int((y >= 0).sum()):,} labels")
    seconds["together"] = tuple(map(sum, zip(*seconds.values(), strict=True)))
    for name, (wall, processor) in seconds.items():
        print(f"{name:8} {wall:6.2f} s, {processor:6.2f} s of processor")
    print(f"{size:,} bytes")


if __name__ == "__main__":
    main()
