"""What the first fit on a machine takes: a new process, nothing compiled yet.

    python benchmarks/first_fit.py                        (this checkout, three times)
    python benchmarks/first_fit.py --against ../main      (another checkout too, in turn)
    python benchmarks/first_fit.py --functions            (what each compiled function took)

Prints CPU and wall seconds of the import ("scikit-learn": the part of it that `import sklearn.base` takes), the first
fit and the second one, and how many functions were compiled. "loaded" is the first fit of one more process, which finds
the compiled functions on disk. The machine may be busy: CPU seconds are what counts, and they grow with the load, too;
the ratio of two checkouts, measured in turn, says more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parents[1]
COLUMNS = ("import", "scikit-learn", "first", "second", "loaded")


def measure() -> dict[str, Any]:
    """Import, fit twice, and note seconds (CPU, wall) and compiled functions; in a process of its own."""
    marks = [(time.process_time(), time.perf_counter())]
    import sklearn.base  # noqa: F401  (what no estimator can do without)

    marks.append((time.process_time(), time.perf_counter()))
    from anchorview import FSSMSC

    marks.append((time.process_time(), time.perf_counter()))
    from numba.core import event

    import anchorview
    from anchorview import datasets

    functions: list[tuple[str, float]] = []
    begun: list[list[float]] = []

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            begun.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inner = begun.pop()
            seconds = time.process_time() - start
            if begun:
                begun[-1][1] += seconds
            functions.append((event.data["dispatcher"].py_func.__qualname__, seconds - inner))

    event.register("numba:compile", Listener())
    made = datasets.make_multiview_subspaces(600, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.2, random_state=0)
    result: dict[str, Any] = {"import": _since(marks[0], marks[2]), "scikit-learn": _since(marks[0], marks[1])}
    for name in ("first", "second"):
        start = time.process_time(), time.perf_counter()
        FSSMSC(n_landmarks=50, random_state=0, n_jobs=1).fit(made.views, y)
        result[name] = _since(start, (time.process_time(), time.perf_counter()))
    return result | {"functions": functions, "file": anchorview.__file__}


def _since(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    return end[0] - start[0], end[1] - start[1]


def run(checkout: Path) -> dict[str, Any]:
    """Measure a checkout with an empty cache, and once more with the cache that this has filled."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, str(Path(__file__).resolve()), "--child"]
        results = []
        for _ in range(2):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            results.append(json.loads(done.stdout))
    if not results[0]["file"].startswith(str(checkout)):
        raise RuntimeError(f"{results[0]['file']} was measured instead of {checkout}")
    return results[0] | {"loaded": results[1]["first"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--functions", action="store_true", help="CPU seconds of each compiled function")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure()))
        return
    checkouts = [HERE] + ([] if options.against is None else [options.against.resolve()])
    results: dict[Path, list[dict[str, Any]]] = {checkout: [] for checkout in checkouts}
    for _ in range(options.repeats):
        for checkout in checkouts:
            results[checkout].append(run(checkout))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; CPU (wall) seconds, medians of {options.repeats}")
    for checkout, runs in results.items():
        values = {name: [median(each[name][kind] for each in runs) for kind in (0, 1)] for name in COLUMNS}
        texts = [f"{name} {cpu:.2f} ({wall:.2f})" for name, (cpu, wall) in values.items()]
        print(f"{checkout}: {', '.join(texts)}, {len(runs[0]['functions'])} functions compiled")
    if options.against is not None:
        for name in ("import", "first"):
            ratios = [new[name][0] / old[name][0] for new, old in zip(*results.values(), strict=True)]
            print(f"{name}: {median(ratios):.2f} of the other's CPU seconds ({min(ratios):.2f}-{max(ratios):.2f})")
    if options.functions:
        for name, seconds in sorted(results[HERE][0]["functions"], key=lambda item: -item[1])[:20]:
            print(f"{seconds:6.2f} s  {name}")


if __name__ == "__main__":
    main()
