"""Raw tables with a column of text: labels from a few rows, beside logistic regression on the same features.

    python benchmarks/text_table.py --out benchmarks/results
    python benchmarks/text_table.py --rows 1000 --draws 1

Two tables that every Debian has or can have. `fortunes` (the package of that name): short texts, to be sorted by the
subject they are filed under. `packages` (``apt-cache dumpavail``): the one-line description of a package, its size, its
priority and its maintainer, to be sorted by section. `TableViews` turns them into views; logistic regression gets the
same views side by side, words and character n-grams as tf-idf (sublinear), with the C that does best on the very rows
that it is scored on: a better one than anybody could choose.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from anchorview import FSSMSC, AnchorViewClassifier, TableViews, Views
from anchorview.datasets import hide_labels
from unseen import read_fortunes

SHARES = (0.02, 0.05)
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)
N_SECTIONS = 20
MODELS: dict[str, Any] = {"FSSMSC": FSSMSC, "AnchorViewClassifier": AnchorViewClassifier}
FIELDS = ("Package", "Section", "Description", "Installed-Size", "Priority", "Maintainer")
Table = tuple[pd.DataFrame, npt.NDArray[np.intp]]


def fortunes(n_rows: int) -> Table:
    texts, class_ids = read_fortunes(Path("/usr/share/games/fortunes"))
    return pd.DataFrame({"text": texts[:n_rows]}), class_ids[:n_rows]


def packages(n_rows: int, fields: tuple[str, ...] = FIELDS) -> Table:
    """Return a sample of the packages of the largest sections; debug symbols and translations repeat themselves."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    entries = []
    for block in listed.split("\n\n"):
        lines = (line.partition(": ") for line in block.splitlines() if not line.startswith(" "))
        entry = {name: value for name, _, value in lines if name in fields}
        if {"Section", "Description"} <= entry.keys() and entry["Section"] not in ("debug", "localization"):
            entries.append(entry)
    largest = [name for name, _ in Counter(entry["Section"] for entry in entries).most_common(N_SECTIONS)]
    entries = [entry for entry in entries if entry["Section"] in largest]
    order = np.random.RandomState(0).permutation(len(entries))[:n_rows]
    table = pd.DataFrame([entries[place] for place in order])
    table["Installed-Size"] = pd.to_numeric(table["Installed-Size"])
    class_ids = np.unique(table.pop("Section"), return_inverse=True)[1].astype(np.intp)
    return table, class_ids


TABLES = {"fortunes": fortunes, "packages": packages}


def side_by_side(views: Views) -> sparse.csr_array:
    """Return the views as one matrix: counts of words and n-grams as tf-idf, the others as they are."""
    parts = []
    for name, array in views.items():
        is_text = name.endswith((":words", ":characters"))
        parts.append(TfidfTransformer(sublinear_tf=True).fit_transform(array) if is_text else sparse.csr_array(array))
    return sparse.csr_array(sparse.hstack(parts, format="csr"))


def logistic(views: Views, y: npt.NDArray[np.intp], truth: npt.NDArray[np.intp]) -> float:
    """Return the accuracy on unlabelled rows with the best of the strengths."""
    rows, hidden = side_by_side(views), y < 0
    scores = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=1000).fit(rows[~hidden], y[~hidden])
        scores.append(float((model.predict(rows[hidden]) == truth[hidden]).mean()))
    return max(scores)


def score(method: str, views: Views, y: npt.NDArray[np.intp], truth: npt.NDArray[np.intp], seed: int) -> float:
    """Return the accuracy of a method on unlabelled rows."""
    if method not in MODELS:
        return logistic(views, y, truth)
    model = MODELS[method](random_state=seed, on_empty="drop").fit(views, y)
    return float((model.labels_ == truth)[y < 0].mean())


def measure(name: str, n_rows: int, n_draws: int) -> list[dict[str, Any]]:
    table, truth = TABLES[name](n_rows)
    views = TableViews().fit_transform(table)
    print(f"{name}: {views!r}, {len(np.unique(truth))} classes", flush=True)
    records = []
    for share in SHARES:
        for draw in range(n_draws):
            y = hide_labels(truth, share, random_state=draw)
            for method in ("logistic regression, best C", "FSSMSC", "AnchorViewClassifier"):
                start = time.perf_counter()
                accuracy = score(method, views, y, truth, draw)
                seconds = time.perf_counter() - start
                record = {"table": name, "rows": len(truth), "share": share, "draw": draw, "method": method}
                records.append({**record, "accuracy": accuracy, "seconds": seconds})
                print(f"  {share:.0%}, draw {draw}, {method}: {accuracy:.3f}, {seconds:.0f} s", flush=True)
    return records


def as_markdown(records: list[dict[str, Any]]) -> str:
    methods = list(dict.fromkeys(record["method"] for record in records))
    lines = ["| table | rows | labels | " + " | ".join(methods) + " |", "|---|---|---|" + "---|" * len(methods)]
    for name, share in dict.fromkeys((record["table"], record["share"]) for record in records):
        cells = []
        for method in methods:
            found = [r for r in records if (r["table"], r["share"], r["method"]) == (name, share, method)]
            mean, spread = (100 * float(f([r["accuracy"] for r in found])) for f in (np.mean, np.std))
            cells.append(f"{mean:.1f} ± {spread:.1f}")
        lines.append(f"| {name} | {found[0]['rows']:,} | {share:.0%} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--table", choices=list(TABLES), action="append", help="only this one; can be repeated")
    parser.add_argument("--out", type=Path, help="folder for text_table.jsonl and text_table.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    records = [one for name in options.table or TABLES for one in measure(name, options.rows, options.draws)]
    text = as_markdown(records)
    print(text)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (options.out / "text_table.jsonl").write_text(lines)
        (options.out / "text_table.md").write_text(text)


if __name__ == "__main__":
    main()
