"""Raw tables with a column of text: labels from a few rows, beside logistic regression on the same features.

    apt-get install fortunes
    python benchmarks/text_table.py
    python benchmarks/text_table.py --table packages --draws 1       some of it
    python benchmarks/text_table.py --tables                         measures nothing; writes the table from the records

Records are in benchmarks/results/text_table.jsonl, one a fit, with commit and defaults; text_table.md has the table.
Two tables that every Debian has or can have. `fortunes` (the package of that name): short texts, to be sorted by the
subject they are filed under. `packages` (``apt-cache dumpavail``): the one-line description of a package, its size, its
priority and its maintainer, to be sorted by section. `TableViews` turns them into views; logistic regression gets the
same views side by side, words and character n-grams as tf-idf (sublinear), with the C that does best on the very rows
that it is scored on: a better one than anybody could choose.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from anchorview import FSSMSC, AnchorViewClassifier, TableViews, Views
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Result, Runs, warm_up
from anchorview.bench.tables import replace_table, table_source, write_pages
from anchorview.datasets import hide_labels
from anchorview.report.tables import markdown_table, mean_and_spread
from unseen import read_fortunes

ROOT = Path(__file__).resolve().parents[1]
RECORDS, PAGE = (ROOT / "benchmarks" / "results" / f"text_table.{kind}" for kind in ("jsonl", "md"))
COMMAND = "python benchmarks/text_table.py"
N_ROWS, N_DRAWS = 5000, 3
SHARES = (0.02, 0.05)
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)
N_SECTIONS = 20
MODELS: dict[str, Any] = {"FSSMSC": FSSMSC, "AnchorViewClassifier": AnchorViewClassifier}
METHODS = ("logistic regression, best C", *MODELS)
FIELDS = ("Package", "Section", "Description", "Installed-Size", "Priority", "Maintainer")
Table = tuple[pd.DataFrame, npt.NDArray[np.intp]]


def fortunes(n_rows: int) -> Table:
    texts, class_ids = read_fortunes(Path(os.environ.get("FORTUNES", "/usr/share/games/fortunes")))
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


def key_of(table: str, rows: int, share: float, draw: int, method: str) -> dict[str, Any]:
    return {"table": table, "rows": rows, "share": share, "draw": draw, "method": method}


def measure(runs: Runs, name: str, n_rows: int, n_draws: int) -> None:
    """Measure every method on every draw of labels that has no record of today's code."""
    loaded: list[Any] = []

    def run(share: float, draw: int, method: str) -> Result:
        if not loaded:
            table, truth = TABLES[name](n_rows)
            loaded.extend((TableViews().fit_transform(table), truth))
        views, truth = loaded
        y = hide_labels(truth, share, random_state=draw)
        start = time.perf_counter()
        accuracy = score(method, views, y, truth, draw)
        return {"accuracy": accuracy, "seconds": time.perf_counter() - start, "classes": len(np.unique(truth))}

    for share in SHARES:
        for draw in range(n_draws):
            for method in METHODS:
                found = runs.get(key_of(name, n_rows, share, draw, method), partial(run, share, draw, method))
                assert found is not None
                print(f"{name}, {share:.0%}, draw {draw}, {method}: {found['accuracy']:.3f}, {found['seconds']:.0f} s")


def make_table(records: Records) -> str:
    """Return the table of the newest records, and where it comes from."""
    rows, used = [], []
    for name in TABLES:
        for share in SHARES:
            cells = []
            for method in METHODS:
                keys = [key_of(name, N_ROWS, share, draw, method) for draw in range(N_DRAWS)]
                found = [run for key in keys if (run := records.newest(key)) is not None]
                used += [key for key, _ in found]
                scores = [100 * result["accuracy"] for _, result in found]
                seconds = min((result["seconds"] for _, result in found), default=0.0)
                spread = mean_and_spread((float(np.mean(scores)), float(np.std(scores)))) if found else ""
                cells.append(f"{spread} · {seconds:.1f} s" if found else "")
            rows += [[f"{name}, {share:.0%}", *cells]] if any(cells) else []
    note = f"`{COMMAND}`, {table_source(records, used)}. Accuracy of unlabelled rows in %, mean and standard deviation"
    table = markdown_table(["table, labels", *METHODS], rows)
    draws = ", ".join(f"{name} {len({key['draw'] for key in used if key['table'] == name})}" for name in TABLES)
    return f"{table}\n\n{note} over random selections of the labels ({draws}); seconds of the fastest."


def pages(records: Records) -> dict[Path, str]:
    """Return the new text of the page with the table."""
    return {PAGE: replace_table(PAGE.read_text(), "text_table", make_table(records))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--table", choices=list(TABLES), action="append", help="only this one; can be repeated")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already recorded")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    options = parser.parse_args()
    records = Records(RECORDS)
    if not options.tables:
        warm_up(FSSMSC(random_state=0))
        for name in options.table or TABLES:
            measure(Runs(records, DataSets([]), fresh=options.fresh), name, options.rows, options.draws)
    write_pages(pages(records))
    print(make_table(records))


if __name__ == "__main__":
    main()
