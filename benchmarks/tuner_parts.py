"""What each part of FSSMSCCV is worth: the tuner with one part switched off, on every data set below 10,000 rows.

    python benchmarks/tuner_parts.py --data ../shared/data --draws 3

Finished runs are kept in benchmarks/results/tuner_parts.jsonl (key: data, part, seed) and not made again; --fresh does.
The table is benchmarks/results/tuner_parts.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from anchorview import FSSMSC, FSSMSCCV, datasets
from anchorview.bench.environment import environment_line
from anchorview.bench.protocol import run_once
from anchorview.bench.records import Records
from anchorview.report.tables import markdown_table
from anchorview.tuning import ensemble, judging, search, task

RESULTS = Path(__file__).parent / "results"
MAX_ROWS = 10_000
Model = Callable[[int], Any]


@contextmanager
def unchanged() -> Iterator[None]:
    yield


def tuner(seed: int) -> Any:
    return FSSMSCCV(random_state=seed)


PARTS: dict[str, tuple[Callable[[], Any], Model]] = {
    "FSSMSC, defaults": (unchanged, lambda seed: FSSMSC(random_state=seed)),
    "FSSMSCCV": (unchanged, tuner),
    "no graph": (lambda: patch.object(task, "MAX_ROWS", 0), tuner),
    "no second fit": (lambda: patch.object(ensemble.Ensemble, "add_sure_rows", lambda *_: None), tuner),
    "no selection": (lambda: patch.object(search, "_PICKS_PER_SETTING", 1), tuner),
    "no prior": (lambda: patch.object(judging, "_PRIOR_ROWS", 1e-9), tuner),
    "one setting": (unchanged, lambda seed: FSSMSCCV(n_averaged=1, random_state=seed)),
}


def score(records: Records, data: Any, name: str, part: str, seed: int, fresh: bool) -> float:
    key = {"data": name, "part": part, "seed": seed}
    found = None if fresh else records.get(key)
    if found is None:
        change, make = PARTS[part]
        with warnings.catch_warnings(), change():
            warnings.simplefilter("ignore")
            found = run_once(make(seed), data.views, data.target, seed)
        records.add(key, found)
        print(f"{name} seed {seed} {part}: {found['acc']:.1f}", flush=True)
    return float(found["acc"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    options = parser.parse_args()
    records = Records(RESULTS / "tuner_parts.jsonl")
    scores: dict[str, dict[str, list[float]]] = {part: {} for part in PARTS}
    sets = {}
    for path in sorted(options.data.glob("*.npz")):
        try:
            data = datasets.load_npz(path)
        except (ValueError, KeyError):
            continue  # part of a data set in several files
        if len(data.target) < MAX_ROWS:
            sets[path.stem] = data
    for seed in range(options.draws):
        for name, data in sets.items():
            for part in PARTS:
                found = score(records, data, name, part, seed, options.fresh)
                scores[part].setdefault(name, []).append(found)
    means = {part: {name: float(np.mean(values)) for name, values in found.items()} for part, found in scores.items()}
    rows = []
    for part, found in means.items():
        difference = np.array([found[name] - means["FSSMSCCV"][name] for name in sets])
        rows.append([part, *(f"{found[name]:.1f}" for name in sets), f"{np.mean(list(found.values())):.2f}"])
        rows[-1] += [f"{difference.mean():+.2f}", f"{difference.min():+.1f}", f"{difference.max():+.1f}"]
    header = ["ACC", *sets, "mean", "against FSSMSCCV", "least", "most"]
    note = f"{options.draws} draws, 5 % labels, unlabelled rows scored."
    text = "\n\n".join(
        ["# The tuner without each of its parts", environment_line(), note, markdown_table(header, rows)]
    )
    (RESULTS / "tuner_parts.md").write_text(text + "\n")
    print("\n" + text)


if __name__ == "__main__":
    main()
