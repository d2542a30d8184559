"""Fits with the classes called otherwise: how many labels, and by how much probabilities, differ.

    python benchmarks/class_names.py --data ../shared/data --sets scene15 msrcv1 hw

Classes are numbered backwards, shuffled, and called by words; a twentieth of the labels is given (a fifth of msrcv1,
which is small), every tenth row is predicted. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.report.tables import markdown_table


def codings(n_classes: int) -> dict[str, list[Any]]:
    """Return other names for the classes 0, 1 and so on."""
    shuffled = np.random.default_rng(0).permutation(n_classes).tolist()
    return {
        "backwards": list(range(n_classes))[::-1],
        "shuffled": shuffled,
        "words": [f"class {chr(97 + n % 26)}{n // 26}" for n in shuffled],
    }


def compare(estimator: Any, views: Any, new: Any, numbers: Any) -> list[tuple[str, float, float]]:
    """Return for each coding the share of labels that differ, and the largest difference of probabilities."""
    model, found = estimator.fit(views, numbers), []
    labels, shares = model.labels_.copy(), model.predict_proba(new)
    for coding, names in codings(numbers.max() + 1).items():
        y = np.array([None if number < 0 else names[number] for number in numbers], dtype=object)
        other = estimator.fit(views, y)
        place = [other.classes_.tolist().index(name) for name in names]
        differ = float(np.mean(other.labels_ != np.array(names)[labels]))
        found.append((coding, differ, float(np.abs(other.predict_proba(new)[:, place] - shares).max())))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--sets", nargs="+", default=["scene15", "msrcv1", "hw"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in options.sets:
        data = datasets.load_npz(options.data / f"{name}.npz")
        target = np.unique(data.target, return_inverse=True)[1]
        numbers = datasets.hide_labels(target, 0.2 if len(target) < 500 else 0.05, random_state=0)
        for estimator in (FSSMSC(random_state=0), AnchorViewClassifier(random_state=0)):
            for coding, differ, most in compare(estimator, data.views, data.views[::10], numbers):
                row = [name, type(estimator).__name__, coding, f"{100 * differ:.1f} %", f"{most:.2g}"]
                lines.append(row)
    print(markdown_table(["data", "estimator", "classes", "labels that differ", "probabilities"], lines))
    return int(any(line[-2:] != ["0.0 %", "0"] for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
