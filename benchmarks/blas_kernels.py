"""Compare the labels of fits under two kernels of OpenBLAS, which add up products in different orders.

    python benchmarks/blas_kernels.py --data ../shared/data
    python benchmarks/blas_kernels.py --data ../shared/data --kernels Prescott Haswell --seed 3 --sets hw

Each data set is fitted in two processes that differ in OPENBLAS_CORETYPE alone (NumPy and SciPy have an OpenBLAS each;
both must heed it), with 5 % of labels: with every scaling that the data allow and both solvers, in the paper's units;
and with all defaults ("chosen"), where hidden labels choose the settings. "Rows" counts the labels that differ, and
"choice" tells whether settings do. "Landmarks" and "embedding" tell where a difference comes from: the largest change
of an entry, to the largest entry; 0 is the same to the last bit. Labels need not agree where a fit stopped at
`max_iter`, as its status then says. The table is benchmarks/results/blas_kernels.md; the exit code is 1 if a fit that
converged differs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from anchorview import FSSMSC, datasets
from anchorview.bench.scripts import DataSets, make_parser, write_report
from anchorview.features.auto import SCALINGS
from anchorview.report.tables import markdown_table

SETS = ("hw", "scene15", "bbcsport")
SOLVERS = ("active_set", "admm")
KERNELS = ("Haswell", "Sandybridge")  # with and without fused multiply-add
FRACTION = 0.05
DEFAULTS = ("chosen", "default")  # stands for scaling and solver of a fit that chooses for itself


def fit_all(data: Any, seed: int, scalings: list[str], solvers: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Fit with every scaling and solver; keep what is compared. A scaling that the data do not allow is left out."""
    y = datasets.hide_labels(data.target, FRACTION, stratified=True, random_state=seed)
    hidden, fits = y == -1, {}
    models = {DEFAULTS: FSSMSC(random_state=seed)}
    for scaling, solver in product(scalings, solvers):
        models[scaling, solver] = FSSMSC(scaling=scaling, readers="nearest", random_state=seed)
        models[scaling, solver].set_params(solver=solver, solver__units="paper")
    for kind, model in models.items():
        try:
            model.fit(data.views, y)
        except ValueError as error:
            if "makes no sense" not in str(error):  # tf-idf of negative numbers
                raise
            continue
        fits[kind] = {
            "labels": model.labels_,
            "landmarks": model.landmarks_,
            "embedding": model.embedding_,
            "choice": model.chosen_,
            "status": model.status_,
            "rounds": model.n_iter_,
            "accuracy": 100 * float(np.mean((model.labels_ == data.target)[hidden])),
        }
    return fits


def work(options: argparse.Namespace) -> None:
    """Fit in this process, which the other one started, and write the results to a file."""
    found = [pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]
    if set(found) != {options.kernel}:
        raise SystemExit(f"OpenBLAS runs kernels {found or 'of no kind: it is not there'}, not {options.kernel}.")
    warnings.simplefilter("ignore")  # what matters of them is in the status
    data = DataSets(options.data).load(options.sets[0])
    options.save.write_bytes(pickle.dumps(fit_all(data, options.seed, options.scalings, options.solvers)))


def fit_under(kernel: str, name: str, options: argparse.Namespace, folder: Path) -> dict[tuple[str, str], Any]:
    """Fit one data set in a process that runs a kernel."""
    save = folder / f"{name}-{kernel}"
    command = [sys.executable, __file__, "--sets", name, "--kernel", kernel, "--save", str(save)]
    command += ["--seed", str(options.seed), "--scalings", *options.scalings, "--solvers", *options.solvers]
    for place in options.data:
        command += ["--data", str(place)]
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"The process under {kernel} ended with code {done.returncode}: can this machine run it?")
    results: dict[tuple[str, str], Any] = pickle.loads(save.read_bytes())
    return results


def change(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two arrays, to the largest entry; infinity if their shapes differ."""
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one - other).max()) / max(float(np.abs(one).max()), np.finfo(np.float32).tiny)


def compare(one: dict[str, Any], other: dict[str, Any]) -> tuple[list[str], bool]:
    """Return the cells of a table, and whether labels differ although both fits converged."""
    n_different = int(np.count_nonzero(one["labels"] != other["labels"]))
    converged = all("converged" in fit["status"] for fit in (one, other))
    rounds = " / ".join(dict.fromkeys(str(fit["rounds"]) for fit in (one, other)))
    accuracy = " / ".join(dict.fromkeys(f"{fit['accuracy']:.1f}" for fit in (one, other)))
    changes = [f"{change(one[what], other[what]):.1g}" for what in ("landmarks", "embedding")]
    status = "converged" if converged else "max_iter"
    if one["status"] != other["status"]:
        status += ", statuses differ"
    choice = "same" if one["choice"] == other["choice"] else "differs"
    return [str(n_different), choice, *changes, rounds, accuracy, status], bool(n_different) and converged


def main() -> int:
    parser = make_parser(__doc__, __file__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names of data sets")
    parser.add_argument("--scalings", nargs="+", default=list(SCALINGS), choices=SCALINGS)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--kernels", nargs=2, default=list(KERNELS), help="two values of OPENBLAS_CORETYPE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernel", help=argparse.SUPPRESS)
    parser.add_argument("--save", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kernel:
        work(options)
        return 0
    rows, failures = [], []
    for name in options.sets:
        DataSets(options.data).source(name)
        with tempfile.TemporaryDirectory() as folder:
            one, other = (fit_under(kernel, name, options, Path(folder)) for kernel in options.kernels)
        for scaling, solver in one:
            cells, failed = compare(one[scaling, solver], other[scaling, solver])
            rows.append([name, scaling, solver, *cells])
            print("  ".join(rows[-1]), flush=True)
            if failed:
                failures.append(f"{name} {scaling} {solver}")
    header = ["data", "scaling", "solver", "rows", "choice", "landmarks", "embedding", "rounds", "ACC", "status"]
    n_same = sum(row[3] == "0" for row in rows)
    kernels = " and ".join(options.kernels)
    notes = f"Kernels {kernels}, seed {options.seed}: the same labels in {n_same} of {len(rows)} fits."
    if failures:
        notes += f" Converged and different: {', '.join(failures)}."
    text = [(__doc__ or "").strip(), notes, markdown_table(header, rows)]
    write_report(options.out / "blas_kernels.md", "Kernels of BLAS: measured", text)
    print(f"\n{notes}\nTable: {options.out / 'blas_kernels.md'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
