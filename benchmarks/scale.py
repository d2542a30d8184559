"""Rows from disk: memory, time and bytes of a fit and of predictions that do not fit into memory, beside those that do.

    python benchmarks/scale.py --rows 200000 --small 50000 --predict-rows 400000     a small run, a minute or two
    python benchmarks/scale.py                                                       5 and 10 million rows
    python benchmarks/scale.py --page                                                the page from what is recorded

The rows (three views, float32) are generated block by block in a folder that is removed at the end. Every job is its
own process, which reports its peak of resident memory, its time, and the bytes that it read and wrote by system calls.
The fit in memory and the fit from disk alternate, as the machine may do other work; processor time is given beside the
time on the clock. Records are in `benchmarks/results/scale.jsonl`, keyed by all options, the commit and the defaults;
`scale.md` beside it is written from the newest record of each half.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, Views, open_rows
from anchorview.bench.environment import environment_line
from anchorview.bench.process import reset_peak, resident_bytes
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs
from anchorview.export import predict_to
from scale_page import N_CLASSES, write_page

BLOCK = 2**16
N_LABELLED = 1000
RESULTS = Path(__file__).parent / "results"


def view_sizes(n_features: int) -> list[int]:
    return [n_features - 2 * (n_features // 3), n_features // 3, n_features // 3]


def make_rows(folder: Path, name: str, n_rows: int, n_features: int) -> None:
    """Write three views of rows around centres of ten classes, and their classes, block by block."""
    sizes = view_sizes(n_features)
    rng = np.random.default_rng(0)
    centres = [rng.standard_normal((4 * N_CLASSES, size)).astype(np.float32) for size in sizes]
    files = [
        np.lib.format.open_memmap(folder / f"{name}-{place}.npy", "w+", np.float32, (n_rows, size))
        for place, size in enumerate(sizes)
    ]
    target = np.empty(n_rows, dtype=np.int64)
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        stop, own = min(start + BLOCK, n_rows), np.random.default_rng([1, number])
        group = own.integers(4 * N_CLASSES, size=stop - start)  # each class has four groups
        target[start:stop] = group % N_CLASSES
        for file, centre in zip(files, centres, strict=True):
            noise = own.standard_normal((stop - start, centre.shape[1]), dtype=np.float32)
            file[start:stop] = np.abs(centre[group] + noise)
    for file in files:
        file.flush()
    np.save(folder / f"{name}-target.npy", target)


def open_views(folder: Path, name: str, in_memory: bool, n_rows: int | None = None) -> Views:
    paths = sorted(folder.glob(f"{name}-[0-9].npy"))
    stored = Views([open_rows(path) for path in paths])
    return stored[:n_rows] if in_memory else stored


def io_bytes() -> dict[str, int]:
    """Bytes that this process read and wrote by system calls."""
    pairs = (line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    found = {name: int(value) for name, value in pairs}
    return {"read": found["rchar"], "written": found["wchar"]}


def labels_of(folder: Path, name: str, n_rows: int) -> np.ndarray:
    target = np.load(folder / f"{name}-target.npy", mmap_mode="r")[:n_rows]
    y = np.full(n_rows, -1)
    rows = np.random.default_rng(2).choice(n_rows, N_LABELLED, replace=False)
    y[rows] = target[rows]
    return y


def build(landmarks: int, **options: Any) -> FSSMSC:
    settings = {"scaling": "minmax", "ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest", "random_state": 0}
    return FSSMSC(n_landmarks=landmarks, **settings).set_params(**options)


def measured(work: Any) -> dict[str, Any]:
    """Run some work, after a small fit that loads and compiles what has to be, and return what it took."""
    warm = np.random.default_rng(0).random((2000, 8), dtype=np.float32)
    build(20).fit([warm], np.arange(2000) % 3)
    before, io_before, start, cpu = reset_peak(), io_bytes(), time.perf_counter(), time.process_time()
    result = work() or {}
    io_after = io_bytes()
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "peak": resident_bytes(peak=True),
        "beyond": resident_bytes(peak=True) - before,
        **{name: io_after[name] - io_before[name] for name in io_after},
        **result,
    }


def fit_job(options: argparse.Namespace) -> dict[str, Any]:
    folder, is_memory = Path(options.folder), options.where == "memory"
    n_rows = options.small if is_memory else options.rows
    views = open_views(folder, "fit", is_memory, n_rows if is_memory else None)
    y = labels_of(folder, "fit", n_rows)

    def work() -> dict[str, Any]:
        limit = None if is_memory else options.memory_limit
        model = build(options.landmarks, solver__memory_limit=limit).fit(views, y)
        target = np.load(folder / "fit-target.npy", mmap_mode="r")[:n_rows]
        return {
            "rows": n_rows,
            "nonzeros": model.nonzeros_,
            "rounds": model.n_iter_,
            "stages": model.stage_seconds_,
            "in_files": "kept in files" in model.status_,
            "accuracy": float((model.labels_ == target).mean()),
        }

    return measured(work)


def sample_job(options: argparse.Namespace) -> dict[str, Any]:
    """Fit the model that predicts, on 50,000 rows."""
    folder = Path(options.folder)
    views = open_views(folder, "predict", True, 50_000)
    model = build(options.landmarks).fit(views, labels_of(folder, "predict", len(views)))
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    return {"rows": len(views)}


def predict_job(options: argparse.Namespace) -> dict[str, Any]:
    folder, is_memory = Path(options.folder), options.where == "memory"
    model = pickle.loads((folder / "model.pkl").read_bytes())
    views = open_views(folder, "predict", is_memory, options.predict_small if is_memory else None)

    def tell(done: int, total: int) -> None:
        print(f"rows {done}", flush=True)

    def work() -> dict[str, Any]:
        if is_memory:
            model.predict(views)
        else:
            path = folder / f"{options.where}.parquet"
            predict_to(model, views, path, block_rows=options.block_rows, progress=tell)
        return {"rows": len(views)}

    return measured(work)


def start(options: argparse.Namespace, job: str, where: str = "disk") -> subprocess.Popen[str]:
    values = {
        name: value
        for name, value in vars(options).items()
        if name not in ("job", "where", "page", "fresh", "only") and value is not None
    }
    given = [text for name, value in values.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, __file__, "--job", job, "--where", where, *given]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(options: argparse.Namespace, job: str, where: str = "disk") -> dict[str, Any]:
    process = start(options, job, where)
    lines = process.communicate()[0].splitlines()
    if process.returncode:
        raise SystemExit(f"{job} on {where} failed")
    result: dict[str, Any] = json.loads(lines[-1])
    print(f"{job:>8} {where:<8} " + describe(result), flush=True)
    return result


def describe(result: dict[str, Any]) -> str:
    if "seconds" not in result:
        return ""
    per_row = 1e6 / result["rows"]
    return (
        f"{result['rows']:>10,} rows  {result['seconds'] * per_row:6.1f} µs/row  "
        f"{result['cpu_seconds'] * per_row:6.1f} µs CPU/row  peak {result['peak'] / 1e9:.2f} GB"
    )


def predict_with_kills(options: argparse.Namespace) -> dict[str, Any]:
    """Predict from disk, killed twice on the way; return what the three processes took together."""
    began, n_kills = time.perf_counter(), 0
    while True:
        process = start(options, "predict", "killed")
        assert process.stdout is not None
        for line in process.stdout:
            done = int(line.split()[1]) if line.startswith("rows") else 0
            if n_kills < 2 and done > options.predict_rows * (n_kills + 1) / 3:
                process.send_signal(signal.SIGKILL)
                n_kills += 1
                break
        else:
            process.wait()
            return {**json.loads(line), "kills": n_kills, "seconds": time.perf_counter() - began}
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the fit from disk")
    parser.add_argument("--small", type=int, default=500_000, help="of the fit in memory")
    parser.add_argument("--predict-rows", type=int, default=10_000_000, help="predicted from disk")
    parser.add_argument("--predict-small", type=int, default=500_000, help="predicted in memory")
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--block-rows", type=int, default=2**18)
    parser.add_argument("--memory-limit", type=float, default=2e9, help="beyond which codes go to files")
    parser.add_argument("--only", choices=("fit", "predict"), help="one half of the benchmark")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already recorded")
    parser.add_argument("--folder", help="where rows are made; by default a temporary folder")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--where", default="disk", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job = {"fit": fit_job, "sample": sample_job, "predict": predict_job}[options.job]
        print(json.dumps(job(options)))
        return
    if options.page:
        show_page()
        return
    own = tempfile.mkdtemp(prefix="anchorview-scale-", dir=options.folder)
    options.folder = own
    runs = Runs(Records(RESULTS / "scale.jsonl"), DataSets([]), fresh=options.fresh)
    shared = {name: getattr(options, name) for name in ("features", "landmarks")}
    sizes = {"fits": ("rows", "small", "memory_limit"), "predictions": ("predict_rows", "predict_small", "block_rows")}
    halves = {"fits": fit_all, "predictions": predict_all}
    try:
        for part, work in halves.items():
            if options.only in (None, part.removesuffix("s").replace("prediction", "predict")):
                key = {"part": part, **shared, **{name: getattr(options, name) for name in sizes[part]}}
                runs.get(key, lambda work=work: {"environment": environment_line(), "runs": work(options)})
    finally:
        shutil.rmtree(own)
    show_page()


def show_page() -> None:
    write_page(Records(RESULTS / "scale.jsonl"), RESULTS / "scale.md")
    print((RESULTS / "scale.md").read_text())


def fit_all(options: argparse.Namespace) -> dict[str, Any]:
    folder = Path(options.folder)
    make_rows(folder, "fit", options.rows, options.features)
    before = run(options, "fit", "memory")
    disk = run(options, "fit", "disk")
    after = run(options, "fit", "memory")
    for path in folder.glob("fit-*"):
        path.unlink()
    return {"before": before, "disk": disk, "memory": after}


def predict_all(options: argparse.Namespace) -> dict[str, Any]:
    folder = Path(options.folder)
    make_rows(folder, "predict", options.predict_rows, options.features)
    run(options, "sample")
    before = run(options, "predict", "memory")
    whole = run(options, "predict", "disk")
    after = run(options, "predict", "memory")
    killed = predict_with_kills(options)
    killed["equal"] = (folder / "killed.parquet").read_bytes() == (folder / "disk.parquet").read_bytes()
    return {"before": before, "disk": whole, "memory": after, "killed": killed}


if __name__ == "__main__":
    main()
