"""The best answer from the labels given: our tuned estimator beside what users would pick, tuned on the same labels.

    python benchmarks/accuracy.py --data ../shared/data                     tables (20 draws) and curves (3 draws)
    python benchmarks/accuracy.py --data ../shared/data --sets hw scene15 --methods AnchorViewClassifier SVC --draws 3
    python benchmarks/accuracy.py --data ../shared/data --only curves       ACC against the number of labels
    python benchmarks/accuracy.py --only tables                             nothing new; all from the records

Every .npz and .mat file of the folders is a data set. Fits run in a child process with a limit of 12 GB and 30 minutes,
all data and methods of one seed before the next seed, so that a run cut short leaves a balanced table. Finished fits
are kept in benchmarks/results/accuracy.jsonl under data, method, parameters, seed and share of labels, and not computed
again (--fresh does); the tables, their summary and the pictures are accuracy.md, .json, .png and accuracy_curves.png.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from accuracy_results import CONSTANT, CURVE_LABELS, CURVE_SETS, PLAIN, TUNED
from accuracy_tables import write_tables
from anchorview.bench.environment import describe_environment
from anchorview.bench.methods import METHODS as KNOWN
from anchorview.bench.methods import Method, for_data
from anchorview.bench.protocol import label_fraction, run_once
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs, add_draws, make_parser, result_line, warm_up
from anchorview.bench.sources import Source, load_dataset
from anchorview.bench.worker import Worker
from anchorview.core.arrays import is_sparse
from rivals import DEFAULTS, RIVALS, Rival

LIMITS: dict[str, Any] = {"time_limit": 1800.0, "memory_limit": 12 * 2**30}
OURS = {
    PLAIN: Method(PLAIN, "anchorview.fssmsc", PLAIN),
    CONSTANT: replace(KNOWN["FSSMSC"], name=CONSTANT),
    TUNED: Method(TUNED, "anchorview.classifier", TUNED),
    "FSSMSC-paper": replace(KNOWN["FSSMSC-ADMM"], name="FSSMSC-paper"),
}
METHODS = [*OURS, *RIVALS, *DEFAULTS]


def job_fit(place: str, method: str, seed: int, fraction: float) -> dict[str, float]:
    """Fit on one draw of labels and return scores and seconds; runs in a child."""
    data = load_dataset(place)
    target = np.unique(data.target, return_inverse=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer landmarks than asked for, a round too few: not twenty times
        if method in OURS:
            warm_up(OURS[PLAIN if method == TUNED else method].make({}, 3, 0))
            settings = for_data(OURS[method], any(map(is_sparse, data.views.arrays))) if method == CONSTANT else {}
            model = OURS[method].make(settings, len(np.unique(target)), seed)
        else:
            model = Rival(method, seed)
        return run_once(model, data.views, target, seed, fraction)


def parameters_of(method: str) -> dict[str, Any]:
    """Return all that the method is made of, so that another default or grid is another fit."""
    parameters = OURS[method].all_parameters({}) if method in OURS else Rival(method, 0).parameters()
    return dict(json.loads(json.dumps(parameters)))


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

    def __str__(self) -> str:
        return f"{self.source.name} {self.fraction:.1%} {self.method} seed {self.seed}"


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


def compute(plan: list[Fit], runs: Runs) -> None:
    """Make the fits that are missing; after one that broke a limit, none of the same kind."""
    commit = describe_environment()["commit"]
    about = {"commit": commit, "threads": os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))}
    hopeless: set[tuple[Any, ...]] = set()
    with Worker(**LIMITS) as worker:
        for number, fit in enumerate(plan, start=1):
            key, kind = fit.key(), (fit.source, fit.method, fit.fraction)
            result = runs.known(key)
            if result is None and kind not in hopeless:
                arguments = {"place": fit.source.place, "method": fit.method, "seed": fit.seed}
                arguments["fraction"] = fit.fraction
                job = partial(worker.run, f"{Path(__file__).resolve()}:job_fit", arguments)
                result = runs.get_job(key, job, n_rows=fit.source.describe().n_rows, **about)
                assert result is not None
                print(f"{number}/{len(plan)} {fit}: {result_line(result)}", flush=True)
            if result is not None and result["status"] in ("time", "memory"):
                hopeless.add(kind)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 20, "draws of labels for the tables")
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="METHOD")
    parser.add_argument("--curve-draws", type=int, default=3, help="draws of labels for the curves")
    parser.add_argument("--labels", type=float, help="share of labelled rows in the tables; best with another --out")
    parser.add_argument("--only", choices=("table", "curves", "tables"), help="one part; tables: compute nothing")
    options = parser.parse_args()
    runs = Runs(Records(options.out / "accuracy.jsonl"), DataSets(options.data, options.sets), fresh=options.fresh)
    if options.only != "tables":
        sources = runs.data.readable()
        plan = [] if options.only == "curves" else table_plan(sources, options.methods, options.draws, options.labels)
        plan += [] if options.only == "table" else curves_plan(sources, options.methods, options.curve_draws)
        compute(list(dict.fromkeys(plan)), runs)
    write_tables(runs.records, {method: parameters_of(method) for method in METHODS}, options.out, options.labels)


if __name__ == "__main__":
    main()
