"""Memory that fits take beyond their input, beside what `estimate_memory` tells beforehand, for both estimators.

    python benchmarks/memory.py                          five usual shapes and ten drawn at random, for both estimators
    python benchmarks/memory.py wide drawn-3             some of them
    python benchmarks/memory.py --estimator FSSMSC       for one estimator
    python benchmarks/memory.py signed admm              FSSMSC with nothing to choose; --others for all of these
    python benchmarks/memory.py signed --scale 4         four times the rows
    python benchmarks/memory.py --drawn --seed 2         ten others drawn at random, without the usual shapes
    python benchmarks/memory.py --out FILE               adds the table to a file: benchmarks/results/memory.md

Each fit runs in a fresh process, after a small one that loads and compiles what has to be; its peak is the largest
resident memory during the fit less that before it. The data are made, and their size is given in each case. Shapes at
random have 1,000 to 200,000 rows, 5 to 8,000 features in 1 to 5 views, 2 to 50 classes of which 1 to 10 % are labelled,
50 to 500 landmarks, single or double precision, dense or sparse; only inputs above 400 MB are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Views, datasets
from anchorview.bench.environment import environment_line
from anchorview.bench.process import reset_peak, resident_bytes
from anchorview.bench.worker import Worker
from anchorview.cost.estimate import give_back
from anchorview.report.tables import markdown_table

BOTH = ("FSSMSC", "AnchorViewClassifier")
WORDS = 40  # of a sparse row in each view, unless a case says otherwise
LARGEST = 4e8  # bytes of an input that is drawn
USUAL: dict[str, dict[str, Any]] = {
    "wide": {"kind": "signed", "n_rows": 3000, "n_features": 8000, "n_views": 1, "n_landmarks": 500, "labelled": 0.05},
    "tall": {"kind": "non-negative", "n_rows": 100_000, "n_features": 50, "n_views": 1, "labelled": 0.01},
    "images": {"kind": "non-negative", "n_rows": 20_000, "n_features": 784, "n_views": 1, "labelled": 0.02},
    "measured": {"kind": "signed", "n_rows": 200_000, "n_features": 20, "n_views": 2, "labelled": 0.01},
    "texts": {"kind": "sparse", "n_rows": 10_000, "n_features": 30_000, "n_views": 1, "labelled": 0.05, "words": 90},
}
USUAL = {name: {"n_landmarks": 500} | case for name, case in USUAL.items()}
DENSE: dict[str, Any] = {"kind": "non-negative", "n_rows": 450_000, "n_features": 40, "labelled": 0.01}
SETTLED = {"ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest"}
OTHERS: dict[str, dict[str, Any]] = {
    "non-negative": DENSE,
    "signed": DENSE | {"kind": "signed", "n_rows": 250_000},
    "sparse": {"kind": "sparse", "n_rows": 100_000, "n_features": 4000, "labelled": 0.02},
    "all-labelled": DENSE | {"n_rows": 120_000, "labelled": 1.0},
    "signed-all-labelled": DENSE | {"kind": "signed", "n_rows": 110_000, "labelled": 1.0},
    "float64": DENSE | {"n_rows": 300_000, "dtype": "float64"},
    "missing": DENSE | {"n_rows": 450_000, "missing": 0.3},
    "many-classes": DENSE | {"n_rows": 180_000, "n_classes": 60},
    "admm": DENSE | {"n_rows": 150_000, "solver": "admm", "solver__units": "data"},
    "admm-all-labelled": DENSE | {"n_rows": 50_000, "solver": "admm", "solver__units": "data", "labelled": 1.0},
    "very-wide": DENSE | {"n_rows": 6_000, "n_features": 30_000, "n_landmarks": 1000, "labelled": 0.1},
}


def draw_shapes(number: int = 10, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Draw shapes; every other one has features from a uniform distribution, or hardly any would be wide."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, dict[str, Any]] = {}
    while len(shapes) < number:
        n_rows, n_features = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((1e3, 2e5), (5, 8e3)))
        n_features = int(rng.integers(5, 8001)) if len(shapes) % 2 else n_features
        case: dict[str, Any] = {
            "kind": str(rng.choice(["non-negative", "signed", "sparse"])),
            "n_rows": n_rows,
            "n_features": n_features,
            "n_views": int(rng.integers(1, min(5, n_features // 2) + 1)),
            "n_classes": int(rng.integers(2, 51)),
            "labelled": round(float(rng.uniform(0.01, 0.1)), 3),
            "dtype": str(rng.choice(["float32", "float64"])),
            "n_landmarks": int(rng.integers(50, 501)),
        }
        n_bytes = np.dtype(case["dtype"]).itemsize * n_rows * n_features
        is_enough = labelled_of(case) >= 2 * case["n_classes"] and case["n_landmarks"] >= case["n_classes"]
        if is_enough and (case["kind"] == "sparse" or n_bytes <= LARGEST):
            shapes[f"drawn-{len(shapes) + 1}"] = case
    return shapes


def labelled_of(case: dict[str, Any]) -> int:
    """Return how many rows of a case have a label."""
    return int(case["labelled"] * case["n_rows"])


def make_views(
    kind: str, n_rows: int, n_features: int, target: np.ndarray, dtype: str, n_views: int, words: int
) -> list[Any]:
    """Return views of rows around the centres of classes; "sparse" ones are counts of some words a row."""
    rng, n_classes = np.random.default_rng(0), int(target.max()) + 1
    views: list[Any] = []
    for columns in np.array_split(np.arange(n_features), n_views):
        size = len(columns)
        if kind == "sparse":
            chances = rng.gamma(0.2, size=(n_classes, size)) + 1e-9
            drawn = np.empty((n_rows, words), dtype=np.int32)
            for number in range(n_classes):
                rows = np.flatnonzero(target == number)
                drawn[rows] = rng.choice(size, (len(rows), words), p=chances[number] / chances[number].sum())
            entries = (np.ones(drawn.size, dtype), drawn.ravel(), np.arange(0, drawn.size + 1, words))
            view = sparse.csr_array(entries, shape=(n_rows, size))
            view.sum_duplicates()
        else:
            view = rng.standard_normal((n_rows, size), dtype=np.dtype(dtype).type)
            centres = rng.standard_normal((n_classes, size)).astype(dtype)
            for start in range(0, n_rows, 10_000):  # no array as large as the view is left behind
                view[start : start + 10_000] += centres[target[start : start + 10_000]]
            if kind == "non-negative":
                np.abs(view, out=view)
        views.append(view)
    return views


def measure(
    estimator: str,
    kind: str,
    n_rows: int,
    n_features: int,
    labelled: float,
    n_views: int = 2,
    n_landmarks: int = 100,
    n_classes: int = 10,
    dtype: str = "float32",
    missing: float = 0.0,
    words: int = WORDS,
    **parameters: Any,
) -> dict[str, float]:
    """Estimate, fit, and return both numbers of bytes."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    target = rng.integers(n_classes, size=n_rows)
    y = target if labelled == 1 else datasets.hide_labels(target, labelled, random_state=0)
    mask = np.ones((n_rows, n_views), dtype=bool)
    lacking = np.flatnonzero(rng.random(n_rows) < missing)
    mask[lacking, rng.integers(n_views, size=len(lacking))] = False
    arrays = make_views(kind, n_rows, n_features, target, dtype, n_views, words)
    views = Views(arrays, mask=mask if missing else None)
    load(estimator, kind, dtype)
    build = AnchorViewClassifier if estimator == "AnchorViewClassifier" else FSSMSC
    model = build(n_landmarks=n_landmarks, random_state=0).set_params(**parameters)
    give_back()  # what was freed before must not be taken from by the fit, uncounted
    before = reset_peak()
    start = time.perf_counter()
    model.fit(views, y)
    seconds = time.perf_counter() - start
    peak = resident_bytes(peak=True) - before
    start = time.perf_counter()
    estimate = model.estimate_memory(X=views, y=y)
    estimating = time.perf_counter() - start
    return {
        "estimate": estimate.total,
        "told": str(estimate),
        "peak": peak,
        "seconds": seconds,
        "estimating": estimating,
        "nonzeros": model.codes_.nnz / n_rows,
    }


def load(estimator: str, kind: str, dtype: str) -> None:
    """Fit a few rows of the same kind, so that everything is loaded and compiled."""
    target = np.arange(300) % 3
    views = Views(make_views(kind, 300, 60, target, dtype, 1, 10))
    options: dict[str, Any] = {"n_landmarks": 20, "random_state": 0}
    (AnchorViewClassifier(**options) if estimator == "AnchorViewClassifier" else FSSMSC(**options)).fit(views, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(USUAL)}, drawn-1 and so on, {', '.join(OTHERS)}")
    parser.add_argument("--others", action="store_true", help="the cases of FSSMSC with nothing to choose")
    parser.add_argument("--estimator", choices=BOTH, help="by default both")
    parser.add_argument("--seed", type=int, default=0, help="of the shapes that are drawn")
    parser.add_argument("--drawn", action="store_true", help="only shapes that are drawn")
    parser.add_argument("--out", type=Path, help="a file that the table is added to")
    parser.add_argument("--scale", type=float, default=1.0, help="times the rows")
    options = parser.parse_args()
    drawn = draw_shapes(seed=options.seed)
    shapes = USUAL | drawn
    unknown = sorted(set(options.cases) - set(shapes | OTHERS))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    header = ["case", "estimator", "features", "n", "d", "m", "non-zeros", "estimate MB", "peak MB", "ratio", "s"]
    header += ["s to estimate"]
    rows, ratios = [], []
    with Worker() as worker:
        for name in options.cases or (OTHERS if options.others else drawn if options.drawn else shapes):
            of_both = name in shapes
            case = shapes[name] if of_both else SETTLED | OTHERS[name]
            case = case | {"n_rows": int(options.scale * case["n_rows"])}
            for estimator in (options.estimator,) if options.estimator else BOTH if of_both else BOTH[:1]:
                result = worker.run(f"{Path(__file__)}:measure", case | {"estimator": estimator}, fresh=True)
                if result.status != "ok":
                    print(f"{name}: {result.status} {result.message}", flush=True)
                    continue
                found = result.value
                kind = f"{case['kind']}, {case.get('dtype', 'float32')}"
                size = [kind, f"{case['n_rows']:,}", f"{case['n_features']:,}", f"{case.get('n_landmarks', 100)}"]
                megabytes = [f"{found['estimate'] / 1e6:.0f}", f"{found['peak'] / 1e6:.0f}"]
                ratios.append(found["estimate"] / found["peak"])
                ratio = f"{ratios[-1]:.2f}"
                times = [f"{found['seconds']:.0f}", f"{found['estimating']:.1f}"]
                rows.append([name, estimator, *size, f"{found['nonzeros']:.0f}", *megabytes, ratio, *times])
                print("  ".join(rows[-1]), flush=True)
                print(f"    {found['told']}", flush=True)
    told = tell(ratios, f"seed {options.seed}", markdown_table(header, rows))
    print(f"\n{told}")
    if options.out is not None:
        with options.out.open("a") as stream:
            stream.write(f"{told}\n" if stream.tell() == 0 else f"\n{told}\n")


def tell(ratios: list[float], seed: str, table: str) -> str:
    """Return the table of a run under what it was run on."""
    asked = sys.argv[1 : sys.argv.index("--out")] if "--out" in sys.argv else sys.argv[1:]
    command = " ".join(["python benchmarks/memory.py", *asked])
    machine = environment_line().split("; commit")[0]
    within = sum(0.7 <= ratio <= 1.3 for ratio in ratios)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "none"
    return (
        f"## Memory of fits, {seed}\n\n`{command}`, {date.today().isoformat()}; {machine}\n\n{table}\n\n"
        f"Ratio of the estimate to the peak: {spread}; {within} of {len(ratios)} within 0.7 to 1.3."
    )


if __name__ == "__main__":
    main()
