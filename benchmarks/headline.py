"""The one table of README: accuracy and seconds of both estimators beside what else one would take.

    apt-get install dataset-fashion-mnist
    python benchmarks/fashion.py --out FOLDER
    python benchmarks/headline.py --fashion FOLDER             all of it, half an hour on two cores
    python benchmarks/headline.py --only digits --draws 3      some of it
    python benchmarks/headline.py --tables                     measures nothing; writes the tables from the records

Writes README.md and docs/results.md between their markers. Records, one a fit, are in docs/results.jsonl: they are part
of the sdist, so that its tests can compare them with the tables. A record belongs to a commit and to the defaults of
both estimators; of other defaults none is used.

digits: the built-in handwritten digits, six views. packages: description, size, priority and maintainer of 5,000 Debian
packages, to be sorted into 20 sections (see benchmarks/text_table.py). fashion: 40,000 images of Fashion-MNIST, five
views. LogisticRegression chooses C and the scaling by cross-validation on the labels; LabelSpreading is scikit-learn's
with kernel="knn" on min-max scaled rows (LSA of text); Poisson learning has its own defaults on the same rows.
Accuracy is that of the rows without a label; seconds are of the clock, choice of settings included.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.semi_supervised import LabelSpreading

from anchorview import FSSMSC, AnchorViewClassifier, TableViews, Views, datasets
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, warm_up
from anchorview.bench.stamps import defaults_digest
from anchorview.bench.tables import replace_table, table_source, write_pages
from anchorview.core.arrays import is_sparse
from anchorview.report.tables import markdown_table
from rivals import Rival, scale
from text_table import packages

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "results.jsonl"
README, PAGE = ROOT / "README.md", ROOT / "docs" / "results.md"
COMMAND = "python benchmarks/headline.py --fashion FOLDER"
SETS = {"digits": (0.05, 10), "packages": (0.05, 3), "fashion": (0.01, 2)}  # share of labels, draws
TITLES = {
    "digits": "Digits<br>2,000 rows, 100 labels",
    "packages": "Debian packages (text)<br>5,000 rows, 250 labels",
    "fashion": "Fashion-MNIST<br>40,000 rows, 400 labels",
}


def spread(views: Views, y: Any, seed: int) -> Any:
    scaling = ["lsa" if is_sparse(array) else "minmax" for array in views.arrays]
    model = LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.2, max_iter=50)
    return model.fit(np.asarray(scale(views, scaling, seed)), y).transduction_


def of(make: Callable[[int], Any]) -> Callable[[Views, Any, int], Any]:
    return lambda views, y, seed: make(seed).fit(views, y).labels_


METHODS: dict[str, Callable[[Views, Any, int], Any]] = {
    "AnchorViewClassifier": of(lambda seed: AnchorViewClassifier(random_state=seed, on_empty="drop")),
    "FSSMSC": of(lambda seed: FSSMSC(random_state=seed, on_empty="drop")),
    "LogisticRegression, tuned": of(lambda seed: Rival("LogisticRegression", seed)),
    "LabelSpreading (knn)": spread,
    "Poisson learning": of(lambda seed: Rival("Poisson-default", seed)),
}

OURS = ("AnchorViewClassifier", "FSSMSC")


def load(name: str, fashion: Path | None) -> tuple[Views, Any]:
    if name == "digits":
        digits = datasets.load_handwritten()
        return digits.views, digits.target
    if name == "packages":
        table, target = packages(5000)
        return TableViews().fit_transform(table), target
    if fashion is None:
        raise SystemExit("Fashion-MNIST: give the folder of fashion.npz with --fashion (see the first lines).")
    data = datasets.load_npz(fashion / "fashion.npz")
    rows = np.sort(np.random.default_rng(0).permutation(len(data.target))[:40_000])
    return data.views[rows], data.target[rows]


def measure(views: Views, target: Any, share: float, method: str, seed: int) -> Result:
    y = datasets.hide_labels(target, share, random_state=seed)
    start = time.perf_counter()
    labels = METHODS[method](views, y, seed)
    seconds = time.perf_counter() - start
    threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
    return {"acc": 100 * float((labels == target)[y == -1].mean()), "seconds": seconds, "threads": threads}


def key_of(name: str, method: str, seed: int) -> dict[str, Any]:
    return {"data": name, "share": SETS[name][0], "method": method, "seed": seed}


def compute(runs: Runs, names: list[str], methods: list[str], draws: int | None, fashion: Path | None) -> None:
    for name in names:
        loaded: list[Any] = []
        for seed in range(draws or SETS[name][1]):
            for method in methods:
                key = key_of(name, method, seed)

                def run(name: str = name, method: str = method, seed: int = seed, loaded: list[Any] = loaded) -> Result:
                    if not loaded:
                        loaded.extend(load(name, fashion))
                    return measure(*loaded, SETS[name][0], method, seed)

                known = None if runs.fresh or method in OURS else runs.records.newest(key)
                result = known[1] if known else runs.get(key, run)
                assert result is not None
                print(f"{name}, draw {seed}, {method}: {result['acc']:.1f} in {result['seconds']:.1f} s", flush=True)


def is_outdated(key: dict[str, Any]) -> bool:
    """Tell whether a record of ours has other defaults; rivals do not depend on them: any record of theirs will do."""
    return key["method"] in OURS and key["code"]["defaults"] != defaults_digest()


def newest_runs(records: Records) -> list[tuple[dict[str, Any], Result]]:
    """Return the newest record of every fit of the table."""
    keys = [key_of(name, method, seed) for name in SETS for method in METHODS for seed in range(SETS[name][1])]
    return [run for key in keys if (run := records.newest(key)) is not None]


def make_table(records: Records) -> tuple[str, str, str]:
    """Return the table, where it comes from (the newest record of each fit), and the number of threads."""
    rows: list[list[str]] = []
    used = newest_runs(records)
    for method in METHODS:
        cells = []
        for name in SETS:
            found = [run for run in used if (run[0]["data"], run[0]["method"]) == (name, method)]
            acc, seconds = ([result[what] for _, result in found] for what in ("acc", "seconds"))
            cells.append(f"**{np.mean(acc):.1f}**\u00a0·\u00a0{min(seconds):.1f}\u00a0s" if found else "")
        rows.append([method, *cells])
    header = ["accuracy · seconds", *TITLES.values()]
    threads = sorted({result["threads"] for _, result in used})
    source = table_source(records, [key for key, _ in used])
    return markdown_table(header, rows), source, f"{'–'.join(map(str, threads))} thread{'s' * (threads != [1])}"


def pages(records: Records) -> dict[Path, str]:
    """Return the new text of each page with the table; README names command and date, the other page the commit too."""
    table, source, threads = make_table(records)
    date = source.partition(", ")[0]
    draws = ", ".join(f"{name} {count}" for name, (_, count) in SETS.items())
    times = f"seconds of the fastest draw, {threads}"
    note = f"`{COMMAND}`, {{}}. Accuracy in %, mean over draws of the labels ({draws}); {times}."
    return {
        README: replace_table(README.read_text(), "headline", f"{table}\n\n{note.format(date)}"),
        PAGE: replace_table(PAGE.read_text(), "headline", f"{table}\n\n{note.format(source)}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fashion", type=Path, help="folder with fashion.npz (see benchmarks/fashion.py)")
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS), help="only these data sets")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS), help="only these methods")
    parser.add_argument("--draws", type=int, help="draws of the labels")
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    options = parser.parse_args()
    records = Records(RECORDS)
    if not options.tables:
        warnings.simplefilter("ignore")
        warm_up(FSSMSC(random_state=0))
        runs = Runs(records, DataSets([]), fresh=options.fresh)
        compute(runs, options.only, options.methods, options.draws, options.fashion)
    if old := [key for key, _ in newest_runs(records) if is_outdated(key)]:
        raise SystemExit(f"{len(old)} records were made with other defaults: measure them again, without --tables.")
    write_pages(pages(records))
    print(make_table(records)[0])


if __name__ == "__main__":
    main()
