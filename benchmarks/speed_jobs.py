"""The jobs of benchmarks/speed.py: what is timed, each in a process of its own.

What only some jobs need is imported by them, so that it does not count as memory of the others.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import ADMM, FSSMSC, ActiveSet, datasets
from anchorview import load as load_model
from anchorview import save as save_model
from anchorview.bench.child import reset_peak, resident_bytes
from anchorview.bench.protocol import average, label_fraction, repeat
from anchorview.bench.sources import load_dataset
from anchorview.features.scaling import fit_scaling

# The defaults of that time.
FORMER: dict[str, Any] = {"solver": ActiveSet(units="paper"), "scaling": "minmax", "readers": "nearest"}
PAPER: dict[str, Any] = {**FORMER, "solver": ADMM(), "ridge": 0.0}
SINGLE_ROWS = 200  # predicted one at a time


def load_rows(place: str, n: int) -> tuple[Any, Any, Any]:
    """Return views, target and y with 1 % labels (5 % below 10,000 rows) of n random rows, or of synthetic ones."""
    if place == "synthetic":
        data = datasets.make_multiview_subspaces(n, 10, (100, 60, 40), noise=0.3, nonnegative=True, random_state=0)
        views, target = data.views, data.target
    else:
        data = load_dataset(place)
        rows = np.sort(np.random.default_rng(0).permutation(len(data.target))[:n])
        views, target = data.views[rows], data.target[rows]
    return views, target, datasets.hide_labels(target, label_fraction(n), random_state=0)


def scaled_features(views: Any) -> Any:
    return fit_scaling(views, "minmax", 2).read(views, slice(0, len(views))).dense()


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def accuracy_of(target: Any, labels: Any, y: Any) -> float:
    hidden = y == -1
    return 100 * float(np.mean(target[hidden] == labels[hidden]))


def time_single_rows(model: FSSMSC, views: Any) -> float:
    """Return the milliseconds that a loaded model takes to predict one row, the first one left out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.anchorview"
        save_model(model, file)
        loaded = load_model(file)
    rows = [[array[row : row + 1] for array in views.arrays] for row in range(SINGLE_ROWS)]
    loaded.predict(rows[0])
    return 1e3 * statistics.median(timed(lambda row=row: loaded.predict(row))[0] for row in rows)


def job_fssmsc(place: str, n: int, repeats: int, m: int = 500, former: bool = False) -> dict[str, Any]:
    """Fits and bare products in turn, so that both see the same machine; peak memory of one fit."""
    views, target, y = load_rows(place, n)
    few = np.random.default_rng(0).permutation(n)[:600]
    settings = FORMER if former else {}
    FSSMSC(n_landmarks=50, random_state=0, **settings).fit(views[few], target[few])  # loads the compiled kernels
    before = reset_peak()
    model = FSSMSC(n_landmarks=m, random_state=0, **settings).fit(views, y)
    extra = resident_bytes(peak=True) - before
    wide = views.to_array(np.float32)
    right = np.ascontiguousarray(model.landmarks_.astype(np.float32).T)
    fits, products, stages = [], [], []
    for _ in range(repeats):
        products.append(timed(lambda: wide @ right)[0])
        seconds, model = timed(lambda: FSSMSC(n_landmarks=m, random_state=0, **settings).fit(views, y))
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
        "single_row_ms": time_single_rows(model, new),
    }


def job_given(place: str, n: int, repeats: int, m: int = 500) -> dict[str, Any]:
    """Time fits with every setting given, as the defaults once were: nothing is chosen on hidden labels."""
    return job_fssmsc(place, n, repeats, m, former=True)


def job_admm(place: str, n: int, m: int = 500) -> dict[str, Any]:
    """Run the paper's algorithm as we have it: blocked, single precision."""
    views, target, y = load_rows(place, n)
    seconds, model = timed(lambda: FSSMSC(n_landmarks=m, **PAPER, random_state=0).fit(views, y))
    return {"seconds": seconds, "acc": accuracy_of(target, model.labels_, y)}


def job_literal(place: str, n: int, m: int = 500) -> dict[str, Any]:
    """Run Algorithm 1 as printed, NumPy, float64, 30 rounds; landmarks are given to it, E and G computed once."""
    from unittest.mock import patch

    from anchorview.features.landmarks import choose_landmarks

    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support import oracle

    views, target, y = load_rows(place, n)
    order = np.argsort(y == -1, kind="stable")  # labelled rows first, as the paper has them
    views, target, y = views[order], target[order], y[order]
    scaler = fit_scaling(views, "minmax", 2)
    landmarks = choose_landmarks(views, scaler, "kmeans", min(m, n // 3), np.random.RandomState(0), 2)
    cuts = np.cumsum(views.sizes)[:-1]
    features = scaler.read(views, slice(0, n)).dense()
    x, u = ([part.T.astype(np.float64) for part in np.split(rows, cuts, axis=1)] for rows in (features, landmarks))
    labels = y[y != -1]
    must, cannot = oracle.dense_laplacians(labels)

    def run_algorithm() -> Any:
        products = oracle.cross_products(x, u)
        with patch.object(oracle, "cross_products", lambda *_: products):  # it computes them in every round
            return oracle.algorithm_1(x, u, must, cannot, len(np.unique(labels)), oracle.Parameters())

    seconds, state = timed(run_algorithm)
    embedded = (state.A @ state.Z).T
    known = embedded[: len(labels)]
    nearest = ((known**2).sum(axis=1) - 2 * embedded @ known.T).argmin(axis=1)
    return {"seconds": seconds, "acc": accuracy_of(target, labels[nearest], y)}


def job_label_spreading(place: str, n: int) -> dict[str, Any]:
    from sklearn.semi_supervised import LabelSpreading

    views, target, y = load_rows(place, n)
    features = scaled_features(views)
    seconds, model = timed(lambda: LabelSpreading(kernel="knn", n_jobs=-1).fit(features, y))
    return {"seconds": seconds, "acc": accuracy_of(target, model.transduction_, y)}


def job_logistic(place: str, n: int) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    views, target, y = load_rows(place, n)
    features = scaled_features(views)
    known = y != -1

    def fit_and_label() -> Any:
        return LogisticRegression(C=10.0, max_iter=1000).fit(features[known], y[known]).predict(features)

    seconds, labels = timed(fit_and_label)
    return {"seconds": seconds, "acc": accuracy_of(target, labels, y)}


def job_poisson(place: str, n: int) -> dict[str, Any]:
    """Run Poisson learning on the exact graph of the ten nearest rows, as benchmarks/rivals.py has it."""
    from rivals import by_default

    views, target, y = load_rows(place, n)
    known = np.unique(y[y != -1], return_inverse=True)[1]
    class_ids = np.full(n, -1)
    class_ids[y != -1] = known

    def fit_and_label() -> Any:
        shares = by_default("Poisson-default", views, class_ids, 0).predict(class_ids, np.arange(n))
        return np.unique(y[y != -1])[shares.argmax(axis=1)]

    seconds, labels = timed(fit_and_label)
    return {"seconds": seconds, "acc": accuracy_of(target, labels, y)}


def job_accuracy(place: str, n: int, m: int = 500, draws: int = 20) -> dict[str, Any]:
    """Repeat the accuracy table of benchmarks/core.py: 5 % labels, defaults."""
    data = load_dataset(place)
    mean = average(repeat(lambda seed: FSSMSC(n_landmarks=m, random_state=seed), data.views, data.target, range(draws)))
    return {"seconds": mean["seconds"][0], **{name: mean[name][0] for name in ("acc", "nmi", "ari")}}
