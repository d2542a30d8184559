"""What each part of the tuned estimator is worth: one part switched off, on every data set below 10,000 rows.

    python benchmarks/tuner_parts.py --data ../shared/data --draws 3

Finished runs are kept in benchmarks/results/tuner_parts.jsonl (key: data, part, seed) and not made again; --fresh does.
The table is benchmarks/results/tuner_parts.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.bench.protocol import run_once
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, write_report
from anchorview.report.tables import markdown_table

MAX_ROWS = 10_000
PARTS: dict[str, Callable[[int], Any]] = {
    "FSSMSC, defaults": lambda seed: FSSMSC(random_state=seed),
    "AnchorViewClassifier": lambda seed: AnchorViewClassifier(random_state=seed),
    "no graph": lambda seed: AnchorViewClassifier(search_options={"max_graph_rows": 0}, random_state=seed),
    "no second fit": lambda seed: AnchorViewClassifier(search_options={"second_fit": False}, random_state=seed),
    "no selection": lambda seed: AnchorViewClassifier(search_options={"picks_per_setting": 1}, random_state=seed),
    "no prior": lambda seed: AnchorViewClassifier(search_options={"prior_rows": 1e-9}, random_state=seed),
    "no large ridge": lambda seed: AnchorViewClassifier(search_options={"heavy_ridges": ()}, random_state=seed),
    "one setting": lambda seed: AnchorViewClassifier(n_averaged=1, random_state=seed),
}


def score(runs: Runs, name: str, part: str, seed: int) -> float:
    """Return the ACC of one draw."""

    def run() -> Result:
        data = runs.data.load(name)
        made = run_once(PARTS[part](seed), data.views, data.target, seed)
        print(f"{name} seed {seed} {part}: {made['acc']:.1f}", flush=True)
        return made

    result = runs.get({"data": name, "part": part, "seed": seed}, run)
    assert result is not None
    return float(result["acc"])


def write_table(means: dict[str, dict[str, float]], draws: int, runs: Runs) -> None:
    """Write the mean ACC of each part on each data set, and the differences from the whole tuner."""
    whole = means["AnchorViewClassifier"]
    rows = []
    for part, scores in means.items():
        difference = np.array([scores[name] - whole[name] for name in whole])
        rows.append([part, *(f"{scores[name]:.1f}" for name in whole), f"{np.mean(list(scores.values())):.2f}"])
        rows[-1] += [f"{difference.mean():+.2f}", f"{difference.min():+.1f}", f"{difference.max():+.1f}"]
    header = ["ACC", *whole, "mean", "against AnchorViewClassifier", "least", "most"]
    parts = [f"{draws} draws, 5 % labels, unlabelled rows scored.", markdown_table(header, rows)]
    print("\n" + write_report(runs.folder / "tuner_parts.md", "The tuner without each of its parts", parts))


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), 3)
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    options = parser.parse_args()
    data = DataSets(options.data, options.sets)
    runs = Runs(Records(options.out / "tuner_parts.jsonl"), data, fresh=options.fresh, any_commit=options.any_commit)
    names = [source.name for source in data.readable() if source.describe().n_rows < MAX_ROWS]
    scores = {
        (seed, name, part): score(runs, name, part, seed)
        for seed in range(options.draws)
        for name in names
        for part in PARTS
    }
    means = {
        part: {name: float(np.mean([scores[seed, name, part] for seed in range(options.draws)])) for name in names}
        for part in PARTS
    }
    write_table(means, options.draws, runs)


if __name__ == "__main__":
    main()
