"""Measure whether the confidence can be trusted, and what suggested labels are worth.

    python benchmarks/confidence.py --data ../shared/data                   everything
    python benchmarks/confidence.py --data ../shared/data --only ece        one part; the other from the records
    python benchmarks/confidence.py --data ../shared/data --only tables     nothing new; tables and pictures only

Finished runs are kept in benchmarks/results/confidence.jsonl and not computed again; the tables are written to
confidence.md beside it, the pictures to confidence.png (reliability) and suggestions.png (curves).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, FSSMSCCV, datasets
from anchorview.bench.environment import environment_line
from anchorview.bench.records import Records
from anchorview.report.tables import markdown_table, mean_and_spread
from anchorview.core.arrays import softmax, unit_rows
from anchorview.metrics import expected_calibration_error

RESULTS = Path(__file__).parent / "results" / "confidence.jsonl"
N_BINS = 15
Result = dict[str, Any]


@dataclass
class Runs:
    """Draws of one part: taken from the records, or computed and recorded."""

    folder: Path
    records: Records
    draws: int | None
    compute: bool

    def all(self, what: str, name: str, draws: int, run: Callable[..., Result], data: Any, **setting: Any) -> list[Any]:
        """Return the results of the draws, those recorded if none are to be computed."""
        found = []
        for seed in range(self.draws or draws):
            key = {"what": what, "data": name, **setting, "seed": seed}
            result = self.records.get(key)
            if result is None and self.compute:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # fewer landmarks than asked for, classes without a label
                    result = run(data, seed, **setting)
                self.records.add(key, result)
                print(key, {k: v for k, v in result.items() if isinstance(v, float)}, flush=True)
            found += [] if result is None else [result]
        return found

    def load(self, name: str) -> Any:
        """Read a data set."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            raise SystemExit(f"{path} does not exist; pass the folder of .npz files with --data.")
        return datasets.load_npz(path)


# Calibration ---------------------------------------------------------------------------------------------------------

LABELS = {"hw": 0.05, "hdigit": 0.01, "caltech101_20_re": 0.05, "caltech101_7_re": 0.05, "scene15": 0.05}
ASKED = ("hw", "hdigit", "caltech101_20_re")
MODELS = {
    "FSSMSC, before": "nearest",
    "FSSMSC": "nearest",
    "FSSMSC, knn": "knn",
    "FSSMSC, euclidean": "euclidean",
    "FSSMSCCV": "",
}


def confidence_before(model: FSSMSC, y: Any) -> Any:
    """Return what `confidence_` was: softmax(−d²/T), T chosen on labelled rows that the embedding has seen."""
    labelled = np.flatnonzero(y != -1)
    classes = np.searchsorted(model.classes_, y[labelled])
    rows = unit_rows(model.embedding_.astype(np.float64))
    similarity = 2 * rows @ rows[labelled].T
    evidence = np.stack([similarity[:, classes == c].max(axis=1) for c in range(len(model.classes_))], axis=1)
    seen = similarity[labelled].copy()
    np.fill_diagonal(seen, -3.0)  # a row is not its own neighbour
    judged = np.bincount(classes)[classes] > 1
    own = np.stack([seen[:, classes == c].max(axis=1) for c in range(len(model.classes_))], axis=1)[judged]
    candidates = np.median(np.ptp(own, axis=1)) * np.logspace(-3, 1, 81)
    at = (np.arange(len(own)), classes[judged])
    losses = [-np.mean(np.log(softmax(own / t)[at] + 1e-12)) for t in candidates]
    return softmax(evidence / candidates[int(np.argmin(losses))]).max(axis=1)


def run_ece(data: Any, seed: int, model: str, fraction: float) -> Result:
    y = datasets.hide_labels(data.target, fraction, random_state=seed)
    hidden = y == -1
    start = time.perf_counter()
    fitted: Any = FSSMSCCV(random_state=seed) if model == "FSSMSCCV" else FSSMSC(inference=MODELS[model])
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


def spread(results: list[Any], field: str) -> str:
    values = [result[field] for result in results]
    return mean_and_spread((float(np.mean(values)), float(np.std(values))))


def ece(runs: Runs) -> list[str]:
    rows, pictured = [], {}
    for name, fraction in LABELS.items():
        data = runs.load(name) if runs.compute else None
        for model in MODELS:
            if model == "FSSMSCCV" and name not in ASKED:
                continue
            draws = 5 if model == "FSSMSCCV" else 10
            found = runs.all("ece", name, draws, run_ece, data, model=model, fraction=fraction)
            if found:
                worst = max(result["ece"] for result in found)
                cells = [spread(found, field) for field in ("acc", "confidence", "ece")]
                rows.append([name, f"{fraction:.0%}", model, str(len(found)), *cells, f"{worst:.1f}"])
                pictured[name, model] = found
    draw_reliability(pictured)
    note = (
        "Unlabelled rows, percent. “Before”: temperature chosen on labelled rows that the embedding has seen. "
        "Expected calibration error (ECE) over 15 bins; worst: of the draws."
    )
    header = ["data", "labels", "model", "draws", "ACC", "mean confidence", "ECE", "worst"]
    return ["Calibration", note, markdown_table(header, rows)]


def draw_reliability(found: dict[tuple[str, str], list[Any]]) -> None:
    import matplotlib.pyplot as plt

    shown = {"FSSMSC, before": "tab:gray", "FSSMSC": "tab:blue", "FSSMSCCV": "tab:orange"}
    figure, panels = plt.subplots(1, len(ASKED), figsize=(4 * len(ASKED), 4.2), sharey=True, layout="constrained")
    for panel, name in zip(panels, ASKED, strict=True):
        panel.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
        for model, colour in shown.items():
            results = found.get((name, model), [])
            if not results:
                continue
            count, sure, right = (
                np.sum([r[f"bin_{what}"] for r in results], axis=0) for what in ("rows", "sure", "right")
            )
            used = count >= 10 * len(results) ** 0.5  # fewer rows tell nothing
            error = np.mean([r["ece"] for r in results])
            panel.plot(
                sure[used] / count[used],
                right[used] / count[used],
                color=colour,
                marker="o",
                markersize=4,
                label=f"{model} (ECE {error:.1f} %)",
            )
        panel.set(
            title=f"{name}, {LABELS[name]:.0%} labels", xlabel="stated confidence", xlim=(0, 1.02), ylim=(0, 1.02)
        )
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    panels[0].set_ylabel("share of rows that are right")
    figure.savefig(RESULTS.with_name("confidence.png"), dpi=110)
    plt.close(figure)


# Suggested labels ----------------------------------------------------------------------------------------------------

START, BATCH, SUGGESTED = 50, 20, 100
RANDOM_STEPS = (0, 20, 40, 60, 80, 100, 150, 200, 250, 300)
ARMS = {"random": "tab:gray", "least sure": "tab:orange", "suggested": "tab:blue"}
CURVES = ("hdigit", "scene15", "hw", "mnist4")


def run_curve(data: Any, seed: int, arm: str) -> Result:
    """Accuracy on a half of the rows that is never labelled, while labels are added to the other half."""
    target = data.target
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(target))
    test, pool = order[: len(target) // 2], order[len(target) // 2 :]
    labelled, accuracy = pool[:START], []
    steps = list(RANDOM_STEPS) if arm == "random" else list(range(0, SUGGESTED + 1, BATCH))
    for number, step in enumerate(steps):
        y = np.full(len(target), -1)
        y[labelled] = target[labelled]
        model = FSSMSC(n_clusters=len(np.unique(target)), random_state=seed).fit(data.views, y)
        accuracy.append(100 * float((model.labels_ == target)[test].mean()))
        if number + 1 == len(steps):
            break
        n_new = steps[number + 1] - step
        left = np.setdiff1d(pool, labelled, assume_unique=True)
        if arm == "random":
            new = rng.choice(left, n_new, replace=False)
        elif arm == "least sure":
            new = left[np.argsort(model.confidence_[left], kind="stable")[:n_new]]
        else:
            new = model.suggest_labels(n_new, among=left)
        labelled = np.concatenate([labelled, new])
    return {"added": steps, "acc": accuracy}


def worth(random: Any, suggested: float) -> float:
    """Return the number of random labels with which the mean curve reaches an accuracy; infinite if it never does."""
    curve = np.maximum.accumulate(random)
    return float(np.interp(suggested, curve, RANDOM_STEPS)) if suggested <= curve[-1] else float("inf")


def worth_with_range(random: Any, suggested: Any) -> str:
    """Return what the labels are worth, and the middle 80 % over draws taken with replacement."""
    rng = np.random.default_rng(0)
    drawn = [rng.integers(len(random), size=len(random)) for _ in range(500)]
    again = np.sort([worth(random[d].mean(axis=0), suggested[d, -1].mean()) for d in drawn])
    values = [worth(random.mean(axis=0), suggested[:, -1].mean()), again[50], again[449]]
    middle, low, high = (f"> {RANDOM_STEPS[-1]}" if np.isinf(value) else f"{value:.0f}" for value in values)
    return f"{middle} ({low} to {high})"


def suggestions(runs: Runs) -> list[str]:
    rows, pictured = [], {}
    for name in CURVES:
        data = runs.load(name) if runs.compute else None
        curves = {arm: runs.all("curve", name, 10, run_curve, data, arm=arm) for arm in ARMS}
        n_draws = min(map(len, curves.values()))
        if not n_draws:
            continue
        accuracy = {arm: np.array([r["acc"] for r in curves[arm][:n_draws]]) for arm in ARMS}
        pictured[name] = accuracy
        by_name = [f"{accuracy['random'].mean(axis=0)[RANDOM_STEPS.index(step)]:.1f}" for step in (0, 100, 200, 300)]
        for arm in ("least sure", "suggested"):
            reached = f"{accuracy[arm][:, -1].mean():.1f}"
            rows.append(
                [name, str(n_draws), arm, *by_name, reached, worth_with_range(accuracy["random"], accuracy[arm])]
            )
    draw_curves(pictured)
    note = (
        f"FSSMSC from {START} random labels; {SUGGESTED} more are asked for in batches of {BATCH}, or drawn at random. "
        "Accuracy in percent on a random half of the rows, which no label is taken from. Worth: the number of random "
        "labels that give the same accuracy, read off the mean curve (in brackets: the middle 80 % over resampled "
        "draws)."
    )
    header = [
        "data",
        "draws",
        "how",
        "+0",
        "+100 random",
        "+200 random",
        "+300 random",
        "+100 so",
        "worth random labels",
    ]
    return ["Suggested labels", note, markdown_table(header, rows)]


def draw_curves(found: dict[str, dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, max(len(found), 1), figsize=(3.6 * max(len(found), 1), 3.8), layout="constrained")
    for panel, (name, accuracy) in zip(np.atleast_1d(panels), found.items(), strict=False):
        for arm, colour in ARMS.items():
            steps = RANDOM_STEPS if arm == "random" else range(0, SUGGESTED + 1, BATCH)
            added = START + np.array(steps)
            mean = accuracy[arm].mean(axis=0)
            error = accuracy[arm].std(axis=0) / len(accuracy[arm]) ** 0.5
            panel.plot(added, mean, color=colour, marker="o", markersize=3, label=arm)
            panel.fill_between(added, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        panel.set(title=name, xlabel="labels")
        panel.grid(alpha=0.3)
    np.atleast_1d(panels)[0].set_ylabel("accuracy in percent (band: standard error)")
    np.atleast_1d(panels)[0].legend(frameon=False, loc="lower right")
    figure.savefig(RESULTS.with_name("suggestions.png"), dpi=110)
    plt.close(figure)


PARTS: dict[str, Callable[[Runs], list[str]]] = {"ece": ece, "suggestions": suggestions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--only", choices=[*PARTS, "tables"], help="compute this part only; tables: nothing")
    parser.add_argument("--draws", type=int, help="draws of labels; by default 10, FSSMSCCV 5")
    options = parser.parse_args()
    records = Records(RESULTS)
    report = ["# Confidence: measured", environment_line()]
    for name, part in PARTS.items():
        title, note, table = part(Runs(options.data, records, options.draws, options.only in (None, name)))
        report += [f"## {title}", note, table]
    RESULTS.with_suffix(".md").write_text("\n\n".join(report) + "\n")
    print(f"\nTables: {RESULTS.with_suffix('.md')}")


if __name__ == "__main__":
    main()
