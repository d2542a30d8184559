"""How many clusters n_clusters="auto" finds without labels, against the number of classes that people have named.

python benchmarks/cluster_counts.py ../shared/data --seeds 2
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from anchorview import FSSMSC
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs
from anchorview.bench.sources import find_sources, load_dataset

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--only", nargs="*", default=[], help="names of data sets")
    given = parser.parse_args()
    runs = Runs(Records(RESULTS / "cluster_counts.jsonl"), DataSets([]))
    for source in find_sources([given.folder], given.only):
        data = load_dataset(source.place)
        some = np.sort(np.random.RandomState(0).permutation(len(data.target))[: given.rows])
        views, target = data.views[some], np.asarray(data.target)[some]
        n_classes = len(np.unique(target))
        for seed in range(given.seeds):

            def measure(seed: int = seed, views: Any = views, target: Any = target) -> dict[str, Any]:
                start = time.process_time()
                auto = FSSMSC("auto", random_state=seed).fit(views)
                seconds = time.process_time() - start
                given_number = FSSMSC(len(np.unique(target)), random_state=seed).fit(views)
                return {
                    "found": len(auto.classes_),
                    "clear": "unclear" not in auto.status_,
                    "ari": round(float(adjusted_rand_score(target, auto.labels_)), 3),
                    "ari_with_classes": round(float(adjusted_rand_score(target, given_number.labels_)), 3),
                    "cpu_seconds": round(seconds, 1),
                }

            key = {"data": source.name, "rows": len(views), "classes": n_classes, "seed": seed}
            print(json.dumps(key), runs.get(key, measure), flush=True)
    (RESULTS / "cluster_counts.md").write_text(_table([key | result for key, result in runs.recorded()]))


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Number of clusters without labels",
        "",
        "`python benchmarks/cluster_counts.py ../shared/data` (at most 3,000 rows of each set). ARI: adjusted Rand",
        "index against the named classes, with the number that was found and with the number of classes.",
        "",
        "| data | classes | seed | found | it says | ARI | ARI with the number of classes | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['data']} | {row['classes']} | {row['seed']} | {row['found']} | "
        f"{'clear' if row['clear'] else 'unclear'} | {row['ari']} | {row['ari_with_classes']} | {row['cpu_seconds']} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
