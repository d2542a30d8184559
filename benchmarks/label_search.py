"""Reading labels off the embedding: all labelled rows compared with every row, against those that could be nearest.

    python benchmarks/label_search.py
    python benchmarks/label_search.py --bounded --rows 120000
    python benchmarks/label_search.py --rows 200000 --labelled 10000 --repeats 3
    python benchmarks/label_search.py --data /tmp/anchorview-data/fashion.npz ../shared/data/scene15.npz --share 0.1

Embeddings are those of a fit to made rows (10 classes), to the files of --data, and random directions without any
clusters, the worst case. Rows are read both ways in turns, by one thread; the least work of the processor over the
repeats counts. "all" reads the first --at-most rows, since it takes the same time for every row; the random ones are as
many. "differ" is how many of their labels differ, and the largest difference of the evidence (minus squared distances,
or logarithms of votes). With --bounded: whole fits to overlapping classes, every row labelled, that compare with all
labelled rows and with as many as `MAX_READ` allows; accuracy is that of 5,000 new rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.bench.environment import environment_line
from anchorview.readers.nearest import LabelledNeighbours, keep_labelled
from anchorview.report.tables import markdown_table
from speed_jobs import load_rows

Embedded = tuple[str, Any, Any, Any]  # name, embedding, classes of all rows, which are labelled
FIT: dict[str, Any] = {"scaling": "minmax", "ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest"}
DIRECTIONS = (10, 20, 50, 150)
HEADER = ["embedding", "k", "rows", "labelled", "rule", "all, µs a row", "rivals, µs a row", "times", "differ"]


def fitted(name: str, place: str, n: int, share: float) -> Embedded:
    """Return the embedding of a fit with a share of the labels."""
    views, target, _ = load_rows(place, n)
    y = datasets.hide_labels(target, share, random_state=0)
    model = FSSMSC(random_state=0, **FIT).fit(views, y)
    return name, np.asarray(model.embedding_), np.unique(target, return_inverse=True)[1], np.flatnonzero(y != -1)


def directions(k: int, n: int, n_labelled: int) -> Embedded:
    """Return random rows in k dimensions, of k classes that are everywhere."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, k)).astype(np.float32)
    return "random", rows, rng.integers(k, size=n), np.sort(rng.permutation(n)[:n_labelled])


def embeddings(options: Any) -> Iterator[Embedded]:
    yield fitted("made", "synthetic", options.rows, options.labelled / options.rows)
    for path in options.data:
        yield fitted(path.stem, str(path), 10**9, options.share)
    for k in DIRECTIONS:
        yield directions(k, options.at_most, options.labelled)


def processor_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def all_of_them(model: LabelledNeighbours, rows: Any) -> Any:
    return model._compare(rows, 1, 2**18 if model.rule == "knn" else 2**20)


def compare(rule: str, embedded: Embedded, repeats: int, at_most: int) -> list[str]:
    """Return one line of the table."""
    name, rows, class_ids, labelled = embedded
    model = keep_labelled(rows[labelled], class_ids[labelled], rule, 5)
    old_rows, old, new = rows[:at_most], [], []
    for _ in range(repeats):
        seconds, expected = processor_seconds(lambda: all_of_them(model, old_rows))
        old.append(seconds / len(old_rows))
        seconds, found = processor_seconds(lambda: model.evidence(rows))
        new.append(seconds / len(rows))
    found = found[: len(old_rows)]
    labels = int((found.argmax(axis=1) != expected.argmax(axis=1)).sum())
    differ = f"{labels}, {np.abs(found - expected).max():.0e}"
    times = [f"{1e6 * min(old):.2f}", f"{1e6 * min(new):.2f}", f"{min(old) / min(new):.2f}"]
    return [name, str(rows.shape[1]), f"{len(rows):,}", f"{len(labelled):,}", rule, *times, differ]


def overlapping(n: int) -> tuple[Any, Any]:
    """Return rows of ten classes that overlap, in two views, and their classes."""
    rng = np.random.default_rng(0)
    target = rng.integers(10, size=n)
    rows = 0.6 * rng.normal(size=(10, 40))[target] + rng.normal(size=(n, 40))
    return [rows[:, :25].astype(np.float32), rows[:, 25:].astype(np.float32)], target


def compare_bounds(n: int) -> None:
    """Print processor seconds and accuracy of fits that compare rows with all labelled ones, and with some."""
    from anchorview.fitting import learning

    (first, second), target = overlapping(n + 5000)
    usual, lines = learning.MAX_READ, []
    for rule in ("nearest", "knn"):
        for most in (usual, 10**9):
            learning.MAX_READ = most
            model = FSSMSC(random_state=0, **FIT | {"readers": rule, "n_neighbors": 15})
            seconds, _ = processor_seconds(lambda fit=model.fit: fit([first[:n], second[:n]], target[:n]))
            took, found = processor_seconds(lambda read=model.predict: read([first[n:], second[n:]]))
            right = float((found == target[n:]).mean())
            stage = f"{model.stage_seconds_['labels']:.1f}"
            compared = f"{min(most, n):,}"
            lines.append([rule, compared, f"{seconds:.1f}", stage, f"{took:.2f}", f"{100 * right:.2f}"])
            print("  ".join(lines[-1]), flush=True)
    header = ["rule", "compared with", "fit, CPU s", "of it labels, s", "predict 5,000, CPU s", "accuracy, %"]
    print(f"\n{environment_line()}\n\n{markdown_table(header, lines)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="made rows")
    parser.add_argument("--labelled", type=int, default=10_000, help="labelled ones of the made rows")
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="files with views and classes")
    parser.add_argument("--share", type=float, default=0.1, help="labelled ones of the rows of files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--at-most", type=int, default=20_000, help="rows compared with all labelled ones")
    parser.add_argument("--bounded", action="store_true", help="whole fits with and without a bound on the labels")
    options = parser.parse_args()
    if options.bounded:
        compare_bounds(options.rows)
        return
    lines = []
    for embedded in embeddings(options):
        for rule in ("nearest", "knn"):
            lines.append(compare(rule, embedded, options.repeats, options.at_most))
            print("  ".join(lines[-1]), flush=True)
    print(f"\n{environment_line()}\n\n{markdown_table(HEADER, lines)}")


if __name__ == "__main__":
    main()
