"""Measure whether the confidence can be trusted, and what suggested labels are worth.

    python benchmarks/confidence.py --data ../shared/data                   everything
    python benchmarks/confidence.py --data ../shared/data --only ece        one part; the other from the records
    python benchmarks/confidence.py --only tables                           nothing new; tables and pictures only

Finished runs are kept in benchmarks/results/confidence.jsonl and not computed again; the tables are written to
confidence.md beside it, the pictures to confidence.png (reliability) and suggestions.png (curves).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import softmax

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.bench.protocol import average
from anchorview.bench.scripts import Result, Runs, add_draws, make_parser, run_parts, score_columns
from anchorview.core.arrays import unit_rows
from anchorview.metrics import expected_calibration_error
from anchorview.report.tables import markdown_table
from confidence_suggestions import suggestions

N_BINS = 15
LABELS = {"hw": 0.05, "hdigit": 0.01, "caltech101_20_re": 0.05, "caltech101_7_re": 0.05, "scene15": 0.05}
PICTURED = ("hw", "hdigit", "caltech101_20_re")  # also those on which AnchorViewClassifier is fitted
MODELS = {
    "FSSMSC, before": "nearest",
    "FSSMSC": "nearest",
    "FSSMSC, knn": "knn",
    "FSSMSC, euclidean": "euclidean",
    "AnchorViewClassifier": "",
}


def confidence_before(model: FSSMSC, y: Any) -> Any:
    """Return what `confidence_` was: softmax(−d²/T), T chosen on labelled rows that the embedding has seen."""
    labelled = np.flatnonzero(y != -1)
    class_ids = np.searchsorted(model.classes_, y[labelled])
    rows = unit_rows(model.embedding_.astype(np.float64))
    similarity = 2 * rows @ rows[labelled].T
    evidence = _largest_by_class(similarity, class_ids, len(model.classes_))
    seen = similarity[labelled].copy()
    np.fill_diagonal(seen, -3.0)  # a row is not its own neighbour
    judged = np.bincount(class_ids)[class_ids] > 1
    own = _largest_by_class(seen, class_ids, len(model.classes_))[judged]
    candidates = np.median(np.ptp(own, axis=1)) * np.logspace(-3, 1, 81)
    at = (np.arange(len(own)), class_ids[judged])
    losses = [-np.mean(np.log(softmax(own / t, axis=1)[at] + 1e-12)) for t in candidates]
    return softmax(evidence / candidates[int(np.argmin(losses))], axis=1).max(axis=1)


def _largest_by_class(similarity: Any, class_ids: Any, n_classes: int) -> Any:
    return np.stack([similarity[:, class_ids == c].max(axis=1) for c in range(n_classes)], axis=1)


def run_ece(data: Any, seed: int, model: str, fraction: float) -> Result:
    y = datasets.hide_labels(data.target, fraction, random_state=seed)
    hidden = y == -1
    start = time.perf_counter()
    fitted: Any = AnchorViewClassifier() if model == "AnchorViewClassifier" else FSSMSC(readers=MODELS[model])
    fitted = fitted.set_params(random_state=seed).fit(data.views, y)
    seconds = time.perf_counter() - start
    confidence = confidence_before(fitted, y) if model.endswith("before") else fitted.confidence_
    sure, right = confidence[hidden].astype(np.float64), (fitted.labels_ == data.target)[hidden]
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    return {
        "ece": 100 * expected_calibration_error(right, sure, N_BINS),
        "acc": 100 * float(right.mean()),
        "confidence": 100 * float(sure.mean()),
        "seconds": seconds,
        "bin_rows": np.bincount(bins, minlength=N_BINS).tolist(),
        "bin_sure": np.bincount(bins, weights=sure, minlength=N_BINS).tolist(),
        "bin_right": np.bincount(bins, weights=right, minlength=N_BINS).tolist(),
    }


def ece(runs: Runs) -> list[str]:
    rows, pictured = [], {}
    scores = ("acc", "confidence", "ece")
    for name, fraction in LABELS.items():
        for model in MODELS:
            if model == "AnchorViewClassifier" and name not in PICTURED:
                continue
            key = {"what": "ece", "data": name, "model": model, "fraction": fraction}
            results = runs.repeat(key, run_ece, 5 if model == "AnchorViewClassifier" else 10)
            if results:
                worst = max(result["ece"] for result in results)
                mean = average([{score: result[score] for score in scores} for result in results])
                cells = [str(len(results)), *score_columns(mean, scores), f"{worst:.1f}"]
                rows.append([name, f"{fraction:.0%}", model, *cells])
                pictured[name, model] = results
                print("  ".join(rows[-1]), flush=True)
    draw_reliability(pictured, runs.folder / "confidence.png")
    note = (
        "Unlabelled rows, percent. “Before”: temperature chosen on labelled rows that the embedding has seen. "
        "Expected calibration error (ECE) over 15 bins; worst: of the draws."
    )
    header = ["data", "labels", "model", "draws", "ACC", "mean confidence", "ECE", "worst"]
    return ["## Calibration", note, markdown_table(header, rows)]


def draw_reliability(results: dict[tuple[str, str], list[Result]], path: Path) -> None:
    """Draw the share of right rows against the stated confidence, a panel for each data set."""
    figure = Figure(figsize=(4 * len(PICTURED), 4.2), layout="constrained")
    panels = figure.subplots(1, len(PICTURED), sharey=True)
    for panel, name in zip(panels, PICTURED, strict=True):
        panel.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
        for model, colour in {
            "FSSMSC, before": "tab:gray",
            "FSSMSC": "tab:blue",
            "AnchorViewClassifier": "tab:orange",
        }.items():
            if (name, model) in results:
                _draw_model(panel, results[name, model], model, colour)
        title = f"{name}, {LABELS[name]:.0%} labels"
        panel.set(title=title, xlabel="stated confidence", xlim=(0, 1.02), ylim=(0, 1.02))
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    panels[0].set_ylabel("share of rows that are right")
    figure.savefig(path, dpi=110)


def _draw_model(panel: Any, results: list[Result], model: str, colour: str) -> None:
    count, sure, right = (np.sum([r[f"bin_{what}"] for r in results], axis=0) for what in ("rows", "sure", "right"))
    enough = count >= 10 * len(results) ** 0.5  # a share of fewer rows is noise
    x, y = sure[enough] / count[enough], right[enough] / count[enough]
    label = f"{model} (ECE {np.mean([r['ece'] for r in results]):.1f} %)"
    panel.plot(x, y, color=colour, marker="o", markersize=4, label=label)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), text="draws of labels; by default 10, AnchorViewClassifier 5")
    run_parts(parser, {"ece": ece, "suggestions": suggestions}, "confidence", "Confidence: measured")


if __name__ == "__main__":
    main()
