"""Sizes and times of model files, beside pickles of the same models.

    python benchmarks/model_files.py                    # the digits, and made data of 100,000 and a million rows
    python benchmarks/model_files.py --rows 50000

Made rows are non-negative, 200 features in two views of float32, ten classes, 1 % of the labels.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, datasets, load, save


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000], help="sizes of made data")
    rows = parser.parse_args().rows
    print("| model | rows | file, MB | with rows, MB | pickle, MB | save, s | load, s |")
    print("|:---|---:|---:|---:|---:|---:|---:|")
    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    for model in (FSSMSC(random_state=0), AnchorViewClassifier(random_state=0)):
        measure(model.fit(digits.views, y), digits.views[:500], len(y))
    for n_rows in rows:
        X, y = make(n_rows)
        measure(FSSMSC(random_state=0).fit(X, y), [part[:500] for part in X], n_rows)


def make(n_rows: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return two views and the labels of one row in a hundred."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, 10, n_rows)
    X = [
        np.abs(rng.random((10, 100), dtype=np.float32)[target] + 0.3 * rng.random((n_rows, 100), dtype=np.float32))
        for _ in range(2)
    ]
    return X, np.where(rng.random(n_rows) < 0.01, target, -1)


def measure(model: Any, some: Any, n_rows: int) -> None:
    """Print a line of the table, once the loaded model has answered as the fitted one does."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        start = time.perf_counter()
        save(model, small)
        saved = time.perf_counter() - start
        start = time.perf_counter()
        back = load(small)
        loaded = time.perf_counter() - start
        save(model, large, rows=True)
        sizes = [path.stat().st_size / 1e6 for path in (small, large)]
    if not (back.predict_proba(some) == model.predict_proba(some)).all():
        raise SystemExit("the loaded model answers otherwise")
    sizes.append(len(pickle.dumps(model)) / 1e6)
    numbers = " | ".join(f"{size:.1f}" for size in sizes)
    print(f"| {type(model).__name__} | {n_rows:,} | {numbers} | {saved:.2f} | {loaded:.2f} |", flush=True)


if __name__ == "__main__":
    main()
