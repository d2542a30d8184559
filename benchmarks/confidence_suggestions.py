"""What suggested labels are worth: accuracy while labels are added, suggested or drawn at random.

A part of benchmarks/confidence.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from anchorview import FSSMSC
from anchorview.bench.scripts import Result, Runs
from anchorview.report.tables import markdown_table

START, BATCH, SUGGESTED = 50, 20, 100
RANDOM_STEPS = (0, 20, 40, 60, 80, 100, 150, 200, 250, 300)
SUGGESTED_STEPS = tuple(range(0, SUGGESTED + 1, BATCH))
ARMS = {"random": "tab:gray", "least sure": "tab:orange", "suggested": "tab:blue"}
SETS = ("hdigit", "scene15", "hw", "mnist4")


def steps_of(arm: str) -> list[int]:
    """Return the numbers of added labels at which accuracy is measured."""
    return list(RANDOM_STEPS if arm == "random" else SUGGESTED_STEPS)


def run_curve(data: Any, seed: int, arm: str) -> Result:
    """Accuracy on a half of the rows that is never labelled, while labels are added to the other half."""
    target = data.target
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(target))
    test, pool = order[: len(target) // 2], order[len(target) // 2 :]
    labelled, accuracy = pool[:START], []
    steps = steps_of(arm)
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
    for name in SETS:
        curves = {arm: runs.repeat({"what": "curve", "data": name, "arm": arm}, run_curve, 10) for arm in ARMS}
        n_draws = min(map(len, curves.values()))
        if not n_draws:
            continue
        accuracy = {arm: np.array([result["acc"] for result in curves[arm][:n_draws]]) for arm in ARMS}
        pictured[name] = accuracy
        random = [f"{accuracy['random'].mean(axis=0)[RANDOM_STEPS.index(step)]:.1f}" for step in (0, 100, 200, 300)]
        for arm in ("least sure", "suggested"):
            reached = f"{accuracy[arm][:, -1].mean():.1f}"
            labels = worth_with_range(accuracy["random"], accuracy[arm])
            rows.append([name, str(n_draws), arm, *random, reached, labels])
            print("  ".join(rows[-1]), flush=True)
    draw_curves(pictured, runs.folder / "suggestions.png")
    note = (
        f"FSSMSC from {START} random labels; {SUGGESTED} more are asked for in batches of {BATCH}, or drawn at random. "
        "Accuracy in percent on a random half of the rows, which no label is taken from. Worth: the number of random "
        "labels that give the same accuracy, read off the mean curve (in brackets: the middle 80 % over resampled "
        "draws)."
    )
    header = ["data", "draws", "how", "+0", "+100 random", "+200 random", "+300 random", "+100 so"]
    return ["## Suggested labels", note, markdown_table([*header, "worth random labels"], rows)]


def draw_curves(accuracy: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw accuracy against the number of labels, a panel for each data set."""
    n_panels = max(len(accuracy), 1)
    figure = Figure(figsize=(3.6 * n_panels, 3.8), layout="constrained")
    panels = figure.subplots(1, n_panels, squeeze=False)[0]
    for panel, (name, arms) in zip(panels, accuracy.items(), strict=False):
        for arm, colour in ARMS.items():
            added = START + np.array(steps_of(arm))
            mean = arms[arm].mean(axis=0)
            error = arms[arm].std(axis=0) / len(arms[arm]) ** 0.5
            panel.plot(added, mean, color=colour, marker="o", markersize=3, label=arm)
            panel.fill_between(added, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        panel.set(title=name, xlabel="labels")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy in percent (band: standard error)")
    panels[0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)
