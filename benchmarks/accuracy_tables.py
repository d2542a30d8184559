"""The tables of benchmarks/accuracy.py, their summary and their pictures, from what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from accuracy_pictures import draw_curves, draw_ranks
from accuracy_results import (
    CURVE_SETS,
    OURS,
    PLAIN,
    TUNED,
    Grid,
    compare,
    curve_points,
    curves_of,
    gather,
    methods_of,
    rank,
    summarise,
)
from anchorview.bench.environment import describe_environment
from anchorview.bench.notices import footnotes
from anchorview.bench.records import Records
from anchorview.bench.scripts import write_report
from anchorview.plotting.ranks import critical_distance
from anchorview.report.tables import markdown_table, mean_and_spread
from rivals import DEFAULTS

TIE = 0.5  # points of ACC
NOTE = """Labelled: a uniform sample of the rows (5 %, 1 % from 10,000 rows on, unless said), drawn with the seed (0, 1,
…); scored on the unlabelled rows; mean ± population standard deviation in percent; (n) after a figure: its draws, where
they are fewer than the second column says. Methods are given the labelled rows' labels only; but FSSMSC's defaults and
the search of AnchorViewClassifier were made by us with some of these data sets in sight: which, and what the search
has changed since fits were made, docs/lab/accuracy.md tells. FSSMSC: defaults. AnchorViewClassifier: chooses and
averages settings by the labels
given. FSSMSC-constants: what FSSMSC's defaults were, min-max scaling (LSA for sparse views), λ_Z = 0.2, μ = 1, λ_M =
1e4, β = 1e-4 and the nearest labelled row. FSSMSC-paper: the authors' algorithm (ADMM, 30 rounds) with the
normalisations of their released code, λ_Z = 0.2, λ_M = 1e4 and β = 1e-4, rows of unit length. The others choose their
parameters by 5-fold cross-validation on the labelled rows, and with them the scaling of the views, which stand side by
side: min-max, [-1, 1], z-score or none, then rows of unit length in each view; LSA of 150 features for sparse views,
for logistic regression also tf-idf. This is generous: nothing in scikit-learn would choose the scaling for them.
Average: the mean
of three of them and of a regression for each view. Names with "-default" choose nothing: min-max scaling and the
methods' own defaults. The grids are in benchmarks/rivals.py. Seconds are those of fit, all tuning included."""


def score_table(grid: Grid, score: str, largest: bool = True, first: str = "data") -> str:
    """Return data sets by methods, the best in bold."""
    methods = methods_of(grid)
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


def comparison_text(gaps: list[dict[str, Any]], method: str, rivals: str) -> str:
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
    count = f"Against the best of {rivals}: ahead on {verdicts.count('ahead')} of {len(rows)} data "
    count += f"sets, at most {TIE} points behind on {verdicts.count('tie')}, further behind on "
    count += f"{verdicts.count('behind')}. The best rival of each data set "
    count += "is found with the evaluation labels, which favours the rivals. Error: standard error of the difference."
    header = ["data", "draws", "best rival", "difference in ACC", "error", f"{method} is"]
    return f"{count}\n\n{markdown_table(header, rows)}"


def own_text(grid: Grid) -> str:
    """Name the data sets on which another model of ours is ahead of the tuned one; the comparison leaves it out."""
    parts = []
    for method in OURS:
        for name, cells in grid.items():
            if method == TUNED or TUNED not in cells or method not in cells:
                continue
            ours, other = cells[TUNED].values, cells[method].values
            gaps = np.array([other[seed]["acc"] - ours[seed]["acc"] for seed in sorted(ours.keys() & other.keys())])
            if len(gaps) and gaps.mean() > 0:
                error = f" ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.2f}" if len(gaps) > 1 else ""
                parts.append(f"{method} on {name} (by {gaps.mean():.2f}{error})")
    return f"Not simple methods, and ahead of {TUNED}: {', '.join(parts)}." if parts else ""


def rank_text(ranks: dict[str, float], names: list[str]) -> str:
    distance = critical_distance(len(ranks), len(names))
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    note = f"Of ACC, over {len(names)} data sets ({', '.join(names)}); 1 is the best. Two methods differ at the 5 % "
    note += f"level if their ranks do by {distance:.2f} (Nemenyi)."
    table = markdown_table(["method", "mean rank"], [[name, f"{value:.2f}"] for name, value in ordered])
    return f"{note}\n\n{table}\n\n![mean ranks](accuracy.png)"


def cost_text(grid: Grid) -> str:
    """Return what the tuner costs in single fits, each draw against the fit of the same draw."""
    rows = []
    for name, cells in grid.items():
        if PLAIN in cells and TUNED in cells:
            one, all_of_it = cells[PLAIN].values, cells[TUNED].values
            ratios = [all_of_it[seed]["seconds"] / one[seed]["seconds"] for seed in one.keys() & all_of_it.keys()]
            if ratios:
                rows.append([name, str(len(ratios)), *(f"{np.quantile(ratios, q):.1f}" for q in (0.5, 0.1, 0.9))])
    return markdown_table(["data", "draws", "median", "10 %", "90 %"], rows) if rows else ""


def curves_text(curves: dict[float, Grid]) -> str:
    parts = []
    for name in CURVE_SETS:
        by_share = {f"{fraction:.1%}": grid[name] for fraction, grid in curves.items() if name in grid}
        if len(by_share) > 1:
            parts.append(f"### {name}\n\n{score_table(by_share, 'acc', first='labels')}")
    return "\n\n".join([*parts, "![ACC against the share of labels](accuracy_curves.png)"]) if parts else ""


def trouble_text(grid: Grid) -> str:
    """Name the fits that diverged, did not converge or warned, as far as records say."""
    fits = {f"{method}, {name}": [*cell.values.values()] for name, row in grid.items() for method, cell in row.items()}
    return "\n\n".join(footnotes(fits))


def write_tables(records: Records, today: dict[str, Any], folder: Path, labels: float | None) -> None:
    """Write tables, summary and pictures of all that is recorded with today's parameters of the methods."""
    grid = gather(records, today, None if labels is None else [labels])
    if not grid:
        print("Nothing is recorded yet.")
        return
    ranks, ranked = rank(grid)
    gaps, curves = compare(grid), curves_of(records, today)
    plain_gaps = compare(grid, PLAIN, DEFAULTS)
    used = sorted({(result["commit"], result["threads"]) for _, result in records if "commit" in result})
    fits = "Fits made at " + ", ".join(f"commit {commit} with {threads} threads" for commit, threads in used) + "."
    share = "" if labels is None else f"Labels: {labels:.1%} of the rows."
    sections = {
        "ACC": score_table(grid, "acc"),
        f"{TUNED} against the best of the tuned simple methods": (
            f"{comparison_text(gaps, TUNED, 'the tuned simple methods')}\n\n{own_text(grid)}".strip() if gaps else ""
        ),
        f"{PLAIN} against simple methods with their defaults": (
            comparison_text(plain_gaps, PLAIN, "logistic regression, label spreading and Poisson learning")
            if plain_gaps
            else ""
        ),
        "Mean ranks": rank_text(ranks, ranked) if ranks else "",
        "NMI": score_table(grid, "nmi"),
        "ARI": score_table(grid, "ari"),
        "Seconds": score_table(grid, "seconds", largest=False),
        f"Cost of {TUNED} in fits of {PLAIN}": cost_text(grid),
        "Expected calibration error of the confidence": score_table(grid, "ece", largest=False),
        "ACC against the share of labels": curves_text(curves),
        "Fits that did not go well": trouble_text(grid),
    }
    parts = [fits, NOTE, share, *(f"## {title}\n\n{body}" for title, body in sections.items() if body)]
    write_report(folder / "accuracy.md", "Accuracy from the labels given", parts)
    summary = {
        "environment": describe_environment(),
        "labels": labels,
        "scores": summarise(grid),
        "against_best_rival": gaps,
        "plain_against_defaults": plain_gaps,
        "mean_ranks": ranks,
        "ranked_over": ranked,
        "critical_distance": critical_distance(len(ranks), len(ranked)) if ranks else None,
        "curves": {str(fraction): summarise(curve) for fraction, curve in curves.items()},
    }
    (folder / "accuracy.json").write_text(json.dumps(summary, indent=1) + "\n")
    if ranks:
        draw_ranks(ranks, len(ranked), folder / "accuracy.png")
    if points := curve_points(curves):
        draw_curves(points, folder / "accuracy_curves.png")
    print("\n\n".join(f"{title}\n{sections[title]}" for title in list(sections)[:3] if sections[title]))
