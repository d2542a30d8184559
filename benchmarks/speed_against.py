"""Two checkouts side by side: seconds of fits and predictions, in turn, in one run.

    git worktree add ../old b0241f9
    python benchmarks/speed_against.py --against ../old --fashion /tmp/anchorview-data
    python benchmarks/speed_against.py --against ../old --jobs million --repeats 1

Each checkout runs in a process of its own that holds the data and works when it is asked to, in turn with the other, so
that both see the same machine. Printed are medians, the median of the ratios, and for fits how many bare products
E = X·Uᵀ they take. "given" is a fit with every setting given, "default" one that chooses its settings; "labels" is the
last stage of a fit ("million" has 1 % labels), part of its seconds. "predict" is rows a second of a model of the fit
"given", "single" milliseconds a row, one row at a time, from a loaded model.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]
JOBS = ("given", "default", "predict", "single", "million")


def serve(job: str, place: str, rows: int) -> None:
    """Load the data, then do the job once for every line that is read, and print what it took."""
    sys.path.insert(0, str(Path(__file__).parent))
    import anchorview
    from anchorview import FSSMSC
    from speed_jobs import FORMER, load_rows, time_single_rows

    views, target, y = load_rows("synthetic" if job == "million" else place, rows)
    settings: dict[str, Any] = {} if job == "default" else FORMER
    few = np.random.default_rng(0).permutation(rows)[:600]
    FSSMSC(n_landmarks=50, random_state=0, **settings).fit(views[few], target[few])  # loads the compiled kernels
    model, wide, right = None, None, None
    if job in ("predict", "single"):
        model = FSSMSC(random_state=0, **settings).fit(views, y)
        views = views[np.sort(np.random.default_rng(1).choice(rows, min(rows, 20_000), replace=False))]
    elif job != "million":
        wide = views.to_array(np.float32)
        right = np.random.default_rng(0).random((wide.shape[1], 500), dtype=np.float32)
    print(anchorview.__file__, flush=True)
    for _ in sys.stdin:
        start = time.perf_counter(), time.process_time()
        taken: dict[str, float] = {}
        if job == "predict":
            model.predict(views)
        elif job == "single":
            taken["each"] = time_single_rows(model, views)
        else:
            fitted = FSSMSC(random_state=0, **settings).fit(views, y)
            taken |= {"labels": fitted.stage_seconds_["labels"], "acc": float(np.mean(fitted.labels_ == target))}
        taken |= {"seconds": time.perf_counter() - start[0], "cpu": time.process_time() - start[1]}
        if wide is not None:
            again = time.perf_counter()
            wide @ right
            taken["product"] = time.perf_counter() - again
        print(json.dumps({**taken, "rows": len(views)}), flush=True)


def compare(checkouts: list[Path], job: str, place: str, rows: int, repeats: int) -> None:
    """Race two checkouts, and print how it went."""
    children = []
    for checkout in checkouts:
        environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
        command = [sys.executable, str(Path(__file__).resolve()), "--serve", job, "--place", place, "--rows", str(rows)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        children.append(subprocess.Popen(command, env=environment, **pipes))
    results: list[list[dict[str, float]]] = [[], []]
    try:
        for checkout, child in zip(checkouts, children, strict=True):
            if not child.stdout.readline().startswith(str(checkout)):
                raise RuntimeError(f"{checkout} was not measured")
        for number in range(repeats):
            for each in (0, 1) if number % 2 else (1, 0):
                children[each].stdin.write("\n")
                children[each].stdin.flush()
                results[each].append(json.loads(children[each].stdout.readline()))
    finally:
        for child in children:
            child.kill()
            child.wait()
    print(f"{job} ({rows:,} rows): " + "; ".join(summary(results, job)), flush=True)


def summary(results: list[list[dict[str, float]]], job: str) -> list[str]:
    """Put medians of the new and the old checkout into words."""
    lines = []
    for name, unit in (
        ("seconds", "s"),
        ("cpu", "CPU s"),
        ("labels", "s labels"),
        ("each", "ms a row"),
        ("acc", "ACC"),
    ):
        if name in results[0][0] and (job != "single" or name == "each"):
            new, old = (statistics.median(result[name] for result in one) for one in results)
            ratio = statistics.median(a[name] / b[name] for a, b in zip(*results, strict=True))
            lines.append(f"{unit} {old:.3g} → {new:.3g} ({ratio:.2f})")
    if "product" in results[0][0]:
        fits = [statistics.median(result["seconds"] / result["product"] for result in one) for one in results]
        lines.append(f"products {fits[1]:.2f} → {fits[0]:.2f}")
    if job == "predict":
        rates = [statistics.median(result["rows"] / result["seconds"] for result in one) for one in results]
        lines.append(f"rows/s {rates[1]:,.0f} → {rates[0]:,.0f}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="the other checkout")
    parser.add_argument("--fashion", type=Path, help="folder with fashion.npz (see benchmarks/fashion.py)")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, help="other numbers than 70,000 and 1,000,000")
    parser.add_argument("--serve", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--place", default="synthetic", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.place, options.rows)
        return
    if options.against is None:
        parser.error("name another checkout: --against PATH")
    place = "synthetic" if options.fashion is None else str(options.fashion.resolve() / "fashion.npz")
    for job in options.jobs:
        rows = options.rows or (1_000_000 if job == "million" else 70_000)
        compare([HERE, options.against.resolve()], job, place, rows, options.repeats)


if __name__ == "__main__":
    main()
