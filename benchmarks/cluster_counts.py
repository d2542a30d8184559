"""How many clusters n_clusters="auto" finds without labels, against the true number, or that of the named classes.

python benchmarks/cluster_counts.py ../shared/data --seeds 2

Besides the sets of the folder: tables of scikit-learn with named classes; generated clusters whose number is known,
each in two views (blobs of three widths, blobs of uneven sizes, subspaces); and rows without any clusters, for which
"unclear" is the right answer.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as tables
from sklearn.metrics import adjusted_rand_score

from anchorview import FSSMSC, Views, datasets
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs
from anchorview.bench.sources import find_sources, load_dataset

RESULTS = Path(__file__).parent / "results"
Made = tuple[str, Any, Any]  # name, views, classes
HEADS = {
    "shared": "Sets with named classes",
    "tables": "Tables of scikit-learn with named classes",
    "generated": "Generated clusters",
    "none": "Rows without clusters",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--only", nargs="*", default=list(HEADS), choices=list(HEADS), help="kinds of sets")
    parser.add_argument("--tables", action="store_true", help="write the tables again, without measuring")
    given = parser.parse_args()
    runs = Runs(Records(RESULTS / "cluster_counts.jsonl"), DataSets([]), any_commit=given.tables)
    for seed in range(0 if given.tables else given.seeds):
        sets = {"shared": shared(given), "tables": of_sklearn(), "generated": generated(seed), "none": shapeless(seed)}
        for kind in given.only:
            for name, views, target in sets[kind]:
                key = {"kind": kind, "data": name, "rows": len(target), "classes": len(np.unique(target)), "seed": seed}
                print(json.dumps(key), runs.get(key, lambda v=views, y=target, s=seed: measure(v, y, s)), flush=True)
    rows = [key | result for key, result in runs.recorded()]
    (RESULTS / "cluster_counts.md").write_text(_page(rows))


def measure(views: Any, target: Any, seed: int) -> dict[str, Any]:
    """Fit with the number that is found, and with the true one."""
    start = time.process_time()
    auto = FSSMSC("auto", random_state=seed).fit(views)
    seconds = time.process_time() - start
    given_number = FSSMSC(max(len(np.unique(target)), 2), random_state=seed).fit(views)
    return {
        "found": len(auto.classes_),
        "clear": "unclear" not in auto.status_,
        "ari": round(float(adjusted_rand_score(target, auto.labels_)), 3),
        "ari_with_classes": round(float(adjusted_rand_score(target, given_number.labels_)), 3),
        "cpu_seconds": round(seconds, 1),
    }


def shared(given: argparse.Namespace) -> Iterator[Made]:
    for source in find_sources([given.folder]):
        if source.name == "ng20":
            continue  # sparse counts of 18,846 rows: minutes
        data = load_dataset(source.place)
        some = np.sort(np.random.RandomState(0).permutation(len(data.target))[: given.rows])
        yield source.name, data.views[some], np.asarray(data.target)[some]


def of_sklearn() -> Iterator[Made]:
    for name in ("iris", "wine", "breast_cancer", "digits"):
        table = getattr(tables, f"load_{name}")()
        yield name, Views([table.data]), table.target


def generated(seed: int) -> Iterator[Made]:
    rng = np.random.RandomState(seed)
    for number in (2, 3, 5, 8, 13, 20):
        for width in (1.0, 2.0, 3.0):  # centres are drawn from a cube of side 20
            X, y = tables.make_blobs(1200, 10, centers=number, cluster_std=width, random_state=seed)
            yield f"blobs of width {width:g}", Views([X[:, :5], X[:, 5:]]), y
        sizes = np.maximum((1500 * rng.dirichlet(np.full(number, 2.0))).astype(int), 20)
        X, y = tables.make_blobs(sizes.tolist(), 8, cluster_std=1.5, random_state=seed)
        yield "blobs of uneven sizes", Views([X[:, :4], X[:, 4:]]), y
    for number in (3, 6, 10):
        for noise in (0.05, 0.4):
            made = datasets.make_multiview_subspaces(900, number, (12, 10), noise=noise, random_state=seed)
            yield f"subspaces, noise {noise:g}", made.views, made.target


def shapeless(seed: int) -> Iterator[Made]:
    rng, nothing = np.random.RandomState(seed), np.zeros(1000, dtype=int)
    for name, X in {
        "uniform": rng.rand(1000, 8),
        "one Gaussian": rng.randn(1000, 10),
        "three directions": rng.randn(1000, 3) @ rng.randn(3, 12),
        "swiss roll": tables.make_swiss_roll(1000, random_state=seed)[0],
    }.items():
        half = X.shape[1] // 2
        yield name, Views([X[:, :half], X[:, half:]]), nothing


def _page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Number of clusters without labels",
        "",
        "`python benchmarks/cluster_counts.py ../shared/data` (at most 3,000 rows of each set). ARI: adjusted Rand",
        "index against the classes, with the number that was found and with the true number of classes.",
    ]
    for kind, title in HEADS.items():
        these = [row for row in rows if row["kind"] == kind]
        clear = [row for row in these if row["clear"]]
        lines += ["", f"## {title}", ""]
        if kind != "none" and clear:
            right = sum(row["found"] == row["classes"] for row in clear)
            as_good = sum(row["ari"] >= row["ari_with_classes"] - 0.02 for row in clear)
            found = sum(row["found"] == row["classes"] for row in these)
            lines += [
                f"The number of classes is found in {found} of {len(these)} fits. {len(clear)} say that it is clear:",
                f"of these, {right} found it, and {as_good} have an ARI as high as with it, to 0.02.",
                "",
            ]
        lines += [
            "| data | classes | seed | found | it says | ARI | ARI with the number of classes | CPU s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['data']} | {'none' if kind == 'none' else row['classes']} | {row['seed']} | {row['found']} | "
            f"{'clear' if row['clear'] else 'unclear'} | {row['ari']} | {row['ari_with_classes']} | "
            f"{row['cpu_seconds']} |"
            for row in these
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
