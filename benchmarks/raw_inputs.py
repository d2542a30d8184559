"""Raw text and photos: accuracy and seconds of the models on raw tables, against logistic regression on the same rows.

python benchmarks/raw_inputs.py accuracy --banking ../shared/data/banking77.csv --debian --photos ../shared/data/photos
python benchmarks/raw_inputs.py product --banking ../shared/data/banking77.csv --photos ../shared/data/photos

`accuracy` hides all labels but 3 % (text) or 5 % (photos), two draws. `product` measures reading, the size of the model
file, one row at a time, and whether predictions are the same after save and load, on a text table of 5,000 rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import anchorview
from anchorview import FSSMSC, AnchorViewClassifier, ImageViews, TableViews, Views, datasets

RESULTS = Path(__file__).parent / "results"
TEXT_LABELS, PHOTO_LABELS = 0.03, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "product"])
    parser.add_argument("--banking", type=Path)
    parser.add_argument("--debian", action="store_true", help="descriptions of Debian's packages, by section")
    parser.add_argument("--photos", type=Path, help="a folder of folders, one a class")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--plain", action="store_true", help="without the tuned model, which takes most of the time")
    given = parser.parse_args()
    if given.what == "product":
        record = measure_product(given)
        (RESULTS / "raw_product.json").write_text(json.dumps(record, indent=1) + "\n")
        return
    records: list[dict[str, Any]] = []
    for name, texts, target in _text_sets(given):
        for encoder in (None, "wordllama"):
            start = time.perf_counter()
            views = TableViews(kinds={"text": "text"}, text_encoder=encoder).fit_transform(
                [{"text": text} for text in texts]
            )
            reading = time.perf_counter() - start
            features = "tf-idf" if encoder is None else "tf-idf and wordllama"
            records += compare(name, features, views, target, TEXT_LABELS, reading, given)
            if encoder is not None:
                alone = Views({"meaning": views.arrays[-1]})
                records += compare(name, "wordllama alone", alone, target, TEXT_LABELS, reading, given)
    if given.photos is not None:
        paths = sorted(path for path in given.photos.glob("*/*") if path.is_file())
        target = np.unique([path.parent.name for path in paths], return_inverse=True)[1]
        start = time.perf_counter()
        views = ImageViews().fit_transform(paths)
        reading = time.perf_counter() - start
        records += compare(given.photos.name, "four descriptors", views, target, PHOTO_LABELS, reading, given)
    (RESULTS / "raw_inputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (RESULTS / "raw_inputs.md").write_text(_table(records, given))


def _text_sets(given: argparse.Namespace) -> list[tuple[str, list[str], np.ndarray]]:
    sets = []
    if given.banking is not None:
        import pyarrow.csv

        table = pyarrow.csv.read_csv(given.banking).to_pydict()
        sets.append((given.banking.stem, *_draw(table["text"], table["category"], given.rows)))
    if given.debian:
        sets.append(("debian", *_draw(*debian_packages(), given.rows)))
    return sets


def debian_packages() -> tuple[list[str], list[str]]:
    """Return descriptions of Debian's packages and their sections, the twenty largest."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    pairs = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(" "))
        words = fields.get("Description") or fields.get("Description-en")
        if words and "Section" in fields:
            pairs.append((words, fields["Section"]))
    pairs = sorted(dict(pairs).items())  # each description once
    largest = {name for name, _ in Counter(section for _, section in pairs).most_common(20)}
    kept = [pair for pair in pairs if pair[1] in largest]
    return [words for words, _ in kept], [section for _, section in kept]


def _draw(texts: list[str], classes: list[str], n_rows: int) -> tuple[list[str], np.ndarray]:
    chosen = np.random.RandomState(0).permutation(len(texts))[:n_rows]
    return [texts[row] for row in chosen], np.unique([classes[row] for row in chosen], return_inverse=True)[1]


def compare(
    name: str,
    features: str,
    views: Views,
    target: np.ndarray,
    share: float,
    reading: float,
    given: argparse.Namespace,
) -> list[dict[str, Any]]:
    """Fit each method to a few labels, and count the others that it gets right."""
    blocks = [TfidfTransformer().fit_transform(a) if sparse.issparse(a) else _unit(a) for a in views.arrays]
    joined = sparse.csr_array(sparse.hstack(blocks))
    methods: dict[str, Any] = {"FSSMSC": lambda seed: FSSMSC(random_state=seed)}
    if not given.plain:
        methods["AnchorViewClassifier"] = lambda seed: AnchorViewClassifier(random_state=seed)
    methods["logistic regression"] = None
    records = []
    for method, make in methods.items():
        scores, seconds = [], []
        for draw in range(given.draws):
            y = datasets.hide_labels(target, share, random_state=draw)
            known = y != -1
            start = time.perf_counter()
            if make is None:
                model = LogisticRegression(C=10.0, max_iter=300).fit(joined[known], target[known])
                found = model.predict(joined[~known])
            else:
                found = make(draw).fit(views, y).labels_[~known]
            seconds.append(time.perf_counter() - start)
            scores.append(100 * float(np.mean(found == target[~known])))
        records.append(
            {
                "data": name,
                "rows": len(views),
                "labels": int(known.sum()),
                "features": features,
                "method": method,
                "accuracy": [round(one, 1) for one in scores],
                "seconds": round(float(np.mean(seconds)), 1),
                "reading_seconds": round(reading, 1),
            }
        )
        print(json.dumps(records[-1]), flush=True)
    return records


def measure_product(given: argparse.Namespace) -> dict[str, Any]:
    """Measure reading, model file and single predictions on a text table of 5,000 rows; photos a second."""
    record: dict[str, Any] = {}
    if given.banking is not None:
        import pyarrow.csv

        table = pyarrow.csv.read_csv(given.banking).to_pydict()
        texts, target = _draw(table["text"], table["category"], 5000)
        y = datasets.hide_labels(target, TEXT_LABELS, random_state=0)
        rows = [{"text": text} for text in texts]
        model = Pipeline([("table", TableViews()), ("model", AnchorViewClassifier(random_state=0))])
        start = time.perf_counter()
        model.fit(rows, y)
        record["fit_seconds"] = round(time.perf_counter() - start, 1)
        record["views"] = str(model[0].transform(rows[:1]))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.anchorview"
            anchorview.save(model, file)
            record["model_megabytes"] = round(file.stat().st_size / 1e6, 2)
            loaded = anchorview.load(file)
        record["equal_after_load"] = bool(
            np.array_equal(model.predict_proba(rows[:500]), loaded.predict_proba(rows[:500]))
        )
        loaded.predict(rows[:1])
        singles = []
        for row in rows[:200]:
            start = time.perf_counter()
            loaded.predict(row)
            singles.append(time.perf_counter() - start)
        record["single_row_ms"] = round(1000 * float(np.median(singles)), 2)
        start = time.perf_counter()
        loaded.predict(rows)
        record["row_of_5000_ms"] = round(1000 * (time.perf_counter() - start) / len(rows), 3)
        record["dry_run_seconds"] = _dry_run(texts, y)
    if given.photos is not None:
        paths = sorted(path for path in given.photos.rglob("*") if path.is_file())
        ImageViews().fit(paths[:50])  # imports
        start = time.perf_counter()
        ImageViews().fit(paths)
        record["photos_a_second"] = round(len(paths) / (time.perf_counter() - start))
    print(json.dumps(record, indent=1))
    return record


def _dry_run(texts: list[str], y: np.ndarray) -> float:
    """Return the seconds of the command, from start to end."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        lines = (
            json.dumps({"text": text, "topic": None if label < 0 else f"class {label}"})
            for text, label in zip(texts, y.tolist(), strict=True)
        )
        file.write_text("\n".join(lines) + "\n")
        start = time.perf_counter()
        command = [sys.executable, "-m", "anchorview", "fit", str(file), "--label", "topic", "--dry-run"]
        subprocess.run(command, check=True, capture_output=True)
        return round(time.perf_counter() - start, 2)


def _table(records: list[dict[str, Any]], given: argparse.Namespace) -> str:
    lines = [
        "# Raw text and photos",
        "",
        f"`python benchmarks/raw_inputs.py accuracy`, {given.draws} draws of labels; accuracy of rows without one, in",
        "percent, and seconds of a fit. Logistic regression has the same features, joined, each view of unit length.",
        "",
        "| data | rows | labels | features | method | accuracy | each draw | s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one['data']} | {one['rows']:,} | {one['labels']} | {one['features']} | {one['method']} | "
        f"{np.mean(one['accuracy']):.1f} | {', '.join(map(str, one['accuracy']))} | {one['seconds']} |"
        for one in records
    ]
    return "\n".join(lines) + "\n"


def _unit(array: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-12))


if __name__ == "__main__":
    main()
