"""What real data throws at the model: missing views, text, wrong labels, uneven classes, pairs instead of labels.

    python benchmarks/realdata.py --data ../shared/data                    everything (text takes most of the time)
    python benchmarks/realdata.py --data ../shared/data --only missing     one part; the others from the records
    python benchmarks/realdata.py --data ../shared/data --only tables      nothing new; the tables from the records

Finished runs are kept in benchmarks/results/realdata.jsonl and not computed again; the tables are written to
benchmarks/results/realdata.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score

from anchorview import FSSMSC, Views, datasets
from anchorview.bench.child import reset_peak, resident_bytes, run_job
from anchorview.bench.environment import environment_line
from anchorview.bench.protocol import average
from anchorview.bench.records import Records
from anchorview.report.tables import markdown_table, mean_and_spread
from anchorview.supervision.constraints import Constraints
from anchorview.metrics import clustering_report
from anchorview.features.scaling import fit_scaling

RESULTS = Path(__file__).parent / "results" / "realdata.jsonl"
Scores = dict[str, float]


@dataclass
class Runs:
    """Draws of one part of the benchmark: taken from the records, or computed and recorded."""

    folder: Path
    records: Records
    draws: int | None
    fresh: bool
    compute: bool

    def mean(
        self, what: str, name: str, draws: int, run: Callable[..., Scores], data: Any = None, **setting: Any
    ) -> dict[str, tuple[float, float]]:
        """Return mean and spread over the draws, and their number: those recorded, if none are to be computed."""
        found = []
        for seed in range(self.draws or draws):
            key = {"what": what, "data": name, **setting, "seed": seed}
            scores = None if self.fresh and self.compute else self.records.get(key)
            if scores is None and not self.compute:
                continue
            if scores is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # fewer landmarks than asked for
                    scores = run(data, seed, **setting)
                self.records.add(key, scores)
            found.append(scores)
        if not found:
            return {}
        mean = {**average(found), "draws": (float(len(found)), 0.0)}
        print(what, name, *setting.values(), *(f"{k} {v[0]:.2f}" for k, v in mean.items()), flush=True)
        return mean

    def load(self, name: str) -> Any:
        """Read a data set."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            raise SystemExit(f"{path} does not exist; pass the folder of .npz files with --data.")
        return datasets.load_npz(path)


def score(target: Any, labels: Any, rows: Any, seconds: float) -> Scores:
    """Scores of some rows in percent."""
    scores = {name: 100 * value for name, value in clustering_report(target[rows], labels[rows]).items()}
    recall = recall_score(target[rows], labels[rows], average="macro", zero_division=0)
    return {**scores, "recall": 100 * recall, "seconds": seconds}


def fit_and_score(model: Any, views: Any, y: Any, target: Any, rows: Any = None, **fit_options: Any) -> Scores:
    """Fit, and score the unlabelled rows (or `rows`)."""
    start = time.perf_counter()
    labels = model.fit(views, y, **fit_options).labels_
    return score(target, labels, y == -1 if rows is None else rows, time.perf_counter() - start)


def table_row(name: list[str], mean: dict[str, Any], what: tuple[str, ...] = ("acc", "nmi", "ari")) -> list[list[str]]:
    """One row of a table; none if the runs are not there."""
    if not mean:
        return []
    return [[*name, f"{mean['draws'][0]:.0f}", *(mean_and_spread(mean[score]) for score in what)]]


# Missing views -------------------------------------------------------------------------------------------------------


def remove_cells(n_rows: int, n_views: int, share: float, seed: int) -> Any:
    """Mask with a share of all (row, view) cells removed at random, each row keeping at least one view."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n_rows, n_views)) >= share * n_views / (n_views - 1)
    mask[np.arange(n_rows), rng.integers(n_views, size=n_rows)] = True
    return mask


def impute_means(arrays: list[Any], mask: Any) -> list[Any]:
    """Fill the rows that lack a view with the mean of those that have it."""
    return [
        np.where(has[:, None], array, array[has].mean(axis=0)).astype(array.dtype)
        for array, has in zip(arrays, mask.T, strict=True)
    ]


def run_missing(data: Any, seed: int, share: float, how: str, inference: str) -> Scores:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    mask = remove_cells(len(y), len(data.data), share, seed)
    views = Views(impute_means(data.data, mask)) if how == "mean imputation" else Views(data.data, mask=mask)
    return fit_and_score(FSSMSC(inference=inference, random_state=seed), views, y, data.target)


def missing(runs: Runs) -> list[str]:
    rows = []
    for name, draws in (("hw", 20), ("caltech101_7_re", 5)):
        data = runs.load(name)
        for share, inference in product((0.0, 0.3, 0.5), ("nearest", "knn")):
            for how in ("mask", "mean imputation") if share else ("complete",):
                setting: dict[str, Any] = {"share": share, "how": how, "inference": inference}
                mean = runs.mean("missing", name, draws, run_missing, data, **setting)
                rows += table_row([name, f"{share:.0%}", how, inference], mean)
    note = "5 % labels; the removed cells are drawn anew each time."
    return [
        "Missing views",
        note,
        markdown_table(["data", "missing", "how", "inference", "draws", "ACC", "NMI", "ARI"], rows),
    ]


# Text ----------------------------------------------------------------------------------------------------------------

FOR_TEXT = {"ridge": 20.0, "l1": 0.1, "must_link_weight": 1e5}
TEXT: dict[str, dict[str, Any]] = {
    "tfidf, m=500": {"scaling": "tfidf"},
    "lsa, m=500 (defaults)": {},
    "lsa, m=500, empty rows as missing": {"mask": True},
    "lsa, 1,500 random rows as landmarks": {"landmarks": "random", "n_landmarks": 1500},
    "lsa, m=500, ridge=5": {"ridge": 5.0},
    "lsa, m=500, ridge=20, l1=0.1, must_link_weight=1e5 (“for text”)": FOR_TEXT,
    "lsa, m=500, ridge=20, l1=0.2, must_link_weight=1e5, knn": FOR_TEXT | {"l1": 0.2, "inference": "knn"},
    "for text, knn": FOR_TEXT | {"inference": "knn"},
    "for text, knn, empty rows as missing": FOR_TEXT | {"inference": "knn", "mask": True},
    "for text, knn, random rows as landmarks": FOR_TEXT | {"inference": "knn", "landmarks": "random"},
    "for text, knn, tfidf": FOR_TEXT | {"inference": "knn", "scaling": "tfidf"},
}
LOGISTIC = {"logistic regression on tf-idf": "tfidf", "logistic regression on lsa": "lsa"}


def run_text(data: Any, seed: int, fraction: float, model: str) -> Scores:
    y = datasets.hide_labels(data.target, fraction, random_state=seed)
    arrays = [sparse.csr_array(array) for array in data.data]
    if model in LOGISTIC:
        return _run_logistic(Views(arrays), y, data.target, LOGISTIC[model], seed)
    setting = dict(TEXT[model])
    mask = np.stack([np.diff(array.indptr) > 0 for array in arrays], axis=1) if setting.pop("mask", False) else None
    if mask is not None:
        mask[~mask.any(axis=1), 0] = True  # a text without any known word keeps its empty first view
    return fit_and_score(FSSMSC(random_state=seed, **setting), Views(arrays, mask=mask), y, data.target)


def _run_logistic(views: Views, y: Any, target: Any, scaling: str, seed: int) -> Scores:
    start = time.perf_counter()
    scaler = fit_scaling(views, scaling, rng=np.random.RandomState(seed))
    rows = scaler.scale(views, slice(None))
    features = rows.dense() if scaling == "lsa" else sparse.hstack([part for _, part in rows.parts]).tocsr()
    known = y != -1
    classifier = LogisticRegression(C=10, max_iter=500).fit(features[known], y[known])
    return score(target, classifier.predict(features), ~known, time.perf_counter() - start)


def fit_for_memory(folder: str, scaling: str) -> dict[str, float]:
    """Fit ng20 and tell the memory of the process before and at most; runs in a child."""
    data = datasets.load_npz(Path(folder) / "ng20.npz")
    y = datasets.hide_labels(data.target, 0.01, random_state=0)
    before = reset_peak()
    FSSMSC(scaling=scaling, random_state=0).fit(data.views, y)
    return {"before": before / 1e9, "peak": resident_bytes(peak=True) / 1e9}


def run_memory(folder: str, seed: int, scaling: str) -> Scores:
    result = run_job(f"{Path(__file__).resolve()}:fit_for_memory", {"folder": folder, "scaling": scaling})
    if result.status != "ok":
        raise RuntimeError(f"{result.status}: {result.message}")
    return {**result.value, "seconds": result.seconds}


def text(runs: Runs) -> list[str]:
    data = runs.load("ng20")
    rows = []
    for model in [*TEXT, *LOGISTIC]:
        found = [
            runs.mean("text", "ng20", 3, run_text, data, fraction=fraction, model=model) for fraction in (0.01, 0.05)
        ]
        for fraction, mean in zip(("1 %", "5 %"), found, strict=True):
            rows += table_row([model, fraction], mean)
    header = ["model", "labels", "draws", "ACC", "NMI", "ARI"]
    small = runs.load("bbcsport")
    more = []
    for model in [*TEXT, *LOGISTIC]:
        if "1,500" not in model:
            mean = runs.mean("text", "bbcsport", 10, run_text, small, fraction=0.05, model=model)
            more += table_row([model], mean)
    memory = []
    for scaling in ("tfidf", "lsa"):
        mean = runs.mean("memory", "ng20", 1, run_memory, str(runs.folder), scaling=scaling)
        if mean:
            memory.append([scaling, *(f"{mean[name][0]:.2f}" for name in ("before", "peak"))])
    note = "ng20 (18,846 rows, four sparse views, 20 classes)."
    tables = [
        markdown_table(header, rows),
        "bbcsport (544 rows, two views, 5 classes; as sparse views), 5 % labels:",
        markdown_table(["model", "draws", "ACC", "NMI", "ARI"], more),
        "Resident memory of the process in GB, ng20, m=500: before the fit (libraries, data) and at most:",
        markdown_table(["scaling", "before", "peak"], memory),
    ]
    return ["Text", note, "\n\n".join(tables)]


# Wrong labels --------------------------------------------------------------------------------------------------------


def flip_labels(y: Any, share: float, seed: int) -> Any:
    """Give a share of the labelled rows another class, drawn from the classes that are labelled."""
    rng = np.random.default_rng(seed)
    flipped, classes = y.copy(), np.unique(y[y != -1])
    labelled = np.flatnonzero(y != -1)
    for row in rng.choice(labelled, round(share * len(labelled)), replace=False):
        flipped[row] = rng.choice(classes[classes != y[row]])
    return flipped


def run_noise(data: Any, seed: int, share: float, relabel: float | None, inference: str) -> Scores:
    clean = datasets.hide_labels(data.target, 0.05, random_state=seed)
    given = flip_labels(clean, share, seed)
    model = FSSMSC(relabel=relabel, inference=inference, random_state=seed)
    scores = fit_and_score(model, data.views, given, data.target)
    changed = model.relabelled_
    scores["wrong"] = int((given != clean).sum())
    scores["corrected"] = int((model.labels_[changed] == clean[changed]).sum())
    scores["spoiled"] = int((given[changed] == clean[changed]).sum())
    return scores


def noise(runs: Runs) -> list[str]:
    rows = []
    settings = [("nearest", None), ("nearest", 0.5), ("nearest", 0.7), ("nearest", 0.9), ("knn", None), ("knn", 0.7)]
    for name in ("hw", "caltech101_20_re"):
        data = runs.load(name)
        for share, (inference, relabel) in product((0.0, 0.1, 0.2), settings):
            setting: dict[str, Any] = {"share": share, "relabel": relabel, "inference": inference}
            mean = runs.mean("noise", name, 10, run_noise, data, **setting)
            for row in table_row([name, f"{share:.0%}", inference, str(relabel)], mean):
                rows.append([*row, *(f"{mean[count][0]:.1f}" for count in ("wrong", "corrected", "spoiled"))])
    note = "5 % labels, of which some are given another class at random. Counts of labels, mean per draw."
    header = ["data", "flipped", "inference", "relabel", "draws", "ACC", "NMI", "ARI", "wrong", "corrected", "spoiled"]
    return ["Wrong labels", note, markdown_table(header, rows)]


# Uneven classes ------------------------------------------------------------------------------------------------------


def run_balance(data: Any, seed: int, balance: str | None, inference: str) -> Scores:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    return fit_and_score(
        FSSMSC(class_balance=balance, inference=inference, random_state=seed), data.views, y, data.target
    )


def balance(runs: Runs) -> list[str]:
    rows = []
    name = "caltech101_20_re"
    data = runs.load(name)
    for inference, choice in product(("nearest", "knn"), (None, "balanced")):
        mean = runs.mean("balance", name, 20, run_balance, data, balance=choice, inference=inference)
        rows += table_row([name, inference, str(choice)], mean, ("acc", "nmi", "ari", "recall"))
    note = "5 % labels. Recall: mean over the classes; a class without a labelled row has recall 0."
    header = ["data", "inference", "class_balance", "draws", "ACC", "NMI", "ARI", "recall"]
    return ["Uneven classes", note, markdown_table(header, rows)]


# Pairs ---------------------------------------------------------------------------------------------------------------

SAME_ROWS = ("labels", "all pairs of the labels", "groups of the labels, must-link only")


def pairs_of_labels(y: Any) -> Constraints:
    """All pairs that the labels imply."""
    listed = list(combinations(np.flatnonzero(y != -1).tolist(), 2))
    must = [(a, b) for a, b in listed if y[a] == y[b]]
    return Constraints.from_pairs(must, [(a, b) for a, b in listed if y[a] != y[b]], n_rows=len(y))


def random_pairs(target: Any, n_pairs: int, kind: str, seed: int) -> Constraints:
    """Pairs of random rows, told as they are; or half of them of one class, half of two."""
    rng = np.random.default_rng(seed)
    must: list[tuple[int, int]] = []
    cannot: list[tuple[int, int]] = []
    while len(must) + len(cannot) < n_pairs:
        a, b = map(int, rng.choice(len(target), 2, replace=False))
        found = must if target[a] == target[b] else cannot
        if kind == "random" or len(found) < n_pairs // 2:
            found.append((a, b))
    return Constraints.from_pairs(must, cannot, n_rows=len(target))


def run_pairs(data: Any, seed: int, how: str, n_pairs: int) -> Scores:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    model, nothing = FSSMSC(n_clusters=10, random_state=seed), np.full(len(y), -1)
    if how == "labels":
        return {**fit_and_score(model, data.views, y, data.target), "broken": 0.0}
    if how == "all pairs of the labels":
        told: Constraints | None = pairs_of_labels(y)
    elif how == "groups of the labels, must-link only":
        told = Constraints.from_groups(must=y)
    else:
        told = random_pairs(data.target, n_pairs, how, seed) if n_pairs else None
    judged = y == -1 if how in SAME_ROWS else np.ones(len(y), dtype=bool)
    scores = fit_and_score(model, data.views, nothing, data.target, judged, constraints=told)
    violations = model.constraint_violations_
    if violations is None:
        return {**scores, "broken": 0.0}
    broken, stated = np.add(violations.must, violations.cannot)
    return {**scores, "broken": 100 * float(broken / stated)}


def pairs(runs: Runs) -> list[str]:
    data = runs.load("hw")
    rows = []
    kinds = [(how, 0) for how in SAME_ROWS]
    kinds += [("random", n) for n in (0, 200, 500, 1000)] + [("half must-link", n) for n in (200, 500, 1000)]
    for how, n_pairs in kinds:
        mean = runs.mean("pairs", "hw", 20, run_pairs, data, how=how, n_pairs=n_pairs)
        name = f"100 labelled rows: {how}" if how in SAME_ROWS else f"{n_pairs} {how} pairs"
        for row in table_row([name if how in SAME_ROWS or n_pairs else "nothing known"], mean):
            rows.append([*row, f"{mean['broken'][0]:.1f}"])
    note = (
        "HW. The first three are scored on the rows without labels, the others on all rows. Broken: percent "
        "of the pairs that the found clusters break."
    )
    return ["Pairs instead of labels", note, markdown_table(["HW", "draws", "ACC", "NMI", "ARI", "broken"], rows)]


PARTS: dict[str, Callable[[Runs], list[str]]] = {
    "missing": missing,
    "text": text,
    "noise": noise,
    "balance": balance,
    "pairs": pairs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--only", choices=[*PARTS, "tables"], help="compute this part only; tables: nothing")
    parser.add_argument("--draws", type=int, help="draws of labels; by default 3 to 20, as the part is slow or fast")
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    options = parser.parse_args()
    records = Records(RESULTS)
    report = ["# Real data: measured", environment_line()]
    for name, part in PARTS.items():
        compute = options.only in (None, name)
        title, note, table = part(Runs(options.data, records, options.draws, options.fresh, compute))
        report += [f"## {title}", note, table]
    RESULTS.with_suffix(".md").write_text("\n\n".join(report) + "\n")
    print(f"\nTables: {RESULTS.with_suffix('.md')}")


if __name__ == "__main__":
    main()
