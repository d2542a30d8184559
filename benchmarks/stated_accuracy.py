"""What the tuned estimator states of its own accuracy, against the truth: `best_score_` and its interval by draw.

    python benchmarks/stated_accuracy.py --data ../shared/data --draws 3

Labels are a uniform random sample, as in every other benchmark; rows without a label are scored. Finished fits are kept
in benchmarks/results/stated_accuracy.jsonl and not made again; --fresh does. The table, stated_accuracy.md there, has
all that are recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorview import AnchorViewClassifier
from anchorview.bench.notices import listen
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, write_report
from anchorview.datasets import hide_labels
from anchorview.report.tables import markdown_table

SETS = ("msrcv1", "leaves100", "bbcsport", "hw", "caltech101_7_re", "landuse21", "scene15")
MOST_ROWS = 2500  # of larger sets a part is taken: every second row, or every third
NEAR = 0.08


def fit(data: Any, seed: int, fraction: float) -> Result:
    """Fit on one draw of labels; return what is stated, and what is true."""
    step = -(-len(data.target) // MOST_ROWS)
    views, target = data.views[::step], data.target[::step]
    y = hide_labels(target, fraction, random_state=seed)
    hidden = y == -1
    model, said = listen(lambda: AnchorViewClassifier(random_state=seed).fit(views, y))
    counts = np.unique(y[~hidden], return_counts=True)[1]
    return {
        "n_labels": int((~hidden).sum()),
        "n_alone": int((counts == 1).sum()),
        "true": float((model.labels_[hidden] == target[hidden]).mean()),
        "stated": float(model.best_score_),
        "interval": [float(end) for end in model.best_score_interval_],
        "one_setting": float(model.cv_results_["mean_test_score"][model.best_index_]),
        "warned": any("could not be judged" in line for line in said["warnings"]),
    }


def row_of(name: str, fraction: float, seed: int, found: Result) -> list[str]:
    low, high = found["interval"]
    cells = [f"{name}, {fraction:.0%}, {seed}", str(found["n_labels"]), str(found["n_alone"]), f"{found['true']:.3f}"]
    cells += [f"{found['stated']:.3f}{' !' if found['warned'] else ''}", f"{low:.2f} – {high:.2f}"]
    return [*cells, "in" if low <= found["true"] <= high else "out", f"{found['one_setting']:.3f}"]


def summary(found: list[Result]) -> str:
    """Say how often the truth lay in the interval, and how far off the estimates were."""

    def gaps(name: str, *, warned: bool) -> Any:
        return np.array([abs(run[name] - run["true"]) for run in found if run["warned"] == warned])

    inside = [run["interval"][0] <= run["true"] <= run["interval"][1] for run in found]
    parts = [f"The accuracy lay in the interval in {sum(inside)} of {len(inside)} fits ({np.mean(inside):.0%})."]
    for warned, text in ((False, "without a warning"), (True, "with a warning")):
        stated, single = gaps("stated", warned=warned), gaps("one_setting", warned=warned)
        if len(stated):
            parts.append(
                f"{len(stated)} fits {text}: stated and true differ by {stated.mean():.3f} on average, by more than "
                f"{NEAR} in {(stated > NEAR).sum()}; the accuracy of the best single setting on hidden labels (what "
                f"best_score_ was before) by {single.mean():.3f}, in {(single > NEAR).sum()}."
            )
    return " ".join(parts)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 3)
    parser.add_argument("--sets", nargs="+", default=SETS, help="names of the data sets")
    parser.add_argument("--labels", nargs="+", type=float, default=[0.05, 0.1, 0.02], help="shares of labelled rows")
    options = parser.parse_args()
    data = DataSets(options.data, options.sets)
    runs = Runs(
        Records(options.out / "stated_accuracy.jsonl"), data, fresh=options.fresh, any_commit=options.any_commit
    )
    for fraction in options.labels:
        for seed in range(options.draws):
            for name in options.sets:
                key = {"data": name, "fraction": fraction, "seed": seed}
                one = runs.get(key, lambda: fit(data.load(name), seed, fraction))  # noqa: B023  (called at once)
                assert one is not None
                print(*row_of(name, fraction, seed, one), flush=True)
    recorded = sorted(runs.recorded(), key=lambda run: [run[0][name] for name in ("data", "fraction", "seed")])
    rows = [row_of(key["data"], key["fraction"], key["seed"], one) for key, one in recorded]
    header = ["data, labels, draw", "labels", "alone", "true", "stated", "interval", "true is", "best setting alone"]
    note = "Alone: labels that are the only one of their class. !: a warning said that these could not be judged."
    parts = [note, summary([one for _, one in recorded]), markdown_table(header, rows)]
    print(
        "\n"
        + write_report(runs.folder / "stated_accuracy.md", "Stated and true accuracy of AnchorViewClassifier", parts)
    )


if __name__ == "__main__":
    main()
