"""What the tuned estimator costs, in single fits, and what a change of it gains or loses: two checkouts side by side.

    python benchmarks/search_cost.py --data ../shared/data --sets hw hdigit scene15
    python benchmarks/search_cost.py --data ../shared/data --sets hw scene15 --draws 5 --against /tmp/before
    python benchmarks/search_cost.py --texts 0.01 0.05 --synthetic 200000 --labels 10000
    python benchmarks/search_cost.py --data /tmp/anchorview-data --sets fashion            (see benchmarks/fashion.py)

For each data set and draw of labels, one after the other: plain `FSSMSC`; `FSSMSC` given what that chose, so that a
slow choice does not flatter the search; `AnchorViewClassifier`; and with --against the `AnchorViewClassifier` of
another checkout, on the same labels with the same seed. Each checkout has its own process, which waits while the other
works. Times are CPU seconds of all threads, which other work on the machine changes least; "fits" are those of the
search over those of a plain fit. Differences in accuracy (of the rows without a label, in points) are paired, with
their standard error. Records are in benchmarks/results/search_cost.jsonl, one a draw, with commit, defaults and the
other checkout's commit; the table of all records of today's code is search_cost.md beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.bench.protocol import label_fraction
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs, add_draws, make_parser, warm_up, write_report
from anchorview.bench.sources import load_dataset
from anchorview.bench.tables import table_source
from anchorview.datasets import hide_labels
from anchorview.report.tables import markdown_table
from short_texts import make_short_texts
from speed_jobs import accuracy_of, load_rows

ROOT = Path(__file__).resolve().parents[1]
HEADER = ["data", "rows", "labels", "draws", "fit", "given", "search", "fits", "given fits", "ACC fit", "ACC search"]
AGAINST = ["search before", "fits before", "change in ACC"]


@lru_cache(maxsize=1)
def read(place: str, n_rows: int) -> tuple[Any, Any]:
    """Return views and target."""
    if place == "texts":
        return make_short_texts()
    if place == "synthetic":
        return load_rows("synthetic", n_rows)[:2]
    data = load_dataset(place)
    return data.views, np.unique(data.target, return_inverse=True)[1]


def timed(fit: Callable[[], Any], target: Any, y: Any) -> tuple[Any, dict[str, float]]:
    start = time.process_time()
    model = fit()
    return model, {"cpu": time.process_time() - start, "acc": accuracy_of(target, model.labels_, y)}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Fit on one draw of labels."""
    views, target = read(job["place"], job["n_rows"])
    seed, share = job["seed"], job["share"] or label_fraction(len(target))
    y = hide_labels(target, share, random_state=seed)
    result: dict[str, Any] = {"rows": len(target), "labels": int(np.count_nonzero(y != -1))}
    if job["plain"]:
        model, result["fit"] = timed(lambda: FSSMSC(random_state=seed).fit(views, y), target, y)
        given = FSSMSC(random_state=seed, **model.chosen_)
        result["given"] = timed(lambda: given.fit(views, y), target, y)[1]
    tuned = AnchorViewClassifier(random_state=seed, search_options=job["options"])
    result["search"] = timed(lambda: tuned.fit(views, y), target, y)[1]
    return result


def work() -> None:
    """Do the jobs that come as lines of JSON, and answer each with a line."""
    warnings.simplefilter("ignore")
    warm_up(FSSMSC(random_state=0))
    for line in sys.stdin:
        print(json.dumps(measure(json.loads(line))), flush=True)


class Checkout:
    """A process that does jobs with the package of a checkout."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        command = [sys.executable, __file__, "--work"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    def ask(self, **job: Any) -> dict[str, Any]:
        """Have a job done."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("A process ended; see its error above.")
        result: dict[str, Any] = json.loads(answer)
        return result


def summarise(name: str, records: list[dict[str, Any]]) -> list[str]:
    def mean(kind: str, what: str) -> float:
        return float(np.mean([record[kind][what] for record in records]))

    fit, given, search = (mean(kind, "cpu") for kind in ("fit", "given", "search"))
    first = records[0]
    row = [name, f"{first['rows']:,}", f"{first['labels']:,}", str(len(records))]
    row += [f"{fit:.1f}", f"{given:.1f}", f"{search:.1f}", f"{search / fit:.1f}", f"{search / given:.1f}"]
    row += [f"{mean('fit', 'acc'):.2f}", f"{mean('search', 'acc'):.2f}"]
    if "before" in first:
        before = mean("before", "cpu")
        changes = [record["search"]["acc"] - record["before"]["acc"] for record in records]
        error = f" ± {np.std(changes, ddof=1) / np.sqrt(len(changes)):.2f}" if len(changes) > 1 else ""
        row += [f"{before:.1f}", f"{before / fit:.1f}", f"{np.mean(changes):+.2f}{error}"]
    return row


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 1)
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--texts", type=float, nargs="+", default=[], help="shares of labels of the short texts")
    parser.add_argument("--synthetic", type=int, nargs="+", default=[], help="numbers of synthetic rows (200 features)")
    parser.add_argument("--labels", type=int, help="labels of the synthetic rows; by default 1 %%")
    parser.add_argument("--against", type=Path, help="another checkout, to compare with")
    parser.add_argument("--options", type=json.loads, default={}, help="search_options of this checkout, as JSON")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--work", action="store_true", help="do jobs from standard input (used by the script itself)")
    options = parser.parse_args()
    if options.work:
        work()
        return
    cases = [("texts", f"texts, {share:.0%}", 0, share) for share in options.texts]
    cases += [("synthetic", "synthetic", n, options.labels and options.labels / n) for n in options.synthetic]
    if options.sets or not cases:
        cases += [
            (str(source.place), source.name, 0, None) for source in DataSets(options.data, options.sets).readable()
        ]
    data = DataSets(options.data)
    runs = Runs(Records(options.out / "search_cost.jsonl"), data, fresh=options.fresh, any_commit=options.any_commit)
    checkouts = lru_cache(Checkout)  # a process is started when the first job needs it
    against = options.against and {"folder": options.against.name, "commit": commit_of(options.against)}
    for place, name, n_rows, share in cases:
        for seed in range(options.first, options.first + options.draws):
            job = {"place": place, "n_rows": n_rows, "seed": seed, "share": share}

            def run(job: dict[str, Any] = job) -> dict[str, Any]:
                record = checkouts(ROOT).ask(**job, plain=True, options=options.options)
                if options.against is not None:
                    record["before"] = checkouts(options.against).ask(**job, plain=False, options={})["search"]
                return record

            key = {"data": name, "n_rows": n_rows, "share": share, "seed": seed, "options": options.options}
            record = runs.get({**key, "against": against}, run)
            print(name, seed, json.dumps(record), flush=True)
    print(write_report(options.out / "search_cost.md", "What the search of `AnchorViewClassifier` costs", report(runs)))


def commit_of(folder: Path) -> str:
    found = subprocess.run(["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def report(runs: Runs) -> list[str]:
    """Return the table of all draws of today's code, those beside each other checkout in a table of their own."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for key, result in runs.recorded():
        settings = {name: key[name] for name in ("options", "against")}
        name = f"{key['data']}, {key['n_rows']:,}" if key["n_rows"] else key["data"]
        groups.setdefault(json.dumps(settings), {}).setdefault(name, []).append((key, result))
    parts = ["CPU seconds of all threads; fits: seconds of the search divided by those of a plain fit."]
    for settings, cases in groups.items():
        rows = [summarise(name, [result for _, result in found]) for name, found in cases.items()]
        header = HEADER + AGAINST * ("before" in next(iter(cases.values()))[0][1])
        source = table_source(runs.records, [key for found in cases.values() for key, _ in found])
        parts += [f"Settings `{settings}`, {source}:", markdown_table(header, rows)]
    return parts


if __name__ == "__main__":
    main()
