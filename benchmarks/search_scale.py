"""`AnchorViewClassifier` on many rows: what the search on a sample costs, in single fits, and what it loses.

    python benchmarks/fashion.py --out /tmp/anchorview-data      (once; needs Debian's dataset-fashion-mnist)
    python benchmarks/search_scale.py --fashion /tmp/anchorview-data                       70,000 rows
    python benchmarks/search_scale.py --synthetic 1000000                                  a million made rows
    python benchmarks/search_scale.py --data ../shared/data --sets hdigit hw --sample 1000 --draws 3

For each data set and draw of labels: plain `FSSMSC`, then `AnchorViewClassifier` as it is, then (not with
--synthetic, nor above
--all-rows) `AnchorViewClassifier` that searches all rows: accuracy of the rows without a label, seconds, and how many
plain fits
that is. "CPU" is the time of all threads, which other work on the machine changes least. All run one after the other
in this process. --sample sets `max_search_rows` and `n_sampled`, to see on small data what a sample loses.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.bench.protocol import label_fraction
from anchorview.bench.scripts import DataSets, add_draws, environment_line, make_parser, warm_up
from anchorview.bench.sources import load_dataset
from anchorview.datasets import hide_labels
from anchorview.report.tables import markdown_table
from speed_jobs import accuracy_of, load_rows

EVERY_ROW: dict[str, Any] = {"max_search_rows": 10**9, "max_graph_rows": 10**9}


def run(name: str, views: Any, target: Any, seed: int, options: Any) -> list[list[str]]:
    y = hide_labels(target, label_fraction(len(target)), random_state=seed)
    sample = {} if options.sample is None else {"max_search_rows": options.sample, "n_sampled": options.sample}
    models: dict[str, Any] = {"FSSMSC": FSSMSC(random_state=seed)}
    models["AnchorViewClassifier"] = AnchorViewClassifier(random_state=seed, search_options=sample)
    if len(views) <= options.all_rows:
        models["AnchorViewClassifier, all rows"] = AnchorViewClassifier(random_state=seed, search_options=EVERY_ROW)
    rows, single = [], 0.0
    for kind, model in models.items():
        start = time.perf_counter(), time.process_time()
        model.fit(views, y)
        seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
        single = single or cpu
        accuracy = accuracy_of(target, model.labels_, y)
        figures = [f"{accuracy:.2f}", f"{seconds:.1f}", f"{cpu:.1f}", f"{cpu / single:.1f}"]
        rows.append([name, str(len(views)), str(seed), kind, *figures])
        print("  ".join(rows[-1]), {k: round(v, 1) for k, v in model.stage_seconds_.items()}, flush=True)
    return rows


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 1, "draws of labels")
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--fashion", type=Path, help="folder with fashion.npz (see benchmarks/fashion.py)")
    parser.add_argument("--synthetic", type=int, nargs="+", default=[], help="numbers of made rows (200 features)")
    parser.add_argument("--sample", type=int, help="max_search_rows and n_sampled")
    parser.add_argument("--all-rows", type=int, default=20_000, help="largest data that are searched whole besides")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up(FSSMSC(random_state=0))
    rows = []
    for size in options.synthetic:
        views, target, _ = load_rows("synthetic", size)
        rows += [row for seed in range(options.draws) for row in run("synthetic", views, target, seed, options)]
        del views
    if options.fashion is not None:
        data = load_dataset(str(options.fashion / "fashion.npz"))
        target = np.unique(data.target, return_inverse=True)[1]
        rows += [row for seed in range(options.draws) for row in run("fashion", data.views, target, seed, options)]
    sets = DataSets(options.data, options.sets)
    for source in sets.readable() if options.sets or not rows else []:
        data = sets.load(source.name)
        target = np.unique(data.target, return_inverse=True)[1]
        rows += [row for seed in range(options.draws) for row in run(source.name, data.views, target, seed, options)]
    header = ["data", "rows", "draw", "method", "ACC", "seconds", "CPU", "fits (CPU)"]
    print(f"\n{environment_line()}\n\n{markdown_table(header, rows)}")


if __name__ == "__main__":
    main()
