"""Draw docs/images/report.png and report-dark.png: the top of the report of a fit on the built-in digits, in chromium.

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

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {"report.png": [], "report-dark.png": ["--blink-settings=preferredColorScheme=0"]}
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
        window = ["--window-size=1180,1480", "--virtual-time-budget=10000", f"--user-data-dir={folder}/profile"]
        for name, colours in PICTURES.items():
            target = f"--screenshot={IMAGES / name}"
            subprocess.run(["chromium", *FLAGS, *colours, *window, target, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
