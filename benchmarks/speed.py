"""Time and memory of a fit, beside what it is compared with; every job in a fresh process, ratios within one run.

    python benchmarks/fashion.py --out /tmp/anchorview-data      (once; needs Debian's dataset-fashion-mnist)
    python benchmarks/speed.py --data ../shared/data --fashion /tmp/anchorview-data
    python benchmarks/speed.py … --quick                         (small sizes, a minute)
    python benchmarks/speed.py … --methods fssmsc given poisson  (only these)
    python benchmarks/speed.py --report                          (nothing new; tables and plot from the records)

Writes benchmarks/results/speed.jsonl (all runs), speed.md (tables) and speed.png (log-log plot). A finished run is
not made again; --fresh does. Data sets that are not in the folders are left out. "fssmsc" is a fit with all defaults,
which chooses its settings; "given" one with the former defaults, which chooses nothing. Two checkouts beside each
other: benchmarks/speed_against.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anchorview.bench.child import run_job
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs, make_parser, result_line
from speed_report import ACCURACY, Measured, write_tables

JOBS = Path(__file__).with_name("speed_jobs.py").resolve()
LIMITS: dict[str, Any] = {"time_limit": 1800, "memory_limit": 18 * 2**30}
ALL = ("fssmsc", "given", "admm", "literal", "label_spreading", "poisson", "logistic")
OURS = ("fssmsc", "given")
FASHION_ROWS = (2_000, 5_000, 10_000, 20_000, 40_000, 70_000)
SYNTHETIC_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True)
class Task:
    """One job: a method on some rows of a data set, and what else it is given."""

    data: str
    method: str
    n: int
    options: dict[str, Any]

    def key(self) -> dict[str, Any]:
        """Identity of the record."""
        return {"data": self.data, "method": self.method, "n": self.n}


def make_plan(quick: bool) -> list[Task]:
    """List the jobs, small sizes only if it is to be quick."""
    plan = [Task(name, "accuracy", 0, {"m": n_landmarks}) for name, n_landmarks in ACCURACY.items()]
    sizes = [("hw", 2_000)] + ([] if quick else [("hdigit", 10_000)])
    sizes += [("fashion", n) for n in FASHION_ROWS if n <= 10_000 or not quick]
    sizes += [("synthetic", n) for n in SYNTHETIC_ROWS if n <= 30_000 or not quick]
    for name, n in sizes:
        methods = OURS if name == "synthetic" else ALL if n <= 40_000 else (*OURS, "logistic")
        for method in methods:
            plan.append(Task(name, method, n, {"repeats": 1 if n > 200_000 else 5} if method in OURS else {}))
    return plan


def run(plan: list[Task], runs: Runs) -> Measured:
    """Run the jobs that are missing; return what the finished ones measured."""
    measured: Measured = {}
    for task in plan:
        place = "synthetic"
        if task.data != place and runs.compute:
            if task.data not in runs.data.sources:
                continue
            place = runs.data.source(task.data).place
        arguments = {"place": place, "n": task.n, **task.options}
        result = runs.get_job(task.key(), partial(run_job, f"{JOBS}:job_{task.method}", arguments, **LIMITS))
        if result is not None:
            print(f"{task.data} n={task.n:,} {task.method}: {result_line(result)}", flush=True)
            if result["value"]:
                measured[task.data, task.method, task.n] = result["value"]
    return measured


def main() -> None:
    parser = make_parser(__doc__, __file__)
    parser.add_argument("--fashion", type=Path, help="folder with fashion.npz (see benchmarks/fashion.py)")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--most", type=int, help="only up to so many rows")
    parser.add_argument("--methods", nargs="+", choices=(*ALL, "accuracy"), help="only these")
    parser.add_argument("--report", action="store_true", help="tables and plot of what is recorded; run nothing")
    options = parser.parse_args()
    records = Records(options.out / "speed.jsonl")
    places = options.data + ([] if options.fashion is None else [options.fashion / "fashion.npz"])
    runs = Runs(
        records, DataSets(places), fresh=options.fresh, compute=not options.report, any_commit=options.any_commit
    )
    plan = [task for task in make_plan(options.quick) if options.methods is None or task.method in options.methods]
    plan = [task for task in plan if options.most is None or task.n <= options.most]
    write_tables(run(plan, runs), options.out)


if __name__ == "__main__":
    main()
