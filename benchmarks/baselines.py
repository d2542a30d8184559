"""Every method of anchorview.baselines beside FSSMSC and the paper's table, with default parameters.

    python benchmarks/baselines.py --data ../shared/data                    20 draws on the paper's sets that we have
    python benchmarks/baselines.py --data ../shared/data --sets hw scene15 --methods MVAR AMGL --draws 3
    python benchmarks/baselines.py --data ../shared/data --grid             each method's grid on HW, 3 draws
    python benchmarks/baselines.py --data ../shared/data --large            18,846 and 30,000 rows: time and memory
    python benchmarks/baselines.py --data ../shared/data --sets msrcv1 --labels 0.1    another part of labelled rows
    python benchmarks/baselines.py --report                                 nothing new; the tables from the records

Each fit runs in a process of its own with a limit of 8 GB and 20 minutes. Finished fits are kept in
benchmarks/results/baselines.jsonl under their data, method, parameters and seed, and not computed again (--fresh does);
benchmarks/results/baselines.md holds the tables of all that is recorded.
"""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import datasets
from anchorview.bench.child import run_job
from anchorview.bench.paper import DATA
from anchorview.bench.protocol import cluster_once, run_once
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs, add_draws, make_parser, result_line, warm_up
from anchorview.bench.sources import load_dataset
from baselines_fits import GRID_DRAWS, LARGE, METHODS, SYNTHETIC, Fit, RecordedFits, grid_of, large_settings
from baselines_tables import write_tables

LIMITS: dict[str, Any] = {"time_limit": 1200.0, "memory_limit": 8 * 2**30}


def job_fit(
    place: str, method: str, settings: dict[str, Any], seed: int, labels: float | None = None
) -> dict[str, float]:
    """Fit on one draw of labels (all rows, for a method without labels) and return scores and seconds."""
    if place == SYNTHETIC:
        data = datasets.make_multiview_subspaces(30_000, 10, (100, 60, 40), noise=0.3, random_state=0)
    else:
        data = load_dataset(place)
    chosen = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a round too few is no reason to say so twenty times
        warm_up(chosen.make({}, 3, 0))
        model = chosen.make(settings, len(np.unique(data.target)), seed)
        if chosen.uses_labels:
            return run_once(model, data.views, data.target, seed, labels)
        return cluster_once(model, data.views, data.target)


class Maker:
    """Makes the fits that are missing, one after the other or some at the same time."""

    def __init__(self, runs: Runs, recorded: RecordedFits, n_jobs: int) -> None:
        self.runs, self.recorded, self.n_jobs = runs, recorded, n_jobs

    def make(self, fit: Fit, draws: int) -> None:
        """Make the draws that are missing; after one that broke a limit no other is tried."""
        known = [] if self.runs.fresh else self.recorded.results(fit, draws)
        seeds = list(range(len(known), draws))
        if any(result["status"] != "ok" for result in known) or not seeds:
            return
        if self._one(fit, seeds[0]) and len(seeds) > 1:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                list(pool.map(partial(self._one, fit), seeds[1:]))

    def _one(self, fit: Fit, seed: int) -> bool:
        place = SYNTHETIC if fit.data == SYNTHETIC else self.runs.data.source(fit.data).place
        arguments = {"place": place, "method": fit.method, "settings": fit.settings, "seed": seed, "labels": fit.labels}
        n_threads = max(1, (os.cpu_count() or 1) // self.n_jobs)
        share = {"OMP_NUM_THREADS": str(n_threads)} if self.n_jobs > 1 else {}
        job = partial(run_job, f"{Path(__file__).resolve()}:job_fit", arguments, environment=share, **LIMITS)
        result = self.runs.get_job(self.recorded.key(fit, seed), job)
        assert result is not None
        print(f"{fit.data} {fit.method} {fit.settings or ''} seed {seed}: {result_line(result)}", flush=True)
        return bool(result["status"] == "ok")


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 20)
    parser.add_argument("--sets", nargs="+", default=list(DATA), help="data sets, default: those of the paper")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--grid", action="store_true", help="search each method's grid on hw instead")
    parser.add_argument("--large", action="store_true", help="one fit of each method on large data instead")
    parser.add_argument("--report", action="store_true", help="tables of what is recorded; fit nothing")
    parser.add_argument("--labels", type=float, help="labelled part of the rows, instead of the protocol's")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time; 1 for times that mean something")
    options = parser.parse_args()
    data, methods, labels = DataSets(options.data), options.methods, options.labels
    if options.grid:
        plan = [(Fit("hw", method, setting, labels), GRID_DRAWS) for method in methods for setting in grid_of(method)]
    elif options.large:
        plan = [(Fit(name, method, large_settings(name, method), labels), 1) for name in LARGE for method in methods]
    else:
        plan = [(Fit(name, method, {}, labels), options.draws) for name in options.sets for method in methods]
    recorded = RecordedFits(Records(options.out / "baselines.jsonl"))
    if not options.report:
        for name in {fit.data for fit, _ in plan} - {SYNTHETIC}:
            data.source(name)  # a wrong name ends the script before the first fit
        maker = Maker(Runs(recorded.records, data, fresh=options.fresh), recorded, options.jobs)
        for fit, draws in plan:
            maker.make(fit, draws)
    write_tables(recorded, options.out / "baselines.md")


if __name__ == "__main__":
    main()
