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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]
SETS = ("hw", "scene15", "msrcv1", "ng20")
BASELINES = ("LMVSC", "FPMVS", "AMGL", "MVAR", "MLAN", "GPSNMF", "CONMF")
REFERENCES = ("ConcatKMeans", "BestViewSpectral", "ConcatLabelSpreading", "ConcatLogisticRegression")
RACES = ("fssmsc/hw", "fssmsc/scene15", "fssmsc/ng20", "admm/hw", "missing/hw", "cv/hw", "cv/msrcv1")
TOLERANCE = 1e-9


class Data:
    """A data set cut into rows of the fit, 5 % of them labelled (2 % of ng20), and every tenth row as a new one."""

    def __init__(self, folder: Path, name: str, step: int = 1) -> None:
        from anchorview import datasets

        found = datasets.load_npz(folder / f"{name}.npz")
        rows = np.arange(0, len(found.target), step)
        new = rows % (10 * step) == 0
        self.views, self.target = found.views[rows[~new]], found.target[rows[~new]]
        self.new = found.views[rows[new]]
        self.y = datasets.hide_labels(self.target, 0.02 if name == "ng20" else 0.05, random_state=0)
        self.n_classes = len(np.unique(self.target))


def _codes(model: Any) -> Arrays:
    codes = model.codes_
    return {"codes_data": codes.data, "codes_indices": codes.indices, "codes_indptr": codes.indptr}


def _of_fssmsc(model: Any, new: Any) -> Arrays:
    names = ("labels_", "confidence_", "embedding_", "objective_history_", "residual_history_", "landmarks_")
    found = {name: getattr(model, name) for name in names} | _codes(model)
    found |= {"predict": model.predict(new), "proba": model.predict_proba(new), "transform": model.transform(new)}
    found |= {"suggested": model.suggest_labels(10), "status": np.array(model.status_)}
    if model.view_importance_ is not None:
        found["importance"] = np.array([model.view_importance_.share, model.view_importance_.changed])
    return found


def _of_cv(model: Any, new: Any) -> Arrays:
    found = {"labels_": model.labels_, "confidence_": model.confidence_} | _codes(model)
    found |= {"predict": model.predict(new), "proba": model.predict_proba(new)}
    found |= {name: np.array(values) for name, values in model.cv_results_.items() if name != "mean_fit_time"}
    found["params"] = np.array([repr(setting) for setting in model.cv_results_["params"]])
    return found | {"best": np.array(repr(model.best_params_)), "averaged": np.array(repr(model.averaged_))}


def _fssmsc(data: Data, *, labels: bool = True, fit: dict[str, Any] | None = None, **parameters: Any) -> Arrays:
    from anchorview import FSSMSC

    model = FSSMSC(random_state=0, **parameters).fit(data.views, data.y if labels else None, **(fit or {}))
    return _of_fssmsc(model, data.new)


def _cv(data: Data, **fit: Any) -> Arrays:
    from anchorview import FSSMSCCV

    return _of_cv(FSSMSCCV(random_state=0).fit(data.views, data.y, **fit), data.new)


def _baseline(data: Data, name: str) -> Arrays:
    from anchorview import baselines

    kind = getattr(baselines, name)
    number = {"n_clusters": data.n_classes} if "n_clusters" in kind().get_params() else {}
    scaling = {"scaling": "l2"} if data.views.arrays[0].__class__.__name__.startswith("cs") else {}
    model = kind(random_state=0, **number, **scaling).fit(data.views, data.y)
    found = {name: getattr(model, name) for name in ("labels_", "objective_history_") if hasattr(model, name)}
    if hasattr(model, "predict"):
        found["predict"] = model.predict(data.new)
    return found


def _missing(data: Data) -> Data:
    """Hide a third of the cells; every row keeps one."""
    from anchorview import Views

    for name, seed in (("views", 0), ("new", 1)):
        views = getattr(data, name)
        mask = np.random.default_rng(seed).random((len(views), len(views.names))) > 0.3
        mask[:, 0] |= ~mask.any(axis=1)
        setattr(data, name, Views(views, mask=mask))
    return data


def _known(data: Data) -> dict[str, Any]:
    """Pairs by row number, groups and weights."""
    from anchorview import Constraints

    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(data.target), (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = data.target[pairs[:, 0]] == data.target[pairs[:, 1]]
    stated = Constraints.from_pairs(pairs[alike], pairs[~alike], n_rows=len(data.target))
    groups = np.where(np.arange(len(data.target)) < 60, data.target, -1)
    return {
        "constraints": stated + Constraints.from_groups(must=groups),
        "sample_weight": rng.choice([0.5, 1.0, 2.0], len(data.target)),
    }


def cases(folder: Path) -> dict[str, Callable[[], Arrays]]:
    """Everything that is recorded, by name."""

    def load(name: str, step: int = 1) -> Data:
        return Data(folder, name, step)

    found: dict[str, Callable[[], Arrays]] = {}
    for name in SETS:
        found[f"fssmsc/{name}"] = lambda name=name: _fssmsc(load(name))  # type: ignore[misc]
    found["admm/hw"] = lambda: _fssmsc(load("hw"), solver="admm", units="paper", ridge=0.0)
    found["admm/msrcv1"] = lambda: _fssmsc(
        load("msrcv1"), solver="admm", units="paper", ridge=0.0, solver_options={"mode": "released"}, scaling="l2"
    )
    found["knn/scene15"] = lambda: _fssmsc(load("scene15"), inference="knn", landmarks="random")
    found["euclidean/msrcv1"] = lambda: _fssmsc(load("msrcv1"), inference="euclidean", omit=("coupling",))
    found["relabel/hw"] = lambda: _fssmsc(load("hw"), relabel=0.8, class_balance="balanced", measure_views=True)
    found["clusters/hw"] = lambda: _fssmsc(load("hw"), labels=False, n_clusters=10, scaling="standard")
    found["missing/hw"] = lambda: _fssmsc(_missing(load("hw")))
    found["known/hw"] = lambda: _fssmsc(data := load("hw"), fit=_known(data))
    for name in SETS:
        found[f"cv/{name}"] = lambda name=name: _cv(load(name))  # type: ignore[misc]
    found["cv-missing/hw"] = lambda: _cv(_missing(load("hw")))
    found["cv-weights/hw"] = lambda: _cv(data := load("hw"), sample_weight=_known(data)["sample_weight"])
    for method in (*BASELINES, *REFERENCES):
        for name in SETS:
            step = 4 if name == "ng20" else 1
            found[f"{method}/{name}"] = lambda method=method, name=name, step=step: _baseline(  # type: ignore[misc]
                load(name, step), method
            )
    return found


def record(out: Path, folder: Path, only: str) -> None:
    for case, run in cases(folder).items():
        path = out / f"{case.replace('/', '.')}.npz"
        if path.exists() or not case.startswith(only):
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
import pathlib, fingerprint
warnings.simplefilter("ignore")
run = fingerprint.cases(pathlib.Path(folder))[case]
run()
start = time.perf_counter()
run()
print(json.dumps([time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def race(sources: tuple[str, str], folder: Path, repeats: int, only: str) -> None:
    """Print ratios of time and memory, the second package to the first."""
    print("| case | seconds, first | second | ratio of times (median) | ratio of peak memory |\n|---|---|---|---|---|")
    for case in RACES:
        if not case.startswith(only):
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
    parser.add_argument("--only", default="", help="cases whose name begins with this")
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
