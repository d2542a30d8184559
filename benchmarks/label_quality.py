"""How well `label_quality_` finds wrong labels, and what `relabel` is worth with all readers.

    python benchmarks/label_quality.py --data ../shared/data

A tenth of the labels is given another class at random. Part "quality": the area under the ROC curve with which
`label_quality_` tells wrong labels from right ones, beside the self-confidence of a cross-validated logistic
regression on the same labels and features (what cleanlab ranks labels by), and the share of a fit's CPU time that it
takes. Part "tuner": the same for AnchorViewClassifier, beside what its own average says of hidden labels. Part
"relabel": accuracy
with and without `relabel=0.9`, for all readers, of rows without a label. Finished runs are kept in
benchmarks/results/label_quality.jsonl and not made again; --fresh does.
"""

from __future__ import annotations

import time
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.bench.methods import readers_text
from anchorview.bench.protocol import average
from anchorview.bench.scripts import Result, Runs, add_draws, make_parser, run_parts, warm_up
from anchorview.data.labels import split_labels
from anchorview.fitting import pipeline
from anchorview.readers.base import COMBINATIONS
from anchorview.report.tables import markdown_table
from realdata_labels import flip_labels

SETS = ("hw", "caltech101_7_re", "caltech101_20_re", "mnist4", "hdigit", "scene15", "landuse21")
FEW_SETS = ("hw", "caltech101_7_re")  # for the tuner, and for all readers
SHARE, WRONG, RELABEL = 0.05, 0.1, 0.9
N_DRAWS = 5


def fit_timed(model: FSSMSC, views: Any, y: Any) -> tuple[FSSMSC, float, float]:
    """Fit; return the CPU seconds that it takes, and those of them in which its labels are judged."""
    review, judging = pipeline.review_labels, 0.0

    def timed(*given: Any) -> Any:
        nonlocal judging
        start = time.process_time()
        reviewed = review(*given)
        judging += time.process_time() - start
        return reviewed

    start = time.process_time()
    with patch.object(pipeline, "review_labels", timed):
        model.fit(views, y)
    return model, time.process_time() - start, judging


def self_confidence(data: Any, rows: Any, class_ids: Any) -> Any:
    """Return the probability of each label by a logistic regression that has not seen it; NaN where it is alone."""
    arrays = [np.asarray(array, dtype=float) for array in data.views.arrays]
    scaled = np.hstack([(array - array.mean(axis=0)) / np.maximum(array.std(axis=0), 1e-9) for array in arrays])[rows]
    quality = np.full(len(rows), np.nan)
    for hidden in split_labels(class_ids, 5, np.random.RandomState(0)):
        shown = np.setdiff1d(np.arange(len(rows)), hidden)
        model = LogisticRegression(max_iter=300).fit(scaled[shown], class_ids[shown])
        places = np.searchsorted(model.classes_, class_ids[hidden])
        quality[hidden] = model.predict_proba(scaled[hidden])[np.arange(len(hidden)), places]
    return quality


def auroc(quality: Any, wrong: Any) -> float:
    judged = ~np.isnan(quality)
    return float(roc_auc_score(wrong[judged], -quality[judged]))


def draw(data: Any, seed: int, share: float) -> tuple[Any, Any]:
    """Return labels as they should be and as they are given."""
    clean = datasets.hide_labels(data.target, SHARE, random_state=seed)
    return clean, flip_labels(clean, share, seed)


def run_quality(data: Any, seed: int) -> Result:
    clean, given = draw(data, seed, WRONG)
    warm_up(FSSMSC(random_state=0))
    model, seconds, judging = fit_timed(FSSMSC(random_state=seed, n_jobs=1), data.views, given)
    rows = np.flatnonzero(given != -1)
    wrong, class_ids = (given != clean)[rows], np.searchsorted(model.classes_, given[rows])
    listed = np.flatnonzero((model._likely_class_ids != -1) & (given != -1))
    disputed = listed[model.classes_[model._likely_class_ids[listed]] != given[listed]]
    return {
        "ours": auroc(model.label_quality_[rows], wrong),
        "regression": auroc(self_confidence(data, rows, class_ids), wrong),
        "wrong": int(wrong.sum()),
        "disputed": len(disputed),
        "found": int((given != clean)[disputed].sum()),
        "seconds": seconds,
        "judging": 100 * judging / seconds,
        "acc": 100 * float((model.labels_ == data.target)[given == -1].mean()),
    }


def run_tuner(data: Any, seed: int) -> Result:
    clean, given = draw(data, seed, WRONG)
    model = AnchorViewClassifier(random_state=seed, n_jobs=1).fit(data.views, given)
    held_out, labelled = model.held_out_, given != -1
    own = np.full(len(given), np.nan)
    own[held_out.rows] = held_out.probabilities[np.arange(len(held_out)), held_out.class_ids]
    wrong = (given != clean)[labelled]
    return {"ours": auroc(model.label_quality_[labelled], wrong), "average": auroc(own[labelled], wrong)}


READERS = {readers_text(readers): readers for readers in ("auto", *COMBINATIONS)}  # by their names in the records


def run_relabel(data: Any, seed: int, share: float, inference: str, relabel: float | None) -> Result:
    clean, given = draw(data, seed, share)
    model = FSSMSC(random_state=seed, n_jobs=1, readers=READERS[inference], relabel=relabel).fit(data.views, given)
    changed = model.relabelled_
    return {
        "acc": 100 * float((model.labels_ == data.target)[given == -1].mean()),
        "corrected": int((model.labels_[changed] == clean[changed]).sum()),
        "spoiled": int((given[changed] == clean[changed]).sum()),
    }


def quality(runs: Runs) -> list[str]:
    rows = []
    for name in SETS:
        results = runs.repeat({"what": "quality", "data": name}, run_quality, N_DRAWS)
        if results:
            mean = {key: value[0] for key, value in average(results).items()}
            cells = [f"{mean[key]:.3f}" for key in ("ours", "regression")]
            cells += [f"{mean[key]:.1f}" for key in ("wrong", "found", "disputed", "acc")]
            rows.append([name, str(len(results)), *cells, f"{mean['seconds']:.2f}", f"{mean['judging']:.1f}"])
            print(*rows[-1], flush=True)
    header = ["data", "draws", "label_quality_", "regression", "wrong", "listed", "disputed", "ACC", "CPU s", "% of it"]
    note = (
        "AUROC for wrong labels: 5 % labels, a tenth of them wrong. Listed: wrong labels among those disputed. The "
        "last columns: accuracy and CPU seconds of the fit, and the part of these that judging the labels takes."
    )
    return ["## Label quality", note, markdown_table(header, rows)]


def tuner(runs: Runs) -> list[str]:
    rows = []
    for name in FEW_SETS:
        results = runs.repeat({"what": "tuner", "data": name}, run_tuner, 3)
        if results:
            mean = {key: value[0] for key, value in average(results).items()}
            rows.append([name, str(len(results)), f"{mean['ours']:.3f}", f"{mean['average']:.3f}"])
            print(*rows[-1], flush=True)
    header = ["data", "draws", "label_quality_", "held_out_"]
    return [
        "## Label quality of AnchorViewClassifier",
        "AUROC for wrong labels, as above.",
        markdown_table(header, rows),
    ]


def relabelling(runs: Runs) -> list[str]:
    rows = []
    for name, inference in product(FEW_SETS, READERS):
        cells = []
        for share in (0.0, WRONG):
            pair = []
            for relabel in (None, RELABEL):
                key = {"what": "relabel", "data": name, "share": share, "inference": inference, "relabel": relabel}
                results = runs.repeat(key, run_relabel, N_DRAWS)
                pair += [{kind: value[0] for kind, value in average(results).items()}] if results else []
            if len(pair) == 2:
                cells += [f"{pair[0]['acc']:.1f}", f"{pair[1]['acc']:.1f}"]
                cells += [f"{pair[1]['corrected']:.1f}", f"{pair[1]['spoiled']:.1f}"]
        if len(cells) == 8:
            rows.append([name, inference, *cells[:2], cells[3], *cells[4:]])
            print(*rows[-1], flush=True)
    header = [
        "data",
        "readers",
        "none wrong",
        "relabel",
        "spoiled",
        "a tenth wrong",
        "relabel",
        "corrected",
        "spoiled",
    ]
    note = f"Accuracy of rows without a label, 5 % labels; relabel={RELABEL}. Counts of labels are means per draw."
    return ["## Relabelling", note, markdown_table(header, rows)]


if __name__ == "__main__":
    parts = {"quality": quality, "tuner": tuner, "relabel": relabelling}
    run_parts(add_draws(make_parser(__doc__, __file__)), parts, "label_quality", "Labels that may be wrong")
