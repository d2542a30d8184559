"""Time and memory of a fit, beside what it is compared with; every job in a fresh process, ratios within one run.

    python benchmarks/fashion.py --out /tmp/anchorview-data      (once; needs Debian's dataset-fashion-mnist)
    python benchmarks/speed.py --data ../shared/data --fashion /tmp/anchorview-data
    python benchmarks/speed.py … --quick                         (small sizes, a minute)

Writes benchmarks/results/speed.jsonl (all runs), speed.md (tables) and speed.png (log-log plot). A finished run is
not made again; --fresh starts over.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anchorview.bench.child import reset_peak, resident_bytes, run_job
from anchorview.bench.environment import environment_line
from anchorview.bench.records import Records
from anchorview.report.tables import markdown_table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
GB = 2**30
MEMORY_LIMIT = 18 * GB
ACCURACY = {"hw": 500, "caltech101_20_re": 500, "caltech101_7_re": 300}  # data and landmarks of the accuracy table


# ---- data -----------------------------------------------------------------------------------------------------------


def load(source: str, n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return views, target and y with 1 % labels (5 % below 10,000 rows), n random rows of the source."""
    from anchorview import datasets
    from anchorview.bench.protocol import label_fraction

    if source.startswith("synthetic"):
        data = datasets.make_multiview_subspaces(n, 10, (100, 60, 40), noise=0.3, nonnegative=True, random_state=0)
        views, target = data.views, data.target
    else:
        data = datasets.load_npz(source)
        rows = np.sort(np.random.default_rng(seed).permutation(len(data.target))[:n])
        views, target = data.views[rows], data.target[rows]
    return views, target, datasets.hide_labels(target, label_fraction(n), random_state=seed)


def scaled_features(views: Any) -> Any:
    from anchorview.features.scaling import fit_scaling

    return fit_scaling(views, "minmax", 2).rows(views, slice(0, len(views)))


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def accuracy_of(target: Any, labels: Any, y: Any) -> float:
    hidden = y == -1
    return 100 * float(np.mean(target[hidden] == labels[hidden]))


# ---- jobs, each run in a process of its own -------------------------------------------------------------------------


def job_fssmsc(source: str, n: int, repeats: int, m: int = 500) -> dict[str, Any]:
    """Fits and bare products in turn, so that both see the same machine; peak memory of one fit."""
    from anchorview import FSSMSC

    views, target, y = load(source, n)
    few = np.random.default_rng(0).permutation(n)[:600]
    FSSMSC(n_landmarks=50, random_state=0).fit(views[few], target[few])  # loads the compiled kernels
    before = reset_peak()
    model = FSSMSC(n_landmarks=m, random_state=0).fit(views, y)
    extra = resident_bytes(peak=True) - before
    wide = np.asarray(views, dtype=np.float32)
    right = np.ascontiguousarray(model.landmarks_.astype(np.float32).T)
    fits, products, stages = [], [], []
    for _ in range(repeats):
        products.append(timed(lambda: wide @ right)[0])
        seconds, model = timed(lambda: FSSMSC(n_landmarks=m, random_state=0).fit(views, y))
        fits.append(seconds)
        stages.append(model.stage_seconds_)
    chosen = np.random.default_rng(1).choice(n, min(n, 20_000), replace=False)
    new = views[np.sort(chosen)]
    rate = statistics.median(len(new) / timed(lambda: model.predict(new))[0] for _ in range(repeats))
    return {
        "seconds": statistics.median(fits),
        "product": statistics.median(products),
        "ratio": statistics.median(f / p for f, p in zip(fits, products, strict=True)),
        "stages": {name: statistics.median(s[name] for s in stages) for name in stages[0]},
        "extra_bytes": extra,
        "bytes_per_row": extra / n,
        "features": views.shape[1],
        "acc": accuracy_of(target, model.labels_, y),
        "rounds": model.n_iter_,
        "nonzeros": model.codes_.nnz / n,
        "predict_rows_per_second": rate,
    }


def job_admm(source: str, n: int, m: int = 500) -> dict[str, Any]:
    """Run the paper's algorithm as we have it: blocked, single precision."""
    from anchorview import FSSMSC

    views, target, y = load(source, n)
    seconds, model = timed(lambda: FSSMSC(n_landmarks=m, solver="admm", ridge=0.0, random_state=0).fit(views, y))
    return {"seconds": seconds, "acc": accuracy_of(target, model.labels_, y)}


def job_literal(source: str, n: int, m: int = 500) -> dict[str, Any]:
    """Run Algorithm 1 as printed, NumPy, float64, 30 rounds; landmarks are given to it, E and G computed once."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    import oracle
    from anchorview.features.landmarks import choose_landmarks
    from anchorview.features.scaling import fit_scaling

    views, target, y = load(source, n)
    order = np.argsort(y == -1, kind="stable")  # labelled rows first, as the paper has them
    views, target, y = views[order], target[order], y[order]
    scaler = fit_scaling(views, "minmax", 2)
    landmarks = choose_landmarks(views, scaler, "kmeans", min(m, n // 3), np.random.RandomState(0), 2)
    cuts = np.cumsum(views.sizes)[:-1]
    x = [part.T.astype(np.float64) for part in np.split(scaler.rows(views, slice(0, n)), cuts, axis=1)]
    u = [part.T.astype(np.float64) for part in np.split(landmarks, cuts, axis=1)]
    n_labelled = int((y != -1).sum())
    must, cannot = oracle.dense_laplacians(y[:n_labelled])
    products: dict[str, Any] = {}
    original = oracle.cross_products

    def once(left: Any, right: Any) -> Any:
        if "found" not in products:
            products["found"] = original(left, right)
        return products["found"]

    oracle.cross_products = once
    k = len(np.unique(y[:n_labelled]))
    seconds, state = timed(lambda: oracle.algorithm_1(x, u, must, cannot, k, oracle.Parameters()))
    embedded = (state.A @ state.Z).T
    squared = (embedded[:n_labelled] ** 2).sum(axis=1)
    nearest = (squared - 2 * embedded @ embedded[:n_labelled].T).argmin(axis=1)
    return {"seconds": seconds, "acc": accuracy_of(target, y[:n_labelled][nearest], y)}


def job_label_spreading(source: str, n: int) -> dict[str, Any]:
    from sklearn.semi_supervised import LabelSpreading

    views, target, y = load(source, n)
    features = scaled_features(views)
    model = LabelSpreading(kernel="knn", n_jobs=-1)
    seconds, _ = timed(lambda: model.fit(features, y))
    return {"seconds": seconds, "acc": accuracy_of(target, model.transduction_, y)}


def job_logistic(source: str, n: int) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    views, target, y = load(source, n)
    features = scaled_features(views)
    known = y != -1

    def fit_and_label() -> Any:
        return LogisticRegression(C=10.0, max_iter=1000).fit(features[known], y[known]).predict(features)

    seconds, labels = timed(fit_and_label)
    return {"seconds": seconds, "acc": accuracy_of(target, labels, y)}


def job_accuracy(source: str, n: int, m: int = 500, draws: int = 20) -> dict[str, Any]:
    """Repeat the accuracy table of benchmarks/core.py: 5 % labels, defaults."""
    from anchorview import FSSMSC, datasets
    from anchorview.bench.protocol import average, repeat

    data = datasets.load_npz(source)
    runs = repeat(lambda seed: FSSMSC(n_landmarks=m, random_state=seed), data.views, data.target, range(draws))
    mean = average(runs)
    return {"seconds": mean["seconds"][0], **{name: mean[name][0] for name in ("acc", "nmi", "ari")}}


# ---- the plan -------------------------------------------------------------------------------------------------------


def make_plan(data: Path, fashion: Path | None, quick: bool) -> list[tuple[str, str, dict[str, Any]]]:
    """List (data, method, arguments of the job)."""
    plan: list[tuple[str, str, dict[str, Any]]] = []

    def add(name: str, source: str, n: int, methods: list[str]) -> None:
        for method in methods:
            kwargs: dict[str, Any] = {"source": source, "n": n}
            if method == "fssmsc":
                kwargs["repeats"] = 1 if n > 200_000 else 5
            plan.append((name, method, kwargs))

    for name, m in ACCURACY.items():
        plan.append((name, "accuracy", {"source": str(data / f"{name}.npz"), "n": 0, "m": m}))
    rivals = ["fssmsc", "admm", "literal", "label_spreading", "logistic"]
    add("hw", str(data / "hw.npz"), 2_000, rivals)
    if not quick:
        add("hdigit", str(data / "hdigit.npz"), 10_000, rivals)
    if fashion is not None:
        source = str(fashion / "fashion.npz")
        for n in (2_000, 5_000, 10_000) if quick else (2_000, 5_000, 10_000, 20_000, 40_000, 70_000):
            add("fashion", source, n, rivals if n <= 40_000 else ["fssmsc", "logistic"])
    for n in (10_000, 30_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000):
        add("synthetic", "synthetic", n, ["fssmsc"])
    return plan


def run(
    plan: list[tuple[str, str, dict[str, Any]]], records: Records, only_recorded: bool
) -> list[tuple[str, str, int, dict[str, Any]]]:
    rows = []
    for name, method, kwargs in plan:
        key = {"data": name, "method": method, "n": kwargs["n"]}
        found = records.get(key)
        if found is None and only_recorded:
            continue
        if found is None:
            job = run_job(f"{__file__}:job_{method}", kwargs, time_limit=1800, memory_limit=MEMORY_LIMIT)
            found = job.as_dict()
            if job.status != "error":  # an error is mended and tried again; out of memory or time is a result
                records.add(key, found)
        value = found["value"] or {}
        text = (
            f"{value['seconds']:.2f} s, ACC {value['acc']:.1f}" if value else found["status"] + " " + found["message"]
        )
        print(f"{name} n={kwargs['n']:,} {method}: {text}", flush=True)
        rows.append((name, method, kwargs["n"], value))
    return rows


# ---- what is written ------------------------------------------------------------------------------------------------


def exponent(points: list[tuple[int, float]]) -> float:
    """Slope of log seconds over log n."""
    n, seconds = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.polyfit(n, seconds, 1)[0])


def write_report(rows: list[tuple[str, str, int, dict[str, Any]]], out: Path) -> None:
    found = {(name, method, n): value for name, method, n, value in rows if value}
    ours = [(key, value) for key, value in found.items() if key[1] == "fssmsc"]
    text = ["# Speed and memory", "", environment_line(), ""]
    header = ["data", "n", "d", "fit s", "product s", "fit/product", "scaling", "landmarks", "solver", "labels"]
    header += ["KB/row", "predict rows/s", "ACC"]
    body = []
    for (name, _, n), v in ours:
        stages = [f"{v['stages'][stage]:.2f}" for stage in ("scaling", "landmarks", "solver", "labels")]
        body.append(
            [name, f"{n:,}", str(v["features"]), f"{v['seconds']:.2f}", f"{v['product']:.3f}", f"{v['ratio']:.1f}"]
        )
        body[-1] += [
            *stages,
            f"{v['bytes_per_row'] / 1e3:.1f}",
            f"{v['predict_rows_per_second']:,.0f}",
            f"{v['acc']:.1f}",
        ]
    text += ["## A fit, its stages, and the bare product E = X·Uᵀ (float32, all cores)", ""]
    text += [markdown_table(header, body), ""]
    methods = ["admm", "literal", "label_spreading", "logistic"]
    body = []
    for (name, _, n), v in ours:
        others = [found.get((name, method, n)) for method in methods]
        if any(others):
            cells = [f"{o['seconds']:.1f} ({o['seconds'] / v['seconds']:.1f}×)" if o else "–" for o in others]
            scores = " / ".join(f"{o['acc']:.1f}" if o else "–" for o in [v, *others])
            body.append([name, f"{n:,}", f"{v['seconds']:.2f}", *cells, scores])
    text += ["## Beside others: seconds (times our fit), and ACC in the same order", ""]
    text += [markdown_table(["data", "n", "fssmsc", *methods, "ACC"], body), ""]
    text += accuracy_lines(found)
    for name in ("fashion", "synthetic"):
        points = [(n, v["seconds"]) for (data, _, n), v in ours if data == name and n >= 10_000]
        if len(points) > 1:
            text.append(f"Exponent in n, {name}, n ≥ 10,000: {exponent(points):.2f}")
    (out / "speed.md").write_text("\n".join(text) + "\n")
    print("\n" + "\n".join(text))
    draw(found, out / "speed.png")


def accuracy_lines(found: dict[tuple[str, str, int], dict[str, Any]]) -> list[str]:
    """Return the accuracy table: as recorded by benchmarks/core.py when the core was made, and now."""
    from anchorview.bench.protocol import average

    before = Records(RESULTS / "core.jsonl")
    body = []
    for name in ACCURACY:
        now = found.get((name, "accuracy", 0))
        keys = [
            {"what": "accuracy", "data": name, "model": "active_set (defaults)", "seed": seed} for seed in range(20)
        ]
        runs = [run for key in keys if (run := before.get(key)) is not None]
        if now and runs:
            mean = average(runs)
            old = " / ".join(f"{mean[score][0]:.1f}" for score in ("acc", "nmi", "ari"))
            body.append([name, old, " / ".join(f"{now[score]:.1f}" for score in ("acc", "nmi", "ari"))])
    if not body:
        return []
    title = "## Accuracy before and after: ACC / NMI / ARI, 20 draws, 5 % labels, defaults"
    return [title, "", markdown_table(["data", "core", "now"], body), ""]


def draw(found: dict[tuple[str, str, int], dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    names = {
        "fssmsc": "anchorview FSSMSC",
        "admm": "paper's ADMM, blocked",
        "literal": "Algorithm 1, literal",
        "label_spreading": "LabelSpreading(knn)",
        "logistic": "LogisticRegression (labelled rows)",
    }
    figure, axes = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained", sharey=True)
    for ax, data in zip(axes, ("fashion", "synthetic"), strict=True):
        for method, label in names.items():
            points = sorted((n, v["seconds"]) for (name, m, n), v in found.items() if name == data and m == method)
            if points:
                ax.loglog(*zip(*points, strict=True), marker="o", label=label, lw=2.5 if method == "fssmsc" else 1.4)
        product = sorted((n, v["product"]) for (name, m, n), v in found.items() if name == data and m == "fssmsc")
        if product:
            ax.loglog(*zip(*product, strict=True), "k--", lw=1, label="the bare product E = X·Uᵀ")
        ax.set(
            xlabel="rows",
            title={"fashion": "Fashion-MNIST, 5 views, 2,064 features"}.get(data, "Synthetic, 3 views, 200 features"),
        )
        sizes = sorted({n for (name, method, n) in found if name == data and method == "fssmsc"})
        ax.set_xticks(sizes)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n / 1e6:g}M" if n >= 1e6 else f"{n / 1e3:g}k"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(True, which="both", alpha=0.25)
        ax.legend(fontsize=9)
    axes[0].set_ylabel("seconds")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with hw.npz and hdigit.npz")
    parser.add_argument("--fashion", type=Path, help="folder with fashion.npz (see benchmarks/fashion.py)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    parser.add_argument("--report", action="store_true", help="tables and plot of what is recorded; run nothing")
    options = parser.parse_args()
    path = options.out / "speed.jsonl"
    if options.fresh and path.exists():
        path.rename(path.with_suffix(".old.jsonl"))
    plan = make_plan(options.data, options.fashion, options.quick)
    write_report(run(plan, Records(path), options.report), options.out)


if __name__ == "__main__":
    main()
