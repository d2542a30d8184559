"""Raw text and photos: accuracy and seconds of FSSMSC against logistic regression on the same features.

python benchmarks/raw_inputs.py text questions.csv text category --encoder wordllama --draws 2
python benchmarks/raw_inputs.py photos folder-of-folders --draws 2
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from anchorview import FSSMSC, ImageViews, TableViews, datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["text", "photos"])
    parser.add_argument("path", type=Path)
    parser.add_argument("columns", nargs="*", help="of text: the column of text, and that of classes")
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--labels", type=float, default=0.03)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=4000)
    given = parser.parse_args()
    start = time.perf_counter()
    if given.kind == "text":
        import pyarrow as pa

        with given.path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        chosen = np.random.RandomState(0).permutation(len(rows))[: given.rows]
        text, label = given.columns
        table = pa.table({"text": [rows[row][text] for row in chosen]})
        views = TableViews(kinds={"text": "text"}, text_encoder=given.encoder).fit_transform(table)
        target = np.unique([rows[row][label] for row in chosen], return_inverse=True)[1]
    else:
        paths = sorted(path for path in given.path.glob("*/*") if path.is_file())
        views = ImageViews().fit_transform(paths)
        target = np.unique([path.parent.name for path in paths], return_inverse=True)[1]
    seconds = time.perf_counter() - start
    print(f"{views}\nreading: {seconds:.1f} s, {len(views) / seconds:.0f} rows a second")
    joined = sparse.csr_array(
        sparse.hstack([TfidfTransformer().fit_transform(a) if sparse.issparse(a) else _unit(a) for a in views.arrays])
    )
    scores: dict[str, list[tuple[float, float]]] = {"FSSMSC": [], "logistic regression": []}
    for draw in range(given.draws):
        y = datasets.hide_labels(target, given.labels, random_state=draw)
        known = y != -1
        start = time.perf_counter()
        labels = FSSMSC(random_state=draw).fit(views, y).labels_
        scores["FSSMSC"].append((np.mean(labels[~known] == target[~known]), time.perf_counter() - start))
        start = time.perf_counter()
        plain = LogisticRegression(C=10.0, max_iter=300).fit(joined[known], target[known]).predict(joined[~known])
        scores["logistic regression"].append((np.mean(plain == target[~known]), time.perf_counter() - start))
    for name, found in scores.items():
        accuracy, taken = np.array(found).T
        print(f"{name}: {100 * accuracy.mean():.1f} ± {100 * accuracy.std():.1f} %, {taken.mean():.1f} s")


def _unit(array: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-12))


if __name__ == "__main__":
    main()
