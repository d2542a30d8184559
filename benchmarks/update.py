"""What an update with 20 new labels costs beside a fit, in one run, and whether its answers are those of a fit.

    python benchmarks/update.py                       # 100,000 rows, 500 landmarks, all defaults
    python benchmarks/update.py --readers nearest linear poisson    # all that the default may choose
    python benchmarks/update.py --rows 1000000
    python benchmarks/update.py --tables              # measures nothing; writes the table from the records

Rows are synthetic (`make_multiview_subspaces`, 200 features in two views by default), 1 % of them labelled, at most
1,000. Fits and updates alternate; seconds are wall-clock time. Suggestions: `suggest_labels(20)` after an update, when
the rows are already grouped. The difference compares an update with a fit from scratch that has the same settings,
landmarks and graph rows. Records are in docs/records/update.jsonl, the table is in docs/labelling_loop.md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs, warm_up
from anchorview.bench.tables import replace_table, table_source, write_pages
from anchorview.fitting.pipeline import fit_labels
from anchorview.report.tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
RECORDS, PAGE = ROOT / "docs" / "records" / "update.jsonl", ROOT / "docs" / "labelling_loop.md"
COMMAND = "python benchmarks/update.py --rows ROWS"
DEFAULTS: dict[str, Any] = {"landmarks": 500, "repeats": 3, "readers": "auto", "features": [120, 80]}


def measure(rows: int, landmarks: int, repeats: int, readers: Any, features: list[int]) -> dict[str, Any]:
    warm_up(FSSMSC(n_landmarks=30, readers=readers))  # compiles
    made = datasets.make_multiview_subspaces(rows, 10, tuple(features), noise=0.4, random_state=0)
    views = [view.astype(np.float32) for view in made.data]
    y = datasets.hide_labels(made.target, min(0.01, 1000 / rows), random_state=0)
    fits, updates, suggestions, rng = [], [], [], np.random.RandomState(1)
    for _ in range(repeats):
        start = time.perf_counter()
        model = FSSMSC(n_landmarks=landmarks, readers=readers, random_state=0).fit(views, y)
        fits.append(time.perf_counter() - start)
        new = rng.choice(np.flatnonzero(y < 0), 20, replace=False)
        y[new] = made.target[new]
        start = time.perf_counter()
        model.update(y)
        updates.append(time.perf_counter() - start)
        model.suggest_labels(20)
        start = time.perf_counter()
        model.suggest_labels(20)
        suggestions.append(time.perf_counter() - start)
    chosen, is_open = dict(model.chosen_), y < 0
    same = fit_labels(model._prepared.without_codes(), model._prepared.given, model._make_run()).top
    apart = np.abs(same.confidence[is_open] - model.confidence_[is_open])
    found = model._prepared.given.known.classes[same.class_ids]
    return {
        "nonzeros": round(model.nonzeros_, 1),
        "readers": "+".join(chosen["readers"]),
        "fit_seconds": round(float(np.median(fits)), 2),
        "update_seconds": round(float(np.median(updates)), 2),
        "ratio": round(float(np.median(updates) / np.median(fits)), 3),
        "stages": {name: round(value, 2) for name, value in model.stage_seconds_.items()},
        "suggest_seconds": round(float(np.median(suggestions)), 3),
        "labels_that_differ": int((found != model.labels_)[is_open].sum()),
        "largest_difference": float(apart.max()),
    }


def make_table(records: Records) -> str:
    """Return the table of the newest record of each number of rows, with all defaults."""
    newest = {key["rows"]: (key, result) for key, result in records if DEFAULTS.items() <= key.items()}
    rows = [
        [
            f"{n:,}", f"{result['fit_seconds']:.2f} s", f"{result['update_seconds']:.2f} s", f"{result['ratio']:.2f}",
            f"{result['suggest_seconds']:.3f} s", str(result["labels_that_differ"]),
        ]
        for n, (_, result) in sorted(newest.items())
    ]  # fmt: skip
    header = ["rows", "fit", "update", "update / fit", "suggest 20 rows", "labels that differ from a fit"]
    source = table_source(records, [key for key, _ in newest.values()])
    return f"{markdown_table(header, rows)}\n\n`{COMMAND}`, {source}. Two views, 200 features, 500 landmarks."


def pages(records: Records) -> dict[Path, str]:
    """Return the new text of the page with the table."""
    return {PAGE: replace_table(PAGE.read_text(), "update", make_table(records))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--landmarks", type=int)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--readers", nargs="+")
    parser.add_argument("--features", nargs="+", type=int, help="of each view")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already recorded")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.set_defaults(**DEFAULTS)
    given = vars(parser.parse_args())
    fresh, only_tables = given.pop("fresh"), given.pop("tables")
    records = Records(RECORDS)
    if not only_tables:
        found = Runs(records, DataSets([]), fresh=fresh).get(given, lambda: measure(**given))
        print(json.dumps(found, indent=1))
    write_pages(pages(records))


if __name__ == "__main__":
    main()
