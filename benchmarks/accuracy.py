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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import datasets
from anchorview.bench.environment import describe_environment, environment_line
from anchorview.bench.methods import METHODS as KNOWN
from anchorview.bench.methods import Method
from anchorview.bench.protocol import average, label_fraction, run_once
from anchorview.bench.records import Records
from anchorview.bench.sources import Source, find_sources, load
from anchorview.bench.tables import markdown_table, mean_and_spread
from anchorview.bench.worker import Worker
from anchorview.plotting_ranks import critical_distance, mean_ranks, plot_ranks
from rivals import RIVALS, Rival

RESULTS = Path(__file__).parent / "results"
LIMITS: dict[str, Any] = {"time_limit": 1800.0, "memory_limit": 12 * 2**30}
TUNED = "FSSMSCCV"
OURS = {
    "FSSMSC": KNOWN["FSSMSC"],
    TUNED: Method(TUNED, "anchorview.fssmsc_cv", TUNED),
    "FSSMSC-paper": replace(KNOWN["FSSMSC-ADMM"], name="FSSMSC-paper"),
}
METHODS = [*OURS, *RIVALS]
CURVE_SETS = ("hw", "caltech101_20_re", "hdigit", "ng20")
CURVE_LABELS = (0.005, 0.01, 0.02, 0.05, 0.1)
CURVE_METHODS = ["FSSMSC", TUNED, *RIVALS]
TIE = 0.5  # points of ACC
NOTE = """Labelled: a uniform sample of the rows (5 %, 1 % from 10,000 rows on, unless said), drawn with the seed (0, 1,
…); scored on the unlabelled rows; mean ± population standard deviation in percent; (n) after a figure: its draws, where
they are fewer than the second column says. No method saw an evaluation label. FSSMSC: defaults. FSSMSCCV: chooses and
averages settings by the labels given. FSSMSC-paper: the authors' algorithm (ADMM, 30 rounds) with the normalisations of
their released code, our default λ_Z, λ_M and β, rows of unit length. The others choose their parameters by 5-fold
cross-validation on the labelled rows, and with them the scaling of the views, which stand side by side: min-max,
[-1, 1], z-score or none, then rows of unit length in each view; LSA of 150 features for sparse views, for logistic
regression also tf-idf. This is generous: nothing in scikit-learn would choose the scaling for them. The grids are in
benchmarks/rivals.py. Seconds are those of fit, all tuning included."""


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
        if method in CURVE_METHODS
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


# ---- what is recorded -----------------------------------------------------------------------------------------------


@dataclass
class Cell:
    """Results of one method on one data set, by seed."""

    values: dict[int, dict[str, float]]
    failed: str = ""  # "time" or "memory"

    def mean(self, score: str) -> tuple[float, float] | None:
        """Mean and spread over the draws; None if there is no such score."""
        found = [value for value in self.values.values() if score in value]
        return average(found)[score] if found else None


Grid = dict[str, dict[str, Cell]]  # data set, method


def gather(records: Records, fractions: Iterable[float] | None) -> Grid:
    """Return the recorded results of today's parameters at some shares of labels, by default the protocol's."""
    today = {method: parameters_of(method) for method in METHODS}
    grid: Grid = {}
    checks: dict[str, str] = {}
    for key, result in sorted(records, key=lambda run: (run[0]["data"], run[0]["seed"])):
        wanted = [label_fraction(result["n_rows"])] if fractions is None else fractions
        if today.get(key["method"]) != key["parameters"] or key["fraction"] not in wanted:
            continue
        name = key["data"]
        if checks.setdefault(name, key["check"]) != key["check"]:  # another file of the same name
            name = f"{name} ({key['check']})"
        cell = grid.setdefault(name, {}).setdefault(key["method"], Cell({}))
        if result["status"] == "ok":
            cell.values[key["seed"]] = result["value"]
        else:
            cell.failed = result["status"]
    return grid


def compare(grid: Grid) -> list[dict[str, Any]]:
    """Return, for each data set, FSSMSCCV minus the best of the rivals (by mean ACC), over the draws of both."""
    found = []
    for name, cells in grid.items():
        means = {m: mean[0] for m in RIVALS if m in cells and (mean := cells[m].mean("acc")) is not None}
        if not means or TUNED not in cells:
            continue
        best = max(means, key=lambda method: means[method])
        ours, theirs = cells[TUNED].values, cells[best].values
        gaps = np.array([ours[seed]["acc"] - theirs[seed]["acc"] for seed in sorted(ours.keys() & theirs.keys())])
        if len(gaps):
            error = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else None
            found.append({"data": name, "rival": best, "draws": len(gaps), "gap": float(gaps.mean()), "error": error})
    return found


def rank(grid: Grid) -> tuple[dict[str, float], list[str]]:
    """Return mean ranks by ACC over the data sets where every method was tried; one that broke a limit is last.

    Methods tried on less than half of the data sets are left out.
    """
    tried = {method: sum(method in cells for cells in grid.values()) for method in METHODS}
    methods = [method for method in METHODS if 2 * tried[method] > len(grid)]
    names = [name for name, cells in grid.items() if all(method in cells for method in methods)]
    if not names or len(methods) < 2:
        return {}, []
    means = [[grid[name][method].mean("acc") for method in methods] for name in names]
    scores = [[-np.inf if mean is None else mean[0] for mean in row] for row in means]
    return dict(zip(methods, mean_ranks(scores).tolist(), strict=True)), names


# ---- tables ---------------------------------------------------------------------------------------------------------


def score_table(grid: Grid, score: str, largest: bool = True, first: str = "data") -> str:
    """Return data sets by methods, the best in bold."""
    methods = [method for method in METHODS if any(method in cells for cells in grid.values())]
    rows = []
    for name, cells in grid.items():
        most = max(len(cell.values) for cell in cells.values())
        means = {m: mean for m in methods if m in cells and (mean := cells[m].mean(score)) is not None}
        shown = [round(mean[0], 1) for mean in means.values()]
        best = None if not shown else max(shown) if largest else min(shown)
        row = [name, str(most)]
        for method in methods:
            if method not in means:
                row.append(f"out of {cells[method].failed}" if method in cells and cells[method].failed else "–")
                continue
            text = mean_and_spread(means[method])
            text = f"**{text}**" if round(means[method][0], 1) == best else text
            row.append(text if len(cells[method].values) == most else f"{text} ({len(cells[method].values)})")
        rows.append(row)
    return markdown_table([first, "draws", *methods], rows)


def comparison_text(gaps: list[dict[str, Any]]) -> str:
    rows = [
        [
            gap["data"],
            str(gap["draws"]),
            gap["rival"],
            f"{gap['gap']:+.2f}",
            "–" if gap["error"] is None else f"{gap['error']:.2f}",
            "ahead" if gap["gap"] > 0 else "tie" if gap["gap"] >= -TIE - 1e-9 else "behind",
        ]
        for gap in gaps
    ]
    verdicts = [row[-1] for row in rows]
    count = f"Ahead on {verdicts.count('ahead')} of {len(rows)} data sets, at most {TIE} points behind on "
    count += f"{verdicts.count('tie')}, further behind on {verdicts.count('behind')}. The best rival of each data set "
    count += "is found with the evaluation labels, which favours the rivals. Error: standard error of the difference."
    header = ["data", "draws", "best rival", "difference in ACC", "error", f"{TUNED} is"]
    return f"{count}\n\n{markdown_table(header, rows)}"


def rank_text(ranks: dict[str, float], names: list[str]) -> str:
    distance = critical_distance(len(ranks), len(names))
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    note = f"Of ACC, over {len(names)} data sets ({', '.join(names)}); 1 is the best. Two methods differ at the 5 % "
    note += f"level if their ranks do by {distance:.2f} (Nemenyi)."
    table = markdown_table(["method", "mean rank"], [[name, f"{value:.2f}"] for name, value in ordered])
    return f"{note}\n\n{table}\n\n![mean ranks](accuracy.png)"


def curves_of(records: Records) -> dict[float, Grid]:
    found = {fraction: gather(records, [fraction]) for fraction in CURVE_LABELS}
    return {share: {name: grid[name] for name in CURVE_SETS if name in grid} for share, grid in found.items()}


def curves_text(curves: dict[float, Grid]) -> str:
    parts = []
    for name in CURVE_SETS:
        by_share = {f"{fraction:.1%}": grid[name] for fraction, grid in curves.items() if name in grid}
        if len(by_share) > 1:
            parts.append(f"### {name}\n\n{score_table(by_share, 'acc', first='labels')}")
    return "\n\n".join([*parts, "![ACC against the share of labels](accuracy_curves.png)"]) if parts else ""


def write_report(records: Records, folder: Path, labels: float | None) -> None:
    """Write tables, summary and pictures of all that is recorded."""
    grid = gather(records, None if labels is None else [labels])
    if not grid:
        print("Nothing is recorded yet.")
        return
    ranks, ranked = rank(grid)
    gaps, curves = compare(grid), curves_of(records)
    used = sorted({(result["commit"], result["threads"]) for _, result in records if "commit" in result})
    fits = "Fits made at " + ", ".join(f"commit {commit} with {threads} threads" for commit, threads in used) + "."
    share = "" if labels is None else f"Labels: {labels:.1%} of the rows."
    sections = {
        "ACC": score_table(grid, "acc"),
        f"{TUNED} against the best of the tuned simple methods": comparison_text(gaps) if gaps else "",
        "Mean ranks": rank_text(ranks, ranked) if ranks else "",
        "NMI": score_table(grid, "nmi"),
        "ARI": score_table(grid, "ari"),
        "Seconds": score_table(grid, "seconds", largest=False),
        "Expected calibration error of the confidence": score_table(grid, "ece", largest=False),
        "ACC against the share of labels": curves_text(curves),
    }
    text = ["# Accuracy from the labels given", environment_line(), fits, NOTE, share]
    text += [f"## {title}\n\n{body}" for title, body in sections.items() if body]
    (folder / "accuracy.md").write_text("\n\n".join(part for part in text if part) + "\n")
    summary = {
        "environment": describe_environment(),
        "labels": labels,
        "scores": _summary(grid),
        "against_best_rival": gaps,
        "mean_ranks": ranks,
        "ranked_over": ranked,
        "critical_distance": critical_distance(len(ranks), len(ranked)) if ranks else None,
        "curves": {str(fraction): _summary(found) for fraction, found in curves.items()},
    }
    (folder / "accuracy.json").write_text(json.dumps(summary, indent=1) + "\n")
    draw(ranks, ranked, curves, folder)
    print("\n\n".join(f"{title}\n{sections[title]}" for title in list(sections)[:3] if sections[title]))


def _summary(grid: Grid) -> dict[str, Any]:
    scores = ("acc", "nmi", "ari", "seconds", "ece")
    return {
        name: {
            method: {"draws": len(cell.values), "failed": cell.failed, **{score: cell.mean(score) for score in scores}}
            for method, cell in cells.items()
        }
        for name, cells in grid.items()
    }


# ---- pictures -------------------------------------------------------------------------------------------------------


def draw(ranks: dict[str, float], ranked: list[str], curves: dict[float, Grid], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    if ranks:
        axes = plot_ranks(ranks, critical_distance(len(ranks), len(ranked)))
        axes.set_title(f"Mean rank by ACC over {len(ranked)} data sets", fontsize=11)
        axes.figure.savefig(folder / "accuracy.png", dpi=130)
    names = [name for name in CURVE_SETS if sum(name in grid for grid in curves.values()) > 1]
    if names:
        rows, columns = -(-len(names) // 2), min(len(names), 2)
        figure, panels = plt.subplots(
            rows, columns, figsize=(4.6 * columns + 2, 3.6 * rows), layout="constrained", squeeze=False
        )
        for ax in panels.ravel()[len(names) :]:
            ax.set_visible(False)
        for ax, name in zip(panels.ravel(), names, strict=False):
            _draw_panel(ax, name, curves)
        lines = {label: h for ax in panels.ravel() for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        ordered = [method for method in CURVE_METHODS if method in lines]
        figure.legend([lines[m] for m in ordered], ordered, loc="outside right center", frameon=False)
        figure.savefig(folder / "accuracy_curves.png", dpi=130)
    plt.close("all")


def _draw_panel(ax: Any, name: str, curves: dict[float, Grid]) -> None:
    colours = dict(zip(RIVALS, ("C0", "C2", "C4", "C7", "C8"), strict=True)) | {TUNED: "#c1121f", "FSSMSC": "#f08a5d"}
    for number, method in enumerate(CURVE_METHODS):
        points = [
            (100 * fraction, *mean)
            for fraction, grid in curves.items()
            if (cell := grid.get(name, {}).get(method)) is not None and (mean := cell.mean("acc")) is not None
        ]
        if points:
            x, y, spread = np.array(points).T
            strong = method == TUNED
            style = {"color": colours[method], "lw": 2.4 if strong else 1.3, "zorder": 3 if strong else 2}
            ax.plot(x, y, marker="osD^vPX"[number], ms=5, label=method, **style)
            if strong:
                ax.fill_between(x, y - spread, y + spread, color=colours[method], alpha=0.15, lw=0)
    ax.set_xscale("log")
    ax.set_xticks([100 * fraction for fraction in CURVE_LABELS], [f"{100 * f:g}" for f in CURVE_LABELS])
    ax.minorticks_off()
    ax.set(title=name, xlabel="labelled rows (%)", ylabel="ACC (%)")
    ax.grid(alpha=0.3)


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
    write_report(records, options.out, options.labels)


if __name__ == "__main__":
    main()
