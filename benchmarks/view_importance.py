"""What each view of the handwritten digits did for the model: a table, and docs/images/view_importance.png.

python benchmarks/view_importance.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from anchorview import FSSMSC, datasets
from anchorview.plotting import plot_view_importance
from anchorview.report.tables import markdown_table
from anchorview.view_importance import measure_views

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "view_importance.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PICTURE, help="file of the picture")
    options = parser.parse_args()
    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    model = FSSMSC(random_state=0).fit(digits.views, y)
    measured = measure_views(model, digits.views, digits.target)
    percent = [
        [f"{100 * value:.1f}" for value in values]
        for values in zip(measured.share, measured.changed, measured.accuracy_drop, strict=True)
    ]
    rows = [[name, *cells] for name, cells in zip(measured.names, percent, strict=True)]
    print(markdown_table(["view", "part of what is rebuilt", "labels that change", "accuracy lost"], rows))
    plot_view_importance(measured).figure.savefig(options.out, dpi=110)
    print(f"\n{options.out}")


if __name__ == "__main__":
    main()
