"""Pairs of rows that belong together, or do not, instead of labels; a part of benchmarks/realdata.py."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from anchorview import FSSMSC, Constraints, datasets
from anchorview.bench.scripts import Result, Runs
from anchorview.report.tables import markdown_table
from realdata_scores import fit_and_score, mean_of, table_row

SAME_ROWS = ("labels", "all pairs of the labels", "groups of the labels, must-link only")


def pairs_of_labels(y: Any) -> Constraints:
    """Return all pairs that the labels imply."""
    listed = list(combinations(np.flatnonzero(y != -1).tolist(), 2))
    must = [(a, b) for a, b in listed if y[a] == y[b]]
    return Constraints.from_pairs(must, [(a, b) for a, b in listed if y[a] != y[b]], n_rows=len(y))


def random_pairs(target: Any, n_pairs: int, kind: str, seed: int) -> Constraints:
    """Return pairs of random rows: as they are drawn, or half of them of one class and half of two."""
    rng = np.random.default_rng(seed)
    must: list[tuple[int, int]] = []
    cannot: list[tuple[int, int]] = []
    while len(must) + len(cannot) < n_pairs:
        a, b = map(int, rng.choice(len(target), 2, replace=False))
        alike = must if target[a] == target[b] else cannot
        if kind == "random" or len(alike) < n_pairs // 2:
            alike.append((a, b))
    return Constraints.from_pairs(must, cannot, n_rows=len(target))


def run_pairs(data: Any, seed: int, how: str, n_pairs: int) -> Result:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    model, nothing = FSSMSC(n_clusters=10, random_state=seed), np.full(len(y), -1)
    if how == "labels":
        return {**fit_and_score(model, data.views, y, data.target), "broken": 0.0}
    if how == "all pairs of the labels":
        constraints: Constraints | None = pairs_of_labels(y)
    elif how == "groups of the labels, must-link only":
        constraints = Constraints.from_groups(must=y)
    else:
        constraints = random_pairs(data.target, n_pairs, how, seed) if n_pairs else None
    scored = y == -1 if how in SAME_ROWS else np.ones(len(y), dtype=bool)
    scores = fit_and_score(model, data.views, nothing, data.target, scored, constraints=constraints)
    violations = model.constraint_violations_
    if violations is None:
        return {**scores, "broken": 0.0}
    broken, stated = np.add(violations.must, violations.cannot)
    return {**scores, "broken": 100 * float(broken / stated)}


def pairs(runs: Runs) -> list[str]:
    rows = []
    kinds = [(how, 0) for how in SAME_ROWS]
    kinds += [("random", n) for n in (0, 200, 500, 1000)] + [("half must-link", n) for n in (200, 500, 1000)]
    for how, n_pairs in kinds:
        key = {"what": "pairs", "data": "hw", "how": how, "n_pairs": n_pairs}
        mean = mean_of(runs, key, run_pairs, 20)
        name = f"100 labelled rows: {how}" if how in SAME_ROWS else f"{n_pairs} {how} pairs"
        for row in table_row([name if how in SAME_ROWS or n_pairs else "nothing known"], mean):
            rows.append([*row, f"{mean['broken'][0]:.1f}"])
    note = (
        "HW. The first three are scored on the rows without labels, the others on all rows. Broken: percent "
        "of the pairs that the found clusters break."
    )
    header = ["HW", "draws", "ACC", "NMI", "ARI", "broken"]
    return ["## Pairs instead of labels", note, markdown_table(header, rows)]
