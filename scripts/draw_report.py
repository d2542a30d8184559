"""Draw docs/images/report.png: the upper part of the report of a fit on the built-in digits, as chromium shows it.

python scripts/draw_report.py                # about a minute
python scripts/draw_report.py --page run.html    # and keep the page
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from anchorview import AnchorViewClassifier, datasets
from anchorview.report import summarise_run, write_run_page

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, help="where to keep the page")
    given = parser.parse_args()
    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0).copy()
    swapped = np.flatnonzero(y >= 0)[[5, 50]]  # two wrong labels, for the report to find
    y[swapped] = (y[swapped] + 3) % 10
    model = AnchorViewClassifier(random_state=0).fit(digits.views, y)
    ids = [f"digit-{row:04d}" for row in range(2000)]
    summary = summarise_run(
        model,
        y,
        X=digits.views,
        ids=ids,
        names=NAMES,
        title="Handwritten digits",
        command="python scripts/draw_report.py",
    )
    with tempfile.TemporaryDirectory() as folder:
        page = (given.page or Path(folder, "report.html")).resolve()
        write_run_page(summary, page)
        window = ["--window-size=1180,1560", "--virtual-time-budget=10000", f"--user-data-dir={folder}/profile"]
        subprocess.run(["chromium", *FLAGS, *window, f"--screenshot={PICTURE}", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
