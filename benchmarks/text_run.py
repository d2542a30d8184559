"""The command on a table of text: seconds of each way to run it, the model file, and what a predicted row takes.

`fitted` fits both estimators here, and says what suggestions of rows to label take, and how far the answers of a stored
model are from those before.

    python benchmarks/text_run.py
    python benchmarks/text_run.py --rows 2000 --only check --only fast

A table of 5,000 Debian packages (``apt-cache dumpavail``): columns of text (description, what a package depends on, its
maintainer), sizes, priority, architecture and version, and the section given for 3 % of them. The command runs as a
user types it, each time in a process of its own. Kernels are compiled beforehand, by a small run that is not counted.
On a machine that does other work too, look at the CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from anchorview import FSSMSC, AnchorViewClassifier, TableViews, load, save
from anchorview.datasets import hide_labels
from anchorview.readers.code_space import code_coordinates
from anchorview.readers.group_tree import make_group_tree
from anchorview.readers.suggest import suggest_from
from text_table import FIELDS, packages

SHARE = 0.03
COLUMNS = (*FIELDS, "Version", "Architecture", "Depends", "Size")
COMMAND = [sys.executable, "-m", "anchorview"]
WAYS: dict[str, list[str]] = {
    "check": ["--check"],
    "fast": ["--fast", "-o", "fast"],
    "fast without report": ["--fast", "--no-report", "-o", "bare"],
    "everything": ["-o", "full"],
}
OTHERS = ("predict", "fitted")
MANY_LABELS = 1000
_SINGLE_ROWS = 50


def make_table(folder: Path, n_rows: int) -> Path:
    """Write a table with a section for some of the rows, and the rows without it for `predict`."""
    table, class_ids = packages(n_rows, COLUMNS)
    table.to_csv(folder / "new.csv", index=False)
    y = hide_labels(class_ids, SHARE, random_state=0)
    table["section"] = [f"section {number}" if number >= 0 else "" for number in y]
    table.to_csv(folder / "table.csv", index=False)
    table[(y >= 0) | (np.arange(n_rows) < 300)].to_csv(folder / "small.csv", index=False)
    return folder / "table.csv"


def run(arguments: list[str], folder: Path) -> tuple[float, float, str]:
    """Return clock seconds, CPU seconds, and what a run of the command said."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def of_model(folder: Path, name: str) -> None:
    """Print size, loading time and time of a row of the model of a run."""
    path = folder / name / "model.anchorview"
    script = f"""
import time, anchorview, pandas as pd
from anchorview.app import model_file
import anchorview.fssmsc, anchorview.classifier, anchorview.data.table_views
start = time.perf_counter(); cpu = time.process_time()
model = anchorview.load({str(path)!r})
loading = time.perf_counter() - start, time.process_time() - cpu
rows = pd.read_csv({str(folder / "new.csv")!r})
for row in range(5):
    model.predict_proba(rows[row:row + 1])
start = time.perf_counter(); cpu = time.process_time()
for row in range({_SINGLE_ROWS}):
    model.predict_proba(rows[row:row + 1])
single = time.perf_counter() - start, time.process_time() - cpu
start = time.perf_counter(); cpu = time.process_time()
model.predict_proba(rows)
batch = time.perf_counter() - start, time.process_time() - cpu
print(*loading, *single, *batch, len(rows))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    load, load_cpu, single, single_cpu, batch, batch_cpu, n_rows = map(float, told.split())
    print(f"  model file: {path.stat().st_size / 1e6:.1f} MB")
    print(f"  loading: {load:.2f} s, CPU {load_cpu:.2f} s")
    print(f"  a row alone: {1e3 * single / _SINGLE_ROWS:.1f} ms, CPU {1e3 * single_cpu / _SINGLE_ROWS:.1f} ms")
    print(f"  a row of many: {1e3 * batch / n_rows:.2f} ms, CPU {1e3 * batch_cpu / n_rows:.2f} ms", flush=True)


def of_fitted(folder: Path) -> None:
    """Print seconds of suggestions, and how far the answers of models that were stored are from those before."""
    table = pd.read_csv(folder / "table.csv", keep_default_na=False, na_values={"Installed-Size": "", "Size": ""})
    rows = table.drop(columns="section")
    for kind in (FSSMSC, AnchorViewClassifier):
        model = make_pipeline(TableViews(), kind(random_state=0, on_empty="drop", unlabelled=""))
        model.fit(rows, table["section"])
        for n_labels in (None, MANY_LABELS):  # those of the table, or as if there were many
            start, cpu = time.perf_counter(), time.process_time()
            _suggest(model[-1], n_labels)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            what = "" if n_labels is None else f", as with {n_labels:,} labels"
            print(f"{kind.__name__}, 20 rows to label{what}: {seconds:.3f} s, CPU {cpu:.3f} s", flush=True)
        save(model, folder / f"{kind.__name__}.anchorview")
        stored = load(folder / f"{kind.__name__}.anchorview")
        far = float(np.abs(stored.predict_proba(rows) - model.predict_proba(rows)).max())
        single = [stored.predict_proba(rows[row : row + 1]) for row in range(_SINGLE_ROWS)]
        apart = float(np.abs(np.vstack(single) - model.predict_proba(rows[:_SINGLE_ROWS])).max())
        print(f"{kind.__name__}, stored and loaded: probabilities differ by {far:.1e}, of rows alone by {apart:.1e}")


def _suggest(model: Any, n_labels: int | None) -> None:
    """Suggest 20 rows, with as many groups of rows as a number of labels brings."""
    if n_labels is None:
        model.suggest_labels(20)
    else:
        doubt = 1 - model.confidence_
        places = code_coordinates(model.codes_)
        suggest_from(make_group_tree(places), places, doubt, np.full(len(doubt), True), 20, n_labelled=n_labels)


def accuracy(folder: Path, name: str, truth: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    labels = pd.read_csv(folder / name / "labels.csv")["label"].str.removeprefix("section ").astype(int).to_numpy()
    return float((labels == truth)[y < 0].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--only", choices=[*WAYS, *OTHERS], action="append", help="can be repeated")
    parser.add_argument("--keep", type=Path, help="folder to work in, and to leave behind; a new one")
    options = parser.parse_args()
    wanted = options.only or [*WAYS, *OTHERS]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) if options.keep is None else options.keep
        folder.mkdir(exist_ok=True)
        table = make_table(folder, options.rows)
        truth = packages(options.rows, COLUMNS)[1]
        y = hide_labels(truth, SHARE, random_state=0)
        print(f"{options.rows:,} rows, {(y >= 0).sum()} labels of {len(np.unique(y[y >= 0]))} classes")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        run(["fit", "small.csv", "--label", "section", "-o", "warm"], folder)
        for name, more in WAYS.items():
            if name not in wanted:
                continue
            seconds, cpu, _ = run(["fit", table.name, "--label", "section", *more], folder)
            print(f"{name}: {seconds:.1f} s, CPU {cpu:.1f} s", flush=True)
            if "-o" in more:
                record = json.loads((folder / more[-1] / "run.json").read_text())
                stages = ", ".join(f"{stage} {value:.1f}" for stage, value in record["seconds"].items())
                print(f"  {stages}; accuracy {accuracy(folder, more[-1], truth, y):.3f}", flush=True)
                of_model(folder, more[-1])
        if "predict" in wanted:
            runs = [path for path in ("full", "fast", "bare", "warm") if (folder / path).exists()]
            model = str(Path(runs[0]) / "model.anchorview")
            seconds, cpu, _ = run(["predict", model, "new.csv", "-o", "new-labels.csv"], folder)
            print(f"predict, by {model}: {seconds:.1f} s, CPU {cpu:.1f} s")
        if "fitted" in wanted:
            of_fitted(folder)


if __name__ == "__main__":
    main()
