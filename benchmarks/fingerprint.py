"""What the estimators and the baselines answer, to the last bit: recorded before a change, compared after it.

    python benchmarks/fingerprint.py record before --source ../old/src --data ../shared/data
    python benchmarks/fingerprint.py record after --data ../shared/data
    python benchmarks/fingerprint.py compare before after
    python benchmarks/fingerprint.py race ../old/src src --data ../shared/data

`record` fits every case with the package found in SOURCE and keeps its arrays in a folder, one file a case; cases that
are there already are skipped. `compare` prints, for each case, whether everything is equal to the last bit and, if not,
the largest difference. `race` fits some cases with both packages in turn, each fit in a process of its own, and prints
the ratios of their times and of their peak memory. Use this machine only: another BLAS rounds otherwise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fingerprint_cases import cases

RACES = ("fssmsc/hw", "fssmsc/scene15", "fssmsc/ng20", "admm/hw", "missing/hw", "cv/hw", "cv/msrcv1")
TOLERANCE = 1e-9


def record(out: Path, folder: Path, only: str) -> None:
    for case, run in cases(folder).items():
        path = out / f"{case.replace('/', '.')}.npz"
        if path.exists() or not case.startswith(tuple(only.split(","))):
            continue
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run()
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path.with_suffix(".part.npz"), **found)
        path.with_suffix(".part.npz").rename(path)
        print(f"{case}: {time.perf_counter() - start:.1f} s", flush=True)


def _difference(before: Any, after: Any) -> float:
    """Largest difference of two arrays; infinity if they cannot be compared."""
    if before.shape != after.shape or before.dtype != after.dtype:
        return np.inf
    if before.dtype.kind not in "fiub":
        return 0.0 if np.array_equal(before, after) else np.inf
    gaps = np.abs(before.astype(float) - after.astype(float))
    return float(np.nan_to_num(np.where(np.isnan(before) & np.isnan(after), 0, gaps), nan=np.inf).max(initial=0.0))


def compare(before: Path, after: Path) -> int:
    failed = 0
    names = sorted(path.name for path in before.glob("*.npz"))
    for name in names:
        if not (after / name).exists():
            print(f"{name}: not recorded after")
            failed += 1
            continue
        old, new = np.load(before / name, allow_pickle=True), np.load(after / name, allow_pickle=True)
        gaps = {key: _difference(old[key], new[key]) if key in new.files else np.inf for key in old.files}
        differs = {key: gap for key, gap in gaps.items() if gap > 0}
        failed += any(gap > TOLERANCE for gap in differs.values())
        print(f"{name[:-4]}: {differs or 'equal to the last bit'}")
    print(f"{len(names) - failed} of {len(names)} cases agree within {TOLERANCE:g}.")
    return int(failed > 0)


_RACER = """
import json, resource, sys, time, warnings
source, benchmarks, folder, case = sys.argv[1:]
sys.path[:0] = [source, benchmarks]
import pathlib, fingerprint_cases
warnings.simplefilter("ignore")
run = fingerprint_cases.cases(pathlib.Path(folder))[case]
run()
start = time.perf_counter()
run()
print(json.dumps([time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def race(sources: tuple[str, str], folder: Path, repeats: int, only: str) -> None:
    """Print ratios of time and memory, the second package to the first."""
    print("| case | seconds, first | second | ratio of times (median) | ratio of peak memory |\n|---|---|---|---|---|")
    for case in RACES:
        if not case.startswith(tuple(only.split(","))):
            continue
        found: list[list[list[float]]] = [[], []]
        for repeat in range(repeats):
            for number in (0, 1) if repeat % 2 == 0 else (1, 0):
                command = [sys.executable, "-c", _RACER, sources[number], str(Path(__file__).parent), str(folder), case]
                found[number].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        seconds, memory = (np.array([[run[i] for run in side] for side in found]) for i in (0, 1))
        times, peaks = np.median(seconds[1] / seconds[0]), np.median(memory[1]) / np.median(memory[0])
        first, second = np.median(seconds, axis=1)
        print(f"| {case} | {first:.2f} | {second:.2f} | {times:.2f} | {peaks:.2f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("record", "compare", "race"))
    parser.add_argument("paths", nargs="+", help="record OUT; compare BEFORE AFTER; race SOURCE SOURCE")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the .npz files")
    parser.add_argument("--source", help="folder that holds the package to record, by default the installed one")
    parser.add_argument("--only", default="", help="cases whose name begins with one of these, between commas")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(Path(options.paths[0]), Path(options.paths[1]))
    if options.command == "race":
        race((options.paths[0], options.paths[1]), options.data, options.repeats, options.only)
        return 0
    if options.source:
        sys.path.insert(0, options.source)
    record(Path(options.paths[0]), options.data, options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
