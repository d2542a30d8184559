"""Rows of no labelled class: how well `novelty_` tells them, beside each of its signs, k-means and logistic regression.

    python benchmarks/unknown_classes.py --data ../shared/data

Unnamed: 20 or 40 % of the classes have no label (at least one), 5 % of the other rows have one, at least two of each
class. Scattered: 5 % of the rows have their features shuffled among all rows, each feature by itself, and no label. Of
sets with more than 3,000 rows a random 3,000 are taken in each draw. AUROC of rows without a label, new ones against
the others. Doubt, walk and unlikeness are what `novelty_` is made of; the distance to the nearest label is shown beside
them. k-means: semi-supervised, in the coordinates of the codes, with the true number of classes, started from the
labelled means; a row is as new as it is nearer to a centre without a label. Logistic regression: on the standardised
features side by side, its strength chosen by cross-validation; 1 − its largest probability. ACC: over all unlabelled
rows, labels where the novelty is at most 0.5 and else the groups of `novel_groups_`, matched with the unnamed classes.
Finished runs are kept in benchmarks/results/unknown_classes.jsonl; the table is unknown_classes.md beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from anchorview import FSSMSC, Views
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, add_draws, make_parser, write_report
from anchorview.readers.unseen_classes import nearest_label_distances
from anchorview.report.tables import markdown_table

SETS = ("hw", "hdigit", "leaves100", "caltech101_20_re", "scene15", "ng20", "agnews_emb", "banking77_emb")
KINDS = ("20 % unnamed", "40 % unnamed", "scattered")
SCORES = ("novelty", "doubt", "distance", "walk", "unlikeness", "k-means", "regression")
MOST_ROWS = 3000


def make_case(data: Any, seed: int, kind: str) -> tuple[Any, Any, Any, Any]:
    """Return views, classes, which rows are new, and labels."""
    rng = np.random.RandomState(seed)
    n = len(data.target)
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(rng.choice(n, MOST_ROWS, replace=False))
    views, target = data.views[rows], np.asarray(data.target)[rows]
    classes = rng.permutation(np.unique(target))
    if kind == "scattered":
        is_new = np.zeros(len(target), dtype=bool)
        is_new[rng.choice(len(target), len(target) // 20, replace=False)] = True
        views = Views([scatter(array, is_new, rng) for array in views.arrays], names=views.names, mask=views.present)
    else:
        n_new = max(1, round(float(kind.split(" ")[0]) / 100 * len(classes)))
        is_new = np.isin(target, classes[:n_new])
    y = np.full(len(target), -1)
    for each in np.unique(target[~is_new]):
        own = rng.permutation(np.flatnonzero((target == each) & ~is_new))
        y[own[: max(2, round(0.05 * len(own)))]] = each
    return views, target, is_new, y


def scatter(array: Any, is_new: Any, rng: np.random.RandomState) -> Any:
    """Return features in which those of new rows are drawn from all rows, each by itself."""
    rows = np.flatnonzero(is_new)
    dense = array[rows].toarray() if sparse.issparse(array) else np.array(array[rows])
    whole = array.tocsc() if sparse.issparse(array) else array
    for column in range(dense.shape[1]):
        drawn = rng.randint(array.shape[0], size=len(rows))
        values = whole[:, [column]].toarray().ravel() if sparse.issparse(array) else whole[:, column]
        dense[:, column] = values[drawn]
    if not sparse.issparse(array):
        changed = np.array(array)
        changed[rows] = dense
        return changed
    changed = sparse.lil_array(array)
    changed[rows] = dense
    return sparse.csr_array(changed)


def run(data: Any, seed: int, kind: str) -> Result:
    views, target, is_new, y = make_case(data, seed, kind)
    model = FSSMSC(random_state=seed, on_empty="drop").fit(views, y)
    hidden = model._can_be_labelled
    novelty, places = model.novelty_, model._places_of_rows()
    assert novelty is not None
    fitted = model._novelty_of_rows()[0]
    assert fitted is not None
    signs = fitted.signs(places, model.confidence_)
    n_classes = len(np.unique(target))
    distance, unlike = nearest_label_distances(places, np.flatnonzero(y >= 0)), model._unlikeness_of_rows()
    assert unlike is not None
    named = {"doubt": signs[:, 0], "walk": signs[:, 1], "distance": distance, "unlikeness": unlike.of_rows}
    named["novelty"] = novelty
    clusters, apart = semi_supervised_kmeans(places, y, n_classes, seed)
    named["k-means"], named["regression"] = apart, 1 - regression(views, y)
    result = {name: float(roc_auc_score(is_new[hidden], scores[hidden])) for name, scores in named.items()}
    if kind != "scattered":
        found = model.labels_.astype(np.int64).copy()
        for number, group in enumerate(model.novel_groups_):
            found[group.rows] = 1000 + number
        known = np.unique(y[y >= 0])
        result["acc"] = accuracy(found[hidden], target[hidden], known)
        result["acc k-means"] = accuracy(clusters[hidden], target[hidden], known)
        result["flagged"] = float((novelty[hidden & ~is_new] > 0.5).mean())
    return result


def semi_supervised_kmeans(places: Any, y: Any, n_classes: int, seed: int) -> tuple[Any, Any]:
    """Return the class or new cluster (from 1000 on) of each row, and by how much it is nearer to a new one.

    The best of ten starts, by the sum of squares.
    """
    known = np.unique(y[y >= 0])
    means = np.array([places[y == each].mean(axis=0) for each in known])
    n_new = max(n_classes - len(known), 1)
    far = squared(places, means).min(axis=1)
    rng = np.random.RandomState(seed)
    best: tuple[float, Any, Any] | None = None
    for _ in range(10):
        centres = np.vstack([means, places[rng.choice(len(places), n_new, replace=False, p=far / far.sum())]])
        for _ in range(30):
            clusters = squared(places, centres).argmin(axis=1)
            clusters[y >= 0] = np.searchsorted(known, y[y >= 0])
            for number in np.unique(clusters):
                centres[number] = places[clusters == number].mean(axis=0)
        distances = squared(places, centres)
        total = float(distances[np.arange(len(places)), clusters].sum())
        if best is None or total < best[0]:
            apart = distances[:, : len(known)].min(axis=1) - distances[:, len(known) :].min(axis=1)
            best = total, clusters, apart
    assert best is not None
    return np.concatenate([known, 1000 + np.arange(n_new)])[best[1]], best[2]


def squared(rows: Any, centres: Any) -> Any:
    """Return squared distances."""
    return (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)


def regression(views: Any, y: Any) -> Any:
    """Return the largest probability of a tuned logistic regression."""
    parts: list[Any] = []
    for array in views.arrays:
        filled = array if sparse.issparse(array) else np.nan_to_num(np.asarray(array, dtype=np.float64))
        scaler = MaxAbsScaler() if sparse.issparse(array) else StandardScaler()
        parts.append(scaler.fit_transform(filled))
    rows = sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)
    grid = GridSearchCV(LogisticRegression(max_iter=200), {"C": [0.001, 0.01, 0.1, 1.0]}, cv=2)
    grid.fit(rows[y >= 0], y[y >= 0])
    return grid.predict_proba(rows).max(axis=1)


def accuracy(found: Any, target: Any, known: Any) -> float:
    """Return the accuracy; new clusters (from 1000 on) are matched with the classes that have no label."""
    unnamed, clusters = np.setdiff1d(target, known), np.unique(found[found >= 1000])
    right = int((found == target)[found < 1000].sum())
    if len(unnamed) and len(clusters):
        table = np.array([[((found == c) & (target == each)).sum() for each in unnamed] for c in clusters])
        rows, columns = linear_sum_assignment(-table)
        right += int(table[rows, columns].sum())
    return right / len(target)


def main() -> None:
    parser = add_draws(make_parser(__doc__, __file__), text="draws; by default 3")
    parser.add_argument("--tables", action="store_true", help="compute nothing: the table of what is recorded")
    options = parser.parse_args()
    records, data = Records(options.out / "unknown_classes.jsonl"), DataSets(options.data)
    runs = Runs(records, data, options.draws, options.fresh, not options.tables)
    rows = []
    for kind in KINDS:
        for name in [name for name in SETS if name in runs.data.sources]:
            results = runs.repeat({"what": "unknown", "data": name, "kind": kind}, run, 3)
            if not results:
                continue
            cells = [f"{np.mean([one[score] for one in results]):.3f}" for score in SCORES]
            cells += [f"{np.mean([one[s] for one in results]):.3f}" if s in results[0] else "–" for s in EXTRA]
            rows.append([kind, name, str(len(results)), *cells])
            print("  ".join(rows[-1]), flush=True)
        mine = [row for row in rows if row[0] == kind]
        if mine:
            means = [f"{np.mean([float(row[place]) for row in mine]):.3f}" for place in range(3, 3 + len(SCORES))]
            rows.append([kind, "mean", "", *means, "", "", ""])
    header = ["kind", "data", "draws", *SCORES, "ACC", "ACC k-means", "known rows flagged"]
    parts = [(__doc__ or "").strip(), markdown_table(header, rows)]
    write_report(options.out / "unknown_classes.md", "Rows of no labelled class: measured", parts)


EXTRA = ("acc", "acc k-means", "flagged")


if __name__ == "__main__":
    main()
