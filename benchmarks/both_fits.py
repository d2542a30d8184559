"""Fits for benchmarks/both.py, in a process that serves one checkout: a job a line, its result a line.

Names nothing but what old checkouts have too; the tuned estimator was called FSSMSCCV there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from functools import lru_cache
from os import environ
from pathlib import Path
from typing import Any, Self

import numpy as np

MOST_ROWS = 2000


@lru_cache(maxsize=1)
def load(place: str) -> tuple[Any, Any]:
    """Return views and classes of all rows, or of as many as are looked at, the same in every draw."""
    from anchorview import datasets

    data = datasets.load_npz(place)
    if len(data.target) <= MOST_ROWS:
        return data.views, data.target
    rows = np.sort(np.random.RandomState(0).choice(len(data.target), MOST_ROWS, replace=False))
    return data.views[rows], data.target[rows]


def draw_labels(target: Any, labels: str, seed: int) -> Any:
    """Return the labels of a share or number of rows, drawn at random, or of one row of each class; -1 elsewhere.

    A number is drawn again until two classes have a label and some class has two, which the tuned estimator needs.
    """
    rng = np.random.RandomState(seed)
    if labels == "one a class":
        rows = np.array([rng.choice(np.flatnonzero(target == name)) for name in np.unique(target)])
    elif labels.isdigit():
        counts: Any = np.empty(0)
        while len(counts) < 2 or counts.max() < 2:
            rows = rng.choice(len(target), int(labels), replace=False)
            counts = np.unique(target[rows], return_counts=True)[1]
    else:
        rows = rng.choice(len(target), max(2, int(float(labels.rstrip("%")) / 100 * len(target))), replace=False)
    y = np.full(len(target), -1)
    y[rows] = target[rows]
    return y


def remove_cells(n_rows: int, n_views: int, share: float, seed: int) -> Any:
    """Return which (row, view) cells are present: a share is removed at random, each row keeps at least one view."""
    rng = np.random.default_rng(seed)
    present = rng.random((n_rows, n_views)) >= share * n_views / (n_views - 1)
    present[np.arange(n_rows), rng.integers(n_views, size=n_rows)] = True
    return present


class LateFusion:
    """The mean log probability of a logistic regression on each view that a row has, columns standardised.

    Chance where no view is known; each regression learns from the labelled rows that have its view.
    """

    least = -8.0  # log probability: one sure mistake of a view is not worth all others

    def fit(self, views: Any, y: Any) -> Self:
        """Learn from the labelled rows, and label all."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        arrays = [np.asarray(array, dtype=np.float64) for array in views.arrays]
        present = np.ones((len(y), len(arrays)), dtype=bool) if views.present is None else views.present
        classes = np.unique(y[y >= 0])
        total = np.zeros((len(y), len(classes)))
        for array, has_view in zip(arrays, present.T, strict=True):
            rows = StandardScaler().fit(array[has_view]).transform(array[has_view])
            seen = y[has_view] >= 0
            model = LogisticRegression(C=0.1, max_iter=300).fit(rows[seen], y[has_view][seen])
            scores = np.full((len(rows), len(classes)), self.least)
            found = np.maximum(model.predict_log_proba(rows), self.least)
            scores[:, np.searchsorted(classes, model.classes_)] = found
            total[has_view] += scores
        total /= np.maximum(present.sum(axis=1), 1)[:, None]
        total -= np.log(np.exp(total).sum(axis=1, keepdims=True))
        self.labels_, self.confidence_ = classes[total.argmax(axis=1)], np.exp(total.max(axis=1))
        return self


def make_estimator(method: str, random_state: int, options: dict[str, Any]) -> Any:
    """Return an estimator by the name it has in the tables."""
    import anchorview

    if method == "late fusion":
        return LateFusion()
    if method == "plain":
        return anchorview.FSSMSC(random_state=random_state, **options)
    tuned = getattr(anchorview, "AnchorViewClassifier", None) or anchorview.FSSMSCCV
    return tuned(random_state=random_state, **options)


def fit(
    place: str,
    method: str,
    labels: str,
    seed: int,
    missing: float = 0.0,
    other_seeds: int = 0,
    options: dict[str, Any] | None = None,
) -> dict[str, float]:
    """Fit one draw of labels; of unlabelled rows, return accuracy, calibration error and what other seeds change."""
    from anchorview import Views
    from anchorview.metrics import expected_calibration_error

    views, target = load(place)
    y = draw_labels(target, labels, seed)
    if missing:
        views = Views(views.arrays, mask=remove_cells(len(y), len(views.arrays), missing, seed))
    hidden, start = y == -1, time.perf_counter()
    model = make_estimator(method, seed, options or {}).fit(views, y)
    seconds, right = time.perf_counter() - start, (model.labels_ == target)[hidden]
    sure = np.asarray(model.confidence_, dtype=np.float64)[hidden]
    result = {
        "acc": 100 * float(right.mean()),
        "confidence": 100 * float(sure.mean()),
        "ece": 100 * expected_calibration_error(right, sure),
        "seconds": seconds,
    }
    if other_seeds:
        others = [
            make_estimator(method, seed + 1000 * n, options or {}).fit(views, y) for n in range(1, other_seeds + 1)
        ]
        result["changed"] = 100 * float(np.mean([(one.labels_ != model.labels_)[hidden].mean() for one in others]))
    return result


class Server:
    """A process that fits with the code of one checkout.

    Parameters
    ----------
    checkout : Path
        Its root.
    """

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout.resolve()
        git = ["git", "-C", str(self.checkout), "rev-parse", "--short", "HEAD"]
        self.commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()

    def __enter__(self) -> Self:
        command = [sys.executable, str(Path(__file__).resolve())]
        env = environ | {"PYTHONPATH": str(self.checkout / "src")}
        self._child = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        place = self._child.stdout.readline()  # type: ignore[union-attr]
        if not place.startswith(str(self.checkout)):
            raise RuntimeError(f"{place} would be measured instead of {self.checkout}")
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()

    def fit(self, **job: Any) -> dict[str, Any]:
        """Make one fit."""
        self._child.stdin.write(json.dumps(job) + "\n")  # type: ignore[union-attr]
        self._child.stdin.flush()  # type: ignore[union-attr]
        line = self._child.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RuntimeError(f"the process of {self.checkout} ended at {job}")
        return dict(json.loads(line))


def serve() -> None:
    """Answer jobs until there are no more."""
    import anchorview

    print(anchorview.__file__, flush=True)
    warnings.simplefilter("ignore")  # such as fewer landmarks than asked for: the same in every draw
    for line in sys.stdin:
        print(json.dumps(fit(**json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
