"""Measure whether the confidence falls for rows of classes that no label names, and what that costs on the others.

    python benchmarks/novelty.py --data ../shared/data                                    this checkout
    PYTHONPATH=../old/src python benchmarks/novelty.py --data ../shared/data --as before  another one, in the same table

In each draw three in ten classes (at least one) are left without any label, and 5 % of the other rows have one. AUC is
that of the confidence of the unlabelled rows, named classes against unnamed ones; ACC and ECE are of the rows of named
classes. The same with labels in all classes beside it: a sense of novelty must not cost accuracy or calibration there.
Finished runs are kept in benchmarks/results/novelty.jsonl and not computed again; the table is novelty.md beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.bench.protocol import average
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, write_report
from anchorview.metrics import expected_calibration_error
from anchorview.report.tables import markdown_table, mean_and_spread

SETS = ("hw", "mnist4", "caltech101_7_re", "scene15", "bbcsport", "ng20", "agnews_emb", "banking77_emb")
MODELS = ("nearest", "euclidean", "knn", "AnchorViewClassifier")
MAX_ROWS = 3000
FRACTION = 0.05


def run(data: Any, seed: int, model: str, version: str, unnamed_share: float) -> Result:
    rng = np.random.RandomState(seed)
    rows = np.sort(rng.choice(len(data.target), min(MAX_ROWS, len(data.target)), replace=False))
    views, target = data.views[rows], np.asarray(data.target)[rows]
    classes = rng.permutation(np.unique(target))
    n_unnamed = max(1, round(unnamed_share * len(classes))) if unnamed_share else 0
    named = ~np.isin(target, classes[:n_unnamed])
    y = np.where(named, datasets.hide_labels(target, FRACTION, stratified=True, random_state=seed), -1)
    fitted: Any = AnchorViewClassifier() if model == "AnchorViewClassifier" else FSSMSC(readers=model)
    fitted.set_params(random_state=seed).fit(views, y)
    hidden = y == -1
    sure, right = fitted.confidence_.astype(np.float64), fitted.labels_ == target
    result = {
        "acc": 100 * float(right[hidden & named].mean()),
        "ece": 100 * expected_calibration_error(right[hidden & named], sure[hidden & named]),
    }
    if n_unnamed:
        result["auc"] = float(roc_auc_score(named[hidden], sure[hidden]))
    return result


def table(runs: Runs, versions: list[str], n_tuned: int) -> str:
    rows = []
    for name in [name for name in SETS if name in runs.data.sources]:
        for model in MODELS:
            for version in versions:
                key = {"what": "novelty", "data": name, "model": model, "version": version}
                n_draws = n_tuned if model == "AnchorViewClassifier" else (runs.draws or 5)
                some = Runs(
                    runs.records,
                    runs.data,
                    n_draws,
                    runs.fresh,
                    version == versions[-1] and runs.compute,
                    runs.any_commit,
                )
                novel, usual = (some.repeat({**key, "unnamed_share": share}, run, n_draws) for share in (0.3, 0.0))
                if not novel or not usual:
                    continue
                means, others = average(novel), average(usual)
                auc = f"{means['auc'][0]:.3f} ± {means['auc'][1]:.3f}"
                cells = [mean_and_spread(scores[what]) for scores in (means, others) for what in ("acc", "ece")]
                rows.append([name, model, version, str(len(novel)), auc, *cells])
                print("  ".join(rows[-1]), flush=True)
    for model in MODELS:
        for version in versions:
            mine = [row for row in rows if row[1:3] == [model, version]]
            if len(mine) > 1:
                means = [np.mean([float(row[column].split(" ")[0]) for row in mine]) for column in range(4, 9)]
                rows.append(["mean", model, version, "", f"{means[0]:.3f}", *(f"{mean:.1f}" for mean in means[1:])])
    header = ["data", "model", "version", "draws", "AUC", "ACC", "ECE", "ACC, all named", "ECE, all named"]
    return markdown_table(header, rows)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), text="draws of labels; by default 5")
    parser.add_argument("--tuned-draws", type=int, default=2, help="draws for AnchorViewClassifier")
    parser.add_argument("--as", dest="version", default="now", help="name of this checkout in the table")
    options = parser.parse_args()
    runs = Runs(
        Records(options.out / "novelty.jsonl"),
        DataSets(options.data),
        options.draws,
        options.fresh,
        any_commit=options.any_commit,
    )
    versions = list(dict.fromkeys(["before", "now", options.version]))
    versions.sort(key=options.version.__eq__)  # this one is computed, the others are taken from the records
    text = table(runs, versions, options.tuned_draws)
    write_report(options.out / "novelty.md", "Confidence away from labels: measured", [(__doc__ or "").strip(), text])
    print(f"\nTable: {options.out / 'novelty.md'}")


if __name__ == "__main__":
    main()
