"""Memory that fits take beyond their input, beside what `estimate_memory` tells beforehand.

    python benchmarks/memory.py                     all cases, some minutes
    python benchmarks/memory.py signed admm         some of them
    python benchmarks/memory.py --scale 4           four times the rows

Each fit runs in a fresh process, after a small one that loads and compiles what has to be; its peak is the largest
resident memory during the fit less that before it. The data are made, and their size is given in each case.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from anchorview import FSSMSC, Views, datasets
from anchorview.bench.environment import environment_line
from anchorview.bench.process import reset_peak, resident_bytes
from anchorview.bench.worker import Worker
from anchorview.report.tables import markdown_table

DENSE: dict[str, Any] = {"kind": "non-negative", "n_rows": 300_000, "n_features": 40, "labelled": 0.01}
CASES: dict[str, dict[str, Any]] = {
    "non-negative": DENSE,
    "signed": DENSE | {"kind": "signed", "n_rows": 200_000},
    "sparse": {"kind": "sparse", "n_rows": 100_000, "n_features": 4000, "labelled": 0.02},
    "all-labelled": DENSE | {"n_rows": 120_000, "labelled": 1.0},
    "signed-all-labelled": DENSE | {"kind": "signed", "n_rows": 80_000, "labelled": 1.0},
    "float64": DENSE | {"n_rows": 200_000, "dtype": "float64"},
    "missing": DENSE | {"n_rows": 250_000, "missing": 0.3},
    "many-classes": DENSE | {"n_rows": 100_000, "n_classes": 60},
    "admm": DENSE | {"n_rows": 150_000, "solver": "admm"},
    "admm-all-labelled": DENSE | {"n_rows": 50_000, "solver": "admm", "labelled": 1.0},
    "wide": DENSE | {"n_rows": 6_000, "n_features": 30_000, "n_landmarks": 1000, "labelled": 0.1},
}


def make_views(kind: str, n_rows: int, n_features: int, target: np.ndarray, dtype: str) -> list[Any]:
    """Return two views of rows around the centres of classes; "sparse" ones are counts of 40 words a row."""
    rng, n_classes = np.random.default_rng(0), int(target.max()) + 1
    views: list[Any] = []
    for size in (n_features // 2, n_features - n_features // 2):
        if kind == "sparse":
            chances = rng.gamma(0.2, size=(n_classes, size))
            words = np.empty((n_rows, 40), dtype=np.int32)
            for number in range(n_classes):
                rows = np.flatnonzero(target == number)
                words[rows] = rng.choice(size, (len(rows), 40), p=chances[number] / chances[number].sum())
            entries = (np.ones(words.size, dtype), words.ravel(), np.arange(0, words.size + 1, 40))
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
    kind: str,
    n_rows: int,
    n_features: int,
    labelled: float,
    n_landmarks: int = 100,
    n_classes: int = 10,
    dtype: str = "float32",
    missing: float = 0.0,
    **parameters: Any,
) -> dict[str, float]:
    """Estimate, fit, and return both numbers of bytes."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    target = rng.integers(n_classes, size=n_rows)
    y = target if labelled == 1 else datasets.hide_labels(target, labelled, random_state=0)
    mask = np.ones((n_rows, 2), dtype=bool)
    lacking = np.flatnonzero(rng.random(n_rows) < missing)
    mask[lacking, rng.integers(2, size=len(lacking))] = False
    views = Views(make_views(kind, n_rows, n_features, target, dtype), mask=mask if missing else None)
    FSSMSC(n_landmarks=2 * n_classes, max_iter=2, random_state=0, **parameters).fit(views[:1000], target[:1000])
    model = FSSMSC(n_landmarks=n_landmarks, random_state=0, **parameters)
    start = time.perf_counter()
    estimate = model.estimate_memory(X=views, y=y)
    estimating = time.perf_counter() - start
    before = reset_peak()
    start = time.perf_counter()
    model.fit(views, y)
    seconds = time.perf_counter() - start
    return {
        "estimate": estimate.total,
        "peak": resident_bytes(peak=True) - before,
        "seconds": seconds,
        "estimating": estimating,
        "nonzeros": model.codes_.nnz / n_rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--scale", type=float, default=1.0, help="times the rows")
    options = parser.parse_args()
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    header = ["case", "n", "d", "m", "non-zeros", "estimate MB", "peak MB", "ratio", "s", "s to estimate"]
    rows = []
    with Worker() as worker:
        for name in options.cases or CASES:
            case = CASES[name] | {"n_rows": int(options.scale * CASES[name]["n_rows"])}
            result = worker.run(f"{Path(__file__)}:measure", case, fresh=True)
            if result.status != "ok":
                print(f"{name}: {result.status} {result.message}", flush=True)
                continue
            found = result.value
            size = [f"{case['n_rows']:,}", f"{case['n_features']:,}", f"{case.get('n_landmarks', 100)}"]
            megabytes = [f"{found['estimate'] / 1e6:.0f}", f"{found['peak'] / 1e6:.0f}"]
            ratio = f"{found['estimate'] / found['peak']:.2f}"
            times = [f"{found['seconds']:.0f}", f"{found['estimating']:.1f}"]
            rows.append([name, *size, f"{found['nonzeros']:.0f}", *megabytes, ratio, *times])
            print("  ".join(rows[-1]), flush=True)
    print(f"\n{environment_line()}\n\n{markdown_table(header, rows)}")


if __name__ == "__main__":
    main()
