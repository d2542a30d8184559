"""Every method of anchorview.baselines beside FSSMSC and the paper's table, with default parameters.

    python benchmarks/baselines.py --data ../shared/data                    20 draws on the paper's sets that we have
    python benchmarks/baselines.py --data ../shared/data --sets hw scene15 --methods MVAR AMGL --draws 3
    python benchmarks/baselines.py --data ../shared/data --grid             each method's grid on HW, 3 draws
    python benchmarks/baselines.py --data ../shared/data --large            18,846 and 30,000 rows: time and memory
    python benchmarks/baselines.py --data ../shared/data --sets msrcv1 --labels 0.1    another part of labelled rows

Each fit runs in a process of its own with a limit of 8 GB and 20 minutes. Finished fits are kept in
benchmarks/results/baselines.jsonl under their data, method, parameters and seed, and not computed again (--fresh does);
benchmarks/results/baselines.md holds the tables of all that is recorded.
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from anchorview import FSSMSC, baselines, datasets
from anchorview.baselines._base import MultiViewClusterer
from anchorview.bench.child import JobResult, run_job
from anchorview.bench.environment import environment_line
from anchorview.bench.paper import DATA, paper_scores
from anchorview.bench.protocol import average, cluster_once, run_once
from anchorview.bench.records import Records
from anchorview.report.tables import markdown_table, mean_and_spread

RESULTS = Path(__file__).parent / "results"
LIMITS: dict[str, Any] = {"time_limit": 1200.0, "memory_limit": 8 * 2**30}
METHODS = ["FSSMSC", *baselines.__all__]
NOT_A_SETTING = ("n_clusters", "views", "random_state", "n_jobs", "verbose")
SYNTHETIC = "synthetic30000"
LARGE = ("ng20", SYNTHETIC)
GRID_DRAWS = 3
GRID: dict[str, dict[str, list[Any]]] = {
    "FSSMSC": {"l1": [0.05, 0.1, 0.2, 0.5], "coupling": [1e-5, 1e-4, 1e-3]},
    "FPMVS": {"n_anchors": [None, 20, 50], "z_weighting": ["released", "exact"]},
    "LMVSC": {"n_anchors": [10, 50, 100, 300], "alpha": [0.01, 1.0, 100.0], "scaling": ["none", "minmax"]},
    "MVAR": {"ridge": [0.1, 1.0, 10.0, 100.0, 1000.0], "labelled_weight": [1.0, 1e2, 1e4]},
    "MLAN": {"coupling": [1.0, 10.0, 30.0], "n_neighbors": [5, 9, 15]},
    "AMGL": {"n_neighbors": [5, 7, 10], "scaling": ["standard", "l2", "none"]},
    "GPSNMF": {"label_weight": [0.01, 0.1, 1.0], "graph_weight": [1e-4, 1e-2, 4e-2], "sparsity": [0.1, 1.0]},
    "CONMF": {"graph_weight": [1e-3, 1e-2, 1e-1], "orthogonality": [0.5, 1.0, 5.0]},
    "ConcatKMeans": {"scaling": ["minmax", "standard", "l2"], "equal_views": [True, False]},
    "ConcatLabelSpreading": {"n_neighbors": [5, 7, 10, 20], "alpha": [0.2, 0.5, 0.8, 0.95]},
    "ConcatLogisticRegression": {"C": [0.1, 1.0, 10.0, 100.0, 1e3, 1e4]},
    "BestViewSpectral": {"view": [0, 1, 2, 3, 4, 5], "n_neighbors": [5, 10, 20]},
}
NOTE = """Labelled: a uniform sample of 5 % of the rows (1 % from 10,000 rows on); unlabelled rows are scored. Methods
without labels: all rows are scored, one run per seed. Mean ± population standard deviation. Our figures are those of
the default parameters; the paper's parameters were chosen by the evaluation labels. FPMVS in the paper is the best of
50 k-means runs. Sets named _re have the paper's images, but other features."""
Settings = dict[str, Any]


# ---- one fit, in a process of its own -------------------------------------------------------------------------------


def job_fit(source: str, method: str, settings: Settings, seed: int, labels: float | None = None) -> dict[str, float]:
    """Fit on one draw of labels (all rows, for a method without labels) and return scores and seconds."""
    if source == SYNTHETIC:
        data = datasets.make_multiview_subspaces(30_000, 10, (100, 60, 40), noise=0.3, random_state=0)
    else:
        data = datasets.load_npz(source)
    n_classes = len(set(data.target.tolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a round too few is no reason to say so twenty times
        few = datasets.make_multiview_subspaces(90, 3, random_state=0)
        make(method, {}, 3, 0).fit(few.views, few.target)  # loads what is compiled
        model = make(method, settings, n_classes, seed)
        if is_clusterer(method):
            return cluster_once(model, data.views, data.target)
        return run_once(model, data.views, data.target, seed, labels)


def class_of(method: str) -> Any:
    return FSSMSC if method == "FSSMSC" else getattr(baselines, method)


def is_clusterer(method: str) -> bool:
    return issubclass(class_of(method), MultiViewClusterer)


def make(method: str, settings: Settings, n_clusters: int, seed: int) -> Any:
    number = {"n_clusters": n_clusters} if is_clusterer(method) else {}
    return class_of(method)(random_state=seed, **number, **settings)


# ---- runs that are kept ---------------------------------------------------------------------------------------------


class Runs:
    """Fits made once and kept."""

    def __init__(self, path: Path, folder: Path, fresh: bool, jobs: int, labels: float | None) -> None:
        self.records, self.folder, self.fresh, self.jobs = Records(path), folder, fresh, jobs
        self.labels = labels

    def key(self, data: str, method: str, settings: Settings, seed: int) -> dict[str, Any]:
        """Name a fit by all its parameters, so that a new default is a new fit."""
        given = class_of(method)(**settings).get_params()
        parameters = {name: value for name, value in given.items() if name not in NOT_A_SETTING}
        found = {"data": data, "method": method, "parameters": parameters, "seed": seed}
        return found if self.labels is None or is_clusterer(method) else {**found, "labels": self.labels}

    def found(self, data: str, method: str, settings: Settings, draws: int | None = None) -> list[dict[str, Any]]:
        """Return the recorded fits of the first seeds."""
        results = []
        while draws is None or len(results) < draws:
            result = self.records.get(self.key(data, method, settings, len(results)))
            if result is None:
                break
            results.append(result)
        return results

    def make(self, data: str, method: str, settings: Settings, draws: int) -> None:
        """Make the fits that are missing; after one that broke a limit no other is tried."""
        known = [] if self.fresh else self.found(data, method, settings, draws)
        seeds = list(range(len(known), draws))
        if any(result["status"] != "ok" for result in known) or not seeds:
            return
        if self._one(data, method, settings, seeds[0]) and len(seeds) > 1:
            with ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(lambda seed: self._one(data, method, settings, seed), seeds[1:]))

    def _one(self, data: str, method: str, settings: Settings, seed: int) -> bool:
        source = data if data == SYNTHETIC else str(self.folder / f"{data}.npz")
        arguments = {"source": source, "method": method, "settings": settings, "seed": seed, "labels": self.labels}
        share = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // self.jobs))} if self.jobs > 1 else {}
        job = run_job(f"{__file__}:job_fit", arguments, environment=share, **LIMITS)
        if job.status != "error":  # an error is mended and tried again; out of memory or time is a result
            self.records.add(self.key(data, method, settings, seed), job.as_dict())
        print(f"{data} {method} {settings or ''} seed {seed}: {describe(job)}", flush=True)
        return job.status == "ok"


def describe(job: JobResult) -> str:
    if job.status != "ok":
        return f"{job.status} after {job.seconds:.0f} s, {job.peak_bytes / 2**30:.1f} GB {job.message}"
    value = job.value
    return f"ACC {value['acc']:.1f} NMI {value['nmi']:.1f} ARI {value['ari']:.1f}, {value['seconds']:.2f} s"


def grid_of(method: str) -> list[Settings]:
    grid = GRID.get(method, {})
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def large_settings(data: str, method: str) -> Settings:
    """Scale rows of text to unit length; scaling its features one by one would blow up rare words."""
    return {"scaling": "l2"} if data == "ng20" and method != "FSSMSC" else {}


# ---- tables ---------------------------------------------------------------------------------------------------------


def accuracy_table(runs: Runs, data: str) -> list[str]:
    rows = []
    for method in METHODS:
        results = runs.found(data, method, {})
        if not results or (runs.labels is not None and is_clusterer(method)):
            continue
        cells = ["–" if is_clusterer(method) else "yes", str(len(results)), *scores_of(results)]
        rows.append([method, *cells, *paper_cells(data, method)])
    if not rows:
        return []
    header = ["method", "labels", "runs", "ACC", "NMI", "ARI", "s", "paper ACC", "NMI", "ARI", "s"]
    title = data if runs.labels is None else f"{data}, {runs.labels:.0%} labelled"
    return [f"### {title}", "", markdown_table(header, rows), ""]


def scores_of(results: list[dict[str, Any]]) -> list[str]:
    failed = next((result["status"] for result in results if result["status"] != "ok"), None)
    if failed is not None:
        return [f"out of {failed}", "", "", ""]
    mean = average([result["value"] for result in results])
    return [*(mean_and_spread(mean[name]) for name in ("acc", "nmi", "ari")), f"{mean['seconds'][0]:.2f}"]


def paper_cells(data: str, method: str) -> list[str]:
    scores = paper_scores(data, method)
    if scores is None:
        return ["", "", "", ""]
    cells = []
    for score in scores.values():
        spread = "" if score is None or score[1] is None else f" ± {score[1]}"
        cells.append("OM" if score is None else f"{score[0]}{spread}")
    return cells


def grid_table(runs: Runs) -> list[str]:
    rows = []
    for method in METHODS:
        tried = {}
        for settings in grid_of(method):
            results = runs.found("hw", method, settings, GRID_DRAWS)
            if len(results) == GRID_DRAWS and all(result["status"] == "ok" for result in results):
                tried[repr(settings)] = (average([result["value"] for result in results])["acc"][0], settings, results)
        if tried:
            lowest, best = min(tried.values(), key=lambda t: t[0]), max(tried.values(), key=lambda t: t[0])
            chosen = ", ".join(f"{name}={value}" for name, value in best[1].items())
            rows.append([method, f"{len(tried)} of {len(grid_of(method))}", *scores_of(best[2]), f"{lowest[0]:.1f}"])
            rows[-1] += [*paper_cells("hw", method)[:3], chosen]
    if not rows:
        return []
    header = ["method", "settings", "ACC", "NMI", "ARI", "s", "worst ACC", "paper ACC", "NMI", "ARI", "best setting"]
    note = f"Best mean ACC over {GRID_DRAWS} draws on HW, chosen by the evaluation labels as in the paper."
    return ["## Best of the grid", "", note, "", markdown_table(header, rows), ""]


def large_table(runs: Runs) -> list[str]:
    rows = []
    for data, method in product(LARGE, METHODS):
        for result in runs.found(data, method, large_settings(data, method), 1):
            cells = scores_of([result])
            if result["status"] == "ok":
                value = result["value"]
                cells = [*(f"{value[name]:.1f}" for name in ("acc", "nmi", "ari")), f"{value['seconds']:.1f}"]
            rows.append([data, method, *cells, f"{result['peak_bytes'] / 2**30:.2f}"])
    if not rows:
        return []
    note = "One fit with 1 % labels; GB is the peak of the whole process, data and libraries included. On ng20 all but"
    note += " FSSMSC have rows scaled to unit length."
    header = ["data", "method", "ACC", "NMI", "ARI", "s", "GB"]
    return ["## Large data", "", note, "", markdown_table(header, rows), ""]


def write_report(runs: Runs, path: Path) -> None:
    names = {key["data"] for key, _ in runs.records} - set(LARGE)
    ordered = [name for name in DATA if name in names] + sorted(names - set(DATA))
    text = ["# Baselines", "", environment_line(), "", NOTE, ""]
    fractions = [None, *sorted({key["labels"] for key, _ in runs.records if "labels" in key})]
    for name, fraction in product(ordered, fractions):
        runs.labels = fraction
        text += accuracy_table(runs, name)
    runs.labels = None
    text += grid_table(runs) + large_table(runs)
    path.write_text("\n".join(text))
    print("\n" + "\n".join(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--sets", nargs="+", default=list(DATA), help="data sets, default: those of the paper")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="METHOD")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--grid", action="store_true", help="search each method's grid on hw instead")
    parser.add_argument("--large", action="store_true", help="one fit of each method on large data instead")
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    parser.add_argument("--labels", type=float, help="labelled part of the rows, instead of the protocol's")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time; 1 for times that mean something")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    sets = ["hw"] if options.grid else [name for name in LARGE if name != SYNTHETIC] if options.large else options.sets
    for name in sets:
        if not (options.data / f"{name}.npz").exists():
            raise SystemExit(
                f"{options.data / f'{name}.npz'} does not exist; pass the folder of .npz files with --data."
            )
    runs = Runs(options.out / "baselines.jsonl", options.data, options.fresh, options.jobs, options.labels)
    if options.grid:
        plan = [("hw", method, settings, GRID_DRAWS) for method in options.methods for settings in grid_of(method)]
    elif options.large:
        plan = [(data, method, large_settings(data, method), 1) for data in LARGE for method in options.methods]
    else:
        plan = [(data, method, {}, options.draws) for data in options.sets for method in options.methods]
    for data, method, settings, draws in plan:
        runs.make(data, method, settings, draws)
    write_report(runs, options.out / "baselines.md")


if __name__ == "__main__":
    main()
