"""Labels as people give them: some wrong, classes of uneven sizes; two parts of benchmarks/realdata.py."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.bench.scripts import SCORES, Result, Runs
from anchorview.report.tables import markdown_table
from realdata_scores import fit_and_score, mean_of, table_row

COUNTS = ("wrong", "corrected", "spoiled")


def flip_labels(y: Any, share: float, seed: int) -> Any:
    """Give a share of the labelled rows another class, drawn from the classes that are labelled."""
    rng = np.random.default_rng(seed)
    flipped, classes = y.copy(), np.unique(y[y != -1])
    labelled = np.flatnonzero(y != -1)
    for row in rng.choice(labelled, round(share * len(labelled)), replace=False):
        flipped[row] = rng.choice(classes[classes != y[row]])
    return flipped


def run_noise(data: Any, seed: int, share: float, relabel: float | None, inference: str) -> Result:
    clean = datasets.hide_labels(data.target, 0.05, random_state=seed)
    given = flip_labels(clean, share, seed)
    model = FSSMSC(relabel=relabel, readers=inference, random_state=seed)
    scores = fit_and_score(model, data.views, given, data.target)
    changed = model.relabelled_
    scores["wrong"] = int((given != clean).sum())
    scores["corrected"] = int((model.labels_[changed] == clean[changed]).sum())
    scores["spoiled"] = int((given[changed] == clean[changed]).sum())
    return scores


def noise(runs: Runs) -> list[str]:
    rows = []
    settings = [("nearest", None), ("nearest", 0.5), ("nearest", 0.7), ("nearest", 0.9), ("knn", None), ("knn", 0.7)]
    for name in ("hw", "caltech101_20_re"):
        for share, (inference, relabel) in product((0.0, 0.1, 0.2), settings):
            key = {"what": "noise", "data": name, "share": share, "relabel": relabel, "inference": inference}
            mean = mean_of(runs, key, run_noise, 10)
            for row in table_row([name, f"{share:.0%}", inference, str(relabel)], mean):
                rows.append([*row, *(f"{mean[count][0]:.1f}" for count in COUNTS)])
    note = "5 % labels, of which some are given another class at random. Counts of labels, mean per draw."
    header = ["data", "flipped", "readers", "relabel", "draws", "ACC", "NMI", "ARI", *COUNTS]
    return ["## Wrong labels", note, markdown_table(header, rows)]


def run_balance(data: Any, seed: int, balance: str | None, inference: str) -> Result:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    model = FSSMSC(class_balance=balance, readers=inference, random_state=seed)
    return fit_and_score(model, data.views, y, data.target)


def balance(runs: Runs) -> list[str]:
    rows = []
    name = "caltech101_20_re"
    for inference, choice in product(("nearest", "knn"), (None, "balanced")):
        key = {"what": "balance", "data": name, "balance": choice, "inference": inference}
        rows += table_row([name, inference, str(choice)], mean_of(runs, key, run_balance, 20), (*SCORES, "recall"))
    note = "5 % labels. Recall: mean over the classes; a class without a labelled row has recall 0."
    header = ["data", "readers", "class_balance", "draws", "ACC", "NMI", "ARI", "recall"]
    return ["## Uneven classes", note, markdown_table(header, rows)]
