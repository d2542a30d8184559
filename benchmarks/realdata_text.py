"""Text as sparse views: scalings, landmarks, settings, and memory; a part of benchmarks/realdata.py."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from anchorview import FSSMSC, ActiveSet, Views, datasets
from anchorview.bench.child import reset_peak, resident_bytes, run_job
from anchorview.bench.scripts import Result, Runs
from anchorview.bench.sources import load_dataset
from anchorview.features.scaling import fit_scaling
from anchorview.report.tables import markdown_table
from realdata_scores import fit_and_score, mean_of, score, table_row

FOR_TEXT = {"ridge": 20.0, "l1": 0.1, "must_link_weight": 1e5}
TEXT: dict[str, dict[str, Any]] = {
    "tfidf, m=500": {"scaling": "tfidf"},
    "lsa, m=500 (defaults)": {},
    "lsa, m=500, empty rows as missing": {"mask": True},
    "lsa, 1,500 random rows as landmarks": {"landmarks": "random", "n_landmarks": 1500},
    "lsa, m=500, ridge=5": {"ridge": 5.0},
    "lsa, m=500, ridge=20, l1=0.1, must_link_weight=1e5 (“for text”)": FOR_TEXT,
    "lsa, m=500, ridge=20, l1=0.2, must_link_weight=1e5, knn": FOR_TEXT | {"l1": 0.2, "readers": "knn"},
    "for text, knn": FOR_TEXT | {"readers": "knn"},
    "for text, knn, empty rows as missing": FOR_TEXT | {"readers": "knn", "mask": True},
    "for text, knn, random rows as landmarks": FOR_TEXT | {"readers": "knn", "landmarks": "random"},
    "for text, knn, tfidf": FOR_TEXT | {"readers": "knn", "scaling": "tfidf"},
}
LOGISTIC = {"logistic regression on tf-idf": "tfidf", "logistic regression on lsa": "lsa"}


def run_text(data: Any, seed: int, fraction: float, model: str) -> Result:
    y = datasets.hide_labels(data.target, fraction, random_state=seed)
    arrays = [sparse.csr_array(array) for array in data.data]
    if model in LOGISTIC:
        return _run_logistic(Views(arrays), y, data.target, LOGISTIC[model], seed)
    setting = dict(TEXT[model])
    present = None
    if setting.pop("mask", False):
        present = np.stack([np.diff(array.indptr) > 0 for array in arrays], axis=1)
        present[~present.any(axis=1), 0] = True  # a text without any known word keeps its empty first view
    usual = {"solver": ActiveSet(units="paper"), "scaling": "lsa", "readers": "nearest"}
    model_of = FSSMSC(**{**usual, **setting}, random_state=seed)
    return fit_and_score(model_of, Views(arrays, mask=present), y, data.target)


def _run_logistic(views: Views, y: Any, target: Any, scaling: str, seed: int) -> Result:
    start = time.perf_counter()
    scaler = fit_scaling(views, scaling, rng=np.random.RandomState(seed))
    rows = scaler.read(views, slice(0, len(views)))
    features = rows.dense() if scaling == "lsa" else sparse.hstack([part for _, part in rows.parts]).tocsr()
    known = y != -1
    classifier = LogisticRegression(C=10, max_iter=500).fit(features[known], y[known])
    return score(target, classifier.predict(features), ~known, time.perf_counter() - start)


def job_memory(place: str, scaling: str) -> dict[str, float]:
    """Fit, and return the memory of the process before and at most; runs in a child."""
    data = load_dataset(place)
    y = datasets.hide_labels(data.target, 0.01, random_state=0)
    before = reset_peak()
    FSSMSC(scaling=scaling, random_state=0).fit(data.views, y)
    return {"before": before / 1e9, "peak": resident_bytes(peak=True) / 1e9}


def run_memory(place: str, scaling: str) -> Result:
    result = run_job(f"{Path(__file__).resolve()}:job_memory", {"place": place, "scaling": scaling})
    if result.status != "ok":
        raise RuntimeError(f"{result.status}: {result.message}")
    return {**result.value, "seconds": result.seconds}


def memory_row(runs: Runs, scaling: str) -> list[list[str]]:
    key = {"what": "memory", "data": "ng20", "scaling": scaling, "seed": 0}
    result = runs.get(key, lambda: run_memory(runs.data.source("ng20").place, scaling))
    return [] if result is None else [[scaling, *(f"{result[name]:.2f}" for name in ("before", "peak"))]]


def text(runs: Runs) -> list[str]:
    large, small = [], []
    for model in [*TEXT, *LOGISTIC]:
        for fraction, shown in ((0.01, "1 %"), (0.05, "5 %")):
            key = {"what": "text", "data": "ng20", "fraction": fraction, "model": model}
            large += table_row([model, shown], mean_of(runs, key, run_text, 3))
    for model in [*TEXT, *LOGISTIC]:
        if "1,500" not in model:
            key = {"what": "text", "data": "bbcsport", "fraction": 0.05, "model": model}
            small += table_row([model], mean_of(runs, key, run_text, 10))
    memory = [row for scaling in ("tfidf", "lsa") for row in memory_row(runs, scaling)]
    return [
        "## Text",
        "ng20 (18,846 rows, four sparse views, 20 classes).",
        markdown_table(["model", "labels", "draws", "ACC", "NMI", "ARI"], large),
        "bbcsport (544 rows, two views, 5 classes; as sparse views), 5 % labels:",
        markdown_table(["model", "draws", "ACC", "NMI", "ARI"], small),
        "Resident memory of the process in GB, ng20, m=500: before the fit (libraries, data) and at most:",
        markdown_table(["scaling", "before", "peak"], memory),
    ]
