"""The best answer from the labels given: FSSMSCCV beside what users would pick instead, tuned on the same labels.

    python benchmarks/accuracy.py --data ../shared/data                     tables (20 draws) and curves (3 draws)
    python benchmarks/accuracy.py --data ../shared/data --data OTHER --sets hw scene15 --methods FSSMSCCV SVC --draws 3
    python benchmarks/accuracy.py --data ../shared/data --only curves       ACC against the number of labels
    python benchmarks/accuracy.py --only tables                             nothing new; all from the records

Every .npz and .mat file of the folders is a data set. Fits run in a child process with a limit of 12 GB and 30 minutes,
all data and methods of one seed before the next seed, so that a run cut short leaves a balanced table. Finished fits
are kept in benchmarks/results/accuracy.jsonl under data, method, parameters, seed and share of labels, and not computed
again (--fresh does); the tables, their summary and the pictures are accuracy.md, .json, .png and accuracy_curves.png.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from accuracy_tables import CURVE_LABELS, CURVE_SETS, PLAIN, TUNED, write_report
from anchorview import datasets
from anchorview.bench.environment import describe_environment
from anchorview.bench.methods import METHODS as KNOWN
from anchorview.bench.methods import Method
from anchorview.bench.protocol import label_fraction, run_once
from anchorview.bench.records import Records
from anchorview.bench.sources import Source, find_sources, load
from anchorview.bench.worker import Worker
from rivals import RIVALS, Rival

RESULTS = Path(__file__).parent / "results"
LIMITS: dict[str, Any] = {"time_limit": 1800.0, "memory_limit": 12 * 2**30}
OURS = {
    "FSSMSC": KNOWN["FSSMSC"],
    TUNED: Method(TUNED, "anchorview.fssmsc_cv", TUNED),
    "FSSMSC-paper": replace(KNOWN["FSSMSC-ADMM"], name="FSSMSC-paper"),
}
METHODS = [*OURS, *RIVALS]


# ---- one fit, in the child ------------------------------------------------------------------------------------------


def job_fit(place: str, method: str, seed: int, fraction: float) -> dict[str, float]:
    """Fit on one draw of labels and return scores and seconds."""
    data = load(place)
    target = np.unique(data.target, return_inverse=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer landmarks than asked for, a round too few: not twenty times
        if method in OURS:  # loads what is compiled
            few = datasets.make_multiview_subspaces(90, 3, random_state=0)
            OURS[method if method != TUNED else "FSSMSC"].make({}, 3, 0).fit(few.views, few.target)
        return run_once(make(method, len(np.unique(target)), seed), data.views, target, seed, fraction)


def make(method: str, n_classes: int, seed: int) -> Any:
    return OURS[method].make({}, n_classes, seed) if method in OURS else Rival(method, seed)


def parameters_of(method: str) -> dict[str, Any]:
    """All that the method is made of, so that another default or grid is another fit."""
    found = OURS[method].all_parameters({}) if method in OURS else Rival(method, 0).parameters()
    return dict(json.loads(json.dumps(found)))


@dataclass(frozen=True)
class Fit:
    """One run of the benchmark."""

    source: Source
    method: str
    fraction: float
    seed: int

    def key(self) -> dict[str, Any]:
        """Identity of the record."""
        about = {"data": self.source.name, "check": self.source.describe().fingerprint, "method": self.method}
        return {**about, "parameters": parameters_of(self.method), "fraction": self.fraction, "seed": self.seed}


def readable(sources: list[Source]) -> list[Source]:
    """Leave out what cannot be read, and say so: one bad file must not end the run."""
    found = []
    for source in sources:
        try:
            print(f"{source.name}: {source.describe()}")
            found.append(source)
        except Exception as error:
            print(f"{source.name} is left out: {error}")
    return found


def table_plan(sources: list[Source], methods: list[str], draws: int, labels: float | None) -> list[Fit]:
    return [
        Fit(source, method, labels or label_fraction(source.describe().n_rows), seed)
        for seed in range(draws)
        for source in sources
        for method in methods
    ]


def curves_plan(sources: list[Source], methods: list[str], draws: int) -> list[Fit]:
    return [
        Fit(source, method, fraction, seed)
        for seed in range(draws)
        for source in sources
        if source.name in CURVE_SETS
        for fraction in CURVE_LABELS
        for method in methods
        if method in (PLAIN, TUNED, *RIVALS)
    ]


def compute(plan: list[Fit], records: Records, fresh: bool) -> None:
    """Make the fits that are missing; after one that broke a limit, none of the same kind."""
    environment = describe_environment()
    about = {"commit": environment["commit"], "threads": os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))}
    hopeless: set[tuple[Any, ...]] = set()
    with Worker(**LIMITS) as worker:
        for number, fit in enumerate(plan, start=1):
            key, kind = fit.key(), (fit.source, fit.method, fit.fraction)
            known = None if fresh else records.get(key)
            if known is None and kind not in hopeless:
                arguments = {"place": fit.source.place, "method": fit.method, "seed": fit.seed}
                job = worker.run(f"{Path(__file__).resolve()}:job_fit", {**arguments, "fraction": fit.fraction})
                known = {**job.as_dict(), "n_rows": fit.source.describe().n_rows, **about}
                if job.status != "error":  # an error is mended and tried again; out of memory or time is a result
                    records.add(key, known)
                name = f"{fit.source.name} {fit.fraction:.1%} {fit.method} seed {fit.seed}"
                print(f"{number}/{len(plan)} {name}: {_describe(known)}", flush=True)
            if known is not None and known["status"] in ("time", "memory"):
                hopeless.add(kind)


def _describe(result: dict[str, Any]) -> str:
    if result["status"] != "ok":
        return f"{result['status']} after {result['seconds']:.0f} s {result['message'][-500:]}"
    value = result["value"]
    return f"ACC {value['acc']:.1f} NMI {value['nmi']:.1f} ARI {value['ari']:.1f}, {value['seconds']:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", default=[], help="folder of data; may be given twice")
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="METHOD")
    parser.add_argument("--draws", type=int, default=20, help="draws of labels for the tables")
    parser.add_argument("--curve-draws", type=int, default=3, help="draws of labels for the curves")
    parser.add_argument("--labels", type=float, help="share of labelled rows in the tables; best with another --out")
    parser.add_argument("--only", choices=("table", "curves", "tables"), help="one part; tables: compute nothing")
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    records = Records(options.out / "accuracy.jsonl")
    if options.only != "tables":
        if not options.data:
            parser.error("pass the folder of the data with --data")
        try:
            sources = readable(find_sources(options.data, options.sets))
        except ValueError as error:
            parser.error(str(error))
        plan = [] if options.only == "curves" else table_plan(sources, options.methods, options.draws, options.labels)
        plan += [] if options.only == "table" else curves_plan(sources, options.methods, options.curve_draws)
        compute(list(dict.fromkeys(plan)), records, options.fresh)
    write_report(records, {method: parameters_of(method) for method in METHODS}, options.out, options.labels)


if __name__ == "__main__":
    main()
