"""The labelling loop, measured: the accuracy it states, rows it vouches for, what further labels bring, suggestions.

    python benchmarks/label_loop.py --data ../shared/data                    all parts
    python benchmarks/label_loop.py --data ../shared/data --only stated      one of them

Rows are in another order in each draw, and of sets with more than 3,000 rows only the first 3,000. FSSMSC throughout.
Finished runs are kept in benchmarks/results/label_loop.jsonl and not made again (--fresh does); the tables are
label_loop.md beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.bench.scripts import Result, Runs, add_draws, make_parser, run_parts
from anchorview.metrics import expected_calibration_error
from anchorview.report.tables import markdown_table

STATED_SETS = ("hw", "scene15", "hdigit", "caltech101_20_re", "banking77_emb")
CURVE_SETS = (
    "hw", "scene15", "hdigit", "caltech101_20_re", "caltech101_7_re", "banking77_emb", "mnist4", "landuse21",
    "agnews_emb", "bbcsport",
)  # fmt: skip
UNSEEN_SETS = (
    "leaves100", "msrcv1", "hw", "hdigit", "caltech101_20_re", "caltech101_7_re", "scene15", "landuse21", "mnist4",
    "bbcsport", "banking77_emb", "agnews_emb",
)  # fmt: skip
WORTH_SETS = ("hdigit", "scene15", "hw", "mnist4", "agnews_emb")
MOST_ROWS = 3000
START, ROUND, N_ROUNDS = 50, 50, 3
PROMISES = (0.8, 0.9, 0.95)
RANDOM_STEPS = (0, 50, 100, 150, 200, 250, 300)


def some_rows(data: Any, seed: int) -> tuple[Any, Any]:
    """Return views and classes of at most 3,000 rows, in an order of the draw: the audit has the same one in all."""
    rows = np.random.RandomState(1000 + seed).permutation(len(data.target))[:MOST_ROWS]
    return data.views[rows], np.asarray(data.target)[rows]


def random_labels(target: Any, n: int, seed: int) -> Any:
    """Return labels of `n` rows drawn at random, −1 for the others; more of them hold the fewer."""
    rows = np.random.RandomState(seed).permutation(len(target))
    y = np.full(len(target), -1)
    y[rows[:n]] = target[rows[:n]]
    return y


# Stated accuracy and trusted rows


def run_stated(data: Any, seed: int) -> Result:
    views, target = some_rows(data, seed)
    y = random_labels(target, START, seed)
    source = {int(row): "random" for row in np.flatnonzero(y >= 0)}
    model = FSSMSC(random_state=seed).fit(views, y, label_source=source)
    stated = []
    for _ in range(N_ROUNDS):
        for each in model.suggest_labels(ROUND, explain=True):
            y[each.row], source[int(each.row)] = target[each.row], each.source
        model.update(y, label_source=source)
        stated.append(state_of(model, y, target))
    promises = {}
    for promise in PROMISES:
        trusted = model.trusted_rows(promise)
        right = float((model.labels_ == target)[trusted.rows].mean()) if len(trusted) else None
        promises[str(promise)] = {"rows": len(trusted) / int((y < 0).sum()), "right": right}
    return {"rounds": stated, "promises": promises}


def state_of(model: Any, y: Any, target: Any) -> dict[str, Any]:
    by_audit, hidden = model.expected_accuracy_, model._accuracy_by_hidden_labels()
    return {
        "true": float((model.labels_ == target)[y < 0].mean()),
        "audit": [by_audit.value, by_audit.low, by_audit.high, by_audit.n_judged],
        "hidden": [hidden.value, hidden.low, hidden.high, hidden.n_judged],
    }


def stated(runs: Runs) -> list[str]:
    rows, trusted_rows, covered, kept = [], [], {"audit": [], "hidden": []}, {promise: [] for promise in PROMISES}
    for name in STATED_SETS:
        results = runs.repeat({"what": "stated", "data": name}, run_stated, 20)
        if not results:
            continue
        last = [result["rounds"][-1] for result in results]
        cells = [name, str(len(results)), f"{100 * np.mean([one['true'] for one in last]):.1f}"]
        for how in ("audit", "hidden"):
            later = [one for result in results for one in result["rounds"]]
            inside = [one[how][1] <= one["true"] <= one[how][2] for one in later]
            covered[how] += inside
            cells += [f"{100 * np.mean([one[how][0] for one in last]):.1f}", f"{100 * np.mean(inside):.0f}"]
        rows.append(cells)
        for promise in PROMISES:
            made = [result["promises"][str(promise)] for result in results]
            broken = [one["right"] < promise for one in made if one["right"] is not None]
            kept[promise] += broken
            shares = f"{100 * np.mean([one['rows'] for one in made]):.0f}"
            trusted_rows.append([name, f"{promise:.2f}", str(len(broken)), str(int(np.sum(broken))), shares])
        print("  ".join(cells), flush=True)
    if not rows:
        return []
    totals = {how: f"{100 * np.mean(inside):.1f}" for how, inside in covered.items()}
    note = (
        f"{START} random labels, then {N_ROUNDS} rounds of {ROUND} rows of `suggest_labels`, a fifth of them of the "
        "audit. Accuracy after the last round, in percent; covered: how often the 90 % interval holds the true one, "
        "that of the unlabelled rows, over the three rounds. All sets together: "
        f"audit {totals['audit']} %, hidden labels alone {totals['hidden']} %."
    )
    broken = ", ".join(f"{p:.2f}: {int(np.sum(kept[p]))} of {len(kept[p])}" for p in PROMISES)
    header = ["data", "draws", "true", "audit states", "covered", "hidden labels state", "covered"]
    of_rows = f"After the last round. Promises broken, of those made: {broken}."
    table = markdown_table(["data", "promise", "made", "broken", "rows, % of unlabelled"], trusted_rows)
    return ["## Stated accuracy", note, markdown_table(header, rows), "## Trusted rows", of_rows, table]


# What further labels bring


def run_curve(data: Any, seed: int) -> Result:
    views, target = some_rows(data, seed)
    n = max(round(0.08 * len(target)), 5 * len(np.unique(target)))
    y = random_labels(target, n, seed)
    model = FSSMSC(random_state=seed).fit(views, y)
    curve = model.learning_curve()
    assert curve is not None
    now = float((model.labels_ == target)[y < 0].mean())
    expected = curve.accuracy(2 * n)
    y = random_labels(target, 2 * n, seed)
    model.update(y)
    return {"labels": n, "now": now, "expected": expected, "true": float((model.labels_ == target)[y < 0].mean())}


def curve(runs: Runs) -> list[str]:
    rows, within = [], 0
    for name in CURVE_SETS:
        results = runs.repeat({"what": "curve", "data": name}, run_curve, 5)
        if results:
            now, expected, true = (
                np.mean([100 * one[what] for one in results]) for what in ("now", "expected", "true")
            )
            off = np.mean([100 * abs(one["expected"] - one["true"]) for one in results])
            within += abs(expected - true) <= 2
            figures = [f"{value:.1f}" for value in (now, expected, true, expected - true, off)]
            rows.append([name, str(len(results)), str(results[0]["labels"]), *figures])
            print("  ".join(rows[-1]), flush=True)
    if not rows:
        return []
    note = (
        "`learning_curve` fitted with n random labels, and the accuracy with twice as many (an update): percent. Mean "
        f"expected and mean true accuracy are within two points on {within} of {len(rows)} sets."
    )
    header = ["data", "draws", "n", "with n", "expected with 2n", "with 2n", "difference", "mean size of a draw's"]
    return ["## What twice the labels bring", note, markdown_table(header, rows)]


# Confidence where classes have no label


def run_unseen(data: Any, seed: int, model: str, how: str) -> Result:
    views, target = some_rows(data, seed)
    if how == "5 %":
        y = datasets.hide_labels(target, 0.05, random_state=seed)
    elif how == "one or more per class":
        y = datasets.hide_labels(target, 0.05, stratified=True, random_state=seed)
    else:  # half of them suggested
        n = max(round(0.025 * len(target)), 10)
        y = random_labels(target, n, seed)
        first = FSSMSC(random_state=seed).fit(views, y)
        rows = first.suggest_labels(n, audit=0.0)
        y[rows] = target[rows]
    fitted: Any = FSSMSC() if model == "FSSMSC" else AnchorViewClassifier()
    fitted.set_params(random_state=seed).fit(views, y)
    hidden = y < 0
    right = (fitted.labels_ == target)[hidden]
    before = fitted.predict_proba(views).max(axis=1)[hidden].astype(np.float64)
    after = fitted.confidence_[hidden].astype(np.float64)
    return {
        "before": 100 * expected_calibration_error(right, np.minimum(before, 1.0)),
        "after": 100 * expected_calibration_error(right, np.minimum(after, 1.0)),
        "acc": 100 * float(right.mean()),
    }


def unseen(runs: Runs) -> list[str]:
    rows = []
    for model, n_draws in (("FSSMSC", 5), ("AnchorViewClassifier", 1)):
        names = UNSEEN_SETS if model == "FSSMSC" else UNSEEN_SETS[:3]
        for how in ("5 %", "half suggested", "one or more per class"):
            means = []
            for name in names:
                key = {"what": "unseen", "data": name, "model": model, "how": how}
                results = runs.repeat(key, run_unseen, n_draws)
                if results:
                    figures = [float(np.mean([one[what] for one in results])) for what in ("acc", "before", "after")]
                    means.append(figures)
                    rows.append([model, how, name, str(len(results)), *(f"{value:.1f}" for value in figures)])
                    print("  ".join(rows[-1]), flush=True)
            if means:
                rows.append([model, how, "mean", "", *(f"{value:.1f}" for value in np.mean(means, axis=0))])
    if not rows:
        return []
    note = (
        "Calibration error of `confidence_` over unlabelled rows, percent, before and after the correction for classes "
        "without a label. 5 %: a random sample. One or more per class: 5 % of each class, at least one."
    )
    header = ["model", "labels", "data", "draws", "ACC", "before", "after"]
    return ["## Confidence where classes have no label", note, markdown_table(header, rows)]


# What suggested labels are worth


def run_worth(data: Any, seed: int, arm: str) -> Result:
    """Accuracy on a half of the rows that is never labelled, while labels are added to the other half."""
    views, target = some_rows(data, seed)
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(target))
    test, pool = order[: len(target) // 2], order[len(target) // 2 :]
    y = np.full(len(target), -1)
    y[pool[:START]] = target[pool[:START]]
    model = FSSMSC(random_state=seed).fit(views, y)
    accuracy = [100 * float((model.labels_ == target)[test].mean())]
    steps = np.diff(RANDOM_STEPS) if arm == "random" else np.full(5, 20)
    for step in steps:
        left = pool[y[pool] < 0]
        new = rng.choice(left, step, replace=False) if arm == "random" else model.suggest_labels(int(step), among=left)
        y[new] = target[new]
        model.update(y)
        accuracy.append(100 * float((model.labels_ == target)[test].mean()))
    return {"acc": accuracy}


def worth(runs: Runs) -> list[str]:
    rows = []
    for name in WORTH_SETS:
        arms = {
            arm: runs.repeat({"what": "worth", "data": name, "arm": arm}, run_worth, 5)
            for arm in ("random", "suggested")
        }
        n_draws = min(map(len, arms.values()))
        if not n_draws:
            continue
        random, suggested = (np.mean([one["acc"] for one in arms[arm][:n_draws]], axis=0) for arm in arms)
        curve = np.maximum.accumulate(random)
        labels = f"{np.interp(suggested[-1], curve, RANDOM_STEPS):.0f}" if suggested[-1] <= curve[-1] else "> 300"
        figures = [f"{value:.1f}" for value in (random[0], random[2], random[4], random[6], suggested[-1])]
        rows.append([name, str(n_draws), *figures, labels])
        print("  ".join(rows[-1]), flush=True)
    if not rows:
        return []
    note = (
        f"From {START} random labels, 100 more in batches of 20 by `suggest_labels` (none of the audit), each followed "
        "by an update; accuracy in percent on a random half of the rows, which no label is taken from. Worth: the "
        "number of random labels that give the same accuracy, read off the mean curve."
    )
    header = ["data", "draws", "+0", "+100 random", "+200 random", "+300 random", "+100 suggested", "worth"]
    return ["## What suggested labels are worth", note, markdown_table(header, rows)]


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), text="draws; by default 20 (stated), 5 (others)")
    parts = {"stated": stated, "curve": curve, "unseen": unseen, "worth": worth}
    run_parts(parser, parts, "label_loop", "The labelling loop: measured")


if __name__ == "__main__":
    main()
