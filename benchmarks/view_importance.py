"""What each view of the handwritten digits did for the model: a table, and docs/images/view_importance.png.

python benchmarks/view_importance.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from anchorview import FSSMSC, datasets
from anchorview.report.tables import markdown_table
from anchorview.plotting.model.model import plot_view_importance
from anchorview.view_importance import measure_views

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "view_importance.png"


def main() -> None:
    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    model = FSSMSC(random_state=0).fit(digits.views, y)
    found = measure_views(model, digits.views, digits.target)
    rows = [
        [name, f"{100 * share:.1f}", f"{100 * changed:.1f}", f"{100 * drop:.1f}"]
        for name, share, changed, drop in zip(found.names, found.share, found.changed, found.accuracy_drop, strict=True)
    ]
    print(markdown_table(["view", "part of what is rebuilt", "labels that change", "accuracy lost"], rows))
    axes = plot_view_importance(found)
    axes.figure.savefig(PICTURE, dpi=110)
    print(f"\n{PICTURE}")


if __name__ == "__main__":
    main()
