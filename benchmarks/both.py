"""Both estimators, left to themselves: few labels and missing views, calibration, other seeds, another checkout.

    python benchmarks/both.py --data ../shared/data                              all parts
    python benchmarks/both.py --data ../shared/data --only missing --draws 5     one of them
    python benchmarks/both.py --data ../shared/data --only against --against ../old

labels: 5 % and 2 % of the rows labelled, or one row of each class (which the tuned estimator refuses: it has nothing
to choose its settings by). missing: cells of rows and views removed at random. seeds: the same labels fitted with
three seeds by the plain model; the share of labels that change. against: fits by the code of another checkout beside
those of this one (and its seeds), with shares or numbers of labels (--labels 2% 20). Of sets with more than 2,000 rows
as many are drawn, the same in every draw. Accuracy, and expected calibration error over 15 bins, are of rows without a
label, in percent. Late fusion, the mean log probability of a logistic regression on each view that a row has, shows
what missing views cost anyone. Every finished fit is kept in benchmarks/results/both.jsonl; tables are in both.md.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, write_report
from anchorview.report.tables import markdown_table
from both_fits import Server

HERE = Path(__file__).resolve().parents[1]
METHODS = ("plain", "tuned")
LABELS = ("5%", "2%", "one a class")
MISSING = (0.0, 0.3, 0.5)
MISSING_SETS = ("hw", "caltech101_7_re", "scene15")


class Fits:
    """Fits of one checkout, taken from the records or made; a draw of every set before the next draw."""

    def __init__(self, runs: Runs, names: list[str], draws: int, server: Server) -> None:
        self.runs, self.names, self.draws, self.server = runs, names, draws, server

    def draw(self, seed: int, name: str, **setting: Any) -> Result | None:
        """Return one fit; None if it is not recorded and may not be made."""
        key = {"data": name, "seed": seed, **setting}
        if self.server.checkout != HERE:
            key["parameters"] = {"checkout": self.server.commit}  # a complete key: the code is that commit's
        place = str(self.runs.data.source(name).place)
        return self.runs.get(key, lambda: self.server.fit(place=place, seed=seed, **setting))

    def all(self, settings: list[dict[str, Any]], names: list[str]) -> dict[tuple[str, int], list[Result]]:
        """Return all draws, by data and place of the setting; of each as many as all of that data have."""
        found: dict[tuple[str, int], list[Result]] = {key: [] for key in product(names, range(len(settings)))}
        for seed, name, number in product(range(self.draws), names, range(len(settings))):
            one = self.draw(seed, name, **settings[number])
            if one is not None:
                found[name, number].append(one)
                print(name, settings[number], seed, {k: round(v, 2) for k, v in one.items()}, flush=True)
        for name in names:
            least = min(len(found[name, number]) for number in range(len(settings)))
            for number in range(len(settings)):
                found[name, number] = found[name, number][:least]
        return found


def mean(results: list[Result], what: str) -> float:
    return float(np.mean([one[what] for one in results]))


def difference(first: list[Result], second: list[Result], what: str = "acc") -> tuple[float, float]:
    """Return the mean difference of two lists of draws, and its standard error."""
    gaps = np.array([one[what] - other[what] for one, other in zip(first, second, strict=True)])
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else 0.0


def with_error(gap: float, error: float) -> str:
    """Return a difference, and its error if there is more than one draw."""
    return f"{gap:+.1f} ± {error:.1f}" if error else f"{gap:+.1f}"


def labels(fits: Fits) -> list[str]:
    parts: list[str] = []
    for share in LABELS:
        methods = METHODS if share.endswith("%") else ("plain",)
        found = fits.all([{"method": method, "labels": share} for method in methods], fits.names)
        rows = []
        for name in fits.names:
            cells = [found[name, number] for number in range(len(methods))]
            if cells[0]:
                figures = [f"{mean(one, what):.1f}" for one in cells for what in ("acc", "confidence", "ece")]
                rows.append([name, str(len(cells[0])), *figures])
        if rows:
            means = [f"{np.mean([float(row[place]) for row in rows]):.1f}" for place in range(2, len(rows[0]))]
            head = [f"{method}, {what}" for method in methods for what in ("ACC", "confidence", "calibration error")]
            parts += [
                f"## Labels and calibration: {share}",
                markdown_table(["data", "draws", *head], [*rows, ["mean", "", *means]]),
            ]
    return parts


def missing(fits: Fits) -> list[str]:
    names = [name for name in fits.names if name in MISSING_SETS]
    rows = []
    for method in (*METHODS, "late fusion"):
        found = fits.all([{"method": method, "labels": "5%", "missing": share} for share in MISSING], names)
        for name in names:
            if found[name, 0]:
                losses = [difference(found[name, number], found[name, 0]) for number in (1, 2)]
                cells = [f"{mean(found[name, number], 'acc'):.1f}" for number in range(3)]
                cells += [with_error(*loss) for loss in losses]
                rows.append([name, method, str(len(found[name, 0])), *cells])
    head = ["data", "estimator", "draws", "complete", "30 % missing", "50 % missing", "30 %", "50 %"]
    return ["## Missing views", "5 % labels.", markdown_table(head, rows)] if rows else []


def seeds(fits: Fits) -> list[str]:
    found = fits.all([{"method": "plain", "labels": "5%", "other_seeds": 2}], fits.names)
    rows = []
    for name in fits.names:
        if found[name, 0]:
            figures = [f"{mean(found[name, 0], what):.1f}" for what in ("acc", "changed")]
            rows.append([name, str(len(found[name, 0])), *figures])
    if not rows:
        return []
    rows.append(["mean", "", *(f"{np.mean([float(row[place]) for row in rows]):.1f}" for place in (2, 3))])
    title = f"## Other seeds, at {fits.server.commit}"
    return [title, "Plain, 5 % labels.", markdown_table(["data", "draws", "ACC", "labels that change, %"], rows)]


def against(fits: Fits, other: Fits, method: str, labels: str) -> list[str]:
    setting = {"method": method, "labels": labels}
    pairs: dict[str, list[tuple[Result, Result]]] = {name: [] for name in fits.names}
    for seed, name in product(range(fits.draws), fits.names):
        one, before = fits.draw(seed, name, **setting), other.draw(seed, name, **setting)  # in turn: the same load
        if one is not None and before is not None:
            pairs[name].append((one, before))
            print(name, setting, seed, f"{before['acc']:.1f} -> {one['acc']:.1f}", flush=True)
    rows, gaps = [], []
    for name, found in pairs.items():
        if found:
            first, second = [one for one, _ in found], [before for _, before in found]
            gaps.append(difference(first, second))
            cells = [f"{mean(second, 'acc'):.1f}", f"{mean(first, 'acc'):.1f}", with_error(*gaps[-1])]
            rows.append([name, str(len(found)), *cells, *(f"{mean(one, 'seconds'):.0f}" for one in (second, first))])
    if not rows:
        return []
    of_sets = np.array([gap for gap, _ in gaps])
    error = of_sets.std(ddof=1) / np.sqrt(len(of_sets)) if len(of_sets) > 1 else 0.0
    rows.append(["mean of the sets", "", "", "", with_error(float(of_sets.mean()), float(error)), "", ""])
    head = ["data", "draws", f"ACC at {other.server.commit}", "ACC", "difference", "seconds there", "seconds"]
    return [f"## Another checkout: {method}, {labels} labels", markdown_table(head, rows)]


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 5)
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--against", type=Path, help="another checkout, for the part of that name")
    parser.add_argument("--labels", nargs="+", default=["5%"], help="shares or numbers of labels, for that part")
    parser.add_argument("--methods", nargs="+", default=["tuned"], choices=METHODS, help="estimators, for that part")
    parser.add_argument("--only", choices=("labels", "missing", "seeds", "against", "tables"), help="compute this part")
    options = parser.parse_args()
    records, data = Records(options.out / "both.jsonl"), DataSets(options.data, options.sets)
    names, report = list(data.sources), []

    def fits_of(part: str, server: Server) -> Fits:
        compute = options.only in (None, part)
        runs = Runs(records, data, fresh=options.fresh, compute=compute, any_commit=options.any_commit)
        return Fits(runs, names, options.draws, server)

    with Server(HERE) as here:
        for part in (labels, missing, seeds):
            report += part(fits_of(part.__name__, here))
        if options.against is not None:
            with Server(options.against) as there:
                report += seeds(fits_of("seeds", there))
                sides = fits_of("against", here), fits_of("against", there)
                for method, labelled in product(options.methods, options.labels):
                    report += against(*sides, method, labelled)
    print("\n" + write_report(options.out / "both.md", "Both estimators: measured", report))


if __name__ == "__main__":
    main()
