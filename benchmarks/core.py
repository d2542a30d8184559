"""Accuracy of the core on real data, and the paper's whole parameter grid.

    python benchmarks/core.py accuracy --data ../shared/data     the accuracy table (20 draws of labels)
    python benchmarks/core.py grid --data ../shared/data         175 settings × two solvers on HW, m=300
    python benchmarks/core.py descent --data ../shared/data      does J ever rise? 6 β × 7 λ_Z on HW and landuse21

Finished runs are kept in benchmarks/results/core.jsonl and not computed again.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from anchorview import FSSMSC, Views, datasets
from anchorview.bench.environment import environment_line
from anchorview.bench.methods import METHODS
from anchorview.bench.paper import DATA, paper_scores
from anchorview.bench.protocol import average, run_once
from anchorview.bench.records import Records
from anchorview.bench.scripts import SCORES, DataSets, Result, Runs, add_draws, make_parser, score_columns
from anchorview.report.tables import markdown_table

SETS = ("hw", "caltech101_20_re", "caltech101_7_re")
LANDMARKS = {"caltech101_7_re": 300}
PAPER: dict[str, Any] = {"solver__units": "paper", "scaling": "minmax", "readers": "nearest"}
ADMM = PAPER | {"solver": "admm", "ridge": 0.0}
PAPER_ADMM = ADMM | {"readers": "euclidean"}
MODELS: dict[str, dict[str, Any]] = {
    "active_set (defaults)": {},
    "active_set, constants": PAPER,
    "active_set, paper's distance": PAPER | {"readers": "euclidean"},
    "admm paper, minmax": PAPER_ADMM,
    "admm paper, l2": PAPER_ADMM | {"scaling": "l2"},
    "admm released, minmax": ADMM | {"solver__mode": "released"},
    "admm released, l2": METHODS["FSSMSC-ADMM"].fixed,
}
LIKE_FOR_LIKE = ("hw",)  # all models here; elsewhere, where the features are not the paper's, the first ones
DEFAULT_MODELS = ("active_set (defaults)", "active_set, constants", "active_set, paper's distance", "admm released, l2")
GRID = METHODS["FSSMSC"].grid


def run_model(data: Any, seed: int, model: str, n_landmarks: int) -> Result:
    fitted = FSSMSC(n_landmarks=n_landmarks, random_state=seed).set_params(**MODELS[model])
    return run_once(fitted, data.views, data.target, seed)


def accuracy(runs: Runs, names: list[str], models: str) -> None:
    rows = []
    for name in names:
        for model in MODELS:
            if (name not in LIKE_FOR_LIKE and model not in DEFAULT_MODELS) or models not in model:
                continue
            run = partial(run_model, n_landmarks=LANDMARKS.get(name, 500))
            mean = average(runs.repeat({"what": "accuracy", "data": name, "model": model}, run, 20))
            rows.append([name, model, *score_columns(mean), f"{mean['seconds'][0]:.2f}"])
            print("  ".join(rows[-1]), flush=True)
        if name in DATA:
            paper = [score[0] for score in (paper_scores(name, "FSSMSC") or {}).values() if score is not None]
            rows.append([name, "the paper, tuned on test labels", *(f"{s:.1f}" for s in paper[: len(SCORES)]), ""])
    print(f"\n{runs.draws} draws, 5 % labels (1 % from 10,000 rows), unlabelled rows scored.\n{environment_line()}\n")
    print(markdown_table(["data", "model", "ACC", "NMI", "ARI", "s"], rows))


def run_setting(data_sets: DataSets, parameters: dict[str, Any]) -> Result:
    data = data_sets.load("hw")
    model = FSSMSC(n_landmarks=300, random_state=0).set_params(**PAPER | parameters)
    return run_once(model, data.views, data.target, 0)


def grid(runs: Runs) -> None:
    for solver in ("active_set", "admm"):
        extra = ADMM if solver == "admm" else {}
        scores = {}
        for values in product(*GRID.values()):
            setting = dict(zip(GRID, values, strict=True))
            run = partial(run_setting, runs.data, extra | setting)
            result = runs.get({"what": "grid", "solver": solver, **setting}, run)
            scores[values] = np.nan if result is None else result["acc"]
        reached = np.array(list(scores.values()))
        print(f"\n{solver}: {len(reached)} settings, NaN {np.isnan(reached).sum()}, ACC from {reached.min():.2f}")
        print(f"to {reached.max():.2f}, median {np.median(reached):.2f}, at or above 90: {(reached >= 90).sum()}")
        for weight in GRID["must_link_weight"]:
            print(f"\nλ_M = {weight:g} (rows λ_Z, columns β)\n")
            header = ["λ_Z", *(f"{beta:g}" for beta in GRID["coupling"])]
            body = [[f"{l1:g}", *(f"{scores[weight, l1, beta]:.1f}" for beta in GRID["coupling"])] for l1 in GRID["l1"]]
            print(markdown_table(header, body))
    print(f"\nHW, m=300, 100 labels, one draw.\n{environment_line()}")


def descent(data_sets: DataSets) -> None:
    """Count rises of the objective, in double precision, over the whole range of β and λ_Z."""
    for name in ("hw", "landuse21"):
        data = data_sets.load(name)
        views = Views([np.asarray(view, dtype=np.float64) for view in data.data])
        y = datasets.hide_labels(data.target, 0.05, random_state=0)
        worst, rounds = -np.inf, 0
        for coupling, l1 in product([*GRID["coupling"], 1.0], GRID["l1"]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = FSSMSC(n_landmarks=200, coupling=coupling, l1=l1, random_state=0)
                model.set_params(**PAPER, solver__max_iter=10).fit(views, y)
            history = model.objective_history_
            rounds += len(history)
            worst = max(worst, float((np.diff(history) / np.abs(history[:-1])).max(initial=-np.inf)))
        text = f"{name}: 42 settings, {rounds} rounds, largest relative change of J between rounds {worst:.1e}"
        print(text, flush=True)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 20)
    parser.add_argument("what", choices=["accuracy", "grid", "descent"])
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="data sets of the accuracy table")
    parser.add_argument("--models", default="", help="only models whose name contains this text")
    options = parser.parse_args()
    data = DataSets(options.data)
    runs = Runs(Records(options.out / "core.jsonl"), data, options.draws, options.fresh, any_commit=options.any_commit)
    if options.what == "accuracy":
        accuracy(runs, options.sets, options.models)
    elif options.what == "grid":
        grid(runs)
    else:
        descent(data)


if __name__ == "__main__":
    main()
